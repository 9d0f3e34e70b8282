"""Where a tournament's ledger and transcripts are, and that one arena at a time writes them."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from arena.exits import MachineCannot, WrongUse
from arena.ledger import Ledger
from arena.screens import say
from referee.owners_file import FOLDER_MODE, MODE
from referee.transcript_chain import TranscriptError

LEDGER = "ledger.sqlite"
TRANSCRIPTS = "transcripts"
PAGE = "report.html"
TABLE = "report.csv"
EXPLAINED = "explained"
"""What head wrote while a regression test was explained."""
LOCK = "lock"
CHOSEN_WRONGLY = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENAMETOOLONG}
)
"""Why a path cannot be written that another path would mend; all else is the machine's."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Makes the folder, if need be, and keeps it for this process; the lock ends when the process does.

    It is made for its owner alone; the rights of one that is there stay.

    Raises:
        WrongUse: the folder cannot be written, or another arena is at work in it.
        MachineCannot: there is no space.
    """
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        (folder / TRANSCRIPTS).mkdir(FOLDER_MODE, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, MODE)
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise WrongUse(f"{folder}: another arena is playing this tournament now") from None
    finally:
        os.close(lock)


@contextmanager
def open_ledger(folder: Path, *, fresh: bool, try_out: Callable[[], None]) -> Iterator[Ledger]:
    """The folder's ledger, while the folder is `held`.

    Args:
        folder: the results folder.
        fresh: begin a new ledger, and set earlier results aside.
        try_out: raises if nothing could be played now; called before earlier results are moved.

    Raises:
        WrongUse: as `held`; or the ledger is none, or one of a newer arena.
        MachineCannot: as `held`; or the ledger cannot be read or written.
    """
    with held(folder):
        if fresh and (folder / LEDGER).exists():
            try_out()
            aside = set_aside(folder)
            say(f"earlier results are now in {aside}")
        with closing(Ledger(folder / LEDGER)) as ledger:
            yield ledger


def set_aside(folder: Path) -> Path | None:
    """Moves earlier results out of the way, into a folder beside; nothing is deleted. None: there were none."""
    if not (folder / LEDGER).exists():
        return None
    aside = folder / f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    try:
        aside.mkdir(FOLDER_MODE)
        for name in (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", TRANSCRIPTS, PAGE, TABLE, EXPLAINED):
            with suppress(FileNotFoundError):
                (folder / name).rename(aside / name)
        (folder / TRANSCRIPTS).mkdir(FOLDER_MODE)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return aside


def cannot_write(path: Path, error: OSError) -> WrongUse | MachineCannot:
    """A full disk is the machine's; a folder one may not write was wrongly chosen."""
    text = f"{path}: cannot be written: {error.strerror or error}"
    return WrongUse(text) if error.errno in CHOSEN_WRONGLY else MachineCannot(text)


def transcript_failed(error: TranscriptError) -> WrongUse | MachineCannot:
    """The same for a transcript that could not be written."""
    cause = error.__cause__
    return cannot_write(error.path or Path(), cause) if isinstance(cause, OSError) else MachineCannot(str(error))
