"""Runs one match in trio: waits for messages, keeps the deadlines, and passes inputs to `Match`.

It makes no decisions itself. It works the same over ZeroMQ (`wire.local`) and over memory under trio's virtual
clock.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

import trio
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from referee.host.observers import Feed, MatchLog, Observer
from referee.linux.processes import MICROSECONDS
from referee.match import (
    BLOCKING_US,
    START,
    ClosedSeatWindow,
    Cpu,
    Ended,
    Frame,
    Handed,
    In,
    Input,
    Left,
    Match,
    PauseOrder,
    Record,
    Started,
    Used,
    Woke,
)
from referee.rules import Addressed
from referee.sandbox import NOTHING, Reading
from referee.wire import (
    INBOX_FRAMES,
    TURN_SECONDS,
    Arrived,
    Bell,
    HandedOver,
    Line,
    NotReading,
    Outgoing,
    OutOf,
)

STALE_SECONDS = 0.25
"""Seconds for which a reading of a bot's counters is used again, but at most `STALE_SHARE` of a window's time.
Processor time withheld from the bot shortly before a window then counts in the window, in the bot's favour."""
STALE_SHARE = 0.05
SNAPSHOT_SECONDS = 3.0
"""Seconds between two snapshots of a match's feed."""
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
    """The last time at which it was found so."""
    progress: tuple[int, int] = (0, 0)
    """The time that the thread had run by then, and the number of times that it had been scheduled."""


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
        """Seconds for which its bot had been frozen at its latest freeze or thaw."""
        self.frozen_since = 0.0
        """The time at which its bot was frozen, if it is; on trio's clock."""
        self.reading = NOTHING
        """The latest reading of its bot's counters."""
        self.read_at = -math.inf
        """The time of that reading."""
        self.window_start = CounterSnapshot(0.0)
        """The start of its latest window."""
        self.bot_start = CounterSnapshot(0.0)
        """The start of its bot."""
        self.at_pause = NOTHING
        """Its bot's counters at the start of the pause, of its window or of the bot, the latest of these."""
        self.wasted = 0.0
        """Seconds that the event loop has spent on its refused messages."""

    def rest(self, now: float) -> float:
        """Return for how many seconds its bot has been frozen in this match."""
        if not self.frozen:
            return self.rested
        return self.rested + (now - self.frozen_since)


class Alarm:
    """Rings a bell at a time that changes with each window. This is cheaper than a timeout around every wait."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._scope = trio.CancelScope()
        self._time = math.inf

    def set(self, time: float) -> None:
        """Ring at this time at the latest, on trio's clock. An earlier time set before remains in force."""
        if time < self._time:
            self._time = self._scope.deadline = time

    async def keep(self) -> None:
        """Ring at the times set, until cancelled."""
        while True:
            with self._scope:
                await trio.sleep_forever()
            self._time = math.inf
            self._scope = trio.CancelScope()
            self._bell.ring()


def _nothing() -> None:
    """Do nothing."""


class MatchHooks:
    """Hooks that the host calls. The defaults do nothing; override what you need. Hooks must not block."""

    feed: Feed | None = None
    """The spectators' feed."""
    log: MatchLog | None = None
    """The operator's log."""
    ponder = True
    """True if bots run all the time. If False, `let_run` freezes those that owe nothing."""
    counts_cpu = False
    """True if the match's clock counts `cpu_time` instead of wall time."""
    measured = False
    """True if evidence from `measure` and `behind` is passed to the match for each window."""

    record: Callable[[Record], None]
    """Writes a record to the transcript. It may be the transcript's own method, which saves a call per message."""
    catch_up: Callable[[], None] = staticmethod(_nothing)
    """Does work that can wait until the bots have their messages. The host calls it after each step."""

    def __init__(self, bell: Bell, lines: Sequence[Line]) -> None:
        """Store the lines, indexed by seat. Each of them rings `bell`."""
        self.bell = bell
        self.lines = lines

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Show spectators the events that are being sent to the seats."""

    def restart(self, seat: int) -> None:
        """Start the seat's bot again."""

    def hang_up(self, seat: int) -> None:
        """End the seat's bot, which plays no further part in the match."""

    def let_run(self, seat: int, runs: bool) -> None:
        """Freeze a seat's bot, or thaw it."""

    def started_up(self, seat: int) -> None:
        """Note that a seat's bot has sent its first message, its `hello`."""

    def cpu_time(self, seat: int) -> tuple[int, int]:  # noqa: ARG002 - no bot
        """Return a bot's processor time over the match in microseconds, and the number of cores it may use."""
        return 0, 1

    def measure(self, seat: int) -> Reading:  # noqa: ARG002 - no bot
        """Return the kernel's counters of a seat's bot."""
        return NOTHING

    def behind(self, since: float) -> float:  # noqa: ARG002 - never behind
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        return 0.0

    def worked(self) -> float:
        """Return the loop's processor time in seconds, from an arbitrary zero: only differences mean something."""
        return trio.current_time()

    def stopped(self, since: float) -> float:  # noqa: ARG002 - never stopped
        """Return the seconds for which the process was stopped since a time on trio's clock, which stopped too."""
        return 0.0


class Host:
    """The `MatchIO` of one match: sends to the bots' lines, writes the transcript, reads the clock."""

    def __init__(self, io: MatchHooks) -> None:
        self._io = io
        self._now = trio.lowlevel.current_clock().current_time
        """Cached clock; `trio.current_time()` looks it up on every call."""
        self._bell = io.bell
        self._seats = [SeatState(line) for line in io.lines]
        self._feed = io.feed
        self._ponder, self._counts_cpu, self._measured = io.ponder, io.counts_cpu, io.measured
        self._stale = STALE_SECONDS
        self._paused_at: float | None = None
        """The time at which the pause started; None: the match is not paused, or not measured."""
        self._starting: set[int] = set()
        """Seats whose bot is being started and does not run yet."""
        self._silent = set(range(len(io.lines)))
        """Seats whose bot has sent no accepted message yet."""
        self._inputs: deque[Callable[[int], Input | Ended]] = deque()
        """Functions that make an input from the time at which the match applies it."""
        self._all_processed: dict[int, trio.Event] = {}
        """Events to set when all frames received from a bot have been processed; keyed by seat."""
        self._later: list[tuple[float, PendingEvidence]] = []
        """Evidence to be read later, each with its time."""
        self._begun: set[int] = set()
        """Seats that were sent a window whose starting counters are not read yet."""
        self._observers: list[Observer] = []
        if io.feed is not None:
            self._observers.append(io.feed)
        if io.log is not None and io.log.enabled:
            self._observers.append(io.log)
        self.record = io.record
        """See `MatchIO`."""
        if self._observers:
            takers = [io.record, *(observer.record for observer in self._observers)]
            self.record = partial(_record_for_all, takers)

    # Calls from the match.

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """See `MatchIO`. The frame leaves with all others of this step for the seat."""
        self._seats[seat].outgoing.append((frame, timed))
        if timed:
            self._begun.add(seat)

    def nobody_handed(self, seat: int) -> None:
        """See `MatchIO`."""
        start = self._seats[seat].window_start
        start.at = self._now()
        self._note_wasted(start.wasted)
        self._input(lambda at: Handed(at=at, seat=seat))

    def reconnected(self, seat: int) -> None:
        """See `MatchIO`."""
        self._send_out()
        self._seats[seat].line.forget_unsent()

    def hang_up(self, seat: int) -> None:
        """See `MatchIO`."""
        self._send_out()
        self._seats[seat].line.hang_up()
        self._io.hang_up(seat)

    def restart(self, seat: int) -> None:
        """See `MatchIO`."""
        self._start_counting(seat)
        self._note_running(self._seats[seat], to=True)
        self._io.restart(seat)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        self._io.told(told)
        for observer in self._observers:
            observer.told(told)

    def paused(self, reason: str) -> None:
        """See `MatchIO`."""
        if self._paused_at is None and self._measured:
            self._paused_at = self._now()
            for number, seat in enumerate(self._seats):
                seat.at_pause = self._read(number, self._paused_at)
        for observer in self._observers:
            observer.paused(reason)

    def resumed(self) -> None:
        """See `MatchIO`."""
        self._leave_out_pause()
        for observer in self._observers:
            observer.resumed()

    def _leave_out_pause(self) -> None:
        """Exclude from the open windows all that bots did during the pause that just ended."""
        if self._paused_at is None:
            return
        now = self._now()
        length, self._paused_at = now - self._paused_at, None
        for number, seat in enumerate(self._seats):
            start = seat.window_start
            start.reading = start.reading.leaving_out(seat.at_pause, self._read(number, now))
            start.read_at += length

    # Events other than frames. Any task of this trio run may call these.

    def starting(self, seat: int) -> None:
        """Note that a seat's bot is being started."""
        self._starting.add(seat)
        self._start_counting(seat)

    def started(self, seat: int) -> None:
        """Note that a seat's bot runs now. It is measured from here on."""
        self._starting.discard(seat)
        reading = NOTHING
        if self._measured:
            reading = self._io.measure(seat)
        self._start_counting(seat, reading)
        self._input(lambda at: Started(at=at, seat=seat))

    def _start_counting(self, seat: int, reading: Reading = NOTHING) -> None:
        """Count the bot's processor time from here."""
        now, state = self._now(), self._seats[seat]
        state.bot_start = CounterSnapshot(now, reading, now, self._wasted_by_seat())
        state.window_start.reading, state.window_start.read_at = reading, now
        state.read_at, state.reading, state.at_pause = now, reading, reading

    async def left(self, seat: int, exit_code: int, why: str | UnsetType = UNSET) -> None:
        """Process a bot's exit, after all that it had sent.

        Frames that are processed later would count as sent by the bot that is started next in the seat: the old
        `hello` would make it count as connected, and it would be sent messages too early or twice.

        Args:
            seat: the bot's seat.
            exit_code: its process's exit code.
            why: the cause in words, where there is one.
        """
        line = self._seats[seat].line
        await line.settle()
        while line.has_more():
            self._all_processed[seat] = all_processed = trio.Event()
            self._bell.ring()
            await all_processed.wait()
            await line.settle()  # The bot may have sent more than a line holds.
        self._input(lambda at: Left(at=at, seat=seat, exit=exit_code, why=why))

    def cut_off(self, seat: int, reason: str) -> None:
        """Record that a bot's connection was closed for what it sent."""
        self._input(lambda at: In(at=at, seat=seat, closed=reason))

    def order(self, *, pause: bool) -> None:
        """Pause the match, or resume it, on the operator's order."""
        self._input(lambda at: PauseOrder(at=at, on=pause))

    def abort(self, reason: str) -> None:
        """Void the attempt for a reason."""
        self._input(lambda at: Ended.by_fault(at, reason))

    def _input(self, make: Callable[[int], Input | Ended]) -> None:
        self._inputs.append(make)
        self._bell.ring()

    # The match itself.

    async def run(self, match: Match) -> None:
        """Play the match to its end. Its clock starts at 0 now."""
        self._zero = self._now()
        self._stale = min(STALE_SECONDS, STALE_SHARE * match.shortest)
        for seat in self._seats:
            seat.bot_start = CounterSnapshot(self._zero, read_at=self._zero)
        async with trio.open_nursery() as nursery:
            alarm = Alarm(self._bell)
            nursery.start_soon(alarm.keep)
            if self._feed is not None:
                self._feed.begin()
                nursery.start_soon(self._tell_again, self._feed)
            match.begin()
            step = partial(self._step, match, alarm)
            while not match.over:
                if not step():
                    await self._bell.wait(step)
                elif not match.over:
                    await self._deadline(match)
            self._step_out(match)
            nursery.cancel_scope.cancel()

    async def _tell_again(self, feed: Feed) -> None:
        """Send the whole state again every `SNAPSHOT_SECONDS`, for spectators who connect late."""
        while True:
            await trio.sleep(SNAPSHOT_SECONDS)
            feed.snapshot(self._micros(trio.current_time()))

    def _step(self, match: Match, alarm: Alarm) -> bool:
        """Do all that can be done without waiting.

        Returns whether the match's task must run: the match is over, or a deadline has passed.
        """
        self._drain(match)
        self._step_out(match)
        if match.over:
            return True
        due = match.next_deadline()
        if due is not None and self._micros(self._now()) >= due:
            return True
        deadline = math.inf
        if due is not None:
            deadline = self._zero + due / MICROSECONDS
        # Evidence that is read again may be due after evidence further back in the list.
        alarm.set(min([deadline, *(looked_at for looked_at, _ in self._later)]))
        return False

    async def _deadline(self, match: Match) -> None:
        """Act on a deadline that has passed.

        Frames that arrived before it are processed first, however late this is.
        """
        self._read_cpu(match, match.counted())
        now = self._now()
        woke = self._micros(now)
        due = match.next_deadline()
        if due is None or due > woke:
            return  # The clock counts processor time, and the bot has some left.
        async with trio.open_nursery() as nursery:
            for state in self._seats:
                # All at once: receiving one line's frames may bring in another's.
                nursery.start_soon(state.line.settle)
        await self._drain_all(match)
        if self._measured:
            for seat in match.silent(woke):
                start = ClosedSeatWindow(seat, START, is_missed=True)
                self._report_usage(match, now, self._evidence(start, self._seats[seat].bot_start, now))
        due = match.next_deadline()
        if due is not None:
            match.apply(Woke(at=woke, deadline=due))
        self._step_out(match)

    def _step_out(self, match: Match) -> None:
        """Send the step's messages to the bots, and freeze or thaw bots where they may not ponder.

        A bot that owes a submission is thawed before its clock starts.
        """
        if self._ponder:
            self._send_out()
        else:
            owes = [match.owes(seat) for seat in range(len(self._seats))]
            self._set_running(owes, to=True)
            self._send_out()
            self._set_running(owes, to=False)
        if self._counts_cpu:
            self._read_cpu(match, match.counted(stale=True))
        if self._measured:
            self._take_evidence(match)
        self._io.catch_up()

    def _read_cpu(self, match: Match, seats: Sequence[int]) -> None:
        """Pass the bots' processor time to the match, so that frames processed next are judged by it."""
        for seat in seats:
            used, cores = self._io.cpu_time(seat)
            match.apply(Cpu(at=self._micros(self._now()), seat=seat, used=used, cores=cores))

    def _take_evidence(self, match: Match) -> None:
        """Pass the evidence of closed windows to the match, and read counters where windows start.

        This runs after the step's messages were sent, while the bots think.
        """
        now = self._now()
        closed = match.closed()
        there_is_some = bool(closed or self._later)
        for seat_window in closed:
            evidence = self._evidence(seat_window, self._seats[seat_window.seat].window_start, now)
            if seat_window.is_missed:
                # The kernel counts a thread's wait for a processor only when the thread gets one.
                self._later.append((now + LATER_SECONDS, evidence))
            else:
                self._report_usage(match, now, evidence)
        if self._later:
            self._report_due_evidence(match, now)
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
        if there_is_some:
            self._send_out()

    def _report_due_evidence(self, match: Match, now: float) -> None:
        """Pass on evidence that is due, or whose bot has answered since: it must have run for that."""
        waiting = self._later
        self._later = []
        for due, pending in waiting:
            if pending.answered is not None:
                self._report_usage(match, now, pending)
            elif now >= due:
                self._report_or_look_again(match, now, pending)
            else:
                self._later.append((due, pending))

    def _report_or_look_again(self, match: Match, now: float, pending: PendingEvidence) -> None:
        """Pass on the evidence of an unanswered window, or read it again soon if the bot waits for a processor.

        The kernel counts a wait when it ends. If the bot has run since the last reading, a wait that has not ended
        started after that reading.
        """
        reading = self._read(pending.closed.seat, now)
        if not reading.is_ready:
            self._report_usage(match, now, pending)
        elif pending.looks and reading.progress > pending.progress:
            self._report_usage(match, now, pending, uncounted=now - pending.looked)
        elif pending.looks < MOST_LOOKS:
            again = replace(pending, looks=pending.looks + 1, looked=now, progress=reading.progress)
            self._later.append((now + LOOK_SECONDS, again))
        else:
            self._report_usage(match, now, pending, uncounted=math.inf)

    def _read(self, seat: int, now: float) -> Reading:
        """Read a seat's counters. The reading is used again for `STALE_SECONDS`."""
        state = self._seats[seat]
        state.read_at, state.reading = now, self._io.measure(seat)
        return state.reading

    def _evidence(self, closed: ClosedSeatWindow, start: CounterSnapshot, now: float) -> PendingEvidence:
        """Return the evidence of a seat window that closed now.

        While a bot is being started, the loop counts as behind.
        """
        if closed.number == START and closed.seat in self._starting:
            behind = now - start.at
        else:
            behind = self._io.behind(start.at)
        rested = self._seats[closed.seat].rest(now)
        # Copied: the seat's next window may begin before the counters are read.
        copy = replace(start, wasted=start.wasted[:])
        return PendingEvidence(
            closed, copy, behind, self._io.stopped(start.at), self._wasted_by_seat(), now, rested
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

    def _report_usage(self, match: Match, now: float, pending: PendingEvidence, uncounted: float = 0.0) -> None:
        """Pass the measurement of a part to the match.

        Args:
            match: the match.
            now: the time, on trio's clock.
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
            at=self._micros(now),
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

    def _set_running(self, owes: Sequence[bool], *, to: bool) -> None:
        for number, runs in enumerate(owes):
            if runs is to and self._seats[number].frozen is to:
                self._io.let_run(number, to)
                self._note_running(self._seats[number], to=to)

    def _note_running(self, seat: SeatState, *, to: bool) -> None:
        """Note that a seat's bot was frozen now, or thawed."""
        now = self._now()
        seat.rested = seat.rest(now)
        seat.frozen, seat.frozen_since = not to, now

    def _send_out(self) -> None:
        """Pass each line the frames of this step."""
        for seat in self._seats:
            frames = seat.outgoing
            if frames:
                seat.outgoing = []
                seat.line.send_burst(frames)

    async def _drain_all(self, match: Match) -> None:
        """Process all received frames, and let other tasks run in between."""
        processed = [0] * len(self._seats)
        while self._drain(match, processed):
            await trio.lowlevel.checkpoint()

    def _drain(self, match: Match, processed: list[int] | None = None) -> bool:
        """Process received frames for at most one time slice; return True if some are left that must be processed.

        At most `INBOX_FRAMES` are processed per seat, so that no seat delays the others. The bell rings if more
        are there.

        Args:
            match: the match.
            processed: the number of frames processed before, indexed by seat. This call adds its own.
        """
        processed = processed or [0] * len(self._seats)
        turn = TURN_SECONDS / len(self._seats)
        more = False
        for seat, state in enumerate(self._seats):
            line = state.line
            if not line.has_more():
                continue
            if self._counts_cpu and seat in match.counted():
                self._read_cpu(match, (seat,))
            began = last = self._now()
            while processed[seat] < INBOX_FRAMES and last - began < turn:
                last = self._receive(match, seat)
                processed[seat] += 1
                if not line.has_more():
                    break
            else:
                self._bell.ring()
                more = more or processed[seat] < INBOX_FRAMES
        while self._inputs:
            match.apply(self._inputs.popleft()(self._micros(self._now())))
        if self._all_processed:
            for seat in list(self._all_processed):
                if not self._seats[seat].line.has_more():
                    self._all_processed.pop(seat).set()
        return more

    def _receive(self, match: Match, seat: int) -> float:
        """Process the next item received from a seat; return the time after that, on trio's clock."""
        worked = self._io.worked()
        item = self._seats[seat].line.receive_nowait()
        # Frames that a line held before the match started count as received at its start.
        at = max(0, self._micros(item.at))
        accepted = True
        match item:
            case Arrived():
                accepted = match.apply(Frame(at, seat, item.frame, item.size))
                if seat in self._silent and accepted:
                    self._silent.discard(seat)
                    self._io.started_up(seat)
                if self._later:
                    self._note_answer(seat, item.at)
            case HandedOver():
                match.apply(Handed(at=at, seat=seat))
            case NotReading():
                match.apply(Left(at=at, seat=seat, exit=None))
            case OutOf():
                match.apply(Ended.by_fault(at, item.what))
            case _ as unreachable:
                assert_never(unreachable)
        if not accepted:
            self._seats[seat].wasted += self._io.worked() - worked
        return self._now()

    def _note_answer(self, seat: int, at: float) -> None:
        """Note that a seat answered whose evidence is not read yet, so that this step reads it."""
        for place, (due, pending) in enumerate(self._later):
            if pending.closed.seat == seat and pending.answered is None:
                self._later[place] = due, replace(pending, answered=at)

    def _micros(self, time: float) -> int:
        return round((time - self._zero) * MICROSECONDS)


def _record_for_all(takers: Sequence[Callable[[Record], None]], record: Record) -> None:
    for take in takers:
        take(record)


def _to_micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)
