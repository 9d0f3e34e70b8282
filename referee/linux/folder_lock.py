"""A lock on a folder: programs that meet in it take turns."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait until no other program is in such a block with the same folder, and keep others out meanwhile.

    Raises:
        OSError: the folder is not there, or lies on a file system without locks.
    """
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
