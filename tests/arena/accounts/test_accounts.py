"""Accounts: invitations, sessions, tokens and teams, and what is refused."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.accounts import DAY, Account, AccountError, Accounts, Database
from arena.errors import WrongUse


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(tmp_path / "server" / "server.sqlite")) as database:
        yield database


@pytest.fixture
def accounts(database: Database) -> Accounts:
    return Accounts(database)


def member(accounts: Accounts, team: str = "Red Pandas", name: str = "Mia") -> Account:
    found = accounts.team(team) or accounts.new_team(team)
    return accounts.accept(accounts.invite(found.id), name)


def test_the_file_is_private_and_another_kind_of_file_is_refused(database: Database, tmp_path: Path) -> None:
    assert database.path.stat().st_mode & 0o077 == 0
    assert database.path.parent.stat().st_mode & 0o077 == 0
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as theirs:
        theirs.execute("CREATE TABLE t (a)")
        theirs.commit()
    with pytest.raises(WrongUse, match="not a season's server's database"):
        Database(other)


def test_an_invitation_makes_one_account_and_no_second_one(accounts: Accounts) -> None:
    team = accounts.new_team("Red Pandas")
    secret = accounts.invite(team.id)
    assert accounts.invited_to(secret) == "Red Pandas"
    account = accounts.accept(secret, " Mia ")
    assert (account.name, account.is_host, account.team_name) == ("Mia", False, "Red Pandas")
    assert accounts.invited_to(secret) is None
    with pytest.raises(AccountError, match="not open"):
        accounts.accept(secret, "Eve")
    assert [each.name for each in accounts.members(team.id)] == ["Mia"]


def test_a_revoked_or_old_invitation_opens_nothing(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    team = accounts.new_team("Red Pandas")
    secret, old = accounts.invite(team.id), accounts.invite(team.id, days=1 / DAY)
    (first, _) = accounts.invitations(team.id)
    accounts.revoke_invitation(first.id, team.id)
    with pytest.raises(AccountError, match="not open"):
        accounts.accept(secret, "Eve")
    later = accounts._db.after(2)
    monkeypatch.setattr(accounts._db, "now", lambda: later)
    with pytest.raises(AccountError, match="not open"):
        accounts.accept(old, "Eve")


def test_an_invitation_of_another_team_is_not_revoked(accounts: Accounts) -> None:
    red, blue = accounts.new_team("Red Pandas"), accounts.new_team("Blue Herons")
    secret = accounts.invite(red.id)
    accounts.revoke_invitation(accounts.invitations(red.id)[0].id, blue.id)
    assert accounts.invited_to(secret) == "Red Pandas"


def test_a_session_ends_when_it_is_closed_and_when_the_account_ends(accounts: Accounts) -> None:
    mia = member(accounts)
    first, second = accounts.open_session(mia), accounts.open_session(mia)
    assert accounts.session(first) == accounts.session(second) == mia
    accounts.close_session(first)
    assert accounts.session(first) is None
    accounts.leave(mia)
    assert accounts.session(second) is None


def test_a_closed_team_is_shut_out_and_comes_back(accounts: Accounts) -> None:
    mia = member(accounts)
    session, token = accounts.open_session(mia), accounts.new_token(mia, "ci", "submit")
    assert mia.team is not None
    accounts.close_team(mia.team)
    assert accounts.session(session) is None
    assert accounts.token(token) is None
    accounts.close_team(mia.team, closed=False)
    assert accounts.session(session) == mia


def test_a_token_has_a_scope_and_a_last_use_and_ends_when_it_is_revoked(accounts: Accounts) -> None:
    mia, eve = member(accounts), member(accounts, "Blue Herons", "Eve")
    secret = accounts.new_token(mia, "ci", "submit")
    assert accounts.tokens(mia)[0].used is None
    found = accounts.token(secret)
    assert found is not None
    assert (found[0], found[1].scope) == (mia, "submit")
    assert accounts.tokens(mia)[0].used is not None
    accounts.revoke_token(found[1].id, eve)
    assert accounts.token(secret) is not None
    accounts.revoke_token(found[1].id, mia)
    assert accounts.token(secret) is None
    assert accounts.tokens(mia) == []


def test_no_secret_is_in_the_database(accounts: Accounts, database: Database) -> None:
    mia = member(accounts)
    assert mia.team is not None
    secrets = [accounts.open_session(mia), accounts.new_token(mia, "ci", "read"), accounts.invite(mia.team, mia)]
    database.settle()
    content = database.path.read_bytes()
    assert not [secret for secret in secrets if secret.encode() in content]


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x1b[2Jb", "a\u200bb"])
def test_names_that_cannot_be_shown_are_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(AccountError, match="name"):
        accounts.new_team(name)


def test_a_team_that_looks_like_another_is_refused(accounts: Accounts) -> None:
    accounts.new_team("Red Pandas")
    with pytest.raises(AccountError, match="looks like Red Pandas: only upper and lower case differ"):
        accounts.new_team("red pandas")
    assert len(accounts.teams()) == 1


def test_the_last_host_cannot_leave(accounts: Accounts) -> None:
    host = accounts.accept(accounts.invite(None), "Ada")
    assert accounts.has_host()
    with pytest.raises(AccountError, match="only host"):
        accounts.leave(host)
    accounts.accept(accounts.invite(None), "Grace")
    accounts.leave(host)
    assert [each.name for each in accounts.members(None)] == ["Grace"]


def test_signing_out_everywhere_ends_all_secrets_of_the_account_alone(accounts: Accounts) -> None:
    mia, eve = member(accounts), member(accounts, name="Eve")
    session, token, others = (
        accounts.open_session(mia),
        accounts.new_token(mia, "ci", "read"),
        accounts.open_session(eve),
    )
    accounts.sign_out_everywhere(mia)
    assert accounts.session(session) is None
    assert accounts.token(token) is None
    assert accounts.session(others) == eve


def test_the_audit_log_says_who_did_what(accounts: Accounts) -> None:
    mia = member(accounts)
    member(accounts, "Blue Herons", "Eve")
    accounts.new_token(mia, "ci", "submit")
    assert [(each.account, each.action) for each in accounts.audit_log(mia.team)] == [
        ("Mia", "token made"),
        ("Mia", "joined"),
        (None, "invited"),
        (None, "team made"),
    ]
    assert len(accounts.audit_log()) == 7
