"""What the kernel has counted for a thread."""

import os
import threading
from contextlib import suppress
from resource import RUSAGE_THREAD, getrusage

NANOSECONDS_PER_SECOND = 1e9


def read_schedstat(file: int) -> tuple[int, int, int]:
    """From a thread's open `schedstat`: how long it ran and was ready to, in nanoseconds; how often it was let.

    Raises:
        OSError, ValueError: it is gone.
    """
    ran, ready, turns = os.pread(file, 100, 0).split()
    return int(ran), int(ready), int(turns)


class ThreadCounters:
    """What the kernel counts for the thread that makes this. The attributes are of the latest `read`.

    A thread waits for a processor only after it was switched out, and the kernel counts switches, too: while it
    has counted none, how long the thread has waited is known, and not read again.
    """

    __slots__ = ("_file", "_switches", "faults", "waited", "yields")

    def __init__(self) -> None:
        self.yields = 0
        """How often the thread has given up its processor to wait for something."""
        self.faults = 0
        """How often it has waited until a page of its memory was read from the disk."""
        self.waited = 0.0
        """For how many seconds it was ready to run, and did not; 0 where the kernel does not count it."""
        self._switches = -1
        self._file: int | None = None
        with suppress(OSError):
            path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.read()

    def read(self) -> None:
        """Read the counters."""
        usage = getrusage(RUSAGE_THREAD)
        self.yields, self.faults = usage.ru_nvcsw, usage.ru_majflt
        switches = self.yields + usage.ru_nivcsw
        if switches != self._switches and self._file is not None:
            self._switches = switches
            self.waited = read_schedstat(self._file)[1] / NANOSECONDS_PER_SECOND

    def close(self) -> None:
        """Give up the file that is open."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
