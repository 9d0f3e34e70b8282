"""The database of a season's server: accounts, submissions and jobs, in one file beside the ledgers.

Several processes have it open at once: the one that serves, the one that judges submissions, and commands. Each
entry is a transaction that is on the disk when it is acknowledged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from arena.errors import writing
from arena.sqlite_file import Schema, SqliteFile
from referee.linux.files import FOLDER_MODE

SERVER = "server"
"""Name of the folder with the database, the uploads and their logs, within a results folder."""
DATABASE = "server.sqlite"
APPLICATION = 0x41524E53
"""SQLite's application id of the database ("ARNS")."""
SCHEMA = 1
# SQLite keeps a table's statement with its comments, and both are compared: change no word of those below.
#
# Databases of schema 1 exist. To change the tables, keep this text as TABLES_1, and write the statements that
# lead from it to the next schema as STEP_2. Then TABLES = TABLES_1 + STEP_2, SCHEMA = 2, and the migrations of the
# schema are {1: (TABLES_1, STEP_2)}; `arena.tournament.ledger_file` has two such steps. A step adds tables and
# indexes only, so that the text of the tables stays what SQLite keeps. The command
# `python -m tests.arena.accounts.old_databases` then writes a file of the new schema for the tests.
TABLES = """
CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE teams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,  -- the name as look-alikes share it
    created TEXT NOT NULL,
    closed TEXT
);
CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    host INTEGER NOT NULL CHECK (host IN (0, 1)),
    team INTEGER REFERENCES teams,
    subject TEXT UNIQUE,  -- issuer and subject of OpenID Connect
    created TEXT NOT NULL,
    disabled TEXT
);
CREATE INDEX accounts_of_team ON accounts (team);
CREATE TABLE invitations (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    host INTEGER NOT NULL CHECK (host IN (0, 1)),
    team INTEGER REFERENCES teams,
    inviter INTEGER REFERENCES accounts,  -- null: the command line
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    uses INTEGER NOT NULL CHECK (uses >= 0),  -- left
    revoked TEXT
);
CREATE TABLE sessions (
    hash BLOB PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES accounts,
    created TEXT NOT NULL,
    expires TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_of_account ON sessions (account);
CREATE TABLE tokens (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    account INTEGER NOT NULL REFERENCES accounts,
    name TEXT NOT NULL,
    scope TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    used TEXT,
    revoked TEXT
);
CREATE INDEX tokens_of_account ON tokens (account);
CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    account INTEGER REFERENCES accounts,  -- null: the arena, or the command line
    team INTEGER REFERENCES teams,
    action TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_of_team ON audit (team, id);
CREATE TABLE uploads (
    hash TEXT PRIMARY KEY,  -- SHA-256 of the file, and its name in the store
    size INTEGER NOT NULL,
    created TEXT NOT NULL,
    removed TEXT
) WITHOUT ROWID;
CREATE TABLE submissions (
    id INTEGER PRIMARY KEY,
    public TEXT NOT NULL UNIQUE,  -- the name in addresses, which tells no number of submissions
    team INTEGER NOT NULL REFERENCES teams,
    account INTEGER NOT NULL REFERENCES accounts,
    bot TEXT NOT NULL,  -- label
    note TEXT NOT NULL,
    upload TEXT NOT NULL REFERENCES uploads,
    filename TEXT NOT NULL,
    request TEXT,  -- key by which a repeated request is known
    state TEXT NOT NULL,
    created TEXT NOT NULL,
    changed TEXT NOT NULL,
    counts INTEGER NOT NULL CHECK (counts IN (0, 1)),  -- against the quota
    published INTEGER NOT NULL CHECK (published IN (0, 1)),
    restores INTEGER REFERENCES submissions,
    content TEXT,  -- hash of the bot's folder, once it is unpacked
    entered TEXT,  -- label of the version in the ledger
    verdict TEXT,  -- JSON
    entry TEXT,  -- JSON: where and after which event it is being entered
    UNIQUE (team, request)
);
CREATE INDEX submissions_of_team ON submissions (team, id);
CREATE INDEX submissions_of_state ON submissions (state, id);
CREATE TABLE submission_events (
    id INTEGER PRIMARY KEY,
    submission INTEGER NOT NULL REFERENCES submissions,
    at TEXT NOT NULL,
    state TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX events_of_submission ON submission_events (submission, id);
CREATE TABLE scrimmages (
    id INTEGER PRIMARY KEY,
    public TEXT NOT NULL UNIQUE,
    team INTEGER NOT NULL REFERENCES teams,
    account INTEGER NOT NULL REFERENCES accounts,
    bot TEXT NOT NULL,  -- label of the team's own bot
    opponents TEXT NOT NULL,  -- JSON: labels or names of sample bots
    matches INTEGER NOT NULL CHECK (matches > 0),
    state TEXT NOT NULL,
    created TEXT NOT NULL,
    changed TEXT NOT NULL,
    result TEXT  -- JSON
);
CREATE INDEX scrimmages_of_team ON scrimmages (team, id);
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    subject INTEGER NOT NULL,
    team INTEGER NOT NULL REFERENCES teams,
    competition TEXT NOT NULL,
    created TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    holder TEXT,  -- the process that works at it
    begun TEXT,
    ended TEXT,
    cpu_ms INTEGER NOT NULL,  -- charged to the team
    failure TEXT,  -- why the arena failed at the last attempt
    not_before TEXT,  -- when it is tried again
    UNIQUE (kind, subject)
);
CREATE INDEX jobs_to_do ON jobs (ended, holder, id);
CREATE INDEX jobs_of_team ON jobs (team, id);
CREATE TABLE announcements (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    account INTEGER REFERENCES accounts,
    text TEXT NOT NULL,
    ended TEXT
);
"""

RowT = TypeVar("RowT")


class Database(SqliteFile):
    """An open database. Its calls wait for the disk; from trio, make them with `arena.event_loop.CallThread`."""

    schema = Schema("a season's server's database", "database", APPLICATION, SCHEMA, TABLES, {})
    synchronous = "FULL"
    first_read = "SELECT max(id) FROM audit"
    latest = "SELECT max(at) FROM (SELECT max(at) AS at FROM (SELECT at FROM audit ORDER BY id DESC LIMIT 100))"

    def __init__(self, path: Path) -> None:
        """Open a database, or create it, also its folder.

        Raises:
            WrongUse: the file is of another kind, or that of a newer arena.
            MachineCannot: it cannot be read or written.
        """
        with writing(path.parent):
            path.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        super().__init__(path)

    def now(self) -> str:
        """Return the time in ISO 8601; never earlier than that of the last entry."""
        return self._now()

    def after(self, seconds: float) -> str:
        """Return the time so many seconds from now."""
        return (datetime.fromisoformat(self._now()) + timedelta(seconds=seconds)).isoformat(
            timespec="milliseconds"
        )

    def rows(self, kind: type[RowT], query: str, *values: Any) -> list[RowT]:
        """Return the rows of a query as Structs, whose fields are the names of its columns."""
        flags = _flags(kind)  # type: ignore[arg-type]  # classes are hashable
        with self._errors_as_exits():
            cursor = self._db.execute(query, values)
            names = [column[0] for column in cursor.description]
            found: list[RowT] = []
            for row in cursor:
                fields = dict(zip(names, row, strict=True))
                for name in flags:
                    fields[name] = bool(fields[name])
                found.append(msgspec.convert(fields, kind))
            return found

    def row(self, kind: type[RowT], query: str, *values: Any) -> RowT | None:
        """Return the first row of a query as a Struct; None if there is none."""
        return next(iter(self.rows(kind, query, *values)), None)

    def column(self, kind: type[RowT], query: str, *values: Any) -> list[RowT]:
        """Return the first column of a query's rows."""
        return [msgspec.convert(row[0], kind) for row in self._read(query, *values)]

    def value(self, query: str, *values: Any) -> Any:
        """Return the first column of a query's first row; None if there is none."""
        for row in self._read(query, *values):
            return row[0]
        return None

    @contextmanager
    def change(self) -> Iterator[None]:
        """Write everything in the block or nothing, while no other process writes."""
        with self._errors_as_exits(), self._transaction():
            yield

    def insert(self, table: str, **values: Any) -> int:
        """Insert a row; return its id."""
        marks = ", ".join("?" * len(values))
        statement = f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})"  # noqa: S608 - names of columns
        with self._errors_as_exits():
            return int(self._db.execute(statement, tuple(values.values())).lastrowid or 0)

    def update(self, statement: str, *values: Any) -> int:
        """Execute an UPDATE or a DELETE; return the number of changed rows."""
        with self._errors_as_exits():
            return int(self._db.execute(statement, values).rowcount)


@cache
def _flags(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a Struct that are true or false, for which SQLite has 1 and 0.

    Only these are converted: a lax conversion of whole rows would read a team's name `null` as none.
    """
    return tuple(field.name for field in msgspec.structs.fields(kind) if field.type is bool)
