"""Databases of older arenas are opened, and go on; those of newer ones are refused."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.accounts.database import SCHEMA, TABLES, Database
from arena.errors import WrongUse
from arena.submissions.submission import STATES
from tests.arena.accounts.old_databases import SESSION, TOKEN, old_database
from tests.arena.submissions.servers import Server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A server's folder with the database that an arena of schema 1 wrote."""
    shutil.copy(old_database(1), tmp_path / "server.sqlite")
    return tmp_path


def test_a_database_of_schema_1_goes_on_with_all_it_holds(folder: Path) -> None:
    with closing(Server(folder)) as server:
        assert ["Blue Herons", "Red Pandas"] == [team.name for team in server.accounts.teams()]
        assert server.accounts.has_host()
        mia = server.accounts.session(SESSION)
        found = server.accounts.token(TOKEN)
        assert mia is not None
        assert found is not None
        assert ("Mia", "Red Pandas", mia) == (mia.name, mia.team_name, found[0])
        counts = server.submissions.counts_by_state()
        ended = {"entered", "refused", "withdrawn", "checked", "received"}
        assert dict.fromkeys(STATES, 0) | dict.fromkeys(ended, 1) == counts
        (held,) = server.submissions.jobs.held()
        assert 1 == held.attempts
        assert server.submissions.jobs.paused
        assert "No matches on Sunday" == server.database.value("SELECT text FROM announcements")
        assert "judge paused" == server.accounts.audit_log(count=1)[0].action
        server.submissions.fail(held.subject, "its judge was lost")
        server.submissions.pause(None, paused=False)
        assert 2 == server.submissions.queue().waiting
        server.accounts.new_team("Green Newts")


def test_a_database_of_a_newer_schema_is_refused_in_a_line_and_left_alone(folder: Path) -> None:
    path = folder / "server.sqlite"
    with closing(sqlite3.connect(path)) as newer:
        newer.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(WrongUse) as refused:
        Database(path)
    text = f"{path}: a database of schema 99; this arena reads schemas {SCHEMA} to {SCHEMA}"
    assert text == refused.value.format_message()
    assert before == path.read_bytes()


def test_a_step_to_the_next_schema_keeps_all_rows(folder: Path) -> None:
    """So a schema 2 is added: the tables of today and a statement lead to it."""
    added = "\nCREATE TABLE later (id INTEGER PRIMARY KEY);\n"
    schema = replace(
        Database.schema, version=SCHEMA + 1, tables=TABLES + added, migrations={SCHEMA: (TABLES, added)}
    )

    class LaterDatabase(Database):
        pass

    LaterDatabase.schema = schema
    with closing(LaterDatabase(folder / "server.sqlite")) as later:
        assert 0 == later.value("SELECT count(*) FROM later")
        assert len(STATES) - 2 == later.value("SELECT count(*) FROM submissions")
    with pytest.raises(WrongUse, match=r"a database of schema 2; this arena reads schemas 1 to 1$"):
        Database(folder / "server.sqlite")
