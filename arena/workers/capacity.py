"""Default numbers of concurrent matches and of referee processes on this machine."""

import os
import platform
import re
from pathlib import Path
from typing import Annotated

import msgspec

from referee.bot_folder import cache_folder
from referee.linux.files import read_regular, write_bytes_whole

MAX_CALIBRATION_BYTES = 64 * 1024
MAX_CONCURRENCY = 100_000
"""Upper limit of concurrent matches and of processes, higher than any machine can run."""


def cores() -> int:
    """Return the number of cores that the arena may use."""
    return len(os.sched_getaffinity(0))


def matches_at_once() -> int:
    """Return the default of `--concurrency`: the calibrated number of matches, or else one match per core."""
    return calibrated() or cores()


def calibrated() -> int | None:
    """Return the number of matches that `arena stress --calibrate` found safe on this machine, or None."""
    try:
        kept = msgspec.json.decode(read_regular(_calibration(), MAX_CALIBRATION_BYTES), type=Calibration)
    except (OSError, msgspec.MsgspecError):
        return None
    # Another machine may share the home folder and has its own limit.
    return kept.concurrency if kept.machine == _machine() else None


class Calibration(msgspec.Struct):
    """The number of concurrent matches that a machine can safely run."""

    machine: str
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=MAX_CONCURRENCY)]


def keep_calibration(concurrency: int) -> Path:
    """Store the safe number of matches on this machine for `matches_at_once`, and return the file's path."""
    file = _calibration()
    file.parent.mkdir(parents=True, exist_ok=True)
    found = Calibration(machine=_machine(), concurrency=concurrency)
    write_bytes_whole(file, msgspec.json.encode(found) + b"\n")
    return file


def own_cores(processes: int) -> list[frozenset[int]]:
    """Return disjoint sets of cores of equal size, one set per referee process.

    Cores that remain are left to the arena's own process and to other programs.
    """
    free = sorted(os.sched_getaffinity(0), key=lambda core: (_physical(core), core))
    each = len(free) // processes
    return [frozenset(free[number * each : (number + 1) * each]) for number in range(processes)]


def _physical(core: int) -> int:
    """Return the lowest-numbered core that shares a physical core with this one.

    Hardware threads of one physical core slow each other down, so one process should have all of them.
    """
    try:
        siblings = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
        return int(re.split("[,-]", siblings)[0])
    except (OSError, ValueError):
        return core


def _calibration() -> Path:
    return cache_folder() / "capacity.json"


def _machine() -> str:
    return f"{platform.node()}, {cores()} cores"


def shares(matches: int, *, concurrency: int, workers: int | None) -> list[int]:
    """Return the number of concurrent matches of each referee process.

    Args:
        matches: Number of matches to play; there are never more processes than matches.
        concurrency: Maximum number of concurrent matches in all processes together.
        workers: Maximum number of processes; None allows one per core.
    """
    at_once = max(1, min(concurrency, matches))
    count = min(workers or cores(), at_once)
    return [at_once // count + (number < at_once % count) for number in range(count)]
