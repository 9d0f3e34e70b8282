"""What is recorded: groups of parts, each of which can be recorded in a process of its own."""

import os
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

from msgspec import Struct

from tests.outputs import command_line, learning, scenarios, tournaments, transcripts
from tests.outputs.running import ENVIRONMENT, UNSET


class Group(Struct, frozen=True):
    """One kind of output."""

    parts: Callable[[], list[str]]
    record: Callable[[str, Path], None]
    """Write one part into a folder."""


GROUPS = {
    module.__name__.rpartition(".")[2].replace("_", "-"): Group(module.parts, module.record)
    for module in (scenarios, tournaments, transcripts, learning, command_line)
}
"""The slowest first, so that no process has to wait long for the last part."""


def record(out: Path, names: Sequence[str], jobs: int, say: Callable[[str], object]) -> None:
    """Record groups into a folder. A group replaces what the folder had of it once all its parts are there."""
    out.mkdir(parents=True, exist_ok=True)
    out, began = out.resolve(), monotonic()
    # New processes get the environment of this one.
    os.environ.update(ENVIRONMENT)
    for name in UNSET:
        os.environ.pop(name, None)
    for name in names:
        shutil.rmtree(_unfinished(out, name), ignore_errors=True)
        _unfinished(out, name).mkdir()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {
            pool.submit(_record_part, name, part, _unfinished(out, name)): (name, part)
            for name in names
            for part in GROUPS[name].parts()
        }
        left = {name: len(GROUPS[name].parts()) for name in names}
        for done in as_completed(running):
            name, part = running[done]
            if done.exception():
                pool.shutdown(cancel_futures=True)
            done.result()
            left[name] -= 1
            say(f"{monotonic() - began:6.1f} s  {name}: {part}")
            if not left[name]:
                shutil.rmtree(out / name, ignore_errors=True)
                _unfinished(out, name).rename(out / name)


def _record_part(name: str, part: str, folder: Path) -> None:
    GROUPS[name].record(part, folder)


def _unfinished(out: Path, name: str) -> Path:
    """Where a group is written. Its length is fixed by the name, and nothing recorded depends on it."""
    return out / f".{name}.unfinished"
