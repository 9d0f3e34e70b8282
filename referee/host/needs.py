"""Computes the files and processes that matches need, so that a shortage is found before the first match."""

import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

from referee.linux import cgroups
from referee.wire import PATH_BYTES, SOCKET_NAME

PROCESS_FILES = 64
"""Files of a worker itself: of its interpreter, its connection to the arena, its poll, its groups, a bot's
start."""
MATCH_FILES = 8
"""Files per match: its transcript, and some for short times."""
SEAT_FILES = 36
"""Files per bot: its line, its log, its process, its group's counters, and the counters of sixteen threads."""
SANDBOX_PROCESSES = 3
"""Processes per bot that belong to its sandbox."""
PROCESS_PROCESSES = 8
"""Processes and threads per worker: itself, its threads for the disk, the processes that bots are forked from."""
_MADE = "/arena-12345678"
"""A name of the length of those that `tempfile` makes."""


def files_needed(matches: int, seats: int) -> int:
    """Return how many files a process needs that plays `matches` at once, each with `seats`."""
    return PROCESS_FILES + matches * (MATCH_FILES + seats * SEAT_FILES)


def files_allowed() -> int | None:
    """Return how many files a process may have open here; None: there is no bound."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def processes_needed(matches: int, seats: int, workers: int, of_bot: int) -> int:
    """Return how many processes and threads there can be while `matches` are played at once.

    `of_bot` is the number that each bot may have. If bots could use up those of others, they could have matches
    voided.
    """
    return workers * PROCESS_PROCESSES + matches * seats * (of_bot + SANDBOX_PROCESSES)


def processes_left() -> tuple[int, str] | None:
    """Return how many more processes and threads there may be, and which bound applies; None: no bound."""
    found = list(cgroups.processes_left())
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    # The kernel does not apply this bound to root.
    if hard != resource.RLIM_INFINITY and os.geteuid() != 0:
        found.append((hard - sum(_threads_of(os.geteuid())), f"ulimit -u is {hard}"))
    return min(found, default=None)


def _threads_of(user: int) -> Iterator[int]:
    """Yield the number of threads of each process of a user."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if entry.stat().st_uid == user:
                    yield len(list((entry / "task").iterdir()))
            except OSError:
                continue  # It has ended.


def too_long_for_sockets(*, of_worker: bool) -> str | None:
    """Return an error text if the path of the folder for temporary files is too long for bots' sockets, else None.

    Args:
        of_worker: whether the matches are played by a worker, which has a folder of its own in that one.

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
