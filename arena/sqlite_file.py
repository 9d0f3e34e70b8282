"""SQLite files of the arena: created privately, checked and migrated when opened, and their clock.

A file is in WAL mode, which stays intact if a process is killed at any moment. `Schema` has its tables,
and the way to them from those of older arenas.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.terminal import say
from referee.linux.files import check_regular, for_owner

PRIMARY_CODE = 0xFF
OF_THE_MACHINE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,  # Others opened, closed or recovered the log again and again.
        sqlite3.SQLITE_READONLY,
    }
)
"""Primary codes of SQLite's errors that the machine causes, not the file."""
PAGES = 2_000
"""Number of pages that are copied in one step: 8 MB."""


class Schema(Struct, frozen=True):
    """What a kind of file must contain."""

    what: str
    """What a file of this kind is called in errors, for example `a tournament's ledger`."""
    noun: str
    """The same in a word, for example `ledger`."""
    application: int
    """SQLite's application id of such a file."""
    version: int
    tables: str
    """Statements that create all tables. SQLite keeps them with their comments, and both are compared."""
    migrations: Mapping[int, tuple[str, str]]
    """Tables of an older schema, and the statements that lead to the next one; by schema."""


class ForeignFileError(Exception):
    """The file is none that this arena can use. The text is the reason."""


def prepare(db: sqlite3.Connection, schema: Schema) -> None:
    """Create the tables of a new file atomically, and check or migrate those of an existing one.

    Raises:
        ForeignFileError: the file belongs to another program or to a newer arena.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if not _tables(db) and version == 0:
        _begin(db, schema)
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application != schema.application:
        raise ForeignFileError(f"not {schema.what}")
    if version in schema.migrations:
        _migrate(db, schema)
        (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != schema.version:
        oldest = min(schema.migrations, default=schema.version)
        raise ForeignFileError(
            f"a {schema.noun} of schema {version}; this arena reads schemas {oldest} to {schema.version}"
        )
    _check_tables(db, schema, schema.version, schema.tables)


def _begin(db: sqlite3.Connection, schema: Schema) -> None:
    """Create the tables, unless another process has done so meanwhile."""
    with transaction(db):
        if not _tables(db):
            _execute(db, schema.tables)
            db.execute(f"PRAGMA application_id = {schema.application}")
            db.execute(f"PRAGMA user_version = {schema.version}")


def _migrate(db: sqlite3.Connection, schema: Schema) -> None:
    """Migrate an older file to this arena's schema, step by step."""
    with transaction(db):
        # Another process may have done it meanwhile.
        while (version := db.execute("PRAGMA user_version").fetchone()[0]) in schema.migrations:
            tables, step = schema.migrations[version]
            _check_tables(db, schema, version, tables)
            _execute(db, step)
            db.execute(f"PRAGMA user_version = {version + 1}")


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Write everything in the block or nothing, while no other process writes."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _execute(db: sqlite3.Connection, statements: str) -> None:
    """Execute statements, each of which ends its line. A script would be a transaction of its own."""
    for statement in filter(str.strip, statements.split(";\n")):
        db.execute(statement)


def _check_tables(db: sqlite3.Connection, schema: Schema, version: int, tables: str) -> None:
    if _tables(db) != _made_of(tables):
        # A view or a trigger would be an untrusted program.
        raise ForeignFileError(f"not {schema.what}: its tables are not those of schema {version}")


@cache
def _made_of(tables: str) -> frozenset[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as right:
        right.executescript(tables)
        return frozenset(_tables(right))


def _tables(db: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    """Return type, name and statement of everything in the file's schema."""
    return set(db.execute("SELECT type, name, sql FROM sqlite_master"))


SMALL = timedelta(seconds=10)
"""Correction by which a clock is set back now and then. The clock of a file stops for that long."""
LAST_YEAR = 9_000
"""Last year of a time from which the clock can continue. Python's times end soon after."""


def wall_time() -> datetime:
    """Return the time of the machine's clock."""
    return datetime.now(UTC)


def uptime() -> timedelta:
    """Return the time since the machine was started, including its sleep."""
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


class RecordClock:
    """Wall time that continues from its last value if the machine's clock is set back. That is reported once."""

    def __init__(
        self,
        latest: str | None,
        *,
        wall: Callable[[], datetime] = wall_time,
        elapsed: Callable[[], timedelta] = uptime,
        tell: Callable[[str], None] = say,
        noun: str = "ledger",
    ) -> None:
        """Continue after `latest`, the last time in the file.

        Args:
            latest: a time in ISO 8601; None or an unusable text: begin at the machine's time.
            wall: returns the machine's time.
            elapsed: returns the time since a fixed moment.
            tell: shows a line to the host.
            noun: what the file is called in that line.
        """
        self._wall, self._elapsed, self._tell, self._noun = wall, elapsed, tell, noun
        self._last = _moment(latest)
        self._at = elapsed()
        self._told = False

    def now(self) -> str:
        """Return the time in ISO 8601, in UTC, in milliseconds; never earlier than the last one."""
        wall, at, last = self._wall(), self._elapsed(), self._last
        if last is None or wall >= last:
            now, self._told = wall, False
        elif last - wall <= SMALL:
            now = last
        else:
            # The times between matches, which the pages show, stay right.
            now = last + (at - self._at)
            if not self._told:
                self._told = True
                self._tell(
                    f"this machine's clock was set back: it shows {_text(wall)}, and the {self._noun}'s last time"
                    f" is {_text(last)}; its times go on from there. Nothing else depends on them"
                )
        self._last, self._at = now, at
        return _text(now)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _moment(text: str | None) -> datetime | None:
    """Return an untrusted time of a file; None if it is invalid or too late to continue from."""
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return None
    return found if found is not None and found.tzinfo is not None and found.year < LAST_YEAR else None


class SqliteFile:
    """An open file, and what all its entries share: errors, transactions and the clock."""

    schema: ClassVar[Schema]
    synchronous: ClassVar[str] = "NORMAL"
    """With `NORMAL`, a power cut may lose the last entries but never the file; with `FULL`, each entry waits for
    the disk, 6 ms here."""
    first_read: ClassVar[str]
    """A query that reads little, which fixes the moment of a copy."""
    latest: ClassVar[str]
    """A query for the last time in the file, in ISO 8601."""

    def __init__(self, path: Path) -> None:
        """Open a file, or create it.

        Raises:
            WrongUse: the file is of another kind, or that of a newer arena.
            MachineCannot: it cannot be read or written.
        """
        self.path = path
        with self._errors_as_exits(), ExitStack() as undo:
            self._check_file()
            _create(path)
            # Calls come from trio's worker threads, one at a time.
            self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            undo.callback(self._db.close)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute(f"PRAGMA synchronous = {self.synchronous}")
            self._db.execute("PRAGMA foreign_keys = ON")
            prepare(self._db, self.schema)
            undo.pop_all()
        self._clock: RecordClock | None = None

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def copy_to(self, path: Path, step: Callable[[int, int], None]) -> None:
        """Write a copy, readable by its owner alone. Other processes may write the file meanwhile.

        Args:
            path: the copy's path; a file there is replaced.
            step: called now and then with the number of pages left, and of all pages.

        Raises:
            MachineCannot: there is no space.
        """
        # Otherwise SQLite would start again at each line by others.
        with self.one_moment(), self._errors_as_exits(path):
            path.unlink(missing_ok=True)
            _create(path)
            with closing(sqlite3.connect(path)) as copy:
                self._db.backup(copy, pages=PAGES, progress=lambda _, left, total: step(left, total))

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """Read the file in the block as it is now, whatever other processes write meanwhile. May be nested."""
        if self._db.in_transaction:
            yield
            return
        with self._errors_as_exits():
            self._db.execute("BEGIN")
        try:
            with self._errors_as_exits():
                self._db.execute(self.first_read).fetchone()  # The first read fixes the moment.
            yield
        finally:
            self._db.execute("ROLLBACK")

    def damage(self) -> str | None:
        """Read the whole file; return the damage that SQLite finds, or None."""
        ((found,),) = self._read("PRAGMA integrity_check(1)")
        return None if found == "ok" else str(found)

    def settle(self) -> None:
        """Move SQLite's log into the file, unless another process is reading it."""
        self._read("PRAGMA wal_checkpoint(TRUNCATE)")

    def _read(self, query: str, *values: Any, kind: Any = tuple) -> list[Any]:
        """Return the rows of a query, converted to a type."""
        with self._errors_as_exits():
            return msgspec.convert(self._db.execute(query, values).fetchall(), list[kind])

    def _now(self) -> str:
        """Return the time for an entry: never before that of the last entry, by whichever process."""
        if self._clock is None:
            ((latest,),) = self._db.execute(self.latest)
            self._clock = RecordClock(latest, noun=self.schema.noun)
        return self._clock.now()

    def _check_file(self) -> None:
        """Check that the file is regular: SQLite would wait for a fifo, and read a device.

        The file is not opened. Closing it again would remove the locks that SQLite holds on it for other open
        files of this process, and another process would then remove the log to which these are written.
        """
        with suppress(FileNotFoundError):
            try:
                check_regular(self.path)
            except FileNotFoundError:
                raise
            except OSError as error:
                raise WrongUse(f"{self.path}: cannot be read: {error.strerror}") from None

    def _transaction(self) -> AbstractContextManager[None]:
        """Write everything in the block, or nothing."""
        return transaction(self._db)

    @contextmanager
    def _errors_as_exits(self, path: Path | None = None) -> Iterator[None]:
        """Convert SQLite's errors to errors that end the command and name this file, or another."""
        path = path or self.path
        try:
            yield
        except ForeignFileError as error:
            raise WrongUse(f"{path}: {error}") from None
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & PRIMARY_CODE
            kind = MachineCannot if code in OF_THE_MACHINE else WrongUse
            raise kind(f"{path}: {error}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError) as error:
            raise WrongUse(f"{path}: not as an arena writes it: {error}") from None


def _create(path: Path) -> None:
    """Create an empty file for its owner alone, if there is none: SQLite's would be readable by others."""
    with suppress(OSError):  # SQLite says what is wrong.
        os.close(for_owner(str(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
