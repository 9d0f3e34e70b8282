"""Attempts on read-only things that all bots share: two bots could communicate through them, or one could spy."""

import ctypes
import fcntl
import os
import select
import struct
from collections.abc import Callable, Iterable

from .attempt import Verdict, any_of, attacks, opened
from .kernel import call
from .scene import Scene

SHARED = os.__file__
"""A file that every bot may read; a shared lock on it blocks no program."""
TERMINALS = "/dev/pts"
OFD_SETLK, OFD_GETLK = 37, 36
WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
WRITING_TO_WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
IN_ACCESS, IN_OPEN = 0x1, 0x20
WATCH_SECONDS = 1.0


def _with_file(path: str, use: Callable[[int], object]) -> Callable[[], str]:
    def way() -> str:
        with opened(path) as descriptor:
            return f"the kernel answered {use(descriptor)!r}"

    return way


@attacks("system-call filter")
def locks_shared_files(scene: Scene) -> Verdict:
    """Locks a file that all bots may read, and asks who holds locks on it: a word from one bot to another."""
    ways: dict[str, Callable[[int], object]] = {
        "flock": lambda file: fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB),
        "F_SETLK": lambda file: fcntl.fcntl(file, fcntl.F_SETLK, WHOLE_FILE),
        "F_GETLK": lambda file: fcntl.fcntl(file, fcntl.F_GETLK, WRITING_TO_WHOLE_FILE),
        "F_OFD_SETLK": lambda file: fcntl.fcntl(file, OFD_SETLK, WHOLE_FILE),
        "F_OFD_GETLK": lambda file: fcntl.fcntl(file, OFD_GETLK, WRITING_TO_WHOLE_FILE),
        "F_SETLEASE": lambda file: fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "F_GETLEASE": lambda file: fcntl.fcntl(file, fcntl.F_GETLEASE),
    }
    return any_of((name, _with_file(SHARED, use)) for name, use in ways.items())


@attacks("system-call filter")
def watches_shared_files(scene: Scene) -> Verdict:
    """Asks to be told when anybody opens or reads the interpreter's files, as the other bot does."""

    def watched() -> str:
        watching = call("inotify_init1", os.O_NONBLOCK)
        try:
            call("inotify_add_watch", watching, ctypes.c_char_p(SHARED.encode()), IN_ACCESS | IN_OPEN)
            os.close(os.open(SHARED, os.O_RDONLY))
            seen = select.select([watching], [], [], WATCH_SECONDS)[0]
            return "an opening was seen" if seen else "a watch was set"
        finally:
            os.close(watching)

    folder = os.path.dirname(SHARED)
    notified = _with_file(folder, lambda file: fcntl.fcntl(file, fcntl.F_NOTIFY, fcntl.DN_ACCESS))
    return any_of([("inotify", watched), ("F_NOTIFY", notified)])


@attacks("minimal root")
def sees_others_terminals(scene: Scene) -> Verdict:
    """Looks for terminals that another bot, or anybody, has opened."""

    def others(names: Iterable[str]) -> str:
        found = sorted(set(names) - {"ptmx"})
        return f"terminals {', '.join(found)}" if found else ""

    return any_of([(TERMINALS, lambda: others(os.listdir(TERMINALS)))])
