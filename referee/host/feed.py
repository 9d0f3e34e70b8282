"""What one match tells its spectators while it is played: from records and events to messages of the feed. Pure.

Messages are built up from what everyone may know: public events, windows that the game announces, the spectator's
view, pauses. Submissions, charges, notes, seeds and setup are never looked at.
"""

from collections import deque
from collections.abc import Callable

from msgspec import UNSET, Raw, Struct

from protocol.codec import encode
from protocol.feed import (
    MATCH,
    FeedBegun,
    FeedClosed,
    FeedEnded,
    FeedEvent,
    FeedMessage,
    FeedPaused,
    FeedResumed,
    FeedSnapshot,
    FeedWindow,
)
from protocol.messages import ClockTerms
from protocol.words import Outcome
from referee.match import Ended, Record, WindowTime
from referee.rules import SPECTATOR, Addressed, Table, reveal

MAX_TOLD_BYTES = 64 * 1024
"""The most bytes of events in a snapshot. Older events are left out; the view still says how the match stands."""
PER_MS = 1_000

Publish = Callable[[str, bytes], None]
"""Takes a topic and a message for those who listen. It never waits and never fails; it may drop the message."""


class FeedTerms(Struct, frozen=True, kw_only=True):
    """What a spectator is told of a match before it begins, apart from what its table says."""

    match: str
    players: tuple[str, ...]
    """By seat."""
    clock: ClockTerms
    started: str
    alone: bool = False
    """No other match is played from its deal."""


class Feed:
    """One match's messages. Told all that the match records and tells, in order."""

    def __init__(self, table: Table, terms: FeedTerms, publish: Publish, now: Callable[[], int]) -> None:
        """`now`: the latest moment that the match has been told of, in microseconds since its zero."""
        self._table = table
        self._publish = publish
        self._now = now
        self._topic = f"{MATCH}{terms.match}"
        self._main_ms = terms.clock.main_ms
        self._n = 0
        self._between = True
        """No window has been told of since the last one closed."""
        self._opened = 0, 0
        """The number of the message in which the open window was told of, and when that was, in milliseconds."""
        self._reserve = _reserves(terms.clock, table.seats)
        self._paused: str | None = None
        self._paused_at = 0
        self._stopped = 0
        """How long the clocks stood still since the window opened, in microseconds, without a running pause."""
        self._events: deque[bytes] = deque()
        self._events_bytes = 0
        self._left_out = 0
        self._outcome: Outcome | None = None
        self._begun = FeedBegun(
            n=0,
            match=terms.match,
            game=table.game.name,
            variant=table.deal.variant,
            options=table.options,
            players=terms.players,
            clock=terms.clock,
            started=terms.started,
            alone=terms.alone,
        )

    def fork(self, table: Table, publish: Publish) -> "Feed":
        """A feed of its own that stands where this one does."""
        fork = Feed.__new__(Feed)
        fork.__dict__.update(self.__dict__)
        fork._table, fork._publish = table, publish  # noqa: SLF001 - it is one of its own
        fork._events, fork._reserve = self._events.copy(), self._reserve.copy()  # noqa: SLF001
        return fork

    def begin(self) -> None:
        """The attempt begins."""
        self._say(self._begun)

    def record(self, record: Record) -> None:
        """The match writes this. What is not public of it is left alone."""
        if isinstance(record, WindowTime):
            self._close(record)
        elif isinstance(record, Ended):
            self._outcome = record.outcome

    def told(self, told: tuple[Addressed, ...]) -> None:
        """The game tells this: after the deal or a window, or as an answer within one."""
        for one in told:
            if reveal.check_audience(one).seat is SPECTATOR:
                self._tell(one)
        if self._between:
            self._open()

    def paused(self, reason: str) -> None:
        """The clocks stop; or go on standing still for another reason."""
        if self._paused is None:
            self._paused_at = self._now()
        self._paused = reason
        self._say(FeedPaused(n=self._n, at_ms=self._at_ms, reason=reason))

    def resumed(self) -> None:
        """They run again."""
        self._stopped += self._now() - self._paused_at
        self._paused = None
        self._say(FeedResumed(n=self._n, at_ms=self._at_ms))

    def over(self, head: str) -> None:
        """The attempt is over. `head`: hash of its transcript's last line; empty: it has none, and is void."""
        if self._n == 0:
            return  # It never began.
        outcome = self._outcome if head else None
        view = reveal.shown(self._table.game, self._table.state, SPECTATOR)
        self._between = True
        self._say(FeedEnded(n=self._n, at_ms=self._at_ms, outcome=outcome, head=head, view=view))

    def snapshot(self, at: int) -> None:
        """Tells again what was told so far. `at`: now, by the clock and not by what came from a bot."""
        running = 0 if self._paused is None else at - self._paused_at
        message = FeedSnapshot(
            n=self._n,
            at_ms=at // PER_MS,
            begun=self._begun,
            events=tuple(map(Raw, self._events)),
            left_out=self._left_out,
            window=self._window(),
            stopped_ms=(self._stopped + running) // PER_MS,
            paused=self._paused,
        )
        self._publish(self._topic, encode(message))

    @property
    def _at_ms(self) -> int:
        return self._now() // PER_MS

    def _tell(self, told: Addressed) -> None:
        message = encode(FeedEvent(n=self._n, at_ms=self._at_ms, event=told.event))
        self._n += 1
        self._publish(self._topic, message)
        self._events.append(message)
        self._events_bytes += len(message)
        while self._events_bytes > MAX_TOLD_BYTES:
            self._events_bytes -= len(self._events.popleft())
            self._left_out += 1

    def _open(self) -> None:
        """Tells of the window that opens now, if everyone may know of it."""
        if self._table.window is None:
            return
        self._between = False
        self._stopped, self._paused_at = 0, self._now()
        self._opened = self._n, self._at_ms
        message = self._window()
        if message is not None:
            self._say(message)

    def _window(self) -> FeedWindow | None:
        """The message of the open window; None: there is none of which everyone may know."""
        game, state, window = self._table.game, self._table.state, self._table.window
        announced = None if window is None or self._between else reveal.announced(game, window)
        if announced is None:
            return None
        n, at_ms = self._opened
        return FeedWindow(
            n=n,
            at_ms=at_ms,
            window=announced.window,
            seats=announced.seats,
            main_ms=self._main_ms[announced.window],
            reserve_ms={str(seat): self._reserve[seat] for seat in announced.seats or () if seat in self._reserve},
            view=reveal.shown(game, state, SPECTATOR),
        )

    def _close(self, record: WindowTime) -> None:
        """A window is over; the table has not closed it yet."""
        window = self._table.window
        announced = None if window is None else reveal.announced(self._table.game, window)
        if announced is None or announced.seats is None or len(announced.seats) > 1:
            # Spectators may not know which seat's time passed.
            self._reserve = {}
        elif self._reserve:
            (seat,) = announced.seats
            self._reserve[seat] = next(each.reserve_ms for each in record.seats if each.seat == seat)
        self._between = True
        if announced is not None:
            self._say(FeedClosed(n=self._n, at_ms=self._at_ms))

    def _say(self, message: FeedMessage) -> None:
        self._n += 1
        self._publish(self._topic, encode(message))


def _reserves(clock: ClockTerms, seats: int) -> dict[int, int]:
    """Seat to the reserve that it has, as far as everyone can know it. Processor time nobody sees passing."""
    return dict.fromkeys(range(seats), clock.reserve_ms) if clock.kind is UNSET else {}
