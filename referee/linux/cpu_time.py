"""Processor time as a match's clock counts it: of all of a bot's processes, over all its starts.

It is read from the bot's control group if there is one (`cgroups`), otherwise from each of its processes. The
kernel shows the clock of a living process to the microsecond, the time of ended ones to a hundredth of a second.
"""

import math
import os
import time
from contextlib import suppress

from referee.linux.process_tree import descendants, read_kernel_file

MICROSECONDS = 1_000_000
CLOCK_OF_ALL_THREADS = 2
"""`CPUCLOCK_SCHED` of Linux, in the number by which a process's own clock is asked for."""
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_ENDED_CHILDREN = slice(13, 15)
"""`cutime` and `cstime` among the fields of /proc/PID/stat that follow the program's name."""


def tree_us(*roots: int) -> int:
    """Processor time of processes and all that descend from them, in microseconds.

    What a process used that has ended is in it if its parent waited for it and is still there.
    """
    return sum(_own_us(process) for process in (*roots, *descendants(*roots)))


def _own_us(process: int) -> int:
    """The time of one process, all its threads, and the children it has waited for; 0 if it is gone."""
    with suppress(OSError):
        own = time.clock_gettime_ns(~process << 3 | CLOCK_OF_ALL_THREADS) // 1000
        # The program's name stands in brackets and may hold anything, brackets too.
        fields = read_kernel_file(f"/proc/{process}/stat").rpartition(b")")[2].split()
        return own + sum(map(int, fields[_OF_ENDED_CHILDREN])) * MICROSECONDS // _TICKS
    return 0


def most_cores(cpus: float | None) -> int:
    """On how many cores a bot can run at once that is given `cpus` of them; None: as many as there are."""
    there = len(os.sched_getaffinity(0))
    return there if cpus is None else min(there, math.ceil(cpus))
