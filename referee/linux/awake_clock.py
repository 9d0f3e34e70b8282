"""A clock for trio's loop that stands while this process is stopped: by a signal, a freezer, a paused machine.

Nothing runs then that could keep a deadline, so no deadline comes nearer: of a match, of a bot's start, of a
line's signs of life. The process cannot see that it is stopped, but afterwards it can see that time is missing:
it has neither slept it, as it asked for, nor run, nor waited for a processor.

Other waits look like that, too. Python lets one thread run at a time: while another thread of ours has the
interpreter and is blocked (it starts a program, which waits for a processor), the loop waits for it. That is seen
by its switches. And the loop's own work may be blocked, by the disk or by a program that it starts. A stop would
have stopped all threads, see `Witness`.
"""

import math
import sys
import time
from collections import deque
from collections.abc import Callable

import trio

from referee.linux.schedstat import ThreadCounters
from referee.linux.witness import Witness

LOOK_SECONDS = 0.05
"""The loop sleeps no longer at a stretch: what is missing of a longer sleep could not be told from the sleep."""
MISSED_ASLEEP, MISSED_AWAKE = 0.25, 1.0
"""Seconds that are missing of a sleep, or of work, in which the process was stopped. Less may be missing for
another reason: timers are not exact."""
LOOK_FACTOR = 1.1
"""A timed wait of one switch interval takes a little longer."""
SUSPENDED_SECONDS = 0.02
"""A shorter suspension is none: the two clocks that tell of it are not read at the same moment."""
ROUNDING_SECONDS = 1e-6
KEPT = 1_000
"""Stops that are remembered."""
EPOCH = 100_000.0
"""What the clock shows at first: nobody shall take its times for another clock's."""


class KernelCounters:
    """What the kernel tells the thread that makes it. All in seconds."""

    def __init__(self) -> None:
        self.thread = ThreadCounters()
        self._witness = Witness()
        self.interpreter_look = sys.getswitchinterval() * LOOK_FACTOR
        """How long a thread that waits for Python's interpreter sleeps between two looks whether that is free."""

    def elapsed(self) -> float:
        """Monotonic time, which does not count suspension of the whole machine."""
        return time.monotonic()

    def since_boot(self) -> float:
        """Monotonic time that counts suspension, too."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def ran(self) -> float:
        """Processor time of the process: while another thread runs, this one may have to wait for it."""
        return time.process_time()

    def moves(self) -> int | None:
        """How often a thread ran that only a stop of the process makes run; None: there is none."""
        return self._witness.turns() if self._witness.can_tell else None

    def close(self) -> None:
        """Releases its descriptors, and ends the other thread."""
        self.thread.close()
        self._witness.close()


class AwakeClock(trio.abc.Clock):
    """Monotonic time without the time in which this process was stopped. Belongs to one thread.

    A span is a sleep of the loop, or a stretch of its work. What of it was neither asked sleep, nor run, nor
    waited for a processor, is missing. If that is much, and neither a wait for the interpreter (after a sleep) nor
    a blocking system call (in its work) explains it, it is subtracted before anybody is told the time, so the
    clock never goes back.
    """

    def __init__(self, kernel: Callable[[], KernelCounters] = KernelCounters) -> None:
        """`kernel`: made when the clock starts, in the thread that it belongs to."""
        self._make_kernel = kernel
        self._kernel: KernelCounters | None = None
        self._stops: deque[tuple[float, float]] = deque(maxlen=KEPT)
        """When each ended, on this clock, and how long it was."""
        self.stops = 0
        """How many stops were found."""
        self.fell_asleep = 0.0
        """When the latest sleep began, on this clock. The next reading of the clock ends it."""
        self._stood = -EPOCH
        """How far this clock is behind monotonic time."""
        self._is_asleep = False
        self._last = self._began = self._check_at = self._ran = self._waited = self._asked = self._suspended = 0.0
        self._yields = self._faults = 0
        self._moves: int | None = None
        self._moves_read = -math.inf

    def start_clock(self) -> None:
        """See `trio.abc.Clock`."""
        kernel = self._kernel = self._make_kernel()
        now = self._last = kernel.elapsed()
        self._stood = now - EPOCH
        self._suspended = max(self._suspension(kernel) for _ in range(3))
        self._begin(kernel, now)

    def current_time(self) -> float:
        """See `trio.abc.Clock`."""
        kernel = self._started()
        now = kernel.elapsed()
        if now > self._check_at or self._is_asleep:
            self._check(kernel, now)
        self._last = now
        return now - self._stood

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """See `trio.abc.Clock`. The caller is going to sleep for so long, at most."""
        asked = min(max(0.0, deadline - self.current_time()), LOOK_SECONDS)
        self._begin(self._started(), self._last, asked)
        self._is_asleep = True
        self.fell_asleep = self._last - self._stood
        return asked

    def stopped(self, since: float) -> float:
        """Return for how many seconds the process was stopped, or the machine suspended, since a moment."""
        self.current_time()
        self._check_suspension(self._started(), self._last)
        total = 0.0
        for ended, length in reversed(self._stops):
            if ended < since:
                break
            total += length
        return total

    @property
    def thread(self) -> ThreadCounters:
        """The counters of the loop's thread, read when a sleep begins."""
        return self._started().thread

    def close(self) -> None:
        """Releases what it holds open."""
        if self._kernel is not None:
            self._kernel.close()

    def _started(self) -> KernelCounters:
        assert self._kernel is not None  # noqa: S101 - trio starts a clock before it reads it
        return self._kernel

    def _begin(self, kernel: KernelCounters, now: float, asked: float = 0.0) -> None:
        """Begin a span, of which `asked` seconds at most are slept."""
        self._began, self._asked, self._is_asleep = now, asked, False
        thread = kernel.thread
        thread.read()
        self._ran, self._waited = kernel.ran(), thread.waited
        self._yields, self._faults = thread.yields, thread.faults
        if now - self._moves_read >= LOOK_SECONDS:
            self._moves, self._moves_read = kernel.moves(), now
        self._check_at = now + asked + MISSED_AWAKE

    def _check(self, kernel: KernelCounters, now: float) -> None:
        """End a sleep, or look at a stretch of work: take what is missing of it out of the clock."""
        if self._is_asleep and now - self._began <= self._asked + MISSED_ASLEEP:
            # The usual case. What was slept is known now, and the work that follows is of the same span.
            self._asked, self._is_asleep = now - self._began, False
            self._check_at = now + MISSED_AWAKE
            return
        missing = self._missing(kernel, now)
        if missing:
            self._stood += missing
            self._note(now, missing)
        self._check_suspension(kernel, now)
        self._begin(kernel, now)

    def _missing(self, kernel: KernelCounters, now: float) -> float:
        """Return for how long the process was stopped in this span; 0: it was not, or hardly."""
        thread = kernel.thread
        thread.read()
        explained = self._asked + (kernel.ran() - self._ran) + (thread.waited - self._waited)
        may_be_blocked = True
        if self._is_asleep:
            # What follows a sleep at once is no system call: at most a page was read from the disk. So a machine
            # that was paused as a whole is seen, too: that wakes no thread.
            explained += (thread.yields - self._yields) * kernel.interpreter_look
            may_be_blocked = thread.faults != self._faults
        if may_be_blocked and self._moves is not None and self._moves == kernel.moves():
            return 0.0
        # What was told may not be taken back: nothing before the last reading, and a rounding later.
        missing = min(now - self._began - explained, now - self._last - ROUNDING_SECONDS)
        return missing if missing >= (MISSED_ASLEEP if self._is_asleep else MISSED_AWAKE) else 0.0

    def _check_suspension(self, kernel: KernelCounters, now: float) -> None:
        """Note a suspension of the machine. Monotonic time stood meanwhile, and this clock with it."""
        suspended = self._suspension(kernel)
        if suspended - self._suspended > SUSPENDED_SECONDS:
            self._note(now, suspended - self._suspended)
        self._suspended = max(self._suspended, suspended)

    def _note(self, now: float, length: float) -> None:
        self.stops += 1
        self._stops.append((now - self._stood, length))

    def _suspension(self, kernel: KernelCounters) -> float:
        """How long the machine was suspended since its boot; a little less if this is interrupted, never more."""
        since_boot = kernel.since_boot()
        return since_boot - kernel.elapsed()
