"""The kernel's counters of a thread."""

import os
import threading
from contextlib import suppress
from resource import RUSAGE_THREAD, getrusage

NANOSECONDS_PER_SECOND = 1e9


def read_schedstat(file: int) -> tuple[int, int, int]:
    """Read a thread's open `schedstat`.

    Returns:
        The nanoseconds for which it ran, those for which it waited for a processor, and how often it was
        scheduled.

    Raises:
        OSError, ValueError: the thread has ended.
    """
    ran, ready, turns = os.pread(file, 100, 0).split()
    return int(ran), int(ready), int(turns)


class ThreadCounters:
    """The kernel's counters of the thread that creates this object. The attributes hold the latest `read`.

    A thread waits for a processor only after it was switched out, and the kernel counts switches. If there was
    none since the last read, the thread has not waited, and its waiting time is not read again.
    """

    __slots__ = ("_file", "_switches", "faults", "waited", "yields")

    def __init__(self) -> None:
        self.yields = 0
        """Number of voluntary context switches of the thread."""
        self.faults = 0
        """Number of page faults for which it waited until a page was read from the disk."""
        self.waited = 0.0
        """Seconds for which it waited for a processor; 0 where the kernel does not count them."""
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
        """Close the open file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
