"""A match of a game without time: its state, and the journal of all actions.

Pure. `window` and `match` decide which submissions count, and when a window closes; this module applies the
actions to the state. `transcript.replayer` applies a journal again, and gets the same state and events.
"""

from collections.abc import Iterable
from typing import Any, assert_never

from msgspec import Raw, Struct

from protocol.words import Action, Options, Outcome, Setup
from referee.rules.contract import (
    Addressed,
    AnyGame,
    Illegal,
    PendingSeat,
    ResolvedAction,
    ResolvedActions,
    Transition,
    Window,
)
from referee.rules.reveal import check_audience
from referee.rules.rng import MatchRandom


class Deal(Struct, frozen=True):
    """The start of a match. Together with the journal it determines every event."""

    variant: str
    seed: int
    options: Raw | None = None
    setup: Raw | None = None


class Answered(Struct, frozen=True, tag="answered", gc=False):
    """A journal entry: a final submission to an `asap` window was answered."""

    seat: int
    action: Action


class WindowClosed(Struct, frozen=True, tag="closed", gc=False):
    """A journal entry: the open window was closed with these results, indexed by seat."""

    taken: ResolvedActions


Move = Answered | WindowClosed


class Table:
    """A match in progress: `state`, the open `window`, the `outcome`, and the `journal` that led to them."""

    def __init__(self, game: AnyGame, deal: Deal) -> None:
        """Deal the match.

        Raises:
            BadSetupError: options or setup break the game's rules.
        """
        self.game = game
        self.deal = deal
        rng = MatchRandom(deal.seed)
        self.options: Options = game.read_options(deal.variant, deal.options)
        self.setup: Setup = game.read_setup(deal.variant, self.options, deal.setup, rng)
        self.seats = game.seats(self.options)
        self.number = 0
        """Number of the open window in the match, from 0, on which its random numbers depend."""
        self.journal: list[Move] = []
        self.submitted: dict[int, tuple[Action | None, int]] = {}
        """Submissions to the open window: action (None: the default) and milliseconds used; by seat."""
        self.window: Window | None = None
        self.start = self._take(game.deal(deal.variant, self.options, self.setup, rng))
        """The events before the first window."""

    @property
    def owed(self) -> tuple[PendingSeat, ...]:
        """The parts of the open window; none if the match is over."""
        return self.window.owed if self.window else ()

    def read(self, seat: int, raw: bytes | Raw) -> Action:
        """Decode a submission to the open window, and return the action in canonical form.

        Raises:
            Illegal: the seat owes no action, or the action is not legal.
        """
        if self._part(seat) is None:
            raise Illegal("this seat owes nothing now")
        return self.game.read_action(self.state, seat, raw)

    def default(self, seat: int) -> Action | None:
        """Return the default action for a seat. Draws it if the default is random.

        Raises:
            KeyError: the seat owes no action.
        """
        owed = self._part(seat)
        if owed is None:
            raise KeyError(seat)
        return self.game.draw_default(self.state, seat, self._rng()) if owed.drawn else owed.default

    def answer(self, seat: int, action: Action) -> tuple[Addressed, ...]:
        """Answer a final submission to an `asap` window, and return the events."""
        self.journal.append(Answered(seat, action))
        return self._take(self.game.answer(self.state, seat, action, self._rng()))

    def submit(self, seat: int, action: Action | None, elapsed_ms: int = 0) -> tuple[Addressed, ...]:
        """Store a seat's final action, None for the default; return the events of its answer, if there is one."""
        self.submitted[seat] = action, elapsed_ms
        if action is None or self.window is None or not self.window.asap:
            return ()
        return self.answer(seat, action)

    def resolve(self, seat: int, action: Action | None, elapsed_ms: int = 0) -> ResolvedAction:
        """Return the result of the open window for a seat with this action; None: its default applies."""
        if action is None:
            return ResolvedAction(self.default(seat), by_default=True, elapsed_ms=elapsed_ms)
        return ResolvedAction(action, elapsed_ms=elapsed_ms)

    def results(self) -> ResolvedActions:
        """Return the result of the open window for each seat: its submission, or its default without one."""
        taken: list[ResolvedAction | None] = [None] * self.seats
        for owed in self.owed:
            taken[owed.seat] = self.resolve(owed.seat, *self.submitted.get(owed.seat, (None, 0)))
        return tuple(taken)

    def close(self, taken: ResolvedActions) -> tuple[Addressed, ...]:
        """Close the open window with the result of each seat, open the next one, and return the events."""
        self.journal.append(WindowClosed(taken))
        step = self.game.close(self.state, taken, self._rng())
        self.number += 1
        self.submitted.clear()
        return self._take(step)

    def apply(self, move: Move) -> tuple[Addressed, ...]:
        """Repeat a move of a journal, and return the events."""
        match move:
            case Answered(seat, action):
                return self.answer(seat, action)
            case WindowClosed(taken):
                return self.close(taken)
            case _ as unreachable:
                assert_never(unreachable)

    def fork(self) -> "Table":
        """Return an independent copy of this table."""
        fork = Table.__new__(Table)
        fork.__dict__.update(self.__dict__)
        fork.journal, fork.submitted = self.journal.copy(), self.submitted.copy()
        return fork

    def _part(self, seat: int) -> PendingSeat | None:
        """Return the seat's part in the open window."""
        owed = self.window.owed if self.window else ()
        # In most windows all seats owe an action, so that a part's index is its seat.
        if seat < len(owed) and owed[seat].seat == seat:
            return owed[seat]
        for part in owed:
            if part.seat == seat:
                return part
        return None

    def _rng(self) -> MatchRandom:
        return MatchRandom(self.deal.seed, self.number)

    def _take(self, step: Transition[Any]) -> tuple[Addressed, ...]:
        self.state = step.state
        self.window = self.game.window(step.state)
        self.outcome: Outcome | None = self.game.outcome(step.state)
        for told in step.told:
            if told.seat is None:
                check_audience(told)
        return step.told


def replay(game: AnyGame, deal: Deal, journal: Iterable[Move]) -> Table:
    """Return the table to which a journal leads."""
    table = Table(game, deal)
    for move in journal:
        table.apply(move)
    return table
