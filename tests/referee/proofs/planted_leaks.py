"""Games with a leak planted in each, for the test of the tests: `LEAKS` says which promise each one breaks."""

from typing import ClassVar

from msgspec.structs import replace

from protocol.games.mist import Placed, Turn
from protocol.games.mist.board import BOARD
from protocol.words import Action
from referee.games.mist import Mist, MistState
from referee.rules.contract import Addressed, Announced, AnyGame, Transition
from referee.rules.rng import MatchRandom
from tests.referee.proofs.planting import (
    AUDIENCE,
    SEALED,
    SECRET,
    defaults,
    rejects,
    says_in_reasons,
    shows,
    tells_all,
)
from tests.referee.toy import Bid, Cups, CupState, CupView, RoundOver


def hidden(state: MistState, seat: int | None) -> int:
    """The mask of the opponent's pieces; to a spectator, of seat 0's."""
    return state.pieces[0 if seat is None else 1 - seat]


def theirs_first(state: MistState, seat: int | None) -> tuple[str, ...]:
    """All cells, the opponent's first."""
    theirs = hidden(state, seat)
    return (*BOARD.cells(theirs), *BOARD.cells(BOARD.all & ~theirs))


def names_a_taken_cell(state: MistState, seat: int, action: object) -> bool:
    """Whether a cell that is named holds a piece, seen or not."""
    return isinstance(action, Turn) and bool(hidden(state, seat) & BOARD.mask(action.cells or ()))


def on_an_empty_cell(state: MistState) -> Turn:
    """The first cell that is empty in truth."""
    return Turn(cells=BOARD.cells(BOARD.all & ~state.pieces[0] & ~state.pieces[1] & ~BOARD.bit["E5"])[:1])


class OrderOfSet(shows(Cups, more=lambda _state, _seat: tuple({"one", "two", "three", "four", "five"}))):  # type: ignore[misc]
    """Every view has a list in the order of a set of strings."""


class LeakInAnswer(Cups):
    """What one seat asks is told to the others before the window closes."""

    def answer(self, state: CupState, seat: int, action: Action, rng: MatchRandom) -> Transition[CupState]:
        step = super().answer(state, seat, action, rng)
        return Transition(step.state, (*step.told, Addressed(RoundOver(highest=0))))


class LeakOfAnswered(Cups):
    """A view changes when another seat has been answered."""

    def view(self, state: CupState, seat: int | None) -> CupView:
        view = super().view(state, seat)
        return replace(view, spent=sum(map(len, state.looked))) if state.lookers else view


class LeakOfSealed(Cups):
    """The game itself remembers what was last submitted, and shows it."""

    def __init__(self) -> None:
        self.last = 0

    def check(self, state: CupState, seat: int, action: Action) -> Action:
        if isinstance(action, Bid):
            self.last = action.amount
        return super().check(state, seat, action)

    def view(self, state: CupState, seat: int | None) -> CupView:
        return replace(super().view(state, seat), spent=self.last)


class LeakOfLookers(Cups):
    """Everyone may know, it says, who looks under a cup: those who bid most, in secret."""

    announced: ClassVar[dict[str, Announced]] = {**Cups.announced, "look": Announced.SEATS}


LEAKS: dict[str, tuple[type[AnyGame], str]] = {
    "how many pieces": (shows(Mist, more=lambda state, seat: hidden(state, seat).bit_count()), SECRET),
    "how many pieces, by size": (
        shows(Mist, more=lambda state, seat: " " * hidden(state, seat).bit_count()),
        SECRET,
    ),
    "pieces, by order": (shows(Mist, more=theirs_first), SECRET),
    "a piece, to spectators": (
        shows(Mist, more=lambda state, seat: BOARD.cells(hidden(state, seat))[:1] if seat is None else ()),
        SECRET,
    ),
    "a taken cell, by rejection": (rejects(Mist, names_a_taken_cell), SECRET),
    "how many pieces, by reasons": (
        says_in_reasons(Mist, lambda state, seat: "." * (hidden(state, seat).bit_count() % 2)),
        SECRET,
    ),
    "an empty cell, by default": (defaults(Mist, "turn", on_an_empty_cell), SECRET),
    "what became of pieces, to all": (tells_all(Mist, Placed), AUDIENCE),
    "a list in the order of a set": (OrderOfSet, "two PYTHONHASHSEEDs"),
    "a secret of the deal": (shows(Cups, lucky=lambda state, _: state.lucky[0]), SECRET),
    "the setup, by reasons": (says_in_reasons(Cups, lambda state, _: f" {state.cups[0]}"), SECRET),
    "what another asked": (LeakInAnswer, SEALED),
    "that another was answered": (LeakOfAnswered, SEALED),
    "what was submitted last": (LeakOfSealed, SEALED),
    "who may look": (LeakOfLookers, SECRET),
}
