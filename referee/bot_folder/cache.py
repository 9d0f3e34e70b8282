"""Folders of the arena's cache: private to this user, complete or absent, and removed after a crash."""

import errno
import fcntl
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.linux.files import FOLDER_MODE

MAKING = "making-"
"""The prefix of an incomplete folder's name."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
REMEDY = "set XDG_CACHE_HOME to a folder of your own"


class CacheError(ValueError):
    """Another user could put programs into the cache. The text is one line with the folder and a remedy."""


def private(folder: Path) -> None:
    """Create a folder of the cache if it does not exist. No other user may read or replace it.

    Raises:
        CacheError: another user owns it or a folder above it, or may write there.
        OSError: it cannot be created.
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
    """Return this user's folder with a name among temporary files, after creating it if necessary.

    Raises:
        OSError: another user owns or could replace the folder, or there is no folder for temporary files.
    """
    folder = Path(tempfile.gettempdir()) / f"{name}-{os.geteuid()}"
    with suppress(FileExistsError):
        folder.mkdir(FOLDER_MODE)
    status = folder.lstat()
    # A link created by another user could lead to any folder of this user.
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise OSError(errno.EROFS, f"is not a folder of this user's; {REMEDY}", str(folder))
    try:
        private(folder)
    except CacheError as error:
        raise OSError(errno.EROFS, str(error)) from None
    return folder


def _check_above(folder: Path) -> None:
    """Raise CacheError if another user could replace a folder's entries. Sticky folders like /tmp prevent that."""
    status = folder.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise CacheError(f"{folder}: belongs to user {status.st_uid}, who could replace the cache in it; {REMEDY}")
    # Many systems give each user a private group that may write to the user's files.
    foreign_group = status.st_mode & stat.S_IWGRP and status.st_gid not in (0, os.getegid())
    if (foreign_group or status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        raise CacheError(f"{folder}: may be written by other users, who could replace the cache in it; {REMEDY}")


@contextmanager
def making(among: Path) -> Iterator[Path]:
    """Create a new folder in `among` and remove it at the end of the block; call `settle` on the result before.

    Folders that killed arenas left are removed first; a live arena holds a lock on its folder.

    Raises:
        OSError: it cannot be created.
    """
    _sweep(among)
    made, lock = _locked(among)
    try:
        yield made
    finally:
        remove(made)
        os.close(lock)


def settle(made: Path, wanted: Path) -> None:
    """Move a complete folder to its place, unless another process was faster.

    Raises:
        OSError: it cannot be moved.
    """
    try:
        made.rename(wanted)
    except OSError:
        # A folder that is not empty is never replaced.
        if not wanted.is_dir():
            raise


def remove(folder: Path) -> None:
    """Remove a folder as far as possible, at any depth and with any permissions.

    Programs do this because Python's `shutil.rmtree` is recursive.
    """
    for command in (("chmod", "-R", "u+rwX"), ("rm", "-rf")):
        subprocess.run([*command, "--", str(folder)], check=False, capture_output=True)  # noqa: S603 - no shell


def _locked(among: Path) -> tuple[Path, int]:
    """Create a folder; return it with a descriptor that holds its lock."""
    while True:
        made = Path(tempfile.mkdtemp(prefix=MAKING, dir=among))
        # Before it is locked, another process may remove it as a dead arena's folder.
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
