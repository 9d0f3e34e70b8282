"""Processes whose parent has ended: they become this process's children, and are ended with whose they were."""

import ctypes
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

SET_CHILD_SUBREAPER = 36
"""`prctl` of Linux: orphans among a process's descendants become its children."""
SWEEP_SECONDS = 0.005
"""Between looks at processes that were killed and are not gone yet."""
PATIENCE_SECONDS = 10
"""After that processes are let go that multiply faster than they are killed: they need a sandbox."""


class Seen(Struct, frozen=True):
    """A process as /proc shows it."""

    pid: int
    parent: int
    group: int
    session: int


def adopt_orphans() -> None:
    """Makes this process the parent of its descendants' orphans: what a bot leaves behind cannot get lost."""
    if ctypes.CDLL(None, use_errno=True).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def children() -> list[Seen]:
    """This process's own, zombies among them."""
    return [process for process in _processes() if process.parent == os.getpid()]


async def end_all(find: Callable[[], list[int]]) -> None:
    """Ends all children that `find` finds, and what descends from them, until it finds none any more."""
    with trio.move_on_after(PATIENCE_SECONDS):
        while found := find():
            kill(found)
            _reap(found)
            await trio.sleep(SWEEP_SECONDS)


def kill(roots: list[int]) -> None:
    """Kills processes and all that descend from them, with their groups: a group is killed at one blow.

    So one that starts another and ends, over and over, is caught, unless each leaves the group of the one before.
    """
    processes = _processes()
    doomed: list[int] = []
    found = list(roots)
    while found:
        doomed += found
        found = [process.pid for process in processes if process.parent in found and process.pid not in doomed]
    groups = {process.group for process in processes if process.pid in doomed} - {os.getpgrp()}
    for target in [*(-group for group in groups), *doomed]:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(target, signal.SIGKILL)


def _processes() -> list[Seen]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                # The program's name stands in brackets and may hold anything, brackets too.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                found.append(Seen(int(entry.name), *map(int, fields[1:4])))
    return found


def _reap(children: list[int]) -> None:
    """Takes leave of those that are dead already."""
    for child in children:
        with suppress(ChildProcessError):
            os.waitpid(child, os.WNOHANG)
