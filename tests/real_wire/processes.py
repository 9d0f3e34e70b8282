"""Processes of this machine as tests look for them: who descends from whom, and who is still there."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

SLOW = "STAND_INS_ARE_SLOW"
"""Of the environment: a file. While it is there, stand-ins of matches take a hundred times as long."""
PATIENCE_SECONDS = 600
"""Far more than anything here takes, also on a machine that is busy otherwise."""
STATE, BORN = 0, 19
"""Places of a process's state and of the time of its start among its fields, after its name's."""
FoundT = TypeVar("FoundT")


def until(look: Callable[[], FoundT]) -> FoundT:
    """Look again and again until something is found, and return it."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    return found


def family(root: int) -> set[str]:
    """All processes that descend from one: each by its number and when it began, which no other will have."""
    found = [root]
    for each in found:
        found += children(each)
    return {f"{each} {born}" for each in found[1:] if (born := _born(each))}


def alive(family: set[str]) -> set[str]:
    """Those of a family that are still there.

    Zombies are not: they have ended, and whose parent has ended before them waits for init. In many
    containers that is a program which buries nobody.
    """
    return {each for each in family if each.split()[1] == _born(int(each.split()[0]))}


def children(parent: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):  # it may end while it is asked
        for tasks in Path(f"/proc/{parent}/task").iterdir():
            with suppress(OSError):
                found += map(int, (tasks / "children").read_text().split())
    return found


def workers_of(arena: int) -> list[int]:
    """Return the numbers of an arena's referee processes."""
    found: list[int] = []
    for child in children(arena):
        with suppress(OSError):  # it may end while it is asked
            if Path(f"/proc/{child}/comm").read_text() == "arena-worker\n":
                found.append(child)
    return found


def _born(pid: int) -> str:
    """When a process began that has not ended; of others, nothing."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        if fields[STATE] != "Z":
            return fields[BORN]
    return ""
