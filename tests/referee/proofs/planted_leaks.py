"""Games with a leak planted in each, for the test of the tests: `LEAKS` says which promise each one breaks."""

from collections.abc import Callable
from typing import ClassVar

import pytest
from msgspec.structs import replace

from protocol.feed import FeedClosed, FeedMessage, FeedWindow
from protocol.games.mist import Placed, Turn
from protocol.games.mist.board import BOARD
from protocol.words import Action
from referee.games.mist import Mist, MistState
from referee.host.observers import Feed
from referee.match.records import Record, WindowTime
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
    """Return the mask of the opponent's pieces; for a spectator, of seat 0's."""
    return state.pieces[0 if seat is None else 1 - seat]


def theirs_first(state: MistState, seat: int | None) -> tuple[str, ...]:
    """All cells, the opponent's first."""
    theirs = hidden(state, seat)
    return (*BOARD.cells(theirs), *BOARD.cells(BOARD.all & ~theirs))


def names_a_taken_cell(state: MistState, seat: int, action: object) -> bool:
    """Whether a cell that is named holds a piece, seen or not."""
    return isinstance(action, Turn) and bool(hidden(state, seat) & BOARD.mask(action.cells or ()))


def on_an_empty_cell(state: MistState) -> Turn:
    """Return the first cell that is really empty."""
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


FeedLeak = Callable[[pytest.MonkeyPatch], None]
told, record, say = Feed.told, Feed.record, Feed._say


def private_events(patch: pytest.MonkeyPatch) -> None:
    """What one seat is told is told to spectators, with its own name of the seat left out."""

    def leaky(self: Feed, events: tuple[Addressed, ...]) -> None:
        for each in events:
            self._tell(each)
        if self._between:
            self._open()

    patch.setattr(Feed, "told", leaky)


def who_has_been_answered(patch: pytest.MonkeyPatch) -> None:
    """Something is told whenever a seat is answered, though not what."""

    def leaky(self: Feed, events: tuple[Addressed, ...]) -> None:
        if not self._between:
            self._say(FeedClosed(n=self._n, at_ms=0))
        told(self, events)

    patch.setattr(Feed, "told", leaky)


def who_took_the_default(patch: pytest.MonkeyPatch) -> None:
    """A window's end counts the seats that submitted nothing."""

    def leaky(self: Feed, each: Record) -> None:
        record(self, each)
        if isinstance(each, WindowTime):
            self._say(FeedClosed(n=self._n, at_ms=sum(seat.by_default for seat in each.seats)))

    patch.setattr(Feed, "record", leaky)


def size_of_what_was_taken(patch: pytest.MonkeyPatch) -> None:
    """A message is as many characters longer as somebody's action is large."""

    def leaky(self: Feed, each: Record) -> None:
        if isinstance(each, WindowTime):
            self._blanks = len(str(each.seats[0].taken))  # type: ignore[attr-defined]
        record(self, each)

    def longer(self: Feed, message: FeedMessage) -> None:
        if isinstance(message, FeedWindow):
            message = replace(message, window=message.window + " " * getattr(self, "_blanks", 0))
        say(self, message)

    patch.setattr(Feed, "record", leaky)
    patch.setattr(Feed, "_say", longer)


def reserves_of_many(patch: pytest.MonkeyPatch) -> None:
    """The reserves that are left are told also after a window of several seats."""

    def leaky(self: Feed, each: Record) -> None:
        known = self._reserve
        record(self, each)
        if isinstance(each, WindowTime):
            self._reserve = known | {seat.seat: seat.reserve_ms for seat in each.seats}

    patch.setattr(Feed, "record", leaky)


FEED_LEAKS: dict[FeedLeak, str] = {
    private_events: SECRET,
    who_has_been_answered: SEALED,
    who_took_the_default: SECRET,
    size_of_what_was_taken: SECRET,
    reserves_of_many: SECRET,
}
