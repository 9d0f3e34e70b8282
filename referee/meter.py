"""What the kernel has counted for a bot: processor time, waiting for a processor, throttling."""

import os
from contextlib import suppress

from msgspec import Struct

from referee.cgroups import Group
from referee.stopping import descendants, tasks

AGAIN = 32
"""A bot's threads are looked for anew after so many readings: most have the same from the start to the end."""
THREADS = 16
"""No more are looked at: a bot may have hundreds, and each is a file to be held open."""
NANOSECONDS = 1_000


class Reading(Struct, frozen=True):
    """Microseconds since the bot's start."""

    cpu: int
    waited: int
    throttled: int
    cpus: float
    """Not counted: how many cores it may keep busy."""


NOTHING = Reading(0, 0, 0, 0.0)


class Meter:
    """One bot's counters. A reading takes some microseconds: files are kept open."""

    def __init__(self, first: int, group: Group | None, cpus: float) -> None:
        """`first`: the first of its processes on this machine. `group`: its control group, where there is one."""
        self._cpus = cpus
        self._first = first
        self._group = group
        self._readings = 0
        self._files: dict[int, int] = {}
        self._last = NOTHING

    def read(self) -> Reading:
        """The counters now; of a bot that is gone, the last that were read."""
        if self._readings % AGAIN == 0:
            self._look()
        self._readings += 1
        run = waited = 0
        for pid in list(self._files):
            try:
                # Of each thread: time on a processor, time ready and waiting for one.
                words = os.pread(self._files[pid], 100, 0).split()
                run += int(words[0])
                waited += int(words[1])
            except (OSError, IndexError):
                os.close(self._files.pop(pid))
        throttled = 0
        cpu = run // NANOSECONDS
        if self._group is not None:
            with suppress(OSError, ValueError):
                cpu = self._group.cpu_us()
                throttled = self._group.throttled_us()
        last = self._last
        # What a process has used that is gone is not taken back.
        self._last = Reading(
            max(last.cpu, cpu),
            max(last.waited, waited // NANOSECONDS),
            max(last.throttled, throttled),
            self._cpus,
        )
        return self._last

    def close(self) -> None:
        """Gives up what it holds open."""
        while self._files:
            os.close(self._files.popitem()[1])

    def _look(self) -> None:
        for pid in (self._first, *descendants(self._first)):
            for task in tasks(pid):
                number = int(task.rpartition("/")[2])
                if number not in self._files and len(self._files) < THREADS:
                    with suppress(OSError):
                        self._files[number] = os.open(f"{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
