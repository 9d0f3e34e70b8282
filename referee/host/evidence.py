"""The state of each seat, and the evidence of why a window was lost.

That is what the kernel counted of the bot, and for how long the event loop was behind. Counters are read where
windows start and after they have closed, while the bots think. The kernel counts a thread's wait for a processor
only when the wait ends, so the counters of a missed window are read a little later.
"""

import math
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from referee.linux.processes import MICROSECONDS
from referee.match import BLOCKING_US, START, ClosedSeatWindow, Match, Used
from referee.sandbox import NOTHING, Reading
from referee.wire import Line, Outgoing

STALE_SECONDS = 0.25
"""Seconds for which a reading of a bot's counters is used again, but at most `STALE_SHARE` of a window's time.
Processor time withheld from the bot shortly before a window then counts in the window, in the bot's favour."""
STALE_SHARE = 0.05
LOOK_SECONDS = 0.025
"""Seconds until counters are read again if the bot's main thread was waiting for a processor."""
MOST_LOOKS = 20
"""The most repeated readings for that reason."""
LATER_SECONDS = 0.25
"""Seconds from a missed window until the bot's counters are read: the kernel counts a thread's wait when it
ends."""


class CounterSnapshot(Struct):
    """The state at the start of a seat's window, or of its bot.

    The object is used again for the seat's next window.
    """

    at: float
    """The time of the start, on trio's clock."""
    reading: Reading = NOTHING
    """The bot's counters at that time, or up to `STALE_SECONDS` earlier."""
    read_at: float = 0.0
    """The time at which they were read."""
    wasted: list[float] = []
    """Seconds that the event loop had spent on each seat's rejected messages; indexed by seat."""


class PendingEvidence(Struct, frozen=True):
    """A closed seat window whose bot's counters are not read yet."""

    closed: ClosedSeatWindow
    start: CounterSnapshot
    behind: float
    """The longest event-loop stall during the window, in seconds."""
    stopped: float
    """Seconds for which the process was stopped during the window."""
    wasted: list[float]
    """The values of `CounterSnapshot.wasted` at the window's end."""
    ended: float
    """The time at which the window closed, on trio's clock."""
    rested: float
    """Seconds for which the bot had been frozen in this match before the window closed."""
    answered: float | None = None
    """The time of the bot's first frame after the close, usually its late submission; on trio's clock."""
    looks: int = 0
    """Number of readings that found the bot's main thread ready to run, so that its latest wait may not be counted
    yet."""
    looked: float = 0.0
    """The time of the last reading that found the thread ready to run."""
    progress: tuple[int, int] = (0, 0)
    """The thread's running time at that reading, and the number of times that it had been scheduled."""


class SeatState:
    """The host's state of one seat."""

    __slots__ = (
        "at_pause", "bot_start", "frozen", "frozen_since", "line", "outgoing", "read_at", "reading", "rested",
        "wasted", "window_start",
    )  # fmt: skip

    def __init__(self, line: Line) -> None:
        self.line = line
        self.outgoing: list[Outgoing] = []
        """The frames of this step, which leave together."""
        self.frozen = False
        self.rested = 0.0
        """Seconds for which the bot had been frozen at its latest freeze or thaw."""
        self.frozen_since = 0.0
        """The time at which the bot was frozen, if it is frozen; on trio's clock."""
        self.reading = NOTHING
        """The latest reading of the bot's counters."""
        self.read_at = -math.inf
        """The time of that reading."""
        self.window_start = CounterSnapshot(0.0)
        """The state at the start of the seat's latest window."""
        self.bot_start = CounterSnapshot(0.0)
        """The state at the start of the bot."""
        self.at_pause = NOTHING
        """The bot's counters at the latest of its start, the start of its window and the start of the pause."""
        self.wasted = 0.0
        """Seconds that the event loop has spent on the seat's refused messages."""

    def rest(self, now: float) -> float:
        """Return for how many seconds the bot has been frozen in this match."""
        if not self.frozen:
            return self.rested
        return self.rested + (now - self.frozen_since)


class Meters:
    """Measurements of bots and of the event loop. The defaults measure nothing; override them together."""

    def measure(self, seat: int) -> Reading:  # noqa: ARG002 - no bot
        """Return the kernel's counters of a seat's bot."""
        return NOTHING

    def behind(self, since: float) -> float:  # noqa: ARG002 - never behind
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        return 0.0

    def stopped(self, since: float) -> float:  # noqa: ARG002 - never stopped
        """Return the seconds for which the process was stopped since a time on trio's clock, which stopped too."""
        return 0.0


class EvidenceCollector:
    """The evidence of one match. It reads the counters of bots, and passes measurements to the match."""

    def __init__(self, meters: Meters, seats: Sequence[SeatState], now: Callable[[], float]) -> None:
        """Set up a collector. `now` is the clock."""
        self._meters = meters
        self._seats = seats
        self._now = now
        self._stale = STALE_SECONDS
        self._paused_at: float | None = None
        """The time at which the pause started; None: the match is not paused."""
        self._starting: set[int] = set()
        """Seats whose bot is being started and does not run yet."""
        self._later: list[tuple[float, PendingEvidence]] = []
        """Evidence to be read later, each with its time."""
        self._begun: set[int] = set()
        """Seats that were sent a window whose starting counters are not read yet."""

    def begin(self, zero: float, shortest: float) -> None:
        """Start the match's time at `zero`; its shortest window has `shortest` seconds."""
        self._stale = min(STALE_SECONDS, STALE_SHARE * shortest)
        for seat in self._seats:
            seat.bot_start = CounterSnapshot(zero, read_at=zero)

    def window_sent(self, seat: int) -> None:
        """Note that a window was sent to a seat, so that `collect` reads the counters at its start."""
        self._begun.add(seat)

    def window_without_bot(self, seat: int) -> None:
        """Note that a seat has a window but no bot at the moment."""
        start = self._seats[seat].window_start
        start.at = self._now()
        self._note_wasted(start.wasted)

    def pause(self) -> None:
        """Exclude from the open windows all that bots do from here on, until `resume`. Idempotent."""
        if self._paused_at is None:
            self._paused_at = self._now()
            for number, seat in enumerate(self._seats):
                seat.at_pause = self._read(number, self._paused_at)

    def resume(self) -> None:
        """Include what bots do from here on again, if there was a pause."""
        if self._paused_at is None:
            return
        now = self._now()
        length, self._paused_at = now - self._paused_at, None
        for number, seat in enumerate(self._seats):
            start = seat.window_start
            start.reading = start.reading.leaving_out(seat.at_pause, self._read(number, now))
            start.read_at += length

    def starting(self, seat: int) -> None:
        """Note that a seat's bot is being started."""
        self._starting.add(seat)
        self.count_from_here(seat)

    def started(self, seat: int, reading: Reading) -> None:
        """Note that a seat's bot runs now, with its counters."""
        self._starting.discard(seat)
        self.count_from_here(seat, reading)

    def count_from_here(self, seat: int, reading: Reading = NOTHING) -> None:
        """Count the bot's processor time from here."""
        now, state = self._now(), self._seats[seat]
        state.bot_start = CounterSnapshot(now, reading, now, self._wasted_by_seat())
        state.window_start.reading, state.window_start.read_at = reading, now
        state.read_at, state.reading, state.at_pause = now, reading, reading

    @property
    def next_look(self) -> float:
        """The time at which evidence is to be read next; infinity if none is to be read."""
        # Evidence that is read again may be due after evidence further back in the list.
        return min([due for due, _ in self._later], default=math.inf)

    def note_answer(self, seat: int, at: float) -> None:
        """Note that a seat answered at a time: if its evidence is not read yet, this step reads it."""
        for place, (due, pending) in enumerate(self._later):
            if pending.closed.seat == seat and pending.answered is None:
                self._later[place] = due, replace(pending, answered=at)

    def collect(self, match: Match, now: float, at: int) -> bool:
        """Pass the evidence of closed windows to the match, and read counters where windows start.

        Call it after the step's messages were sent, while the bots think. `at` is the match's time.

        Returns whether there was evidence, on which the match may have acted.
        """
        closed = match.closed()
        there_is_some = bool(closed or self._later)
        for seat_window in closed:
            evidence = self._evidence(seat_window, self._seats[seat_window.seat].window_start, now)
            if seat_window.is_missed:
                # The kernel counts a thread's wait for a processor only when the thread gets one.
                self._later.append((now + LATER_SECONDS, evidence))
            else:
                self._report_usage(match, now, at, evidence)
        if self._later:
            self._report_due_evidence(match, now, at)
        if self._begun:
            for number in self._begun:
                seat = self._seats[number]
                if now - seat.read_at >= self._stale:
                    self._read(number, now)
                start = seat.window_start
                start.at, start.reading, start.read_at = now, seat.reading, seat.read_at
                self._note_wasted(start.wasted)
                seat.at_pause = seat.reading
            self._begun.clear()
        return there_is_some

    def report_start(self, match: Match, seat: int, now: float, at: int) -> None:
        """Pass to the match the measurement of a start whose time has run out."""
        start = ClosedSeatWindow(seat, START, is_missed=True)
        self._report_usage(match, now, at, self._evidence(start, self._seats[seat].bot_start, now))

    def _report_due_evidence(self, match: Match, now: float, at: int) -> None:
        """Pass on evidence that is due, or whose bot has answered since: it must have run for that."""
        waiting = self._later
        self._later = []
        for due, pending in waiting:
            if pending.answered is not None:
                self._report_usage(match, now, at, pending)
            elif now >= due:
                self._report_or_look_again(match, now, at, pending)
            else:
                self._later.append((due, pending))

    def _report_or_look_again(self, match: Match, now: float, at: int, pending: PendingEvidence) -> None:
        """Pass on the evidence of an unanswered window, or read it again soon if the bot waits for a processor.

        The kernel counts a wait when it ends. If the bot has run since the last reading, a wait that has not ended
        started after that reading.
        """
        reading = self._read(pending.closed.seat, now)
        if not reading.is_ready:
            self._report_usage(match, now, at, pending)
        elif pending.looks and reading.progress > pending.progress:
            self._report_usage(match, now, at, pending, uncounted=now - pending.looked)
        elif pending.looks < MOST_LOOKS:
            again = replace(pending, looks=pending.looks + 1, looked=now, progress=reading.progress)
            self._later.append((now + LOOK_SECONDS, again))
        else:
            self._report_usage(match, now, at, pending, uncounted=math.inf)

    def _read(self, seat: int, now: float) -> Reading:
        """Read a seat's counters. The reading is used again for `STALE_SECONDS`."""
        state = self._seats[seat]
        state.read_at, state.reading = now, self._meters.measure(seat)
        return state.reading

    def _evidence(self, closed: ClosedSeatWindow, start: CounterSnapshot, now: float) -> PendingEvidence:
        """Return the evidence of a seat window that closed now.

        While a bot is being started, the loop counts as behind.
        """
        if closed.number == START and closed.seat in self._starting:
            behind = now - start.at
        else:
            behind = self._meters.behind(start.at)
        rested = self._seats[closed.seat].rest(now)
        # Copied: the seat's next window may begin before the counters are read.
        copy = replace(start, wasted=start.wasted[:])
        return PendingEvidence(
            closed, copy, behind, self._meters.stopped(start.at), self._wasted_by_seat(), now, rested
        )

    def _wasted_by_seat(self) -> list[float]:
        """Return the seconds that the loop has spent on each seat's rejected messages; indexed by seat."""
        wasted: list[float] = []
        self._note_wasted(wasted)
        return wasted

    def _note_wasted(self, wasted: list[float]) -> None:
        """Write the same into a list that is empty or was filled here before."""
        if not wasted:
            wasted.extend([0.0] * len(self._seats))
        for number, seat in enumerate(self._seats):
            wasted[number] = seat.wasted + seat.line.wasted

    def _report_usage(
        self, match: Match, now: float, at: int, pending: PendingEvidence, uncounted: float = 0.0
    ) -> None:
        """Pass the measurement of a seat window to the match.

        Args:
            match: the match.
            now: the time, on trio's clock.
            at: the match's time.
            pending: the evidence so far.
            uncounted: the longest that a wait for a processor can have lasted which has not ended yet, in seconds.
        """
        seat, before = pending.closed.seat, pending.start.reading
        reading = self._read(seat, now)
        wasted = [
            _to_micros(end - start) for end, start in zip(pending.wasted, pending.start.wasted, strict=False)
        ]
        blocking_seats = tuple(other for other, us in enumerate(wasted) if other != seat and us >= BLOCKING_US)
        # The counters restart at 0 if the bot was restarted during the window.
        cpu, waited = max(0, reading.cpu - before.cpu), max(0, reading.waited - before.waited)
        is_start = pending.closed.number == START
        rested = max(0.0, self._seats[seat].rest(now) - pending.rested)
        taken = 0
        if wasted:
            taken = wasted[seat]
        used = Used(
            at=at,
            seat=seat,
            number=pending.closed.number,
            cpu=cpu,
            waited=waited,
            withheld=reading.withheld(before, now - pending.start.read_at, starting=is_start),
            throttled=max(0, reading.throttled - before.throttled),
            behind=_to_micros(pending.behind),
            stopped=_to_micros(pending.stopped),
            taken=taken,
            blocking_seats=blocking_seats,
            blocked_us=sum([wasted[other] for other in blocking_seats]),
            rested=_to_micros(rested),
        )
        if not (is_start or math.isinf(uncounted)) and (active := reading.active(before)) is not None:
            until = pending.answered
            if until is None:
                until = now - uncounted
            after = _to_micros(max(0.0, until - pending.ended - rested))
            used = replace(used, active=active, after=after)
        match.apply(used)


def _to_micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)
