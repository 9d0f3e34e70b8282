"""Backups of a season's server: accounts, submissions, uploads, the judge's logs, and files of practice matches.

Database and ledgers are copied as of one moment, at which no submission enters. So each bot that has entered by
the one has entered by the other, and a server that is restored goes on as after `kill -9`.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from arena.accounts import DATABASE, SERVER, Database
from arena.errors import WrongUse, cannot_write, writing
from arena.submissions.competition import LOGS, SCRIMMAGES, UPLOADS
from arena.submissions.store import UploadStore
from arena.tournament import Ledger, Told, copy_file, held
from referee.linux.files import FOLDER_MODE, open_regular

COMING = f"{DATABASE}.part"
PIECE = 1024 * 1024
_HASH = re.compile("[0-9a-f]{64}")


class ServerBackup(Struct, frozen=True, kw_only=True):
    """The result of a backup of a server."""

    folder: Path
    teams: int
    submissions: int
    copied: int
    """Number of new files."""
    kept: int
    """Number of files from earlier backups."""
    missing: tuple[str, ...]
    """Uploads that the database names and that are not in their folder."""


class ServerChecked(Struct, frozen=True, kw_only=True):
    """The result of checking the backup of a server."""

    submissions: int
    uploads: int
    """Number of verified uploads."""
    wrong: tuple[str, ...]
    """A line for each file that is missing or damaged."""


@contextmanager
def at_one_moment(results: Path, ledgers: Sequence[Ledger]) -> Iterator[Database | None]:
    """Let the ledgers of a competition, and its server's database, be read as of one moment in the block.

    Yields the database; None if the competition has no server.

    Raises:
        WrongUse: the database is of another kind.
        MachineCannot: it cannot be read, or is written by others for seconds.
    """
    path = results / SERVER / DATABASE
    with ExitStack() as stack:
        if not path.is_file():
            for ledger in ledgers:
                stack.enter_context(ledger.one_moment())
            yield None
            return
        database = stack.enter_context(closing(Database(path)))
        # A submission is entered between two changes of the database, which have to wait for this one.
        with closing(Database(path)) as lock, lock.change():
            for file in (database, *ledgers):
                stack.enter_context(file.one_moment())
        yield database


def back_up_server(results: Path, database: Database, to: Path, tell: Told) -> ServerBackup:
    """Create or renew the backup of a server, which may be running.

    Args:
        results: the folder of the competition.
        database: its database, which is read as of one moment.
        to: the folder of the competition's backup.
        tell: see `Told`.

    Raises:
        WrongUse: the folder of the backup is in use.
        MachineCannot: there is no space, or a file cannot be read.
    """
    server, folder = results / SERVER, to / SERVER
    coming = folder / COMING
    with held(folder):
        _remove(coming)
        database.copy_to(coming, lambda left, total: tell("accounts", total - left, total))
        try:
            with closing(Database(coming)) as copy:
                counts = [int(copy.value(f"SELECT count(*) FROM {table}")) for table in ("teams", "submissions")]  # noqa: S608 - constants
                copied, kept, missing = _copy_files(server, folder, _uploads(copy), tell)
                copy.settle()
            os.sync()  # All files must be on the disk before the database that names them.
            log = folder / f"{DATABASE}-wal"
            if log.exists() and log.stat().st_size:
                # SQLite would read it as a part of the new database.
                raise WrongUse(f"{folder}: another program uses this backup now; try again once it has ended")
            coming.replace(folder / DATABASE)
            os.sync()
        except OSError as error:
            raise cannot_write(folder, error) from None
        finally:
            _remove(coming)
    teams, submissions = counts
    return ServerBackup(
        folder=folder, teams=teams, submissions=submissions, copied=copied, kept=kept, missing=tuple(missing)
    )


def _uploads(database: Database) -> list[str]:
    """Return the hashes of the uploads that are kept.

    Raises:
        WrongUse: one is no hash, and might be the name of any file.
    """
    found = database.column(str, "SELECT hash FROM uploads WHERE removed IS NULL")
    if not all(map(_HASH.fullmatch, found)):
        raise WrongUse(f"{database.path}: names an upload that is none")
    return found


def _copy_files(server: Path, to: Path, uploads: Sequence[str], tell: Told) -> tuple[int, int, list[str]]:
    """Copy uploads, logs and files of practice matches; return how many are new and old, and what is missing."""
    copied = kept = 0
    missing: list[str] = []
    store = UploadStore(to / UPLOADS, 0)
    source = UploadStore(server / UPLOADS, 0)
    for number, hash_ in enumerate(uploads, 1):
        path = store.path(hash_)
        path.parent.mkdir(FOLDER_MODE, exist_ok=True)
        try:
            is_new = copy_file(source.path(hash_), path)
            copied, kept = copied + is_new, kept + (not is_new)
        except FileNotFoundError:
            missing.append(f"{UPLOADS}/{hash_}")
        tell("uploads", number, len(uploads))
    for path in _regular_files(server / LOGS, server / SCRIMMAGES):
        place = to / path.relative_to(server)
        place.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # It was removed meanwhile: its submission is judged again.
            is_new = copy_file(path, place)
            copied, kept = copied + is_new, kept + (not is_new)
    return copied, kept, missing


def _regular_files(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        for where, _, names in os.walk(folder):
            for name in sorted(names):
                path = Path(where) / name
                if path.is_file() and not path.is_symlink():
                    yield path


def _remove(coming: Path) -> None:
    """Remove an unfinished copy of the database, and SQLite's files beside it."""
    with writing(coming.parent):
        for ending in ("", "-wal", "-shm"):
            coming.with_name(f"{coming.name}{ending}").unlink(missing_ok=True)


def check_server(results: Path, tell: Told) -> ServerChecked | None:
    """Check the server of a competition, or its backup: the whole database, and each upload.

    Returns:
        None if there is no server.

    Raises:
        WrongUse: the database cannot be read as one.
        MachineCannot: it cannot be read now.
    """
    server = results / SERVER
    if not (server / DATABASE).is_file():
        return None
    wrong: list[str] = []
    with closing(Database(server / DATABASE)) as database:
        if found := database.damage():
            wrong.append(f"{SERVER}/{DATABASE}: {found}")
        submissions = int(database.value("SELECT count(*) FROM submissions"))
        uploads = _uploads(database)
    store = UploadStore(server / UPLOADS, 0)
    for number, hash_ in enumerate(uploads, 1):
        try:
            is_whole = _hash(store.path(hash_)) == hash_
        except OSError as error:
            wrong.append(f"{SERVER}/{UPLOADS}/{hash_}: cannot be read: {error.strerror}")
        else:
            if not is_whole:
                wrong.append(f"{SERVER}/{UPLOADS}/{hash_}: is not as it arrived")
        tell("uploads", number, len(uploads))
    return ServerChecked(submissions=submissions, uploads=len(uploads), wrong=tuple(wrong))


def _hash(path: Path) -> str:
    with open_regular(path, follow=False) as file:
        content = sha256()
        while piece := file.read(PIECE):
            content.update(piece)
        return content.hexdigest()
