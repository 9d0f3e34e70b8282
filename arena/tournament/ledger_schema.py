"""The ledger's tables, and how those of an older arena become them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache

APPLICATION = 0x41524E41
"""Marks the file as one of ours, for `file` and for us ("ARNA")."""
SCHEMA = 7
TABLES_5 = """
CREATE TABLE terms (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    block INTEGER NOT NULL,
    seating INTEGER NOT NULL,
    number INTEGER NOT NULL,
    transcript TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT,
    void TEXT,
    played TEXT,
    set_aside TEXT,  -- why it does not count, played to its end or not: its block is played again
    place TEXT,  -- URL of a played match's transcript, if that is not in the results folder
    worker TEXT,  -- how the referee process ended that made an interrupted attempt, if it ended by itself
    reports TEXT,  -- by seat, how its bot did in a played match (`referee.match.SeatReport`)
    UNIQUE (block, seating, number),
    CHECK ((ended IS NULL) = (void IS NULL AND played IS NULL)),
    CHECK (void IS NULL OR played IS NULL)
);
CREATE TABLE results (
    block INTEGER NOT NULL,
    seating INTEGER NOT NULL,
    attempt INTEGER NOT NULL UNIQUE REFERENCES attempts,
    head TEXT NOT NULL,  -- hash of the last line of the match's transcript
    PRIMARY KEY (block, seating)
) WITHOUT ROWID;
"""


EVENTS = """
CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    block INTEGER,  -- the first that it concerns; null: no arena has taken it in yet
    kind TEXT NOT NULL,
    data TEXT NOT NULL,  -- JSON, by kind (`arena.schedule.changes`)
    refused TEXT,  -- why no arena takes it in
    CHECK (block IS NULL OR refused IS NULL)
);
"""
STEPS = """
CREATE TABLE steps (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    attempt INTEGER NOT NULL,  -- the void one, or the last one that had begun then
    block INTEGER,  -- null: it concerns all blocks
    data TEXT NOT NULL  -- JSON, by kind (`arena.tournament.aside`)
);
CREATE INDEX steps_of_block ON steps (block);
"""
TABLES = TABLES_5 + EVENTS + STEPS
MIGRATIONS = {5: (TABLES_5, EVENTS), 6: (TABLES_5 + EVENTS, STEPS)}
"""By an older schema: its tables, and what makes them those of the next schema. None is ever taken out."""


class StrangeBookError(Exception):
    """The file is no ledger that this arena can use. The text says why."""


def prepare(book: sqlite3.Connection) -> None:
    """Makes the tables of a new book, whole or not at all, and checks those of one that is there.

    Raises:
        StrangeBookError: it is somebody else's, or another arena's.
    """
    (version,) = book.execute("PRAGMA user_version").fetchone()
    if not _tables(book) and version == 0:
        _begin(book)
    (version,) = book.execute("PRAGMA user_version").fetchone()
    (application,) = book.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION:
        raise StrangeBookError("not a tournament's ledger")
    if version in MIGRATIONS:
        _migrate(book)
        (version,) = book.execute("PRAGMA user_version").fetchone()
    if version != SCHEMA:
        oldest = min(MIGRATIONS)
        raise StrangeBookError(f"a ledger of schema {version}; this arena reads schemas {oldest} to {SCHEMA}")
    _check_tables(book, SCHEMA, TABLES)


def _begin(book: sqlite3.Connection) -> None:
    """Make the tables, unless another program has made them since."""
    with _transaction(book):
        if not _tables(book):
            _execute(book, TABLES)
            book.execute(f"PRAGMA application_id = {APPLICATION}")
            book.execute(f"PRAGMA user_version = {SCHEMA}")


def _migrate(book: sqlite3.Connection) -> None:
    """Brings an older book up to this arena's schema, step by step."""
    with _transaction(book):
        # Another process may have done it since.
        while (version := book.execute("PRAGMA user_version").fetchone()[0]) in MIGRATIONS:
            tables, step = MIGRATIONS[version]
            _check_tables(book, version, tables)
            _execute(book, step)
            book.execute(f"PRAGMA user_version = {version + 1}")


@contextmanager
def _transaction(book: sqlite3.Connection) -> Iterator[None]:
    """Write what is done meanwhile whole or not at all, while no other program writes."""
    book.execute("BEGIN IMMEDIATE")
    try:
        yield
        book.execute("COMMIT")
    except BaseException:
        if book.in_transaction:
            book.execute("ROLLBACK")
        raise


def _execute(book: sqlite3.Connection, statements: str) -> None:
    """Execute statements, each of which ends its line. A script would be a transaction of its own."""
    for statement in filter(str.strip, statements.split(";\n")):
        book.execute(statement)


def _check_tables(book: sqlite3.Connection, schema: int, tables: str) -> None:
    if _tables(book) != _made_of(tables):
        # A view or a trigger would be a stranger's program.
        raise StrangeBookError(f"not a tournament's ledger: its tables are not those of schema {schema}")


@cache
def _made_of(tables: str) -> frozenset[tuple[str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as right:
        right.executescript(tables)
        return frozenset(_tables(right))


def _tables(book: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    """All that a book is made of: kind, name, and how it was made."""
    return set(book.execute("SELECT type, name, sql FROM sqlite_master"))
