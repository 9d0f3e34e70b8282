"""Makes the messages for a match's spectators from its records and events, while it is played. Pure.

Messages contain only public knowledge: public events, windows that the game announces, the spectator's view,
pauses. Submissions, charges, notes, seeds and setup are never read.
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
"""The most bytes of events in a snapshot. Older events are left out; the view still shows the current state."""
PER_MS = 1_000

Publish = Callable[[str, bytes], None]
"""A function that sends a topic and a message to spectators. It never waits or fails, and may drop the message."""


class FeedTerms(Struct, frozen=True, kw_only=True):
    """The facts about a match that spectators get at its start, apart from those of its table."""

    match: str
    players: tuple[str, ...]
    """Names, indexed by seat."""
    clock: ClockTerms
    started: str
    alone: bool = False
    """True if no other match is played from the same deal."""


class Feed:
    """The feed of one match. It receives all records and events of the match, in order."""

    def __init__(self, table: Table, terms: FeedTerms, publish: Publish, now: Callable[[], int]) -> None:
        """Set up a feed. `now` returns the time of the match's latest input, in microseconds since its start."""
        self._table = table
        self._publish = publish
        self._now = now
        self._topic = f"{MATCH}{terms.match}"
        self._main_ms = terms.clock.main_ms
        self._n = 0
        self._between = True
        """True if no window was announced since the last one closed."""
        self._opened = 0, 0
        """The number of the message that announced the open window, and its time in milliseconds."""
        self._reserve = _reserves(terms.clock, table.seats)
        self._paused: str | None = None
        self._paused_at = 0
        self._stopped = 0
        """Microseconds for which the clocks were stopped since the window opened, without a running pause."""
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
        """Return an independent copy of this feed, for another table."""
        fork = Feed.__new__(Feed)
        fork.__dict__.update(self.__dict__)
        fork._table, fork._publish = table, publish  # noqa: SLF001 - of the same class
        fork._events, fork._reserve = self._events.copy(), self._reserve.copy()  # noqa: SLF001
        return fork

    def begin(self) -> None:
        """Announce the start of the attempt."""
        self._say(self._begun)

    def record(self, record: Record) -> None:
        """Use the public part of a record that the match writes."""
        if isinstance(record, WindowTime):
            self._close(record)
        elif isinstance(record, Ended):
            self._outcome = record.outcome

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Publish the public ones of the game's events: after the deal or a window, or during one."""
        for one in told:
            if reveal.check_audience(one).seat is SPECTATOR:
                self._tell(one)
        if self._between:
            self._open()

    def paused(self, reason: str) -> None:
        """Announce that the clocks are stopped, or that they remain so for another reason."""
        if self._paused is None:
            self._paused_at = self._now()
        self._paused = reason
        self._say(FeedPaused(n=self._n, at_ms=self._at_ms, reason=reason))

    def resumed(self) -> None:
        """Announce that the clocks run again."""
        self._stopped += self._now() - self._paused_at
        self._paused = None
        self._say(FeedResumed(n=self._n, at_ms=self._at_ms))

    def over(self, head: str) -> None:
        """Announce the end of the attempt.

        Args:
            head: the hash of its transcript's last line; empty: it has no transcript and is void.
        """
        if self._n == 0:
            return  # The start was never announced.
        outcome = self._outcome if head else None
        view = reveal.shown(self._table.game, self._table.state, SPECTATOR)
        self._between = True
        self._say(FeedEnded(n=self._n, at_ms=self._at_ms, outcome=outcome, head=head, view=view))

    def snapshot(self, at: int) -> None:
        """Publish the whole state once more.

        `at`: the clock's time, which may be later than the latest input's.
        """
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
        """Announce the window that opens now, if it is public."""
        if self._table.window is None:
            return
        self._between = False
        self._stopped, self._paused_at = 0, self._now()
        self._opened = self._n, self._at_ms
        message = self._window()
        if message is not None:
            self._say(message)

    def _window(self) -> FeedWindow | None:
        """Return the message about the open window; None: no public window is open."""
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
        """Announce that a window is over. The table has not closed it yet."""
        window = self._table.window
        announced = None if window is None else reveal.announced(self._table.game, window)
        if announced is None or announced.seats is None or len(announced.seats) > 1:
            # Spectators must not learn whose time was used.
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
    """Return each seat's reserve in milliseconds as far as it is public; use of processor time is not."""
    return dict.fromkeys(range(seats), clock.reserve_ms) if clock.kind is UNSET else {}
