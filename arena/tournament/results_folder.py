"""The results folder of a tournament: the names of its files, and the lock of the one arena that writes them."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

from arena.config import FACE_FILES
from arena.errors import CannotGoOn, MachineCannot, WrongUse, cannot_write, reason_of
from arena.quantities import pluralise
from arena.terminal import say
from arena.tournament.ledger import Ledger
from referee.linux.files import FOLDER_MODE, MODE
from referee.linux.shortage import shortage_in, shortage_text

LEDGER = "ledger.sqlite"
TRANSCRIPTS = "transcripts"
PAGE = "report.html"
TABLE = "report.csv"
ENTRIES = "entries"
"""Folder with a copy of each bot's folder at its entry, named by the content's hash."""
EXPLAINED = "explained"
"""Folder with the output of `head` while a regression test was explained."""
DECISIONS = "explained.json"
"""File with the decisions that were found then, for pages."""
LADDER = "ladder.json"
"""File with the state of an endless ladder, which saves minutes at the next start. The ledger has the same."""
PERIODS = "periods"
"""Folder with the ratings of such a ladder at the end of each period."""
CHECKS = "checks"
"""Folder with the output of bots in the matches of a check, which do not count."""
LOCK = "lock"
FEED_SOCKET = "feed.sock"
"""Socket of the live feed, if it is requested without an address."""
TRIES = 5
BETWEEN_TRIES = 0.02
"""Seconds between two tries."""


class AlreadyPlayed(WrongUse):
    """Another arena is playing the tournament of a results folder."""


@contextmanager
def held(folder: Path, *, transcripts: bool = True) -> Iterator[None]:
    """Lock a results folder for this process during the block. The lock also ends with the process.

    A missing folder is created for its owner alone; the permissions of an existing one are kept.

    Args:
        folder: the results folder.
        transcripts: whether to create its folder of transcripts, too.

    Raises:
        WrongUse: the folder cannot be written, or another arena has locked it.
        MachineCannot: there is no space.
    """
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        if transcripts:
            (folder / TRANSCRIPTS).mkdir(FOLDER_MODE, exist_ok=True)
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, MODE)
    except OSError as error:
        raise cannot_write(folder, error) from None
    try:
        try:
            _lock(lock)
        except BlockingIOError:
            raise AlreadyPlayed(f"{folder}: another arena is playing this tournament now") from None
        except OSError as error:
            raise MachineCannot(f"{folder}: {no_locks(error)}") from None
        # Outside, because an error at the start of a process can be a BlockingIOError, too.
        yield
    finally:
        os.close(lock)


def is_held(folder: Path) -> bool:
    """Return whether an arena has locked the folder now."""
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared and brief: several processes may ask, and `_lock` waits for all of them.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)  # On a file system without locks no arena has one.
    finally:
        os.close(lock)
    return False


def _lock(lock: int) -> None:
    """Take the lock, waiting for processes that only ask whether it is taken.

    Raises:
        BlockingIOError: another arena has it.
        OSError: the file system has no locks.
    """
    for _ in range(TRIES):
        with suppress(BlockingIOError):
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sleep(BETWEEN_TRIES)
    return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def no_locks(error: OSError) -> str:
    """Return the rest of a line that names a folder, for an error with which its lock was refused."""
    return (
        f"is on a file system without locks ({error.strerror or error}), and two arenas at once could spoil it: "
        "give a folder on a disk of this machine, or mount that file system with locks"
    )


@contextmanager
def open_ledger(folder: Path, *, fresh: bool, try_out: Callable[[], None]) -> Iterator[Ledger]:
    """Open the folder's ledger, while the folder is locked (`held`).

    Args:
        folder: the results folder.
        fresh: whether to set earlier results aside and begin a new ledger.
        try_out: raises if nothing could be played now; called before earlier results are moved.

    Raises:
        WrongUse: as `held`, or the file is no ledger of this arena.
        MachineCannot: as `held`, or the ledger cannot be read or written.
    """
    with held(folder):
        if fresh and (folder / LEDGER).exists():
            try_out()
            aside = set_aside(folder)
            say(f"earlier results are now in {aside}")
        with closing(Ledger(folder / LEDGER)) as ledger, _kept_named(ledger):
            yield ledger


@contextmanager
def _kept_named(ledger: Ledger) -> Iterator[None]:
    """Add the number of matches that count to an error about the machine.

    Raises:
        CannotGoOn: in place of MachineCannot or of the kernel's error about a shortage, once the ledger has terms.
    """
    try:
        yield
    except (Exception, BaseExceptionGroup) as error:
        reason = reason_of(error)
        short = shortage_in(reason)
        if short is None and not isinstance(reason, MachineCannot):
            raise
        why = shortage_text(short) if short is not None else str(reason)
        try:
            if not ledger.terms():
                raise
            count = ledger.matches()
        except MachineCannot:
            raise error from None
        kept = "no match counts yet"
        if count:
            kept = f"kept: {pluralise(count, 'match', ',')} that {'counts' if count == 1 else 'count'}"
        raise CannotGoOn(why, kept) from error


def feed_endpoint(folder: Path) -> str:
    """Return the endpoint of the feed in a results folder, which is created if it does not exist.

    Raises:
        WrongUse: the folder cannot be created.
        MachineCannot: there is no space.
    """
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return f"ipc://{folder / FEED_SOCKET}"


def set_aside(folder: Path) -> Path | None:
    """Move earlier results into a folder within; return that folder, or None if there were no results."""
    if not (folder / LEDGER).exists():
        return None
    aside = folder / f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    try:
        aside.mkdir(FOLDER_MODE)
        parts = (TRANSCRIPTS, PAGE, TABLE, EXPLAINED, DECISIONS, ENTRIES, LADDER, PERIODS, *FACE_FILES)
        for name in (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", *parts):
            with suppress(FileNotFoundError):
                (folder / name).rename(aside / name)
        (folder / TRANSCRIPTS).mkdir(FOLDER_MODE)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return aside
