"""Backups of a tournament's results folder, made while an arena plays it.

A backup is a folder with the layout of the results folder, and is restored by copying it. Its ledger is a copy of
one moment, and is put in place last, after everything that it names. So an interrupted backup leaves the one
before. Finished transcripts and copies of bots never change, so a later backup into the same folder copies only
new ones.
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

from arena.accounts import SERVER
from arena.config import FACE_FILES
from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.processes import process_pool
from arena.tournament.ledger import EndedAttempt, Ledger
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
"""Number of attempts that are read from a ledger in one step."""
WORTH_PROCESSES = 200
"""Number of transcripts from which on several processes verify them."""
AHEAD = 20_000
"""Most transcripts that are handed to these processes before their answers are read."""
CHUNK = 20
COMING = f"{LEDGER}.part"
COPYING = "copying"
"""Name of the file or folder that is being copied. There is only one, as the folder is locked."""
_ATTEMPT = re.compile(r"(\.seat-\d+(\.start-\d+)?\.log|\.jsonl)\Z")
"""The end of the name of a transcript or of a log beside it."""
_ENTRY = re.compile("[0-9a-f]{64}")

Told = Callable[[str, int, int], None]
"""Receives the name of a step, the number of items done, and the number of all items."""


class Backup(Struct, frozen=True, kw_only=True):
    """The result of a backup."""

    folder: Path
    matches: int
    """Number of matches that count."""
    copied: int
    """Number of new files and copies of bots."""
    kept: int
    """Number of files and copies of bots from earlier backups."""
    elsewhere: int
    """Number of transcripts outside the results folder, which are not backed up."""
    missing: tuple[str, ...]
    """Transcripts that are no longer in the results folder."""


class Checked(Struct, frozen=True, kw_only=True):
    """The result of checking a backup."""

    matches: int
    """Number of matches that count."""
    transcripts: int
    """Number of verified transcripts, including those of matches that do not count yet."""
    entries: int
    elsewhere: int
    wrong: tuple[str, ...]
    """A line for each file that is missing or damaged."""


def backup_place(results: Path) -> Path:
    """Return the default folder of a backup: for `runs/cup`, `backups/cup` beside `runs`."""
    whole = results.absolute()
    return whole.parent.parent / "backups" / whole.name


def back_up(ledger: Ledger, to: Path, tell: Told) -> Backup:
    """Create or renew a backup.

    Args:
        ledger: the ledger of a tournament, which may be played meanwhile.
        to: the backup's folder.
        tell: see `Told`.

    Raises:
        WrongUse: `to` has other content or is in use, or the results are no tournament's.
        MachineCannot: there is no space, or the ledger cannot be read.
    """
    results = ledger.path.parent
    _check_place(results, to)
    with held(to):
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
            os.sync()  # All files must be on the disk before the ledger that names them.
            coming.replace(to / LEDGER)
            os.sync()
        except OSError as error:
            raise cannot_write(to, error) from None
        finally:
            _remove(coming)
    return found


def _remove(coming: Path) -> None:
    """Remove an unfinished copy of the ledger, and SQLite's files beside it."""
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            coming.with_name(f"{coming.name}{ending}").unlink(missing_ok=True)


def _check_place(results: Path, to: Path) -> None:
    """Check that a folder is empty or has an earlier backup.

    Raises:
        WrongUse: it has other content.
    """
    if to.resolve() == results.resolve() or (results / TRANSCRIPTS).resolve() in to.resolve().parents:
        raise WrongUse(f"{to}: is where the results are; a backup goes to another folder")
    try:
        names = {path.name for path in islice(to.iterdir(), 100)}
    except FileNotFoundError:
        return
    except OSError as error:
        raise cannot_write(to, error) from None
    copying = (COMING, f"{COMING}-wal", f"{COMING}-shm")
    begun = {SERVER, LOCK, TRANSCRIPTS, ENTRIES, PAGE, TABLE, DECISIONS, LADDER, PERIODS, *FACE_FILES, *copying}
    if LEDGER not in names and not names <= begun:
        raise WrongUse(f"{to}: is not empty and holds no backup; give an empty folder")


def _check_goes_on(copy: Ledger, to: Path) -> None:
    """Check that the backup in a folder is an earlier one of the same tournament, and is not in use.

    Raises:
        WrongUse: it is another tournament's or a later one, or it is in use.
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
        # SQLite would read it as a part of the new ledger.
        raise WrongUse(f"{to}: another program uses this backup's ledger now; try again once it has ended")


def _copy_files(copy: Ledger, results: Path, to: Path, tell: Told) -> Backup:
    """Copy all files that the ledger's copy names and that are not in the backup yet."""
    missing: dict[str, bool] = {}
    """Transcripts not found yet, by name without the ending: True if the transcript is required."""
    elsewhere = 0
    for each in attempts(copy):
        missing[each.transcript.removesuffix(".jsonl")] = each.head is not None and each.place is None
        elsewhere += each.place is not None
    copied = kept = done = 0
    for path in _files_of(results / TRANSCRIPTS, missing):
        is_new = copy_file(path, to / TRANSCRIPTS / path.name)
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
    # A ladder's state may be newer than the ledger's copy. It is then made again from that.
    for name in (PAGE, TABLE, DECISIONS, LADDER, *FACE_FILES, *periods):
        if (results / name).is_file():
            copy_file(results / name, to / name)
    return Backup(
        folder=to,
        matches=copy.matches(),
        copied=copied,
        kept=kept,
        elsewhere=elsewhere,
        missing=tuple(sorted(f"{stem}.jsonl" for stem, is_missing in missing.items() if is_missing)),
    )


def attempts(ledger: Ledger) -> Iterator[EndedAttempt]:
    """Yield all attempts that have ended. They are read part by part."""
    last = -1
    while rows := ledger.ended(last, AT_ONCE):
        yield from rows
        last = rows[-1].id


def _files_of(transcripts: Path, stems: Container[str]) -> Iterator[Path]:
    """Yield the transcripts and logs of these attempts that exist; symbolic links are ignored."""
    with os.scandir(transcripts) as found:
        for entry in found:
            stem = _ATTEMPT.sub("", entry.name)
            if stem in stems and stem != entry.name and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def _entries_of(results: Path) -> Iterator[Path]:
    """Yield the copies of bots in a results folder."""
    with suppress(FileNotFoundError):
        for path in sorted((results / ENTRIES).iterdir()):
            if _ENTRY.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                yield path


def _periods_of(results: Path) -> list[str]:
    """Return the paths of a ladder's period files, relative to the results folder."""
    found = sorted((results / PERIODS).glob("*.json"))
    return [f"{PERIODS}/{path.name}" for path in found if not path.is_symlink()]


def copy_file(source: Path, to: Path) -> bool:
    """Copy a file with its time, as a whole, unless it was copied before; return whether it was copied now."""
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
    """Copy the copy of a bot, which is named by its content's hash; return whether it was copied now.

    Raises:
        WrongUse: its content does not have that hash.
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
    """Check a backup or a results folder: the whole ledger, every transcript, every copy of a bot.

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
            if complaint is not None:
                wrong.append(complaint)
    entries = list(_entries_of(folder))
    for number, path in enumerate(entries, 1):
        try:
            is_whole = content_hash(path, most=MOST_MB * MEGABYTE) == f"sha256:{path.name}"
        except ContentError:
            is_whole = False
        except OSError as error:
            raise MachineCannot(f"{path}: cannot be read: {error.strerror}") from None
        if not is_whole:
            wrong.append(f"{ENTRIES}/{path.name}: is not as it was made")
        tell("bots", number, len(entries))
    return Checked(
        matches=matches, transcripts=transcripts, entries=len(entries), elsewhere=elsewhere, wrong=tuple(wrong)
    )


def _verified(transcripts: Path, named: list[tuple[str, str]]) -> Iterator[str | None]:
    """Yield the fault of each of these transcripts, in order; None for one without a fault."""
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
    if found != head:
        return f"{TRANSCRIPTS}/{name}: is not the one that the ledger names"
    return None
