"""Empties the folders of a bot that is kept for its next match. Their content is hostile; the bot is frozen."""

import os
from itertools import islice
from pathlib import Path

from msgspec import Struct

MOST_ENTRIES = 1_000
"""The most files and folders that are removed. A bot that left more is ended, which takes the same time for any
number."""
MOST_DEEP = 10
"""The deepest nesting of folders that are removed."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Scratch(Struct, frozen=True):
    """A folder that a bot can write to."""

    folder: Path
    """The folder as seen from outside; in a sandbox, through one of its processes."""
    but_not: Path | None = None
    """The machine's own folder of that name. It would be found if the process had ended and its number was
    reused."""


def is_empty(scratch: Scratch) -> bool:
    """Return whether a folder is empty; False if that is unknown."""
    try:
        with os.scandir(scratch.folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def empty(scratch: Scratch) -> bool:
    """Remove everything in a folder, following no link; return False if that is too much or impossible."""
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
    """Remove everything in a folder, up to `left` entries and `deep` levels.

    Returns:
        The number of entries that may still be removed; negative: there were more, or they are nested too deep.

    Raises:
        OSError: an entry cannot be removed.
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
