"""The file of a ledger: its tables, and the migration from those of older arenas."""

from arena.sqlite_file import Schema, SqliteFile

APPLICATION = 0x41524E41
"""SQLite's application id of a ledger ("ARNA"), which `file` shows, too."""
SCHEMA = 7
# SQLite keeps a table's statement with its comments, and both are compared: change no word of those below.
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
"""Tables of an older schema, and the statements that lead to the next one; by schema. No entry is ever removed."""
RECENT = 2_000
"""Number of latest attempts that are searched for times: more than any arena makes at once."""


class LedgerFile(SqliteFile):
    """An open ledger's file."""

    schema = Schema("a tournament's ledger", "ledger", APPLICATION, SCHEMA, TABLES, MIGRATIONS)
    # What a power cut loses is played again.
    synchronous = "NORMAL"
    first_read = "SELECT max(id) FROM attempts"
    latest = (
        "SELECT max(at) FROM (SELECT max(max(started, coalesce(ended, started))) AS at"
        " FROM (SELECT started, ended FROM attempts ORDER BY id DESC LIMIT RECENT)"
        " UNION ALL SELECT max(at) FROM events)"
    ).replace("RECENT", str(RECENT))
