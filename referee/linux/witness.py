"""A second thread that tells a stop of the whole process from a system call that blocks one thread."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

from referee.linux.schedstat import read_schedstat

PATIENCE_SECONDS = 1.0
"""The thread begins to wait at once, but on a busy machine."""
LOOK_SECONDS = 0.006
"""Longer than Python's switch interval: a thread that waits for the interpreter moves meanwhile."""
STATE = 0
"""The place of a thread's state among its fields, after its name's."""


class Witness:
    """A thread that waits for nothing, and that only a stop of the whole process makes move.

    A signal, a freezer or a debugger that stops a process wakes each of its threads, so that it stops itself. The
    kernel counts how often a thread ran. Nothing else wakes this one; it takes no time and no lock from others.
    """

    def __init__(self) -> None:
        """Starts the thread, and waits until it waits."""
        self._counters: int | None = None
        self._thread: threading.Thread | None = None
        waits, self._ends = os.pipe()
        # Not in a lock: a thread that waits for one is frozen without being woken.
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
        """Whether this machine has the thread, and counts what it does."""
        return self._counters is not None

    def turns(self) -> int:
        """Return how often the thread has run."""
        return 0 if self._counters is None else read_schedstat(self._counters)[2]

    def close(self) -> None:
        """Ends the thread."""
        os.close(self._ends)
        if self._thread is not None:
            self._thread.join()
        if self._counters is not None:
            os.close(self._counters)
            self._counters = None

    def _until_it_waits(self, file: Path) -> None:
        """Returns when the thread waits: before, it may need the interpreter, and look for it again and again."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up:
            turns = self.turns()
            time.sleep(LOOK_SECONDS)
            if file.read_text().rpartition(")")[2].split()[STATE] == "S" and turns == self.turns():
                return


def _wait(pipe: int) -> None:
    # Others take them: they would wake this thread.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    os.read(pipe, 1)
    os.close(pipe)
