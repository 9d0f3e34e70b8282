"""What the kernel has counted for a thread; how long one of the referee's own waited for a processor."""

import os
import threading
from contextlib import suppress

NANOSECONDS_PER_SECOND = 1e9


def read_schedstat(file: int) -> tuple[int, int, int]:
    """From a thread's open `schedstat`: how long it ran and was ready to, in nanoseconds; how often it was let.

    Raises:
        OSError, ValueError: it is gone.
    """
    ran, ready, turns = os.pread(file, 100, 0).split()
    return int(ran), int(ready), int(turns)


class RunDelay:
    """How long one thread was ready to run, and did not, as the kernel counts it; nothing where it does not."""

    def __init__(self) -> None:
        """Of the thread that calls."""
        self._counters: int | None = None
        with suppress(OSError):
            path = f"/proc/self/task/{threading.get_native_id()}/schedstat"
            self._counters = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def seconds(self) -> float:
        """Since the thread's start."""
        if self._counters is None:
            return 0.0
        return read_schedstat(self._counters)[1] / NANOSECONDS_PER_SECOND

    def close(self) -> None:
        """Gives up what it holds open."""
        if self._counters is not None:
            os.close(self._counters)
            self._counters = None
