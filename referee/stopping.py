"""Stops a whole tree of processes with SIGSTOP, and lets it go on: where there is no control group to freeze."""

import os
import signal
from contextlib import suppress
from pathlib import Path

ROUNDS = 50
"""A tree that still grows after so many looks is left as it is then: it is bounded by its limits."""


def stop(root: int) -> None:
    """Stops a process and all that descends from it."""
    stopped: set[int] = set()
    for _ in range(ROUNDS):
        found = {root, *descendants(root)} - stopped
        if not found:
            return
        _signal(found, signal.SIGSTOP)
        stopped |= found


def go_on(root: int) -> None:
    """Lets a process and all that descends from it go on. What the bot itself had stopped goes on, too."""
    _signal({root, *descendants(root)}, signal.SIGCONT)


def descendants(root: int) -> list[int]:
    """All processes that descend from one, as they are now."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        for tasks in Path("/proc", str(waiting.pop()), "task").glob("*/children"):
            with suppress(OSError):
                children = [int(word) for word in tasks.read_text().split()]
                found += children
                waiting += children
    return found


def _signal(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
