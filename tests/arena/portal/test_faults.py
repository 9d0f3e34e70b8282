"""Answers of the portal when disk, database or its own code fails, and where an answer's id is found."""

import errno
import sqlite3
from collections.abc import Callable
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx import ASGITransport, AsyncClient

from arena.accounts import Accounts, Database
from arena.errors import MachineCannot, WrongUse
from arena.portal.visit import SESSION
from arena.tournament import LEDGER
from arena.web.events import Streams
from arena.web.guard import SECURE_START, Guard
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.arena.portal.conftest import Setting, archive
from tests.arena.portal.test_access import plant

FAULTS: tuple[Callable[[], Exception], ...] = (
    lambda: MachineCannot("server.sqlite: database is locked"),
    lambda: OSError(errno.ENOSPC, "No space left on device", "/srv/secret/server.sqlite"),
    lambda: OSError(errno.EIO, "Input/output error"),
    lambda: FileNotFoundError(errno.ENOENT, "No such file or directory", "/srv/secret/upload"),
    MemoryError,
    lambda: RuntimeError("can't start new thread"),
)
"""Errors for which the machine is at fault."""


def failing(error: Callable[[], Exception]) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error()

    return fail


def check_words(answer: httpx.Response) -> None:
    """Check that an answer says what to do, and reveals nothing."""
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert int(answer.headers["retry-after"]) > 0
    assert "Try again in a while" in answer.text
    assert "/srv/secret" not in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: repr(fault()))
async def test_a_fault_of_the_machine_is_a_503_with_words(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], Exception]
) -> None:
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "submit")
    monkeypatch.setattr(setting.portal.submissions, "of_team", failing(fault))
    check_words(await setting.mia.get("team/"))
    async with setting.program(token) as program:
        answer = await program.get("submissions")
    check_words(answer)
    assert answer.json()["error"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: repr(fault()))
async def test_a_public_page_and_a_stream_that_the_machine_cannot_make_are_a_503(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], Exception]
) -> None:
    (part,) = setting.portal.parts
    monkeypatch.setattr(part, "overview", failing(fault))
    check_words(await setting.stranger.get("results/matches.html"))
    monkeypatch.setattr(setting.application, "_stream", failing(fault))
    check_words(await setting.mia.get("team/events"))


async def test_a_database_that_another_process_holds_is_a_503_and_nothing_is_lost(setting: Setting) -> None:
    database = setting.portal.database
    database._db.execute("PRAGMA busy_timeout = 1")
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        check_words(await setting.mia.upload(archive()))
        other.execute("ROLLBACK")
    assert (await setting.mia.upload(archive())).status_code == HTTPStatus.SEE_OTHER


async def test_a_database_without_space_is_a_503_and_nothing_is_counted(setting: Setting) -> None:
    database = setting.portal.database
    pages = database.value("PRAGMA page_count")
    database.value(f"PRAGMA max_page_count = {pages}")
    shown = 0
    while (answer := await setting.host.post("host/announce", text="x" * 500)).status_code == HTTPStatus.SEE_OTHER:
        shown += 1  # Pages of the file that are there already have room for some.
        assert shown < 100
    check_words(answer)
    database.value(f"PRAGMA max_page_count = {pages + 1000}")
    assert shown == database.value("SELECT count(*) FROM announcements")
    assert (await setting.host.post("host/announce", text="x")).status_code == HTTPStatus.SEE_OTHER


def test_sqlites_busy_protocol_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    """SQLite reports it when processes open, recover and close the log of a file again and again."""
    with closing(Database(tmp_path / "server.sqlite")) as database:
        error = sqlite3.OperationalError("locking protocol")
        error.sqlite_errorcode = sqlite3.SQLITE_PROTOCOL
        with pytest.raises(MachineCannot), database._errors_as_exits():
            raise error
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        with pytest.raises(WrongUse), database._errors_as_exits():
            raise error


async def test_a_ledger_that_cannot_be_read_is_a_503(setting: Setting) -> None:
    (setting.competition.results / LEDGER).write_bytes(b"not SQLite's" * 1_000)
    check_words(await setting.mia.get("team/"))


async def test_an_upload_that_is_removed_while_it_is_asked_for_is_gone(setting: Setting) -> None:
    public, _ = await plant(setting)
    submission = setting.portal.submissions.by_public(public)
    assert submission is not None
    setting.portal.store.remove(submission.upload)
    answer = await setting.mia.get(f"team/submission/{public}/upload")
    assert answer.status_code == HTTPStatus.GONE
    assert "removed" in answer.text


async def test_an_error_of_ours_is_a_500_whose_id_the_operator_finds(
    setting: Setting, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(setting.portal.submissions, "of_team", failing(lambda: ValueError("planted-3c")))
    answer = await setting.mia.get("team/")
    assert answer.status_code == HTTPStatus.INTERNAL_SERVER_ERROR
    assert answer.headers["x-request-id"] in answer.text
    assert "planted-3c" not in answer.text
    logged = capsys.readouterr().err
    assert f"request {answer.headers['x-request-id']}: team/" in logged
    assert "planted-3c" in logged


async def test_each_answer_has_an_id_of_the_servers_own(setting: Setting) -> None:
    mine = {"x-request-id": "0000000000000000"}
    paths = ("/team/", "/nothing", "/results/", "/api/v1/me", "/assets/none.js", "/team/events", "/play/x")
    answers = [await setting.stranger.http.get(path, headers=mine) for path in paths]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(paths) == len(set(ids))
    assert mine["x-request-id"] not in ids


async def test_the_audit_log_has_the_id_of_the_request(setting: Setting) -> None:
    answer = await setting.mia.post("team/members/invite")
    (entry, *_) = setting.portal.accounts.audit_log(count=1)
    assert "invited" == entry.action
    assert f"(request {answer.headers['x-request-id']})" in entry.detail


def test_names_that_look_like_values_of_json_are_names(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "server.sqlite")) as database:
        accounts = Accounts(database)
        for name in ("null", "1", "true", "false", "0.5", "NaN"):
            account = accounts.accept(accounts.invite(accounts.new_team(name).id), name)
            assert (name, name) == (account.name, account.team_name)
            assert not account.is_host
            found = accounts.team(name)
            assert found is not None
            assert name == found.name


def test_each_start_without_a_host_makes_a_link_in_place_of_the_one_before(tmp_path: Path) -> None:
    with closing(Database(tmp_path / "server.sqlite")) as database:
        accounts = Accounts(database)
        colleagues, first = accounts.invite(None), accounts.invite_first_host()
        second = accounts.invite_first_host()
        assert accounts.invited_to(first) is None
        assert "" == accounts.invited_to(second) == accounts.invited_to(colleagues)
        assert accounts.accept(second, "Ada").is_host
        accounts.invite_first_host()
        assert "" == accounts.invited_to(colleagues)


async def test_signing_in_ends_the_browsers_former_session_and_takes_none_that_it_brings(setting: Setting) -> None:
    former = setting.mia.http.cookies[SESSION]
    key = setting.portal.accounts.new_token(setting.member("Blue Herons"), "phone", "sign-in")
    await setting.mia.post("sign-in", key=key)
    assert setting.portal.accounts.session(former) is None
    setting.stranger.http.cookies.set(SESSION, "chosen-by-an-attacker")
    answer = await setting.stranger.http.post(
        "/sign-in", data={"key": key}, headers={"origin": "http://127.0.0.1:8000"}
    )
    assert answer.status_code == HTTPStatus.SEE_OTHER
    assert "chosen-by-an-attacker" not in answer.headers["set-cookie"]
    assert setting.portal.accounts.session("chosen-by-an-attacker") is None


async def test_a_browser_that_signs_out_has_no_session_and_no_cookie(setting: Setting) -> None:
    session = setting.mia.http.cookies[SESSION]
    answer = await setting.mia.post("account/sign-out")
    assert f"{SESSION}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax" == answer.headers["set-cookie"]
    assert setting.portal.accounts.session(session) is None
    setting.mia.http.cookies.set(SESSION, session)
    assert "/sign-in" == (await setting.mia.get("team/")).headers["location"]


async def test_over_tls_browsers_are_told_to_use_nothing_else() -> None:
    for url, said in (("https://arena.example.org/", True), ("http://127.0.0.1:8000/", False)):
        application = Application(Site({}, url=url), Streams(), lambda _: None, SILENT)
        async with AsyncClient(transport=ASGITransport(application), base_url=url) as browser:
            assert said is ("strict-transport-security" in (await browser.get("/nothing")).headers)


async def test_over_tls_the_cookie_belongs_to_this_host_alone(setting: Setting) -> None:
    url = "https://arena.example.org"
    setting.portal.guard = Guard(f"{url}/")
    key = setting.portal.accounts.new_token(setting.member("Red Pandas"), "phone", "sign-in")
    transport = ASGITransport(setting.application, client=("192.0.2.40", 4000))
    async with AsyncClient(transport=transport, base_url=url) as browser:
        answer = await browser.post("/sign-in", data={"key": key}, headers={"origin": url})
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{SECURE_START}{SESSION}=")
        assert cookie.endswith("; HttpOnly; SameSite=Lax; Secure")
        assert "; Path=/;" in cookie
        assert "Domain" not in cookie
        assert (await browser.get("/team/")).status_code == HTTPStatus.OK
        (value,) = browser.cookies.values()
    async with AsyncClient(transport=transport, base_url=url) as other:
        # A cookie without the start may be one that another host of the domain has set.
        plain = await other.get("/team/", headers={"cookie": f"{SESSION}={value}"})
        assert "/sign-in" == plain.headers["location"]
