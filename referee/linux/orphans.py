"""Orphaned processes of bots: adopts them as children of this process, and kills them with their bot."""

import ctypes
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from referee.linux import process_tree

SET_CHILD_SUBREAPER = 36
"""`prctl` of Linux: orphans among a process's descendants become its children."""
SWEEP_SECONDS = 0.005
"""Seconds between two checks of processes that were killed and have not ended yet."""
PATIENCE_SECONDS = 10
"""Seconds after which processes that multiply faster than they are killed are left alone. They need a sandbox."""


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


def children() -> list[Seen]:
    """Return the children of this process, zombies included."""
    own = os.getpid()
    # Reading all of a machine's hundreds of processes takes 20 ms, and a command asks some ten times.
    numbers = process_tree.children(own) if _are_listed(own) else _all_numbers()
    return [process for process in _seen(numbers) if process.parent == own]


def _are_listed(process: int) -> bool:
    """Return whether the kernel lists a process's children, which it may have been built without."""
    return Path(f"/proc/{process}/task/{process}/children").exists()


async def end_all(find: Callable[[], list[int]]) -> None:
    """Kill all processes that `find` returns, and their descendants, until it returns none."""
    with trio.move_on_after(PATIENCE_SECONDS):
        while found := find():
            kill(found)
            _reap(found)
            await trio.sleep(SWEEP_SECONDS)


def kill(roots: list[int]) -> None:
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
            # The program's name is in brackets and may contain any byte, brackets included.
            fields = process_tree.read_kernel_file(f"/proc/{number}/stat").rpartition(b")")[2].split()
            found.append(Seen(number, *map(int, fields[1:4])))
    return found


def _reap(children: list[int]) -> None:
    """Reap children that have ended."""
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
