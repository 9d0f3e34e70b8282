"""A lock on a folder, for programs that must not work in it at the same time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for the block, so that one program at a time is in such a block. Blocks until it is unlocked.

    Raises:
        OSError: the folder does not exist, or its file system has no locks.
    """
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
