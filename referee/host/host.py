"""Runs one match in trio: waits for what comes, holds the deadlines, and gives `Match` its inputs.

It decides nothing itself. Works the same over ZeroMQ (`wire.local`) and over memory under trio's virtual clock.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

import trio
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from referee.host.feed import Feed
from referee.host.match_log import MatchLog
from referee.linux.cpu_time import MICROSECONDS
from referee.match import (
    HOG_US,
    START,
    ClosedPart,
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
"""What was read of a bot's counters so long ago still stands for now, but for no longer than `STALE_SHARE` of a
window's time. What was withheld from it shortly before a window then counts in it, which is in its favour."""
STALE_SHARE = 0.05
SNAPSHOT_SECONDS = 3.0
"""From one snapshot of a match's feed to the next."""
LOOK_SECONDS = 0.025
"""Those of a bot that waits for a processor just then are read again after so long,"""
MOST_LOOKS = 20
"""so many times."""
LATER_SECONDS = 0.25
"""How long after a window that a bot has missed its counters are read: a thread's waiting counts when it ends."""


class Beginning(Struct):
    """What was so when a seat's window, or its bot's start, began. It serves a seat's next window, too."""

    at: float
    """On trio's clock."""
    reading: Reading = NOTHING
    """Its bot's counters, then or up to `STALE_SECONDS` before."""
    read_at: float = 0.0
    """When they were read."""
    took: list[float] = []
    """By seat: for how many seconds trio's loop had worked on what its bot sends in vain."""


class Unread(Struct, frozen=True):
    """A part that is over; its bot's counters are to be read."""

    over: ClosedPart
    began: Beginning
    behind: float
    """The longest that the loop was busy at a stretch meanwhile, in seconds."""
    stopped: float
    """For how long the process was stopped meanwhile, in seconds."""
    took: list[float]
    """As `Beginning.took`, at its end."""
    ended: float
    """When it was over, on trio's clock."""
    rested: float
    """For how many seconds its bot had been frozen by then, over the match."""
    answered: float | None = None
    """When something came from its bot after the end: its late submission, as a rule. On trio's clock."""
    looks: int = 0
    """How often its bot's main thread was found to be ready to run, so that a wait of its may not be over."""
    looked: float = 0.0
    """When that was, the last time."""
    progress: tuple[int, int] = (0, 0)
    """How long it had run by then, and how often a processor had come to it."""


class Alarm:
    """Rings a bell at a time that is set anew for each window: cheaper than a timeout around every wait."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._scope = trio.CancelScope()
        self._time = math.inf

    def set(self, time: float) -> None:
        """When to ring at the latest, on trio's clock. It may ring earlier: an earlier time is not taken back."""
        if time < self._time:
            self._time = self._scope.deadline = time

    async def keep(self) -> None:
        """Rings, until it is cancelled."""
        while True:
            with self._scope:
                await trio.sleep_forever()
            self._time = math.inf
            self._scope = trio.CancelScope()
            self._bell.ring()


class HostIO:
    """What a host uses besides the match: here what is the least, for subclasses to add to. None of it waits."""

    feed: Feed | None = None
    """What spectators are told."""
    log: MatchLog | None = None
    """The operator's."""
    ponder = True
    """Whether bots may always run; else `let_run` is asked to stop them."""
    counts_cpu = False
    """Whether the clock counts `cpu_time`."""
    measured = False
    """Whether the match is told what its windows were like, by `measure` and `behind`."""

    def __init__(self, bell: Bell, lines: Sequence[Line]) -> None:
        """`lines` by seat, all of which ring `bell`."""
        self.bell = bell
        self.lines = lines

    record: Callable[[Record], None]
    """Takes a line for the transcript. It can be the transcript's own method: one call less a message."""

    def catch_up(self) -> None:
        """Does what can wait until bots have what a step has for them; called after each, while they think."""

    def told(self, told: tuple[Addressed, ...]) -> None:
        """This is being told to the seats: for those who watch."""

    def restart(self, seat: int) -> None:
        """The seat's bot is to be started again."""

    def hung_up(self, seat: int) -> None:
        """The seat's bot has no part in the match any more."""

    def let_run(self, seat: int, runs: bool) -> None:
        """Stops a seat's bot where it is, or lets it go on."""

    def started_up(self, seat: int) -> None:
        """Take note that a seat's bot has sent its first message, its `hello`."""

    def cpu_time(self, seat: int) -> tuple[int, int]:  # noqa: ARG002 - nobody's
        """A bot's processor time over the match, in microseconds, and on how many cores at most it is used."""
        return 0, 1

    def measure(self, seat: int) -> Reading:  # noqa: ARG002 - nobody's
        """What the kernel has counted for a seat's bot."""
        return NOTHING

    def behind(self, since: float) -> float:  # noqa: ARG002 - never
        """How long, in seconds, the loop was busy at most since a moment."""
        return 0.0

    def worked(self) -> float:
        """Return for how many seconds the loop has worked: a difference of two is what was done in between."""
        return trio.current_time()

    def stopped(self, since: float) -> float:  # noqa: ARG002 - never
        """Return for how many seconds the process was stopped since a moment; trio's clock stood meanwhile."""
        return 0.0


class Host:
    """One match's `MatchIO`: its bots' lines, its transcript, its clock."""

    def __init__(self, io: HostIO) -> None:
        self._io = io
        self._now = trio.lowlevel.current_clock().current_time
        """Trio's clock: `trio.current_time` finds out anew each time which it is."""
        self._bell = io.bell
        self._lines = lines = io.lines
        self._feed = io.feed
        self._log = io.log if io.log is not None and io.log.enabled else None
        self._ponder, self._counts_cpu, self._measured = io.ponder, io.counts_cpu, io.measured
        self._stopped = [False] * len(lines)
        self._rested = [0.0] * len(lines)
        """By seat: for how many seconds its bot had been frozen when it was frozen or thawed the last time."""
        self._rests_since = [0.0] * len(lines)
        """By seat: when its bot was frozen, if it is."""
        self._stale = STALE_SECONDS
        self._last = [NOTHING] * len(lines)
        """By seat: its bot's counters, as they were last read."""
        self._read_at = [-math.inf] * len(lines)
        """By seat: when that was."""
        self._before = [Beginning(0.0) for _ in lines]
        """By seat: of its last window."""
        self._start = [Beginning(0.0) for _ in lines]
        """By seat: of its bot's start."""
        self._paused_at: float | None = None
        """When the pause began; None: there is none, or the match is not measured."""
        self._at_pause = list(self._last)
        """By seat: its bot's counters when the pause began, or its window, or its bot, if that was later."""
        self._took = [0.0] * len(lines)
        """By seat: for how many seconds the loop has worked on messages that had to be refused."""
        self._starting: set[int] = set()
        """Seats whose bot is being started, and does not run yet."""
        self._silent = set(range(len(lines)))
        """Seats whose bots have sent no message yet that the match accepted."""
        self._inputs: deque[Callable[[int], Input | Ended]] = deque()
        """Inputs that want only their time, which is when the match takes them."""
        self._all_heard: dict[int, trio.Event] = {}
        """By seat: to be set when what has come from its bot was heard."""
        self._outgoing: list[list[Outgoing]] = [[] for _ in lines]
        self._later: list[tuple[float, Unread]] = []
        """Evidence that is to be read a little later, and when."""
        self._begun: set[int] = set()
        """Seats that have been sent a window of which the counters at its beginning are not read yet."""
        also = [each.record for each in (io.feed, self._log) if each is not None]
        self.record = partial(_record_for_all, [io.record, *also]) if also else io.record
        """See `MatchIO`."""

    # What a match asks for.

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """See `MatchIO`. It goes to the line with all that this step has for the seat."""
        self._outgoing[seat].append((frame, timed))
        if timed:
            self._begun.add(seat)

    def nobody_handed(self, seat: int) -> None:
        """See `MatchIO`."""
        self._before[seat].at = self._now()
        self._note_taken(self._before[seat].took)
        self._input(lambda at: Handed(at=at, seat=seat))

    def reconnected(self, seat: int) -> None:
        """See `MatchIO`."""
        self._send_out()
        self._lines[seat].forget_unsent()

    def hang_up(self, seat: int) -> None:
        """See `MatchIO`."""
        self._send_out()
        self._lines[seat].hang_up()
        self._io.hung_up(seat)

    def restart(self, seat: int) -> None:
        """See `MatchIO`."""
        self._starts(seat)
        self._note_running(seat, to=True)
        self._io.restart(seat)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        self._io.told(told)
        if self._feed is not None:
            self._feed.told(told)

    def paused(self, reason: str) -> None:
        """See `MatchIO`."""
        if self._paused_at is None and self._measured:
            self._paused_at = self._now()
            self._at_pause = [self._read(seat, self._paused_at) for seat in range(len(self._lines))]
        if self._feed is not None:
            self._feed.paused(reason)
        if self._log is not None:
            self._log.paused(reason)

    def resumed(self) -> None:
        """See `MatchIO`."""
        self._leave_out_pause()
        if self._feed is not None:
            self._feed.resumed()
        if self._log is not None:
            self._log.resumed()

    def _leave_out_pause(self) -> None:
        """Let nothing count for windows that bots did in the pause that is over."""
        if self._paused_at is None:
            return
        now = self._now()
        length, self._paused_at = now - self._paused_at, None
        for seat, before in enumerate(self._before):
            before.reading = before.reading.leaving_out(self._at_pause[seat], self._read(seat, now))
            before.read_at += length

    # What happens besides frames: said from any task of this trio.

    def starting(self, seat: int) -> None:
        """A seat's bot is being started."""
        self._starting.add(seat)
        self._starts(seat)

    def started(self, seat: int) -> None:
        """It runs, and is measured from now on."""
        self._starting.discard(seat)
        self._starts(seat, self._io.measure(seat) if self._measured else NOTHING)
        self._input(lambda at: Started(at=at, seat=seat))

    def _starts(self, seat: int, reading: Reading = NOTHING) -> None:
        """What is counted for its bot counts from here."""
        now = self._now()
        self._start[seat] = Beginning(now, reading, now, self._taken())
        self._before[seat].reading, self._before[seat].read_at = reading, now
        self._read_at[seat], self._last[seat], self._at_pause[seat] = now, reading, reading

    async def left(self, seat: int, exit_code: int, why: str | UnsetType = UNSET) -> None:
        """A bot's process has ended; `why`, in words. What it said before it did is heard first.

        Heard later, it would be taken for the words of the bot that is started again in the seat: by its `hello`
        that one would count as being there, be told what nobody hears, or hear it twice.
        """
        line = self._lines[seat]
        await line.settle()
        while line.has_more():
            self._all_heard[seat] = all_heard = trio.Event()
            self._bell.ring()
            await all_heard.wait()
            await line.settle()  # It may have said more than a line holds.
        self._input(lambda at: Left(at=at, seat=seat, exit=exit_code, why=why))

    def cut_off(self, seat: int, reason: str) -> None:
        """Record that a bot's connection was closed for what it sent."""
        self._input(lambda at: In(at=at, seat=seat, closed=reason))

    def order(self, *, pause: bool) -> None:
        """The operator pauses the match, or lets it go on."""
        self._input(lambda at: PauseOrder(at=at, on=pause))

    def abort(self, reason: str) -> None:
        """The attempt is void, for this reason."""
        self._input(lambda at: Ended.by_fault(at, reason))

    def _input(self, make: Callable[[int], Input | Ended]) -> None:
        self._inputs.append(make)
        self._bell.ring()

    # The match itself.

    async def run(self, match: Match) -> None:
        """Plays the match to its end. Its zero is now."""
        self._zero = self._now()
        self._stale = min(STALE_SECONDS, STALE_SHARE * match.shortest)
        self._start = [Beginning(self._zero, read_at=self._zero) for _ in self._lines]
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
        """Tells the whole picture again, for spectators who come late."""
        while True:
            await trio.sleep(SNAPSHOT_SECONDS)
            feed.snapshot(self._micros(trio.current_time()))

    def _step(self, match: Match, alarm: Alarm) -> bool:
        """Does what there is to do without waiting; whether the match's task is to go on: a deadline has come."""
        self._drain(match)
        self._step_out(match)
        if match.over:
            return True
        due = match.next_deadline()
        if due is not None and self._micros(self._now()) >= due:
            return True
        deadline = math.inf if due is None else self._zero + due / MICROSECONDS
        # One that was looked at again may be due after those behind it.
        alarm.set(min([deadline, *(looked_at for looked_at, _ in self._later)]))
        return False

    async def _deadline(self, match: Match) -> None:
        """A deadline has come: what arrived before it is heard first, however late we woke."""
        self._read_cpu(match, match.counted())
        now = self._now()
        woke = self._micros(now)
        due = match.next_deadline()
        if due is None or due > woke:
            return  # It was time to look whether a bot's time is up by now, and it is not.
        async with trio.open_nursery() as nursery:
            for line in self._lines:
                # All at once: what brings in one's frames may bring in another's.
                nursery.start_soon(line.settle)
        await self._drain_all(match)
        if self._measured:
            for seat in match.silent(woke):
                start = ClosedPart(seat, START, is_missed=True)
                self._tell_used(match, now, self._evidence(start, self._start[seat], now))
        due = match.next_deadline()
        if due is not None:
            match.apply(Woke(at=woke, deadline=due))
        self._step_out(match)

    def _step_out(self, match: Match) -> None:
        """Sends what a step has for the bots. Those that owe something run before their clocks do; others rest."""
        if self._ponder:
            self._send_out()
        else:
            owes = [match.owes(seat) for seat in range(len(self._lines))]
            self._set_running(owes, to=True)
            self._send_out()
            self._set_running(owes, to=False)
        if self._counts_cpu:
            self._read_cpu(match, match.counted(stale=True))
        if self._measured:
            self._take_evidence(match)
        self._io.catch_up()

    def _read_cpu(self, match: Match, seats: Sequence[int]) -> None:
        """Tells the match what its bots have used by now. What arrived is heard after it, and judged by it."""
        for seat in seats:
            used, cores = self._io.cpu_time(seat)
            match.apply(Cpu(at=self._micros(self._now()), seat=seat, used=used, cores=cores))

    def _take_evidence(self, match: Match) -> None:
        """Tells what windows that are over were like, and reads where one begins. Bots think meanwhile."""
        now = self._now()
        closed = match.closed()
        there_is_some = bool(closed or self._later)
        for over in closed:
            evidence = self._evidence(over, self._before[over.seat], now)
            if over.is_missed:
                # A thread that waits for a processor has that counted when it gets one.
                self._later.append((now + LATER_SECONDS, evidence))
            else:
                self._tell_used(match, now, evidence)
        if self._later:
            self._tell_what_is_due(match, now)
        if self._begun:
            for seat in self._begun:
                if now - self._read_at[seat] >= self._stale:
                    self._read(seat, now)
                before, reading = self._before[seat], self._last[seat]
                before.at, before.reading, before.read_at = now, reading, self._read_at[seat]
                self._note_taken(before.took)
                self._at_pause[seat] = reading
            self._begun.clear()
        if there_is_some:
            self._send_out()

    def _tell_what_is_due(self, match: Match, now: float) -> None:
        """Tell evidence that has waited for long enough, or whose bot has answered: it ran for that."""
        waiting = self._later
        self._later = []
        for due, unread in waiting:
            if unread.answered is not None:
                self._tell_used(match, now, unread)
            elif now >= due:
                self._tell_or_look_again(match, now, unread)
            else:
                self._later.append((due, unread))

    def _tell_or_look_again(self, match: Match, now: float, unread: Unread) -> None:
        """Tell the evidence of a window that was not answered. If its bot waits for a processor, look again soon.

        The kernel counts a wait when it is over. If the bot has run since it was last looked at, a wait that is
        not over began after that.
        """
        reading = self._read(unread.over.seat, now)
        if not reading.is_ready:
            self._tell_used(match, now, unread)
        elif unread.looks and reading.progress > unread.progress:
            self._tell_used(match, now, unread, uncounted=now - unread.looked)
        elif unread.looks < MOST_LOOKS:
            again = replace(unread, looks=unread.looks + 1, looked=now, progress=reading.progress)
            self._later.append((now + LOOK_SECONDS, again))
        else:
            self._tell_used(match, now, unread, uncounted=math.inf)

    def _read(self, seat: int, now: float) -> Reading:
        """A seat's counters, which stand for a while."""
        self._read_at[seat], self._last[seat] = now, self._io.measure(seat)
        return self._last[seat]

    def _evidence(self, over: ClosedPart, began: Beginning, now: float) -> Unread:
        """The evidence of a part that is over now. While a bot is being started, the loop counts as behind."""
        if over.number == START and over.seat in self._starting:
            behind = now - began.at
        else:
            behind = self._io.behind(began.at)
        rested = self._rest_of(over.seat, now)
        # Copied: the seat's next window may begin before the counters are read.
        kept = replace(began, took=began.took[:])
        return Unread(over, kept, behind, self._io.stopped(began.at), self._taken(), now, rested)

    def _taken(self) -> list[float]:
        """Return by seat for how many seconds the loop has been busy with what its bot sends in vain."""
        taken: list[float] = []
        self._note_taken(taken)
        return taken

    def _note_taken(self, taken: list[float]) -> None:
        """Put the same into a list: one that is empty, or that has held it before."""
        if not taken:
            taken.extend(self._took)
        for seat, line in enumerate(self._lines):
            taken[seat] = self._took[seat] + line.took

    def _tell_used(self, match: Match, now: float, unread: Unread, uncounted: float = 0.0) -> None:
        """Tell what was measured. `uncounted`: for how many seconds, at most, a wait lasts that is not over."""
        seat, before = unread.over.seat, unread.began.reading
        reading = self._read(seat, now)
        taken = [_to_micros(end - start) for end, start in zip(unread.took, unread.began.took, strict=False)]
        hogs = tuple(other for other, took in enumerate(taken) if other != seat and took >= HOG_US)
        # If the bot was started again meanwhile, its counters began again at 0.
        cpu, waited = max(0, reading.cpu - before.cpu), max(0, reading.waited - before.waited)
        is_start = unread.over.number == START
        active = None if is_start or math.isinf(uncounted) else reading.active(before)
        until = now - uncounted if unread.answered is None else unread.answered
        rested = max(0.0, self._rest_of(seat, now) - unread.rested)
        match.apply(
            Used(
                at=self._micros(now),
                seat=seat,
                number=unread.over.number,
                cpu=cpu,
                waited=waited,
                withheld=reading.withheld(before, now - unread.began.read_at, starting=is_start),
                throttled=max(0, reading.throttled - before.throttled),
                behind=_to_micros(unread.behind),
                stopped=_to_micros(unread.stopped),
                taken=taken[seat] if taken else 0,
                hogs=hogs,
                hogs_taken=sum(taken[hog] for hog in hogs),
                active=UNSET if active is None else active,
                after=0 if active is None else _to_micros(max(0.0, until - unread.ended - rested)),
                rested=_to_micros(rested),
            )
        )

    def _set_running(self, owes: Sequence[bool], *, to: bool) -> None:
        for seat, runs in enumerate(owes):
            if runs is to and self._stopped[seat] is to:
                self._io.let_run(seat, to)
                self._note_running(seat, to=to)

    def _note_running(self, seat: int, *, to: bool) -> None:
        """Note that a seat's bot is frozen now, or runs."""
        now = self._now()
        self._rested[seat] = self._rest_of(seat, now)
        self._stopped[seat], self._rests_since[seat] = not to, now

    def _rest_of(self, seat: int, now: float) -> float:
        """Return for how many seconds a seat's bot has been frozen."""
        return self._rested[seat] + (now - self._rests_since[seat] if self._stopped[seat] else 0.0)

    def _send_out(self) -> None:
        """Gives each line what this step has for it."""
        for seat, frames in enumerate(self._outgoing):
            if frames:
                self._outgoing[seat] = []
                self._lines[seat].send_burst(frames)

    async def _drain_all(self, match: Match) -> None:
        """Hears everything that had come, with turns for others in between."""
        heard = [0] * len(self._lines)
        while self._drain(match, heard):
            await trio.lowlevel.checkpoint()

    def _drain(self, match: Match, heard: list[int] | None = None) -> bool:
        """Hears what is there, for a turn's time; whether that was too short for all that is to be heard.

        Of one seat no more is heard than its inbox holds, so that none delays others. If more is there, the bell
        rings.

        `heard`: by seat, how much of it was heard before, and what this adds to that.
        """
        heard = [0] * len(self._lines) if heard is None else heard
        turn = TURN_SECONDS / len(self._lines)
        more = False
        for seat, line in enumerate(self._lines):
            if not line.has_more():
                continue
            if self._counts_cpu and seat in match.counted():
                self._read_cpu(match, (seat,))
            began = last = self._now()
            while heard[seat] < INBOX_FRAMES and last - began < turn:
                last = self._hear(match, seat)
                heard[seat] += 1
                if not line.has_more():
                    break
            else:
                self._bell.ring()
                more = more or heard[seat] < INBOX_FRAMES
        while self._inputs:
            match.apply(self._inputs.popleft()(self._micros(self._now())))
        if self._all_heard:
            for seat in [seat for seat in self._all_heard if not self._lines[seat].has_more()]:
                self._all_heard.pop(seat).set()
        return more

    def _hear(self, match: Match, seat: int) -> float:
        """Tells the match the next thing that came from a seat; when that was done, on trio's clock."""
        worked = self._io.worked()
        item = self._lines[seat].receive_nowait()
        # What a line held before the match began came when it began.
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
            self._took[seat] += self._io.worked() - worked
        return self._now()

    def _note_answer(self, seat: int, at: float) -> None:
        """Note that something came from a seat whose evidence waits to be read: it is read in this step."""
        self._later = [
            (due, replace(unread, answered=at) if unread.over.seat == seat and unread.answered is None else unread)
            for due, unread in self._later
        ]

    def _micros(self, time: float) -> int:
        return round((time - self._zero) * MICROSECONDS)


def _record_for_all(takers: Sequence[Callable[[Record], None]], record: Record) -> None:
    for take in takers:
        take(record)


def _to_micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)
