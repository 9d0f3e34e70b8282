"""A ledger of every schema that was ever released goes on with all it holds."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from arena.errors import WrongUse
from arena.tournament import ledger_file
from arena.tournament.ledger import Ledger
from arena.tournament.ledger_file import APPLICATION, MIGRATIONS, SCHEMA, TABLES
from tests.arena.tournament.old_ledgers import CHANGES, TERMS, fill, old_ledger

OLDEST = 5
RELEASED = 6
"""First schema of which a file exists; `fill` writes the same content into each."""
SINCE_RELEASE = range(RELEASED, SCHEMA + 1)


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[int], Path]:
    def copy(schema: int) -> Path:
        return Path(shutil.copy(old_ledger(schema), tmp_path / f"schema-{schema}.sqlite"))

    return copy


def made_of(path: Path) -> tuple[Any, ...]:
    """Return a file's marks and its tables."""
    with closing(sqlite3.connect(path)) as book:
        marks = [book.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        return *marks, set(book.execute("SELECT type, name, sql FROM sqlite_master"))


def rows_of(path: Path) -> dict[str, list[Any]]:
    """All that is in a file."""
    with closing(sqlite3.connect(path)) as book:
        tables = [name for (name,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: book.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall() for name in tables}  # noqa: S608


def test_there_is_a_migration_from_each_schema_and_a_file_of_each() -> None:
    assert list(range(OLDEST, SCHEMA)) == sorted(MIGRATIONS)
    assert [True] * (SCHEMA - OLDEST + 1) == [old_ledger(each).exists() for each in range(OLDEST, SCHEMA + 1)]


@pytest.mark.parametrize("schema", range(OLDEST, SCHEMA + 1))
def test_the_tables_of_a_schema_never_change(schema: int, copied: Callable[[int], Path], tmp_path: Path) -> None:
    """A changed table is a new schema. If this fails, undo it, raise `SCHEMA`, and add to `MIGRATIONS`."""
    with closing(sqlite3.connect(tmp_path / "right.sqlite")) as right:
        right.executescript(TABLES if schema == SCHEMA else MIGRATIONS[schema][0])
    application, version, tables = made_of(copied(schema))
    assert (APPLICATION, schema) == (application, version)
    assert made_of(tmp_path / "right.sqlite")[2] == tables


@pytest.mark.parametrize("schema", range(OLDEST, SCHEMA + 1))
def test_a_migrated_ledger_is_made_of_what_a_new_one_is_and_has_lost_no_row(
    schema: int, copied: Callable[[int], Path], tmp_path: Path
) -> None:
    path = copied(schema)
    before = rows_of(path)
    Ledger(path).close()
    Ledger(tmp_path / "new.sqlite").close()
    assert made_of(tmp_path / "new.sqlite") == made_of(path)
    after = rows_of(path)
    assert before == {
        # A column that is new comes last.
        name: [row[: len(before[name][0])] for row in after[name]] if before[name] else after[name]
        for name in before
    }


@pytest.mark.parametrize("schema", SINCE_RELEASE)
def test_a_ledgers_content_is_the_same_in_each_schema(
    schema: int, copied: Callable[[int], Path], tmp_path: Path
) -> None:
    with closing(Ledger(tmp_path / "new.sqlite")) as ledger:
        fill(ledger)
        now = said(ledger)
    with closing(Ledger(copied(schema))) as ledger:
        assert now == said(ledger)
        assert TERMS == ledger.terms()
        assert list(CHANGES) == [event.what for event in ledger.events()]
        assert [3, 3, None, None] == [event.block for event in ledger.events()]


def said(ledger: Ledger) -> dict[str, Any]:
    """All that it says, but for times."""
    events = [(event.id, event.block, event.refused, event.what) for event in ledger.events()]
    return {
        "terms": ledger.terms(),
        "events": events,
        "waiting": ledger.waiting(),
        "begun": ledger.begun(),
        "finished": ledger.finished(),
        "reports": list(ledger.reports()),
        "played": [played for played, _ in ledger.played()],
        "transcripts": ledger.transcripts(),
        "voids": ledger.voids(),
        "lost": ledger.lost_with_workers(),
        "set aside": ledger.set_aside(),
        "under way": [row[:2] for row in ledger.times().under_way],
    }


@pytest.mark.parametrize("schema", range(OLDEST, SCHEMA))
def test_a_migration_that_fails_at_any_step_leaves_the_old_book(
    schema: int, copied: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = copied(schema)
    before = made_of(path), rows_of(path)
    for step in range(schema, SCHEMA):
        tables, done = MIGRATIONS[step]
        monkeypatch.setitem(ledger_file.MIGRATIONS, step, (tables, f"{done}CREATE TABLE results (a TEXT);\n"))
        with pytest.raises(WrongUse, match="table results already exists"):
            Ledger(path)
        monkeypatch.undo()
        assert before == (made_of(path), rows_of(path))
    Ledger(path).close()
