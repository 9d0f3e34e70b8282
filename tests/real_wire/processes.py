"""Processes of this machine as tests look for them: who descends from whom, and who is still there."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

PATIENCE_SECONDS = 60
"""Far more than anything here takes."""
BORN = 19
"""Place of the time of its start among a process's fields, after its name's."""
FoundT = TypeVar("FoundT")


def until(look: Callable[[], FoundT]) -> FoundT:
    """What is there at last."""
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
    return {f"{each} {_born(each)}" for each in found[1:]}


def alive(family: set[str]) -> set[str]:
    """Those of a family that are still there, zombies among them."""
    return {each for each in family if f" {_born(int(each.split()[0]))}" in each}


def children(parent: int) -> list[int]:
    """A process's own."""
    found: list[int] = []
    for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, tasks.read_text().split())
    return found


def _born(pid: int) -> str:
    """When a process began; of none, nothing."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[BORN]
    return "never"
