"""How much is played at once where nobody says it: matches on this machine, and referee processes for them."""

import os
import platform
import re
from pathlib import Path
from typing import Annotated

import msgspec

from referee.bot_folder import cache_folder
from referee.linux.regular_file import read_regular
from referee.linux.whole_file import write_bytes_whole

MAX_CALIBRATION_BYTES = 64 * 1024
MAX_CONCURRENCY = 100_000
"""More matches at once than any machine carries, or processes."""


def cores() -> int:
    """How many of this machine's cores the arena may use."""
    return len(os.sched_getaffinity(0))


def matches_at_once() -> int:
    """The default of `--concurrency`: what `arena stress --calibrate` found safe, else one match for each core."""
    return calibrated() or cores()


def calibrated() -> int | None:
    """What `arena stress --calibrate` found safe on this machine, if it was asked."""
    try:
        kept = msgspec.json.decode(read_regular(_calibration(), MAX_CALIBRATION_BYTES), type=Calibration)
    except (OSError, msgspec.MsgspecError):
        return None
    # Another machine with the same home has another limit.
    return kept.concurrency if kept.machine == _machine() else None


class Calibration(msgspec.Struct):
    """What a machine was found to carry."""

    machine: str
    concurrency: Annotated[int, msgspec.Meta(ge=1, le=MAX_CONCURRENCY)]


def keep_calibration(concurrency: int) -> Path:
    """Keeps what was found safe on this machine, for `matches_at_once`; where it is kept."""
    file = _calibration()
    file.parent.mkdir(parents=True, exist_ok=True)
    found = Calibration(machine=_machine(), concurrency=concurrency)
    write_bytes_whole(file, msgspec.json.encode(found) + b"\n")
    return file


def own_cores(processes: int) -> list[frozenset[int]]:
    """Return cores for each referee process: as many for each, and none for two.

    What is left over is for the arena's own process and for other programs.
    """
    free = sorted(os.sched_getaffinity(0), key=lambda core: (_physical(core), core))
    each = len(free) // processes
    return [frozenset(free[number * each : (number + 1) * each]) for number in range(processes)]


def _physical(core: int) -> int:
    """Return the first of the cores that are threads of one physical core: they would slow each other down."""
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
    """How many matches each referee process plays at once.

    Args:
        matches: that are to be played; no process is started that would have none.
        concurrency: matches at once, in all processes together.
        workers: processes; None: one for each core.
    """
    at_once = max(1, min(concurrency, matches))
    count = min(workers or cores(), at_once)
    return [at_once // count + (number < at_once % count) for number in range(count)]
