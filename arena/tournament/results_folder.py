"""Where a tournament's ledger and transcripts are, and that one arena at a time writes them."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from time import sleep

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
"""Copies of what was in each bot's folder when it entered, named by the content's hash."""
EXPLAINED = "explained"
"""What head wrote while a regression test was explained."""
DECISIONS = "explained.json"
"""What was found then, for pages."""
LADDER = "ladder.json"
"""Where a ladder without an end stands: going on takes no minutes. It can be made again from the ledger."""
PERIODS = "periods"
"""How such a ladder stood at the end of each period."""
CHECKS = "checks"
"""What bots wrote in the matches of a check, which count for nothing."""
LOCK = "lock"
FEED_SOCKET = "feed.sock"
"""Where an arena publishes its live feed, if it is asked to and not told where."""
TRIES = 5
BETWEEN_TRIES = 0.02
"""Seconds."""


class AlreadyPlayed(WrongUse):
    """Another arena is at work in a results folder."""


@contextmanager
def held(folder: Path, *, transcripts: bool = True) -> Iterator[None]:
    """Makes the folder, if need be, and keeps it for this process; the lock ends when the process does.

    It is made for its owner alone; the rights of one that is there stay. `transcripts`: a folder for these, too.

    Raises:
        WrongUse: the folder cannot be written, or another arena is at work in it.
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
        # Outside: where no process can be started, that is a BlockingIOError, too.
        yield
    finally:
        os.close(lock)


def is_held(folder: Path) -> bool:
    """Whether an arena is at work in the folder now."""
    try:
        lock = os.open(folder / LOCK, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, and for no longer than the question takes: others may ask, and `_lock` waits for all of us.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)  # Where there are no locks no arena has one.
    finally:
        os.close(lock)
    return False


def _lock(lock: int) -> None:
    """Takes the lock, past those who only ask whether it is taken.

    Raises:
        BlockingIOError: another arena has it.
        OSError: there are no locks there.
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
    """The folder's ledger, while the folder is `held`.

    Args:
        folder: the results folder.
        fresh: begin a new ledger, and set earlier results aside.
        try_out: raises if nothing could be played now; called before earlier results are moved.

    Raises:
        WrongUse: as `held`; or the file is no ledger of this arena.
        MachineCannot: as `held`; or the ledger cannot be read or written.
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
    """Add to what the machine cannot do how many matches count already.

    Raises:
        CannotGoOn: in place of MachineCannot, and of an error by which the kernel says what has run out, once the
            ledger has begun.
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
    """The endpoint of that feed. The folder is made, if need be.

    Raises:
        WrongUse: it cannot be made.
        MachineCannot: there is no space.
    """
    try:
        folder.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return f"ipc://{folder / FEED_SOCKET}"


def set_aside(folder: Path) -> Path | None:
    """Moves earlier results out of the way, into a folder beside; nothing is deleted. None: there were none."""
    if not (folder / LEDGER).exists():
        return None
    aside = folder / f"before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    try:
        aside.mkdir(FOLDER_MODE)
        parts = (TRANSCRIPTS, PAGE, TABLE, EXPLAINED, DECISIONS, ENTRIES, LADDER, PERIODS)
        for name in (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", *parts):
            with suppress(FileNotFoundError):
                (folder / name).rename(aside / name)
        (folder / TRANSCRIPTS).mkdir(FOLDER_MODE)
    except OSError as error:
        raise cannot_write(folder, error) from None
    return aside
