"""The ledger's tables, and how a book of an earlier arena comes to have them.

Each migration is one script that leads from the schema of its place in the list to the next; a new book runs them
all. A script that was released is never changed.
"""

import sqlite3
from contextlib import closing

APPLICATION = 0x41524E41
"""Marks the file as one of ours, for `file` and for us ("ARNA")."""

FIRST = """
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
    UNIQUE (block, seating, number),
    CHECK ((ended IS NULL) = (void IS NULL AND played IS NULL)),
    CHECK (void IS NULL OR played IS NULL)
);
CREATE TABLE results (
    block INTEGER NOT NULL,
    seating INTEGER NOT NULL,
    attempt INTEGER NOT NULL UNIQUE REFERENCES attempts,
    PRIMARY KEY (block, seating)
) WITHOUT ROWID;
"""

SET_ASIDE_AND_HEADS = """
-- Why an attempt does not count that may have been played to its end: its block is played again.
ALTER TABLE attempts ADD COLUMN set_aside TEXT;
CREATE TABLE results_with_heads (
    block INTEGER NOT NULL,
    seating INTEGER NOT NULL,
    attempt INTEGER NOT NULL UNIQUE REFERENCES attempts,
    head TEXT NOT NULL,  -- hash of the last line of the match's transcript
    PRIMARY KEY (block, seating)
) WITHOUT ROWID;
INSERT INTO results_with_heads
    SELECT results.block, results.seating, attempt, coalesce(json_extract(played, '$.head'), '')
    FROM results JOIN attempts ON attempts.id = results.attempt;
DROP TABLE results;
ALTER TABLE results_with_heads RENAME TO results;
"""

PLACES = """
-- Where a played match's transcript is, if not in the results folder: a URL.
ALTER TABLE attempts ADD COLUMN place TEXT;
"""

WORKERS = """
-- Of an interrupted attempt: how the referee process ended that was making it, if it was that and not the arena.
ALTER TABLE attempts ADD COLUMN worker TEXT;
"""

REPORTS = """
-- Of a played match: how each seat's bot did, and why it lost what it lost (`referee.match.SeatReport`).
ALTER TABLE attempts ADD COLUMN reports TEXT;
"""

MIGRATIONS = (FIRST, SET_ASIDE_AND_HEADS, PLACES, WORKERS, REPORTS)
SCHEMA = len(MIGRATIONS)


class StrangeBookError(Exception):
    """The file is no ledger that this arena can use. The text says why."""


def prepare(book: sqlite3.Connection) -> None:
    """Makes the tables of a new book; brings one of an earlier arena up to date, whole or not at all.

    Raises:
        StrangeBookError: it is somebody else's, or a newer arena's.
    """
    (version,) = book.execute("PRAGMA user_version").fetchone()
    (application,) = book.execute("PRAGMA application_id").fetchone()
    (tables,) = book.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION:
        raise StrangeBookError("not a tournament's ledger")
    if version > SCHEMA:
        raise StrangeBookError(f"a ledger of schema {version}; this arena reads schemas up to {SCHEMA}")
    if version < 0 or _tables(book) != _tables_of(version):
        # A view or a trigger would be a program of whoever made the file.
        raise StrangeBookError(f"not a tournament's ledger: its tables are not those of schema {version}")
    if version < SCHEMA:
        # One script is one transaction here: half a book cannot be left behind.
        book.executescript(
            f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {SCHEMA};"
            f"{''.join(MIGRATIONS[version:])} COMMIT;"
        )


def _tables(book: sqlite3.Connection) -> set[tuple[str, str, str | None]]:
    """All that a book is made of: kind, name, and how it was made."""
    return set(book.execute("SELECT type, name, sql FROM sqlite_master"))


def _tables_of(version: int) -> set[tuple[str, str, str | None]]:
    """The same of a book that is as it should be."""
    with closing(sqlite3.connect(":memory:")) as book:
        book.executescript("".join(MIGRATIONS[:version]))
        return _tables(book)
