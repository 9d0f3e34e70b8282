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
from msgspec import UNSET, UnsetType

from referee.host.evidence import EvidenceCollector, Meters, SeatState
from referee.host.observers import Feed, MatchLog, Observer
from referee.linux.processes import MICROSECONDS
from referee.match import (
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
    Woke,
)
from referee.rules import Addressed
from referee.sandbox import NOTHING
from referee.wire import (
    INBOX_FRAMES,
    TURN_SECONDS,
    Arrived,
    Bell,
    HandedOver,
    Line,
    NotReading,
    OutOf,
)

SNAPSHOT_SECONDS = 3.0
"""Seconds between two snapshots of a match's feed."""


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


class MatchHooks(Meters):
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

    def worked(self) -> float:
        """Return the loop's processor time in seconds, from an arbitrary zero: only differences mean something."""
        return trio.current_time()


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
        self._evidence = EvidenceCollector(io, self._seats, self._now)
        self._silent = set(range(len(io.lines)))
        """Seats whose bot has sent no accepted message yet."""
        self._inputs: deque[Callable[[int], Input | Ended]] = deque()
        """Functions that make an input from the time at which the match applies it."""
        self._all_processed: dict[int, trio.Event] = {}
        """Events to set when all frames received from a bot have been processed; keyed by seat."""
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
            self._evidence.window_sent(seat)

    def nobody_handed(self, seat: int) -> None:
        """See `MatchIO`."""
        self._evidence.window_without_bot(seat)
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
        self._evidence.count_from_here(seat)
        self._note_running(self._seats[seat], to=True)
        self._io.restart(seat)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        self._io.told(told)
        for observer in self._observers:
            observer.told(told)

    def paused(self, reason: str) -> None:
        """See `MatchIO`."""
        if self._measured:
            self._evidence.pause()
        for observer in self._observers:
            observer.paused(reason)

    def resumed(self) -> None:
        """See `MatchIO`."""
        self._evidence.resume()
        for observer in self._observers:
            observer.resumed()

    # Events other than frames. Any task of this trio run may call these.

    def starting(self, seat: int) -> None:
        """Note that a seat's bot is being started."""
        self._evidence.starting(seat)

    def started(self, seat: int) -> None:
        """Note that a seat's bot runs now. It is measured from here on."""
        reading = NOTHING
        if self._measured:
            reading = self._io.measure(seat)
        self._evidence.started(seat, reading)
        self._input(lambda at: Started(at=at, seat=seat))

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
        self._evidence.begin(self._zero, match.shortest)
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
        alarm.set(min(deadline, self._evidence.next_look))
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
                self._evidence.report_start(match, seat, now, woke)
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
            now = self._now()
            if self._evidence.collect(match, now, self._micros(now)):
                self._send_out()
        self._io.catch_up()

    def _read_cpu(self, match: Match, seats: Sequence[int]) -> None:
        """Pass the bots' processor time to the match, so that frames processed next are judged by it."""
        for seat in seats:
            used, cores = self._io.cpu_time(seat)
            match.apply(Cpu(at=self._micros(self._now()), seat=seat, used=used, cores=cores))

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
                self._evidence.note_answer(seat, item.at)
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

    def _micros(self, time: float) -> int:
        return round((time - self._zero) * MICROSECONDS)


def _record_for_all(takers: Sequence[Callable[[Record], None]], record: Record) -> None:
    for take in takers:
        take(record)
