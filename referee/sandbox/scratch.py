"""Empties the folders of a bot that stays for its next match. What is in them is hostile; its owner is frozen."""

import os
from itertools import islice
from pathlib import Path

from msgspec import Struct

MOST_ENTRIES = 1_000
"""Of a bot that left more, the folders are not emptied: it is ended, which takes no longer for having many."""
MOST_DEEP = 10
"""Folders in folders."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch(Struct, frozen=True):
    """A folder that a bot can write to."""

    folder: Path
    """As it is seen from here: of a sandbox, by one of its processes."""
    but_not: Path | None = None
    """The machine's own of that name: were the process gone, and its number another's, that would be found."""


def is_empty(scratch: Scratch) -> bool:
    """Whether nothing is in it, as far as can be told."""
    try:
        with os.scandir(scratch.folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def empty(scratch: Scratch) -> bool:
    """Removes all that is in it, and follows no link; False: it was too much, or cannot be removed."""
    try:
        descriptor = os.open(scratch.folder, _FOLDER)
    except OSError:
        return False
    try:
        other = None if scratch.but_not is None else scratch.but_not.stat()
        if other is not None and os.path.samestat(os.fstat(descriptor), other):
            return False
        return _empty(descriptor, MOST_ENTRIES, MOST_DEEP) >= 0
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _empty(folder: int, left: int, deep: int) -> int:
    """How many entries of those that may be removed are left; negative: there were more, or they lie too deep.

    Raises:
        OSError: one of them cannot be removed.
    """
    with os.scandir(folder) as entries:
        found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, left + 1)]
    left -= len(found)
    for name, is_folder in found:
        if left < 0:
            break
        if not is_folder:
            os.unlink(name, dir_fd=folder)
        elif deep == 0:
            return -1
        else:
            below = os.open(name, _FOLDER, dir_fd=folder)
            try:
                left = _empty(below, left, deep - 1)
            finally:
                os.close(below)
            if left >= 0:
                os.rmdir(name, dir_fd=folder)
    return left
