"""Shortages of the machine: the one list of errors that are its fault, with a text for each.

They are never charged to bots. If one occurs, the attempt is void, and the text names the remedy. Failures come
out of nurseries in groups, so there is a function to unwrap them.
"""

import errno
import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from referee.display_text import printable

NO_THREAD = "can't start new thread"
"""The text of Python's RuntimeError where the kernel creates no thread."""
SHORTAGES = frozenset(
    {
        errno.EAGAIN,
        errno.EADDRINUSE,
        errno.EADDRNOTAVAIL,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOBUFS,
        errno.ENOLCK,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EUSERS,
    }
)
"""Numbers of errors by which the kernel reports that the machine is out of a resource.

EAGAIN is one of them where a process or thread was to be created. A non-blocking socket reports it too, by an
exception of its own that is handled where the socket is used.
"""


def shortage_in(error: BaseException) -> OSError | None:
    """Return the shortage behind an error as an OSError; None: the error has another cause."""
    if isinstance(error, OSError):
        return error if error.errno in SHORTAGES else None
    if isinstance(error, MemoryError):
        return OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    # Python gives no number here.
    if isinstance(error, RuntimeError) and str(error) == NO_THREAD:
        return OSError(errno.EAGAIN, NO_THREAD)
    return None


class ButForShortages:
    """Suppresses errors of the kernel, such as that a process has ended, except shortages."""

    def __enter__(self) -> None:
        """Suppress errors from here on."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        """Return whether the error is suppressed."""
        return isinstance(error, OSError) and error.errno not in SHORTAGES


@contextmanager
def shortages_as_os_errors() -> Iterator[None]:
    """Convert a shortage of threads or memory in the block into an OSError."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        short = shortage_in(error)
        if short is None:
            raise
        raise short from error


def shortage_text(error: OSError) -> str:
    """Return one line that names the resource, the place, and the remedy."""
    where = f"{printable(str(error.filename))}: " if error.filename else ""
    what = error.strerror or str(error)
    needed = _needed(error)
    return f"the machine has run out of something: {where}{what}{f' ({needed})' if needed else ''}"


def _needed(error: OSError) -> str:
    """Return the remedy for a kind of shortage."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return "" if error.filename else f"space is needed in TMPDIR, {temporary_folder()}, and for results"
    text = _NEEDED.get(error.errno or 0, "")
    return text.format(files=_limit(resource.RLIMIT_NOFILE), processes=_limit(resource.RLIMIT_NPROC))


_NEEDED = {
    errno.EMFILE: "a process may have {files} files open here: ulimit -Hn NUMBER raises that",
    errno.ENFILE: "the whole machine has no more open files: sysctl fs.file-max",
    errno.EAGAIN: "no more processes or threads: ulimit -u is {processes}; see the control group's pids.max, too",
    errno.ENOMEM: "the machine has no more memory",
    errno.ENOBUFS: "the machine has no more memory",
    errno.ENOLCK: "the file system has no locks",
    errno.EADDRINUSE: "no port is free",
    errno.EADDRNOTAVAIL: "no port is free",
}


def temporary_folder() -> str:
    """Return the folder for temporary files, or the value of TMPDIR if none is writable."""
    try:
        return tempfile.gettempdir()
    except OSError:
        return os.environ.get("TMPDIR", "/tmp")  # noqa: S108 - only named, in a message


def _limit(kind: int) -> str:
    soft, _ = resource.getrlimit(kind)
    return "unlimited" if soft == resource.RLIM_INFINITY else str(soft)


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the first exception of a group by itself: callers distinguish a full disk from a missing sandbox."""
    try:
        yield
    except BaseExceptionGroup as group:
        failure: BaseException = group
        while isinstance(failure, BaseExceptionGroup):
            failure = failure.exceptions[0]
        raise failure from group
