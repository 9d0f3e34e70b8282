"""Folders of the arena's cache: this user's alone, complete or not there, none left over from a killed arena."""

import errno
import fcntl
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.linux.private_file import FOLDER_MODE

MAKING = "making-"
"""What a folder is called that is not complete."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
REMEDY = "set XDG_CACHE_HOME to a folder of your own"


class CacheError(ValueError):
    """Others could put what this user would run into the cache. The text is one line: which folder, what helps."""


def private(folder: Path) -> None:
    """Makes a folder of the cache if it is not there. No other user may read it, or put another in its place.

    Raises:
        CacheError: another user owns it or a folder above it, or may write there.
        OSError: it cannot be made.
    """
    folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    folder = folder.resolve()
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise CacheError(f"{folder}: belongs to user {status.st_uid}, who could put anything there; {REMEDY}")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise CacheError(f"{folder}: may be written by other users; delete it, or {REMEDY}")
    for above in folder.parents:
        _check_above(above)
    folder.chmod(FOLDER_MODE)


def own_temporary_folder(name: str) -> Path:
    """Return this user's folder of a name among temporary files, made if it is not there.

    Raises:
        OSError: another user was there first, or could replace it; or there is no folder for temporary files.
    """
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.geteuid()}"
    with suppress(FileExistsError):
        folder.mkdir(FOLDER_MODE)
    status = folder.lstat()
    # Whoever put a link there could let it lead to any folder of this user's.
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise OSError(errno.EROFS, f"is not a folder of this user's; {REMEDY}", str(folder))
    try:
        private(folder)
    except CacheError as error:
        raise OSError(errno.EROFS, str(error)) from None
    return folder


def _check_above(folder: Path) -> None:
    """A user who may write to a folder can replace what lies there, but for a sticky one like /tmp."""
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise CacheError(f"{folder}: belongs to user {status.st_uid}, who could replace the cache in it; {REMEDY}")
    # Many systems give each user a group of their own, and files that it may write to.
    foreign_group = status.st_mode & stat.S_IWGRP and status.st_gid not in (0, os.getegid())
    if (foreign_group or status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        raise CacheError(f"{folder}: may be written by other users, who could replace the cache in it; {REMEDY}")


@contextmanager
def making(among: Path) -> Iterator[Path]:
    """A new folder beside those that are complete, which is gone afterwards; `settle` what is made in it before.

    What other arenas left there when they were killed is removed: each holds a lock on what it makes.

    Raises:
        OSError: it cannot be made.
    """
    _sweep(among)
    made, lock = _locked(among)
    try:
        yield made
    finally:
        remove(made)
        os.close(lock)


def settle(made: Path, wanted: Path) -> None:
    """Puts a complete folder where it is looked for, unless somebody else was faster.

    Raises:
        OSError: it cannot be put there.
    """
    try:
        made.rename(wanted)
    except OSError:
        # A folder that is not empty is never replaced.
        if not wanted.is_dir():
            raise


def remove(folder: Path) -> None:
    """Removes a folder, as far as that is possible, however deep it is and whatever rights its folders have.

    Python's own would follow each folder by a call of itself.
    """
    for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
        subprocess.run([*command, "--", str(folder)], check=False, capture_output=True)  # noqa: S603 - no shell


def _locked(among: Path) -> tuple[Path, int]:
    """A new folder and a descriptor that holds its lock."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=MAKING, dir=among))
        # Before it is locked it may be taken for a dead arena's.
        with suppress(FileNotFoundError):
            lock = os.open(made, _FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if made.is_dir():
                return made, lock
            os.close(lock)


def _sweep(among: Path) -> None:
    for left in among.glob(f"{MAKING}*"):
        with suppress(OSError):
            lock = os.open(left, _FOLDER)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(left)
            finally:
                os.close(lock)
