"""Writes files whole: a reader finds the old content or the new one, however many programs write it at once."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from referee.linux.regular_file import check_regular

ANYBODY = 0o666
"""Rights of a file that others may read, as far as the umask lets them."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_LEFT = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def whole_file(path: Path, mode: int = ANYBODY) -> Iterator[BinaryIO]:
    """Open a new file that gets its name when the block ends; after an error it is removed, and the old one stays.

    It is called `NAME.part` until then, which replaces what a killed program left there. Programs that write the
    same file at once each have a part of their own and never wait for one another; the last one to end stays.

    Args:
        path: the file's.
        mode: the rights of the new file; the umask takes some of them away.

    Raises:
        OSError: it cannot be written there, or something else than a file is there, which would be lost.
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
    """Write a file whole; see `whole_file`.

    Raises:
        OSError: it cannot be written there.
    """
    with whole_file(path, mode) as file:
        file.write(content)


def _own_part(path: Path, mode: int) -> tuple[Path, int]:
    """Make a new file beside the wanted one; its path, and a descriptor that locks it."""
    part = path.with_name(f"{path.name}.part")
    while True:
        try:
            descriptor = os.open(part, _NEW, mode)
        except FileExistsError:
            if not _is_removed(part):
                part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
            continue
        # Before it is locked another program may take it for a killed one's.
        if _is_locked(descriptor) and _is_at(part, descriptor):
            return part, descriptor
        os.close(descriptor)


def _is_removed(part: Path) -> bool:
    """Remove what a killed program left; False: somebody writes it now, or it is no file of ours."""
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
        pass  # Another's file, in a folder where only its owner may remove it.
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
    """Whether the file has its name still: another program may have finished or removed it since it was opened."""
    try:
        return os.path.samestat(part.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
