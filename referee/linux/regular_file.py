"""Opens and reads files that others wrote: regular ones only, and no more of them than was agreed.

A fifo would be waited for, a device has no end. What is wrong is an OSError like any other.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a fifo",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a symbolic link",
}


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """Open a file for reading. Never waits for another process.

    Args:
        path: the file's.
        follow: whether it may be a link to the file.

    Raises:
        OSError: it cannot be opened, or is no regular file; `strerror` says what it is.
        ValueError: no path can have such characters.
    """
    # Some devices do something when they are opened.
    _check(path.stat(follow_symlinks=follow).st_mode, path)
    no_links = 0 if follow else os.O_NOFOLLOW
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | no_links)
    try:
        _check(os.fstat(descriptor).st_mode, path)
        os.pread(descriptor, 1, 0)  # Some of /proc call themselves regular, and are not.
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def check_regular(path: Path) -> None:
    """Looks whether a file is regular, or what a link leads to; does not open it.

    Raises:
        OSError: it is not there, or is no regular file; `strerror` says what it is.
    """
    _check(path.stat().st_mode, path)


def read_regular(path: Path, limit: int, *, follow: bool = True) -> bytes:
    """Return the content of a file of at most `limit` bytes; no more of it is ever in memory.

    Raises:
        OSError: as `open_regular`, or it is longer.
        ValueError: as `open_regular`.
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
