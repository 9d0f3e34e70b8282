"""Files: private to their owner, read within bounds if untrusted, written atomically, and locks on folders.

A match's seeds, tokens and actions are secret while it is played. Untrusted files are opened only if they are
regular: to open a fifo may block for ever, and a device has no end. Readers of a file that is written here find
the old content or the new one, however many programs write at once.
"""

import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

MODE = 0o600
FOLDER_MODE = 0o700
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a fifo",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}
ANYBODY = 0o666
"""Mode of a file that others may read, as far as the umask allows."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_LEFT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def for_owner(path: str, flags: int) -> int:
    """Open a file; an `opener` for `open`.

    A new file has its owner-only mode from the start, whatever the umask.
    """
    return os.open(path, flags, MODE)


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open a file for reading. Never waits for another process.

    Args:
        path: the file's path.
        follow: whether the path may be a link to the file.

    Raises:
        OSError: it cannot be opened, or is no regular file; `strerror` names its kind.
        ValueError: the path contains characters that no path can have.
    """
    # Some devices do something when they are opened.
    _check(path.stat(follow_symlinks=follow).st_mode, path)
    no_links = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | no_links)
    try:
        _check(os.fstat(descriptor).st_mode, path)
        os.pread(descriptor, 1, 0)  # Some files of /proc claim to be regular and are not.
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(path: Path) -> None:
    """Check that a file, or a link's target, is regular. Does not open it.

    Raises:
        OSError: it does not exist, or is no regular file; `strerror` names its kind.
    """
    _check(path.stat().st_mode, path)


def read_regular(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """Return the content of a file of at most `limit` bytes. At most one byte more is ever in memory.

    Raises:
        OSError: as in `open_regular`, or the file is longer.
        ValueError: as in `open_regular`.
    """
    with open_regular(path, follow=follow) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"it is longer than {limit} bytes", str(path))
    return content


def _check(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "something else")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))


@contextmanager
def whole_file(path: Path, mode: int = ANYBODY) -> Iterator[BinaryIO]:
    """Open a new file that gets its name at the end of the block. After an error the old one stays.

    Its name is `NAME.part` until then, which replaces a part left by a killed program. Programs that write the
    same file at once have a part each and never wait for one another; the last one to finish wins.

    Args:
        path: the file's path.
        mode: the mode of the new file, reduced by the umask.

    Raises:
        OSError: the file cannot be written, or there is something other than a file, which would be lost.
    """
    with suppress(FileNotFoundError):
        check_regular(path)
    part, descriptor = _own_part(path, mode)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            yield file
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        os.close(descriptor)


def write_bytes_whole(path: Path, content: bytes, mode: int = ANYBODY) -> None:
    """Write a file atomically; see `whole_file`.

    Raises:
        OSError: it cannot be written.
    """
    with whole_file(path, mode) as file:
        file.write(content)


def _own_part(path: Path, mode: int) -> tuple[Path, int]:
    """Create a new file beside the final one; return its path, and a descriptor that locks it."""
    part = path.with_name(f"{path.name}.part")
    while True:
        try:
            descriptor = os.open(part, _NEW, mode)
        except FileExistsError:
            if not _is_removed(part):
                part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
            continue
        # Until it is locked, another program may take it for a part left by a killed one.
        if _is_locked(descriptor) and _is_at(part, descriptor):
            return part, descriptor
        os.close(descriptor)


def _is_removed(part: Path) -> bool:
    """Remove a part left by a killed program; return False if it is being written, or is another user's file."""
    try:
        descriptor = os.open(part, _LEFT)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        if _is_locked(descriptor):
            if _is_at(part, descriptor):
                part.unlink()
            return True
    except OSError:
        pass  # Another user's file, in a folder where only its owner may remove it.
    finally:
        os.close(descriptor)
    return False


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # A file system without locks.
    return True


def _is_at(part: Path, descriptor: int) -> bool:
    """Return whether the file still has its name: another program may have renamed or removed it since."""
    try:
        return os.path.samestat(part.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


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
