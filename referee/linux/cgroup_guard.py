"""Ends the bots of an arena that was killed, and removes their control groups.

In version 1 a frozen process does not die until it is thawed, and a killed arena cannot thaw it. So each arena has
a guard: this file, run as `cgroup_guard.py DESCRIPTOR FOLDER…`, waits until the process behind the descriptor has
ended, and clears these folders. If the guard is killed as well, the next arena does it. The guard imports nothing
of this project, to be small.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

GUARD_SECONDS = 60
"""Seconds for which the guard tries: many gigabytes of memory take long to be freed."""
PAUSE_SECONDS = 0.01


def main() -> None:
    """Wait for the end of an arena, then clear its folders."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    select.select([int(sys.argv[1])], [], [])
    clear(map(Path, sys.argv[2:]), GUARD_SECONDS)


def clear(folders: Iterable[Path], seconds: float) -> None:
    """Kill all processes in these groups and the groups below, and remove them. Blocks for at most `seconds`."""
    give_up = time.monotonic() + seconds
    left = list(folders)
    while left and time.monotonic() < give_up:
        groups = [group for folder in left for group in (*_below(folder), folder)]
        for group in groups:
            _kill(group)
        for group in groups:
            # Thawed only now, so that no process of a bot runs in between.
            _write(group / "freezer.state", b"THAWED")
        for group in groups:
            with suppress(OSError):
                group.rmdir()
        left = [folder for folder in left if folder.is_dir()]
        if left:
            time.sleep(PAUSE_SECONDS)


def _below(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [entry for entry in folder.iterdir() if entry.is_dir()]
    return []


def _kill(group: Path) -> None:
    if not _write(group / "cgroup.kill", b"1"):
        for pid in _processes(group):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _processes(group: Path) -> Iterator[int]:
    """Yield the processes in a group. The kernel hides those of another container, or shows them as 0."""
    with suppress(OSError):
        yield from (int(word) for word in (group / "cgroup.procs").read_text().split() if int(word) > 0)


def _write(file: Path, word: bytes) -> bool:
    """Write to a group's file; return False if this kind of group has no such file, or it cannot be written."""
    try:
        descriptor = os.open(file, os.O_WRONLY)
    except OSError:
        return False
    try:
        os.write(descriptor, word)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


if __name__ == "__main__":
    main()
