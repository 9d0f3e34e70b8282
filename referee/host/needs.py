"""What a process that plays matches needs of its machine: reckoned before the first, not met in the midst."""

import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.linux import cgroups
from referee.wire import PATH_BYTES, SOCKET_NAME

PROCESS_FILES = 64
"""A process's own: its interpreter's, the arena's line to it, its poll, its groups, those of a bot's start."""
MATCH_FILES = 8
"""For each match: its transcript, a thread's moment."""
SEAT_FILES = 36
"""For each bot: its line, its log, its process, its group's counters, and the counters of sixteen threads."""
SANDBOX_PROCESSES = 3
"""For each bot, beside its own: its sandbox's."""
PROCESS_PROCESSES = 8
"""Of one that plays matches: itself, its threads at the disk, the processes that bots are forked from."""
_MADE = "/arena-12345678"
"""As long as a folder's name that `tempfile` makes."""


def files_needed(matches: int, seats: int) -> int:
    """Return how many files a process may have open that plays so many matches at once, of so many seats."""
    return PROCESS_FILES + matches * (MATCH_FILES + seats * SEAT_FILES)


def files_allowed() -> int | None:
    """Return how many files a process may have open here; None: there is no bound."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def processes_needed(matches: int, seats: int, workers: int, of_bot: int) -> int:
    """Return how many processes and threads there may be while so many matches are played at once.

    `of_bot`: as many as a bot may have. Whoever could use up those of others could have a match voided.
    """
    return workers * PROCESS_PROCESSES + matches * seats * (of_bot + SANDBOX_PROCESSES)


def processes_left() -> tuple[int, str] | None:
    """Return how many more processes and threads there may be, and which bound says so; None: there is none."""
    found = list(cgroups.processes_left())
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    # The kernel does not hold root to it.
    if hard != resource.RLIM_INFINITY and os.geteuid() != 0:
        found.append((hard - sum(_threads_of(os.geteuid())), f"ulimit -u is {hard}"))
    return min(found, default=None)


def _threads_of(user: int) -> Iterator[int]:
    """The number of threads of each process of a user."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if entry.stat().st_uid == user:
                    yield len(list((entry / "task").iterdir()))
            except OSError:
                continue  # It has ended.


def too_long_for_sockets(*, of_worker: bool) -> str | None:
    """Return what is wrong with the folder for temporary files, if bots' sockets have no room in it.

    `of_worker`: the matches are played by a process that has a folder of its own in it.

    Raises:
        OSError: there is no folder for temporary files.
    """
    folder = tempfile.gettempdir()
    most = PATH_BYTES - len(f"{_MADE}/{SOCKET_NAME}") - (len(_MADE) if of_worker else 0)
    size = len(os.fsencode(Path(folder).absolute()))
    if size <= most:
        return None
    return (
        f"TMPDIR: {folder}: its path has {size} bytes, and bots' sockets have room in one of at most {most}: "
        "set TMPDIR to a shorter one, such as /tmp"
    )
