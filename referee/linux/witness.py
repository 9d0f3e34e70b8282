"""A second thread that distinguishes a stop of the whole process from a system call that blocks one thread."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from referee.linux.schedstat import read_schedstat

PATIENCE_SECONDS = 1.0
"""Seconds in which the thread must have started to wait. It needs that long only on a busy machine."""
LOOK_SECONDS = 0.006
"""Seconds between two checks, longer than Python's switch interval: a thread that waits for the interpreter runs
in that time."""
STATE = 0
"""Index of a thread's state among the fields after its name."""


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
            self._until_it_waits(Path(f"/proc/self/task/{thread.native_id}/stat"))

    @property
    def can_tell(self) -> bool:
        """Whether the thread exists and the kernel counts its turns."""
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

    def _until_it_waits(self, file: Path) -> None:
        """Block until the thread waits. Before that it may try to get the interpreter, which makes it run."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up:
            turns = self.turns()
            time.sleep(LOOK_SECONDS)
            if file.read_text().rpartition(")")[2].split()[STATE] == "S" and turns == self.turns():
                return


def _wait(pipe: int) -> None:
    # Signals would wake this thread; other threads handle them.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    os.read(pipe, 1)
    os.close(pipe)
