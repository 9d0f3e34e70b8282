"""Writes files atomically: readers find the old content or the new one, however many programs write at once."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from referee.linux.regular_file import check_regular

ANYBODY = 0o666
"""Mode of a file that others may read, as far as the umask allows."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_LEFT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


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
