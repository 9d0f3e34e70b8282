"""One match of one game, without time: its state, and the journal of all that was taken.

Pure. `window` and `match` decide what is submitted, and when a window closes; this folds what was taken
into the state. `transcript.replayer` folds a journal anew and gets the same state and events.
"""

from collections.abc import Iterable
from typing import Any, assert_never

from msgspec import Raw, Struct

from protocol.words import Action, Options, Outcome, Setup
from referee.rules.contract import Addressed, Game, Illegal, Owed, Step, Taken, Window
from referee.rules.reveal import check_audience
from referee.rules.rng import Luck


class Deal(Struct, frozen=True):
    """What a match starts from. With the journal it determines every event."""

    variant: str
    seed: int
    options: Raw | None = None
    setup: Raw | None = None


class Answered(Struct, frozen=True, tag="answered", gc=False):
    """Journal: a seat's final submission to an `asap` window was answered."""

    seat: int
    action: Action


class WindowClosed(Struct, frozen=True, tag="closed", gc=False):
    """Journal: the open window was closed with this, indexed by seat."""

    taken: tuple[Taken | None, ...]


Move = Answered | WindowClosed


class Table:
    """A match under way: `state`, the open `window`, the `outcome`, and the `journal` that led here."""

    def __init__(self, game: Game[Any], deal: Deal) -> None:
        """Deals. Raises BadSetupError."""
        self.game = game
        self.deal = deal
        luck = Luck(deal.seed)
        self.options: Options = game.read_options(deal.variant, deal.options)
        self.setup: Setup = game.read_setup(deal.variant, self.options, deal.setup, luck)
        self.seats = game.seats(self.options)
        self.number = 0
        """Counts the match's windows from 0; names the open window's luck."""
        self.journal: list[Move] = []
        self.window: Window | None = None
        self.start = self._take(game.deal(deal.variant, self.options, self.setup, luck))
        """What was told before the first window."""

    @property
    def owed(self) -> tuple[Owed, ...]:
        """The parts of the open window; none when the match is over."""
        return self.window.owed if self.window else ()

    def read(self, seat: int, raw: bytes | Raw) -> Action:
        """The canonical action that `raw` submits to the open window. Raises Illegal."""
        if self._part(seat) is None:
            raise Illegal("this seat owes nothing now")
        return self.game.read_action(self.state, seat, raw)

    def default(self, seat: int) -> Action | None:
        """What a seat that owes is taken to have submitted if it has nothing; a drawn one is drawn here."""
        owed = self._part(seat)
        if owed is None:
            raise KeyError(seat)
        return self.game.draw_default(self.state, seat, self._luck()) if owed.drawn else owed.default

    def answer(self, seat: int, action: Action) -> tuple[Addressed, ...]:
        """Answers a final submission to an `asap` window at once."""
        self.journal.append(Answered(seat, action))
        return self._take(self.game.answer(self.state, seat, action, self._luck()))

    def close(self, taken: tuple[Taken | None, ...]) -> tuple[Addressed, ...]:
        """Closes the open window with what each seat is taken to have submitted; opens the next."""
        self.journal.append(WindowClosed(taken))
        step = self.game.close(self.state, taken, self._luck())
        self.number += 1
        return self._take(step)

    def fork(self) -> "Table":
        """A table of its own that stands where this one does: what is played on one leaves the other alone."""
        fork = Table.__new__(Table)
        fork.__dict__.update(self.__dict__)
        fork.journal = self.journal.copy()
        return fork

    def _part(self, seat: int) -> Owed | None:
        """What the seat owes to the open window."""
        owed = self.window.owed if self.window else ()
        # In most windows all seats owe, and each stands at its own number.
        if seat < len(owed) and owed[seat].seat == seat:
            return owed[seat]
        for part in owed:
            if part.seat == seat:
                return part
        return None

    def _luck(self) -> Luck:
        return Luck(self.deal.seed, self.number)

    def _take(self, step: Step[Any]) -> tuple[Addressed, ...]:
        self.state = step.state
        self.window = self.game.window(step.state)
        self.outcome: Outcome | None = self.game.outcome(step.state)
        for told in step.told:
            if told.seat is None:
                check_audience(told)
        return step.told


def replay(game: Game[Any], deal: Deal, journal: Iterable[Move]) -> Table:
    """The table that this journal leads to."""
    table = Table(game, deal)
    for move in journal:
        match move:
            case Answered(seat, action):
                table.answer(seat, action)
            case WindowClosed(taken):
                table.close(taken)
            case _ as unreachable:
                assert_never(unreachable)
    return table
