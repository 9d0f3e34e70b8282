"""This arena's guard: a process that ends its bots and unfinished sandboxes if it is killed; see `arena_guard`."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from referee.linux.arena_guard import NUMBER_BYTES

PROGRAM = Path(__file__).with_name("arena_guard.py")


class _Guard(Struct, frozen=True):
    process: "subprocess.Popen[bytes]"
    line: int
    """The writing end of the pipe to its standard input."""


_guards: list[_Guard] = []


def set_guard(folders: Iterable[Path] = ()) -> None:
    """Start this arena's guard, which clears these control groups at the arena's end.

    Raises:
        OSError: no process can be started.
    """
    itself = os.pidfd_open(os.getpid())
    theirs, line = os.pipe()
    os.set_blocking(line, False)  # A stopped guard must not stop the arena.
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, and our own words
            [sys.executable, "-I", "-S", str(PROGRAM), str(itself), *map(str, folders)],
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
    _guards.append(_Guard(process, line))


def guards() -> set[int]:
    """Return the processes that end this arena's bots if it is killed. They end with it."""
    return {guard.process.pid for guard in _guards}


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
        os.write(_guards[-1].line, bubblewrap.to_bytes(NUMBER_BYTES, sys.byteorder))


def kill(bubblewrap: "subprocess.Popen[bytes]") -> None:
    """Kill bubblewrap, and its child if that is not tied to bubblewrap's life yet."""
    if bubblewrap.poll() is None:
        os.killpg(bubblewrap.pid, signal.SIGKILL)
