"""Ends the bots of an arena that was killed, and takes their control groups away.

In version 1 a frozen process does not die before it is thawed, and who would thaw it is gone. So each arena has a
guard: this file, run as `cgroup_guard.py DESCRIPTOR FOLDER…`, waits until the process behind the descriptor has
ended, and clears these folders. Where somebody killed the guard as well, the next arena does it. It imports
nothing of ours, to be small.
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
"""Memory of many gigabytes takes long to be freed."""
PAUSE_SECONDS = 0.01


def main() -> None:
    """Guards one arena, to its end."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    select.select([int(sys.argv[1])], [], [])
    clear(map(Path, sys.argv[2:]), GUARD_SECONDS)


def clear(folders: Iterable[Path], seconds: float) -> None:
    """Kills all that is in these groups and the groups below, and removes them. Blocks, for so long at most."""
    give_up = time.monotonic() + seconds
    left = list(folders)
    while left and time.monotonic() < give_up:
        groups = [group for folder in left for group in (*_below(folder), folder)]
        for group in groups:
            _kill(group)
        for group in groups:
            # Only now: nothing of a bot runs in between.
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
    """Those in a group. Of processes in another container the kernel tells no number, or 0."""
    with suppress(OSError):
        yield from (int(word) for word in (group / "cgroup.procs").read_text().split() if int(word) > 0)


def _write(file: Path, word: bytes) -> bool:
    """False: this kind of group has no such file, or it cannot be written."""
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
