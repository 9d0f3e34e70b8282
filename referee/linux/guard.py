"""The guard of an arena: a process that ends what a killed arena leaves behind, and the calls that start it.

That is its bots, their control groups, and unfinished sandboxes.

In version 1 a frozen process does not die until it is thawed, and a killed arena cannot thaw it. Bubblewrap, if it
is killed with its arena while it starts a sandbox, leaves a child that waits for it forever. So each arena has a
guard: this file, run as `guard.py DESCRIPTOR FOLDER…`. It waits until the process behind the descriptor has
ended, clears these folders, and kills bubblewrap's processes in the process groups whose numbers it has read from
its standard input. If the guard is killed as well, the next arena clears the folders. This file imports nothing of
the project, and `subprocess` only in the arena, so that the guard is small.
"""

import os
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

TYPE_CHECKING = False  # Type checkers take it for the one of `typing`, which is slow to import.
if TYPE_CHECKING:
    import subprocess

GUARD_SECONDS = 60
"""Seconds for which the guard tries: many gigabytes of memory take long to be freed."""
PAUSE_SECONDS = 0.01
NUMBER_BYTES = 4
"""Bytes of a process group's number on the guard's standard input, in the machine's own order."""
MOST_STARTS = 4_096
"""Number of process groups that the guard remembers, the latest ones: sandboxes start within a second."""
READ_BYTES = NUMBER_BYTES * 1_024
BUBBLEWRAP = b"bwrap"


def main() -> None:
    """Wait for the end of an arena, then kill its bots and its unfinished sandboxes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    starts = _starts_until_end(int(sys.argv[1]))
    # The groups first: bubblewrap may be frozen in one of them, and does not die before it is thawed.
    clear(map(Path, sys.argv[2:]), GUARD_SECONDS)
    kill_bubblewrap(starts, GUARD_SECONDS)


def _starts_until_end(arena: int) -> Collection[int]:
    """Wait for the end of the process behind a pidfd; return the process groups that it has reported."""
    starts: deque[int] = deque(maxlen=MOST_STARTS)
    sources = [arena, sys.stdin.fileno()]
    # After the arena's end, first read what it has written.
    while select.select(sources, [], [])[0] != [arena]:
        numbers = os.read(sys.stdin.fileno(), READ_BYTES)
        for place in range(0, len(numbers), NUMBER_BYTES):
            starts.append(int.from_bytes(numbers[place : place + NUMBER_BYTES], sys.byteorder))
        if not numbers:
            sources = [arena]
    return frozenset(starts)


def kill_bubblewrap(groups: Collection[int], seconds: float) -> None:
    """Kill all processes of bubblewrap in these process groups. Blocks for at most `seconds`.

    A bot is in none of them: bubblewrap leaves its process group before it runs another program.
    """
    give_up = time.monotonic() + seconds
    while groups and (found := _bubblewraps(groups)) and time.monotonic() < give_up:
        for process in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def _bubblewraps(groups: Collection[int]) -> list[int]:
    """Return the processes of bubblewrap in these process groups, without zombies."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                # The program's name is in brackets and may contain any byte, brackets included.
                start, _, rest = (folder / "stat").read_bytes().rpartition(b")")
                state, _, group, *_ = rest.split()
                if start.partition(b"(")[2] == BUBBLEWRAP and state != b"Z" and int(group) in groups:
                    found.append(int(folder.name))
    return found


def clear(folders: Iterable[Path], seconds: float) -> None:
    """Kill all processes in these groups and the groups below, and remove them. Blocks for at most `seconds`."""
    give_up = time.monotonic() + seconds
    left = list(folders)
    while left and time.monotonic() < give_up:
        groups: list[Path] = []
        for folder in left:
            groups += [*_below(folder), folder]
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


# What follows runs in the arena.


_guards: "list[tuple[subprocess.Popen[bytes], int]]" = []
"""This arena's guards, each with the writing end of the pipe to its standard input."""


def set_guard(folders: Iterable[Path] = ()) -> None:
    """Start this arena's guard, which clears these control groups at the arena's end.

    Raises:
        OSError: no process can be started.
    """
    import subprocess  # noqa: PLC0415 - the guard itself does without it

    itself = os.pidfd_open(os.getpid())
    theirs, line = os.pipe()
    os.set_blocking(line, False)  # A stopped guard must not stop the arena.
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [sys.executable, "-I", "-S", __file__, str(itself), *map(str, folders)],
            env={},
            cwd="/",
            stdin=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[itself],
            process_group=0,  # a Ctrl-C at the terminal is the arena's to act on
        )
    except OSError:
        os.close(line)
        raise
    finally:
        os.close(theirs)
        os.close(itself)
    _guards.append((process, line))


def guards() -> set[int]:
    """Return the processes that end this arena's bots if it is killed. They end with it."""
    return {process.pid for process, _ in _guards}


def ensure_guard() -> None:
    """Start this arena's guard if there is none. Call before `report_start`.

    Raises:
        OSError: no process can be started.
    """
    if not _guards:
        set_guard()


def report_start(bubblewrap: int) -> None:
    """Tell the guard of a bubblewrap that was started, so that it ends the sandbox if the arena dies meanwhile.

    Bubblewrap leads a process group, and dies with the arena. Its child waits for it at first, and would wait
    forever.
    """
    with suppress(BlockingIOError, BrokenPipeError):  # The guard is stopped, or was killed.
        os.write(_guards[-1][1], bubblewrap.to_bytes(NUMBER_BYTES, sys.byteorder))


def kill(bubblewrap: "subprocess.Popen[bytes]") -> None:
    """Kill bubblewrap, and its child if that is not tied to bubblewrap's life yet."""
    if bubblewrap.poll() is None:
        os.killpg(bubblewrap.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
