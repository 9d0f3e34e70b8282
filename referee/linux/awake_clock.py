"""A clock for trio's loop that pauses while this process is stopped: by a signal, a freezer, a paused machine.

A stopped process cannot keep a deadline, so its deadlines must not come nearer: those of matches, bots' starts and
heartbeats. The process cannot observe that it is stopped, but afterwards it finds that time is missing: it has
neither slept for it, as it requested, nor run, nor waited for a processor.

Other waits look alike. Python runs one thread at a time: while another thread of this process holds the
interpreter and is blocked (it starts a program, which waits for a processor), the loop waits for it. The thread's
context switches show that. And the loop's own work may be blocked, by the disk or by a program that it starts. A
stop would have stopped all threads; see `Witness`.
"""

import math
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import trio

from referee.linux.processes import ThreadCounters, read_schedstat, stat_fields

PATIENCE_SECONDS = 1.0
"""Seconds in which the thread must have started to wait. It needs that long only on a busy machine."""
WITNESS_LOOK_SECONDS = 0.006
"""Seconds between two checks, longer than Python's switch interval: a thread that waits for the interpreter runs
in that time."""
STATE = 0
"""Index of a thread's state among the fields after its name."""
LOOK_SECONDS = 0.05
"""The longest sleep of the loop in seconds: a stop within a longer one could not be distinguished from the
sleep."""
MISSED_ASLEEP, MISSED_AWAKE = 0.25, 1.0
"""Missing seconds of a sleep, or of work, from which the process counts as stopped. Less may be missing for
another reason: timers are not exact."""
LOOK_FACTOR = 1.1
"""Factor by which a timed wait of one switch interval takes longer than it should."""
SUSPENDED_SECONDS = 0.02
"""Seconds below which a suspension is ignored: the two clocks that show it are not read at the same time."""
ROUNDING_SECONDS = 1e-6
KEPT = 1_000
"""Number of stops that are remembered."""
EPOCH = 100_000.0
"""The clock's first time, chosen so that its times cannot be mistaken for another clock's."""


class Witness:
    """A thread that only a stop of the whole process makes run.

    A signal, a freezer or a debugger that stops a process wakes each of its threads, so that it stops itself. The
    kernel counts how often a thread ran. Nothing else wakes this one; it takes no time and no lock from others.
    """

    def __init__(self) -> None:
        """Start the thread, and block until it waits."""
        self._counters: int | None = None
        self._thread: threading.Thread | None = None
        waits, self._ends = os.pipe()
        # The thread does not wait for a lock: a freezer would not wake it then.
        thread = threading.Thread(target=_wait, args=(waits,), name="witness", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the machine has no thread left
            os.close(waits)
            return
        self._thread = thread
        with suppress(OSError):
            self._counters = os.open(f"/proc/self/task/{thread.native_id}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            self._until_it_waits(f"/proc/self/task/{thread.native_id}")

    @property
    def can_tell(self) -> bool:
        """True if the thread exists and the kernel counts its turns."""
        return self._counters is not None

    def turns(self) -> int:
        """Return how often the thread has run."""
        return 0 if self._counters is None else read_schedstat(self._counters)[2]

    def close(self) -> None:
        """End the thread."""
        os.close(self._ends)
        if self._thread is not None:
            self._thread.join()
        if self._counters is not None:
            os.close(self._counters)
            self._counters = None

    def _until_it_waits(self, folder: str) -> None:
        """Block until the thread waits. Before that it may try to get the interpreter, which makes it run."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up:
            turns = self.turns()
            time.sleep(WITNESS_LOOK_SECONDS)
            if stat_fields(folder)[STATE] == b"S" and turns == self.turns():
                return


def _wait(pipe: int) -> None:
    # Signals would wake this thread; other threads handle them.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    os.read(pipe, 1)
    os.close(pipe)


class KernelCounters:
    """The kernel's counters of the thread that creates this object. All times are in seconds."""

    def __init__(self) -> None:
        self.thread = ThreadCounters()
        self._witness = Witness()
        self.interpreter_look = sys.getswitchinterval() * LOOK_FACTOR
        """Seconds for which a thread that waits for Python's interpreter sleeps between two attempts to get it."""

    def elapsed(self) -> float:
        """Return monotonic time, which does not count suspension of the whole machine."""
        return time.monotonic()

    def since_boot(self) -> float:
        """Return monotonic time that counts suspension too."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    def ran(self) -> float:
        """Return the processor time of the process: while another thread runs, this one may have to wait."""
        return time.process_time()

    def moves(self) -> int | None:
        """Return how often the witness ran, which a stop of the process makes it do; None: no witness."""
        return self._witness.turns() if self._witness.can_tell else None

    def close(self) -> None:
        """Close the descriptors, and end the witness."""
        self.thread.close()
        self._witness.close()


class AwakeClock(trio.abc.Clock):
    """Monotonic time without the time in which this process was stopped. It belongs to one thread.

    A span is a sleep of the loop, or a period of its work. The part of it that was neither requested sleep, nor
    running, nor waiting for a processor, is missing. If that is much, and neither a wait for the interpreter
    (after a sleep) nor a blocking system call (during work) explains it, it is subtracted before the time is
    returned, so that the clock never runs backwards.
    """

    def __init__(self, kernel: Callable[[], KernelCounters] = KernelCounters) -> None:
        """Store the function that creates the counters.

        It is called when the clock starts, in the clock's thread.
        """
        self._make_kernel = kernel
        self._kernel: KernelCounters | None = None
        self._stops: deque[tuple[float, float]] = deque(maxlen=KEPT)
        """The end of each stop, on this clock, and its length in seconds."""
        self.stops = 0
        """Number of stops found."""
        self.fell_asleep = 0.0
        """The start of the latest sleep, on this clock. The next reading of the clock ends the sleep."""
        self._stood = -EPOCH
        """Seconds by which this clock is behind monotonic time."""
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
        """See `trio.abc.Clock`. The caller is going to sleep for at most the seconds returned."""
        asked = min(max(0.0, deadline - self.current_time()), LOOK_SECONDS)
        self._begin(self._started(), self._last, asked)
        self._is_asleep = True
        self.fell_asleep = self._last - self._stood
        return asked

    def stopped(self, since: float) -> float:
        """Return the seconds for which the process was stopped or the machine suspended since a time."""
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
        """The counters of the loop's thread, as read at the start of the latest sleep."""
        return self._started().thread

    def close(self) -> None:
        """Close the counters."""
        if self._kernel is not None:
            self._kernel.close()

    def _started(self) -> KernelCounters:
        assert self._kernel is not None  # noqa: S101 - trio starts a clock before it reads it
        return self._kernel

    def _begin(self, kernel: KernelCounters, now: float, asked: float = 0.0) -> None:
        """Start a span that contains at most `asked` seconds of sleep."""
        self._began, self._asked, self._is_asleep = now, asked, False
        thread = kernel.thread
        thread.read()
        self._ran, self._waited = kernel.ran(), thread.waited
        self._yields, self._faults = thread.yields, thread.faults
        if now - self._moves_read >= LOOK_SECONDS:
            self._moves, self._moves_read = kernel.moves(), now
        self._check_at = now + asked + MISSED_AWAKE

    def _check(self, kernel: KernelCounters, now: float) -> None:
        """End a sleep, or check a period of work: subtract the missing time from the clock."""
        if self._is_asleep and now - self._began <= self._asked + MISSED_ASLEEP:
            # The usual case. The length of the sleep is known now, and the work that follows is in the same span.
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
        """Return the seconds for which the process was stopped in this span; 0: it was not, or too briefly."""
        thread = kernel.thread
        thread.read()
        explained = self._asked + (kernel.ran() - self._ran) + (thread.waited - self._waited)
        may_be_blocked = True
        if self._is_asleep:
            # No system call follows a sleep at once: at most a page was read from the disk. So the pause of a
            # whole machine is found too, although it wakes no thread.
            explained += (thread.yields - self._yields) * kernel.interpreter_look
            may_be_blocked = thread.faults != self._faults
        if may_be_blocked and self._moves is not None and self._moves == kernel.moves():
            return 0.0
        # The clock may not run backwards: subtract nothing before the last reading plus a rounding.
        missing = min(now - self._began - explained, now - self._last - ROUNDING_SECONDS)
        return missing if missing >= (MISSED_ASLEEP if self._is_asleep else MISSED_AWAKE) else 0.0

    def _check_suspension(self, kernel: KernelCounters, now: float) -> None:
        """Note a suspension of the machine. Monotonic time was paused during it, and this clock with it."""
        suspended = self._suspension(kernel)
        if suspended - self._suspended > SUSPENDED_SECONDS:
            self._note(now, suspended - self._suspended)
        self._suspended = max(self._suspended, suspended)

    def _note(self, now: float, length: float) -> None:
        self.stops += 1
        self._stops.append((now - self._stood, length))

    def _suspension(self, kernel: KernelCounters) -> float:
        """Return for how long the machine was suspended since boot; if interrupted a little less, never more."""
        since_boot = kernel.since_boot()
        return since_boot - kernel.elapsed()
