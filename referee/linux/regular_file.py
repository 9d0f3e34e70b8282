"""Opens and reads untrusted files: regular ones only, up to a limit.

To open a fifo may block for ever, and a device has no end. Errors are OSErrors.
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
