"""Processes as /proc shows them: trees of them, their processor time, their counters, their orphans and priority.

Where there is no control group, a tree is stopped and resumed with signals. Processor time is read from a bot's
control group if there is one (`cgroups`), otherwise from each process: the kernel gives the time of a running
process in microseconds, and that of ended ones in hundredths of a second.
"""

import ctypes
import math
import os
import resource
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from resource import RUSAGE_THREAD, getrusage

import trio
from msgspec import Struct

from referee.linux.shortage import ButForShortages

READ_BYTES = 64 * 1024
ROUNDS = 50
"""The most passes over a tree that grows while it is stopped. Its limits bound it."""
NANOSECONDS_PER_SECOND = 1e9
MICROSECONDS = 1_000_000
CLOCK_OF_ALL_THREADS = 2
"""Linux's `CPUCLOCK_SCHED`, in the identifier of a process's clock."""
_TICKS = os.sysconf("SC_CLK_TCK")
_OF_ENDED_CHILDREN = slice(13, 15)
"""Indices of `cutime` and `cstime` among the fields of /proc/PID/stat after the program's name."""
SET_CHILD_SUBREAPER = 36
"""`prctl` of Linux: orphans among a process's descendants become its children."""
SWEEP_SECONDS = 0.005
"""Seconds between two checks of processes that were killed and have not ended yet."""
PATIENCE_SECONDS = 10
"""Seconds after which processes that multiply faster than they are killed are left alone. They need a sandbox."""
AUTOGROUP = Path("/proc/self/autogroup")


def stop(*roots: int) -> None:
    """Stop processes and all their descendants with SIGSTOP."""
    stopped: set[int] = set()
    for _ in range(ROUNDS):
        found = {*roots, *descendants(*roots)} - stopped
        if not found:
            return
        _signal(found, signal.SIGSTOP)
        stopped |= found


def go_on(*roots: int) -> None:
    """Resume processes and all their descendants with SIGCONT.

    Processes that the bot itself stopped resume too.
    """
    _signal({*roots, *descendants(*roots)}, signal.SIGCONT)


def descendants(*roots: int) -> list[int]:
    """Return all current descendants of processes."""
    found: list[int] = []
    waiting = list(roots)
    while waiting:
        below = children(waiting.pop())
        found += below
        waiting += below
    return found


def children(process: int) -> list[int]:
    """Return the numbers of a process's children as they are now, zombies among them."""
    found: list[int] = []
    for task in tasks(process):
        found += _children(task)
    return found


def threads(*roots: int) -> Iterator[str]:
    """Yield the /proc folders of all threads of processes and of their descendants, nearest first.

    The search is lazy: there may be hundreds, and each takes some 50 microseconds.
    """
    waiting = deque(roots)
    while waiting:
        for task in tasks(waiting.popleft()):
            yield task
            waiting += _children(task)


def _children(task: str) -> list[int]:
    with ButForShortages():
        return [int(word) for word in read_kernel_file(f"{task}/children").split()]
    return []


def read_kernel_file(path: str) -> bytes:
    """Return the content of a file of /proc.

    Uses system calls directly, which takes a fifth of the time that Path takes: a hundred matches read a thousand
    such files a second.

    Raises:
        OSError: its process has ended.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(partial(os.read, file, READ_BYTES), b""))
    finally:
        os.close(file)


def stat_fields(folder: str) -> list[bytes]:
    """Return the fields of the `stat` of a process or thread, from the one after its name on.

    `folder` is its folder in /proc.

    Raises:
        OSError: it has ended.
    """
    # The program's name is in brackets and may contain any byte, brackets included.
    return read_kernel_file(f"{folder}/stat").rpartition(b")")[2].split()


def tasks(process: int) -> list[str]:
    """Return the /proc folders of a process's threads; none if there is no such process."""
    with ButForShortages(), os.scandir(f"/proc/{process}/task") as found:
        return [task.path for task in found]
    return []


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number in words if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _signal(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


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
        """Number of page faults for which the thread waited until a page was read from the disk."""
        self.waited = 0.0
        """Seconds for which the thread waited for a processor; 0 where the kernel does not count them."""
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


def tree_us(*roots: int) -> int:
    """Return the processor time of processes and all their descendants, in microseconds.

    The time of an ended process is included if its parent has reaped it and still runs.
    """
    return sum(_own_us(process) for process in (*roots, *descendants(*roots)))


def _own_us(process: int) -> int:
    """Return the time of a process, its threads, and the children that it has reaped; 0 if it has ended."""
    with suppress(OSError):
        own = time.clock_gettime_ns(~process << 3 | CLOCK_OF_ALL_THREADS) // 1000
        fields = stat_fields(f"/proc/{process}")
        return own + sum(map(int, fields[_OF_ENDED_CHILDREN])) * MICROSECONDS // _TICKS
    return 0


def most_cores(cpus: float | None) -> int:
    """Return the number of cores that a bot with a limit of `cpus` can use at once; None: no limit."""
    there = len(os.sched_getaffinity(0))
    return there if cpus is None else min(there, math.ceil(cpus))


class Seen(Struct, frozen=True):
    """A process as shown in /proc."""

    pid: int
    parent: int
    group: int
    session: int


def adopt_orphans() -> None:
    """Make this process the parent of orphans among its descendants, so that a bot's processes cannot get lost.

    Raises:
        OSError: the kernel refuses.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def own_children() -> list[Seen]:
    """Return the children of this process, zombies included."""
    own = os.getpid()
    # Reading all of a machine's hundreds of processes takes 20 ms, and a command asks some ten times.
    numbers = children(own) if _are_listed(own) else _all_numbers()
    return [process for process in _seen(numbers) if process.parent == own]


def _are_listed(process: int) -> bool:
    """Return whether the kernel lists a process's children, which it may have been built without."""
    return Path(f"/proc/{process}/task/{process}/children").exists()


async def end_all(find: Callable[[], list[int]]) -> None:
    """Kill all processes that `find` returns, and their descendants, until it returns none."""
    with trio.move_on_after(PATIENCE_SECONDS):
        while found := find():
            kill_trees(found)
            _reap(found)
            await trio.sleep(SWEEP_SECONDS)


def kill_trees(roots: list[int]) -> None:
    """Kill processes and all their descendants, together with their process groups.

    A group is killed in one call. That catches a process that starts another one and exits, over and over, unless
    each leaves the group of the one before.
    """
    processes = _seen(_all_numbers())
    doomed: list[int] = []
    found = list(roots)
    while found:
        doomed += found
        found = [process.pid for process in processes if process.parent in found and process.pid not in doomed]
    groups = {process.group for process in processes if process.pid in doomed} - {os.getpgrp()}
    for target in [*(-group for group in groups), *doomed]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signal.SIGKILL)


def _all_numbers() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]


def _seen(numbers: list[int]) -> list[Seen]:
    """Return what /proc shows of these processes; those that have exited are left out."""
    found = []
    for number in numbers:
        with suppress(OSError):
            found.append(Seen(number, *map(int, stat_fields(f"/proc/{number}")[1:4])))
    return found


def _reap(children: list[int]) -> None:
    """Reap children that have ended."""
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


def children_cpu_seconds() -> float:
    """Return the seconds of processor time of this process's ended children, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def be_nice(niceness: int) -> None:
    """Lower the priority of this thread, and of all threads and processes that it starts later.

    The kernel may divide processor time among sessions first (sched(7), "The autogroup feature"). Then niceness
    counts only within a session, and the session has a niceness of its own. That is set only if this process leads
    its
    session: otherwise other programs in the session would be slowed down too.
    """
    nice = os.nice(niceness)
    with suppress(OSError):
        # A batch process preempts no other when it wakes; unlike SCHED_IDLE, it has its share on a busy machine.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    if os.getsid(0) == os.getpid():
        with suppress(OSError):
            AUTOGROUP.write_text(str(nice))
