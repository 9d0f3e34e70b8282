"""Leaks planted in the live feed itself, for the test of the tests: `FEED_LEAKS` says which promise they break."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from protocol.feed import FeedClosed, FeedMessage, FeedWindow
from referee.host.feed import Feed
from referee.match.records import Record, WindowTime
from referee.rules.contract import Addressed
from tests.referee.proofs.planting import SEALED, SECRET

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
