"""Backups of a tournament's results folder, made while an arena plays it.

A backup is a folder that is laid out as the results folder is, and is restored by copying it. Its ledger is of one
moment, and put in place last, when all that it names is there: a backup that is stopped leaves the one before.
Transcripts and copies of bots never change once they are there, so a later backup into the same folder copies only
what is new.
"""

import os
import re
import shutil
from collections.abc import Callable, Container, Iterator
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path

from msgspec import Struct

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.processes import process_pool
from arena.tournament.ledger import Ended, Ledger
from arena.tournament.results_folder import (
    DECISIONS,
    ENTRIES,
    LADDER,
    LEDGER,
    LOCK,
    PAGE,
    PERIODS,
    TABLE,
    TRANSCRIPTS,
    held,
)
from referee.bot_folder import MEGABYTE, MOST_MB, ContentError, content_hash, copy_into
from referee.linux.files import FOLDER_MODE, for_owner, open_regular
from referee.transcript import TranscriptError, verify_transcript

AT_ONCE = 1_000
"""Attempts that are read from a ledger in one step."""
WORTH_PROCESSES = 200
"""Transcripts from which on several processes verify them."""
AHEAD = 20_000
"""Transcripts that are handed to them at most before their answers are taken."""
CHUNK = 20
COMING = f"{LEDGER}.part"
COPYING = "copying"
"""What is being copied: one at a time, for the folder is held."""
_LOG = re.compile(r"(.*)\.seat-\d+(?:\.start-\d+)?\.log", re.DOTALL)
_ENTRY = re.compile("[0-9a-f]{64}")

Told = Callable[[str, int, int], None]
"""Takes what is being done, how much of it is done, and of how much."""


class Backup(Struct, frozen=True, kw_only=True):
    """What a backup came to."""

    folder: Path
    matches: int
    """That count."""
    copied: int
    """Files and copies of bots that were new."""
    kept: int
    """Those that an earlier backup had copied."""
    elsewhere: int
    """Transcripts that are not in the results folder: they are backed up where they are."""
    missing: tuple[str, ...]
    """Transcripts of matches that are not in the results folder any more."""


class Checked(Struct, frozen=True, kw_only=True):
    """What came of looking through a backup."""

    matches: int
    """That count."""
    transcripts: int
    """Verified, also those of matches that do not count yet."""
    entries: int
    elsewhere: int
    wrong: tuple[str, ...]
    """What is missing, or not as it was written, a line each."""


def backup_place(results: Path) -> Path:
    """Where the backup goes if nothing is said: `backups/cup` beside `runs`, for `runs/cup`."""
    whole = results.absolute()
    return whole.parent.parent / "backups" / whole.name


def back_up(results: Path, to: Path, tell: Told) -> Backup:
    """Makes or renews a backup.

    Args:
        results: the folder of a tournament, which may be played meanwhile.
        to: the backup's folder.
        tell: see `Told`.

    Raises:
        WrongUse: `to` holds something else, or is in use; or the results are no tournament's.
        MachineCannot: there is no space, or the ledger cannot be read.
    """
    _check_place(results, to)
    with held(to), closing(Ledger(results / LEDGER)) as ledger:
        source = (results / LEDGER).stat()
        coming = to / COMING
        _remove(coming)
        ledger.copy_to(coming, lambda left, total: tell("ledger", total - left, total))
        try:
            with closing(Ledger(coming)) as copy:
                _check_goes_on(copy, to)
                found = _copy_files(copy, results, to, tell)
                copy.settle()
            if not os.path.samestat(source, (results / LEDGER).stat()):
                raise WrongUse(f"{results}: was begun anew while it was backed up; the backup before it stays")
            os.sync()  # Before the ledger names them, all files are on the disk.
            coming.replace(to / LEDGER)
            os.sync()
        except OSError as error:
            raise cannot_write(to, error) from None
        finally:
            _remove(coming)
    return found


def _remove(coming: Path) -> None:
    """Takes away a copy of the ledger that was not put in place, and what SQLite keeps beside it."""
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            coming.with_name(f"{coming.name}{ending}").unlink(missing_ok=True)


def _check_place(results: Path, to: Path) -> None:
    """A backup goes into an empty folder, or over an earlier one.

    Raises:
        WrongUse: there is something else.
    """
    if to.resolve() == results.resolve() or (results / TRANSCRIPTS).resolve() in to.resolve().parents:
        raise WrongUse(f"{to}: is where the results are; a backup goes to another folder")
    try:
        names = {path.name for path in islice(to.iterdir(), 100)}
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(to, error) from None
    begun = {
        LOCK,
        TRANSCRIPTS,
        ENTRIES,
        PAGE,
        TABLE,
        DECISIONS,
        LADDER,
        PERIODS,
        *(f"{COMING}{end}" for end in ("", "-wal", "-shm")),
    }
    if LEDGER not in names and not names <= begun:
        raise WrongUse(f"{to}: is not empty and holds no backup; give an empty folder")


def _check_goes_on(copy: Ledger, to: Path) -> None:
    """Makes sure that the backup there is an earlier one of the same tournament, and that nobody is using it.

    Raises:
        WrongUse: it is not, or somebody does.
    """
    before = to / LEDGER
    if not before.exists():
        return
    with closing(Ledger(before)) as old:
        same = old.terms() == copy.terms() and old.times().begun in {None, copy.times().begun}
        last = old.last_ended()
        behind = last is not None and copy.ended(last.id - 1, 1) != [last]
        old.settle()
    if same and behind:
        raise WrongUse(f"{to}: has matches that these results do not have; give another folder, and keep this one")
    if not same:
        raise WrongUse(
            f"{to}: holds a backup of another tournament, or of one before --fresh; give an empty folder"
        )
    log = before.with_name(f"{LEDGER}-wal")
    if log.exists() and log.stat().st_size:
        # It would be taken for a part of the new ledger.
        raise WrongUse(f"{to}: another program uses this backup's ledger now; try again once it has ended")


def _copy_files(copy: Ledger, results: Path, to: Path, tell: Told) -> Backup:
    """Copies all that the ledger's copy names, and is not there yet."""
    missing: dict[str, bool] = {}
    """By the beginning of its name, whether a transcript must be there and was not found yet."""
    elsewhere = 0
    for each in attempts(copy):
        missing[each.transcript.removesuffix(".jsonl")] = each.head is not None and each.place is None
        elsewhere += each.place is not None
    copied = kept = done = 0
    for path in _files_of(results / TRANSCRIPTS, missing):
        is_new = _copy_file(path, to / TRANSCRIPTS / path.name)
        copied, kept = copied + is_new, kept + (not is_new)
        if path.suffix == ".jsonl":
            missing[path.stem] = False
            done += 1
            tell("transcripts", done, len(missing))
    for path in _entries_of(results):
        is_new = _copy_entry(path, to / ENTRIES / path.name)
        copied, kept = copied + is_new, kept + (not is_new)
    periods = _periods_of(results)
    if periods:
        (to / PERIODS).mkdir(FOLDER_MODE, exist_ok=True)
    # Where a ladder stands may be newer than the ledger's copy: then it is made again from that.
    for name in (PAGE, TABLE, DECISIONS, LADDER, *periods):
        if (results / name).is_file():
            _copy_file(results / name, to / name)
    return Backup(
        folder=to,
        matches=copy.matches(),
        copied=copied,
        kept=kept,
        elsewhere=elsewhere,
        missing=tuple(sorted(f"{stem}.jsonl" for stem, is_missing in missing.items() if is_missing)),
    )


def attempts(ledger: Ledger) -> Iterator[Ended]:
    """All that have ended, some of them read at once."""
    last = -1
    while rows := ledger.ended(last, AT_ONCE):
        yield from rows
        last = rows[-1].id


def _files_of(transcripts: Path, stems: Container[str]) -> Iterator[Path]:
    """The transcripts and logs of these attempts that are there. Links are none."""
    with os.scandir(transcripts) as found:
        for entry in found:
            log = _LOG.fullmatch(entry.name)
            stem = log[1] if log else entry.name.removesuffix(".jsonl")
            if stem in stems and stem != entry.name and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _entries_of(results: Path) -> Iterator[Path]:
    """The copies of bots."""
    with suppress(FileNotFoundError):
        for path in sorted((results / ENTRIES).iterdir()):
            if _ENTRY.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                yield path


def _periods_of(results: Path) -> list[str]:
    """The files of a ladder's periods, by their names in the folder."""
    found = sorted((results / PERIODS).glob("*.json"))
    return [f"{PERIODS}/{path.name}" for path in found if not path.is_symlink()]


def _copy_file(source: Path, to: Path) -> bool:
    """Copies a file whole, with its time, unless it was copied before; whether it was not."""
    its = source.stat(follow_symlinks=False)
    with suppress(FileNotFoundError):
        there = to.stat(follow_symlinks=False)
        if (there.st_size, there.st_mtime_ns) == (its.st_size, its.st_mtime_ns):
            return False
    part = to.with_name(COPYING)
    try:
        with open_regular(source, follow=False) as old, open(part, "wb", opener=for_owner) as new:
            shutil.copyfileobj(old, new)
        os.utime(part, ns=(its.st_atime_ns, its.st_mtime_ns))
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
    return True


def _copy_entry(source: Path, to: Path) -> bool:
    """The same of the copy of a bot, which is named by what is in it.

    Raises:
        WrongUse: it is not as it was made.
    """
    if to.is_dir():
        return False
    to.parent.mkdir(FOLDER_MODE, exist_ok=True)
    making = to.with_name(COPYING)
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(FOLDER_MODE)
    try:
        directory = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            content = copy_into(directory, making, most=MOST_MB * MEGABYTE)
        finally:
            os.close(directory)
        if content != f"sha256:{source.name}":
            raise WrongUse(f"{source}: is not as it was made")
        making.rename(to)
    except ContentError as error:
        raise WrongUse(f"{source}: {error}") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return True


def check_backup(folder: Path, tell: Told) -> Checked:
    """Looks through a backup, or a results folder: all of the ledger, every transcript, every copy of a bot.

    Raises:
        WrongUse: there is no ledger that can be read.
        MachineCannot: it cannot be read now.
    """
    elsewhere = transcripts = 0
    wrong = []
    with closing(Ledger(folder / LEDGER)) as ledger:
        if found := ledger.damage():
            wrong.append(f"{LEDGER}: {found}")
        matches = ledger.matches()
        named = []
        for each in attempts(ledger):
            elsewhere += each.place is not None
            if each.place is None and each.head is not None:
                named.append((each.transcript, each.head))
        for complaint in _verified(folder / TRANSCRIPTS, named):
            transcripts += 1
            tell("transcripts", transcripts, len(named))
            wrong += [] if complaint is None else [complaint]
    entries = list(_entries_of(folder))
    for number, path in enumerate(entries, 1):
        try:
            is_whole = content_hash(path, most=MOST_MB * MEGABYTE) == f"sha256:{path.name}"
        except ContentError:
            is_whole = False
        except OSError as error:
            raise MachineCannot(f"{path}: cannot be read: {error.strerror}") from None
        wrong += [] if is_whole else [f"{ENTRIES}/{path.name}: is not as it was made"]
        tell("bots", number, len(entries))
    return Checked(
        matches=matches, transcripts=transcripts, entries=len(entries), elsewhere=elsewhere, wrong=tuple(wrong)
    )


def _verified(transcripts: Path, named: list[tuple[str, str]]) -> Iterator[str | None]:
    """What is wrong with each of these transcripts, in order; None: nothing."""
    check = partial(_complaint, transcripts)
    if len(named) < WORTH_PROCESSES:
        yield from map(check, named)
        return
    with process_pool(len(os.sched_getaffinity(0))) as pool:
        for first in range(0, len(named), AHEAD):
            yield from pool.map(check, named[first : first + AHEAD], chunksize=CHUNK)


def _complaint(transcripts: Path, named: tuple[str, str]) -> str | None:
    name, head = named
    if os.sep in name or "\0" in name:
        return f"{TRANSCRIPTS}: the ledger names {name[:100]!r}, which is not the name of a file"
    try:
        found = verify_transcript(transcripts / name).head
    except TranscriptError as error:
        return f"{TRANSCRIPTS}/{name}: {error.what}"
    return None if found == head else f"{TRANSCRIPTS}/{name}: is not the one that the ledger names"
