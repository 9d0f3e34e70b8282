"""Runs one match in trio: waits for what comes, holds the deadlines, and gives `Match` its inputs.

It decides nothing itself. Works the same over ZeroMQ (`wire.local`) and over memory under trio's virtual clock.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

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
from referee.wire import INBOX_FRAMES, TURN_SECONDS, Arrived, Bell, HandedOver, Line, Outgoing

STALE_SECONDS = 0.25
"""What was read of a bot's counters so long ago still stands for now, but for no longer than `STALE_SHARE` of a
window's time. What was withheld from it shortly before a window then counts in it, which is in its favour."""
STALE_SHARE = 0.05
SNAPSHOT_SECONDS = 3.0
"""From one snapshot of a match's feed to the next."""
LATER_SECONDS = 0.25
"""How long after a window that a bot has missed its counters are read: a thread's waiting counts when it ends."""


class Beginning(Struct, frozen=True):
    """What was so when a seat's window, or its bot's start, began."""

    at: float
    """On trio's clock."""
    reading: Reading = NOTHING
    """Its bot's counters, then or up to `STALE_SECONDS` before."""
    read_at: float = 0.0
    """When they were read."""
    took: tuple[float, ...] = ()
    """By seat: for how many seconds trio's loop had been busy with what its bot sends in vain."""


class Unread(Struct, frozen=True):
    """A part that is over; its bot's counters are to be read."""

    over: ClosedPart
    began: Beginning
    behind: float
    """The longest that the loop was busy at a stretch meanwhile, in seconds."""
    took: tuple[float, ...]
    """As `Beginning.took`, at its end."""
    ended: float
    """When it was over, on trio's clock."""


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

    def cpu_time(self, seat: int) -> tuple[int, int]:  # noqa: ARG002 - nobody's
        """A bot's processor time over the match, in microseconds, and on how many cores at most it is used."""
        return 0, 1

    def measure(self, seat: int) -> Reading:  # noqa: ARG002 - nobody's
        """What the kernel has counted for a seat's bot."""
        return NOTHING

    def behind(self, since: float) -> float:  # noqa: ARG002 - never
        """How long, in seconds, the loop was busy at most since a moment."""
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
        self._stale = STALE_SECONDS
        self._last = [NOTHING] * len(lines)
        """By seat: its bot's counters, as they were last read."""
        self._read_at = [-math.inf] * len(lines)
        """By seat: when that was."""
        self._before = [Beginning(0.0)] * len(lines)
        """By seat: of its last window."""
        self._start = [Beginning(0.0)] * len(lines)
        """By seat: of its bot's start."""
        self._took = [0.0] * len(lines)
        """By seat: for how many seconds messages were acted on that had to be refused."""
        self._starting: set[int] = set()
        """Seats whose bot is being started, and does not run yet."""
        self._inputs: deque[Callable[[int], Input | Ended]] = deque()
        """Inputs that want only their time, which is when the match takes them."""
        self._all_heard: dict[int, trio.Event] = {}
        """By seat: to be set when what has come from its bot was heard."""
        self._outgoing: list[list[Outgoing]] = [[] for _ in lines]
        self._later: deque[tuple[float, Unread]] = deque()
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
        self._before[seat] = replace(self._before[seat], at=self._now(), took=self._taken())
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
        self._stopped[seat] = False
        self._io.restart(seat)

    def told(self, told: tuple[Addressed, ...]) -> None:
        """See `MatchIO`."""
        self._io.told(told)
        if self._feed is not None:
            self._feed.told(told)

    def paused(self, reason: str) -> None:
        """See `MatchIO`."""
        if self._feed is not None:
            self._feed.paused(reason)
        if self._log is not None:
            self._log.paused(reason)

    def resumed(self) -> None:
        """See `MatchIO`."""
        if self._feed is not None:
            self._feed.resumed()
        if self._log is not None:
            self._log.resumed()

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
        self._before[seat] = replace(self._before[seat], reading=reading, read_at=now)
        self._read_at[seat], self._last[seat] = now, reading

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
        self._start = [Beginning(self._zero, read_at=self._zero)] * len(self._lines)
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
        alarm.set(min(deadline, self._later[0][0]) if self._later else deadline)
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
        while self._later and now >= self._later[0][0]:
            self._tell_used(match, now, self._later.popleft()[1])
        if self._begun:
            took = self._taken()
            for seat in self._begun:
                if now - self._read_at[seat] >= self._stale:
                    self._read(seat, now)
                self._before[seat] = Beginning(now, self._last[seat], self._read_at[seat], took)
            self._begun.clear()
        if there_is_some:
            self._send_out()

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
        return Unread(over, began, behind, self._taken(), now)

    def _taken(self) -> tuple[float, ...]:
        """By seat: for how many seconds the loop has been busy with what its bot sends in vain."""
        return tuple([took + line.took for took, line in zip(self._took, self._lines, strict=True)])

    def _tell_used(self, match: Match, now: float, unread: Unread) -> None:
        seat, before = unread.over.seat, unread.began.reading
        reading = self._read(seat, now)
        taken = [_to_micros(end - start) for end, start in zip(unread.took, unread.began.took, strict=False)]
        hogs = tuple(other for other, took in enumerate(taken) if other != seat and took >= HOG_US)
        # If the bot was started again meanwhile, its counters began again at 0.
        cpu, waited = max(0, reading.cpu - before.cpu), max(0, reading.waited - before.waited)
        match.apply(
            Used(
                at=self._micros(now),
                seat=seat,
                number=unread.over.number,
                cpu=cpu,
                waited=waited,
                withheld=reading.withheld(before, unread.ended - unread.began.read_at),
                throttled=max(0, reading.throttled - before.throttled),
                behind=_to_micros(unread.behind),
                taken=taken[seat] if taken else 0,
                hogs=hogs,
                hogs_taken=sum(taken[hog] for hog in hogs),
            )
        )

    def _set_running(self, owes: Sequence[bool], *, to: bool) -> None:
        for seat, runs in enumerate(owes):
            if runs is to and self._stopped[seat] is to:
                self._io.let_run(seat, to)
                self._stopped[seat] = not to

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
                last = self._hear(match, seat, last)
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

    def _hear(self, match: Match, seat: int, began: float) -> float:
        """Tells the match the next thing that came from a seat; when that was done, on trio's clock."""
        item = self._lines[seat].receive_nowait()
        # What a line held before the match began came when it began.
        at = max(0, self._micros(item.at))
        if isinstance(item, Arrived):
            accepted = match.apply(Frame(at, seat, item.frame, item.size))
        else:
            is_handed, accepted = isinstance(item, HandedOver), True
            match.apply(Handed(at=at, seat=seat) if is_handed else Left(at=at, seat=seat, exit=None))
        ended = self._now()
        if not accepted:
            self._took[seat] += ended - began
        return ended

    def _micros(self, time: float) -> int:
        return round((time - self._zero) * MICROSECONDS)


def _record_for_all(takers: Sequence[Callable[[Record], None]], record: Record) -> None:
    for take in takers:
        take(record)


def _to_micros(seconds: float) -> int:
    return round(seconds * MICROSECONDS)
