"""Processor time as a match's clock counts it: of all processes of a bot, over all its starts.

It is read from the bot's control group if there is one (`cgroups`), otherwise from each process. The kernel gives
the time of a running process in microseconds, and that of ended ones in hundredths of a second.
"""

import math
import os
import time
from contextlib import suppress

from referee.linux.process_tree import descendants, read_kernel_file

MICROSECONDS = 1_000_000
CLOCK_OF_ALL_THREADS = 2
"""Linux's `CPUCLOCK_SCHED`, in the identifier of a process's clock."""
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_ENDED_CHILDREN = slice(13, 15)
"""Indices of `cutime` and `cstime` among the fields of /proc/PID/stat after the program's name."""


def tree_us(*roots: int) -> int:
    """Return the processor time of processes and all their descendants, in microseconds.

    The time of an ended process is included if its parent has reaped it and still runs.
    """
    return sum(_own_us(process) for process in (*roots, *descendants(*roots)))


def _own_us(process: int) -> int:
    """Return the time of a process, its threads, and the children that it has reaped; 0 if it has ended."""
    with suppress(OSError):
        own = time.clock_gettime_ns(~process << 3 | CLOCK_OF_ALL_THREADS) // 1000
        # The program's name is in brackets and may contain any byte, brackets included.
        fields = read_kernel_file(f"/proc/{process}/stat").rpartition(b")")[2].split()
        return own + sum(map(int, fields[_OF_ENDED_CHILDREN])) * MICROSECONDS // _TICKS
    return 0


def most_cores(cpus: float | None) -> int:
    """Return the number of cores that a bot with a limit of `cpus` can use at once; None: no limit."""
    there = len(os.sched_getaffinity(0))
    return there if cpus is None else min(there, math.ceil(cpus))
