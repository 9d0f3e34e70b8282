"""Who may do what: every route of the portal with every role, and a search for what nobody else may see."""

import io
import re
import zipfile
from http import HTTPStatus

import httpx
import pytest

from arena.portal import ROUTES, RouteTerms
from tests.arena.portal.conftest import PRINTED, URL, Browser, Setting, archive
from tests.arena.reports.played import secret

GET, POST = "GET", "POST"
SECRET_NOTE, SECRET_FILE, SECRET_CODE = "note-a81f3c", "file-77b2d0.tar.gz", "code-5e99aa"
LOGGED = "log-1c0f4d"
ALLOWED = {
    "anybody": {"host", "member", "stranger"},
    "account": {"host", "member"},
    "member": {"member"},
    "host": {"host"},
}


def path_of(terms: RouteTerms, public: str, scrimmage: str = "", match: str = "1a") -> str:
    path = terms.path.replace("{name}", "build.log").replace("{part}", "results").replace("{match}", match)
    if "scrimmage" in path:
        public = scrimmage or public
    return "/" + path.replace("{public}", public).replace("{number}", "1")


async def plant(setting: Setting) -> tuple[str, str]:
    """Hand in, play matches that count and practice matches; return the names of submission and scrimmage."""
    public = (await setting.mia.upload(archive())).headers["location"].rpartition("/")[2]
    log = setting.competition.logs / public / "build.log"
    log.parent.mkdir(parents=True)
    log.write_text("built")
    return public, setting.practise("Red Pandas")


@pytest.mark.parametrize("terms", ROUTES, ids=lambda terms: f"{terms.method} {terms.path}")
@pytest.mark.parametrize("role", ["host", "member", "stranger"])
async def test_a_route_answers_those_alone_whom_it_is_for(setting: Setting, terms: RouteTerms, role: str) -> None:
    browser = {"host": setting.host, "member": setting.mia, "stranger": setting.stranger}[role]
    public, scrimmage = await plant(setting)
    allowed = role in ALLOWED[terms.role] and not (terms.of_programs and terms.role != "anybody")
    path = path_of(terms, public, scrimmage)
    if terms.method == POST:
        answer = await browser.http.post(path, data={"csrf": await browser.csrf()}, headers={"origin": URL})
    else:
        answer = await browser.http.get(path)
    assert answer.status_code < 500 or answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    refused = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}
    if terms.method == GET and not terms.of_programs:
        refused = {HTTPStatus.NOT_FOUND, HTTPStatus.SEE_OTHER}
    if not allowed:
        assert answer.status_code in refused
        assert answer.headers.get("location", "/sign-in") == "/sign-in"
    elif not re.search("published|metrics|provider|callback", path):
        assert answer.status_code not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}


async def test_the_link_your_team_on_public_pages_leads_a_host_to_the_desk(setting: Setting) -> None:
    answer = await setting.host.http.get("/team/")
    assert (HTTPStatus.SEE_OTHER, "/host/") == (answer.status_code, answer.headers["location"])


@pytest.mark.parametrize(
    "terms",
    [each for each in ROUTES if "{public}" in each.path or "{match}" in each.path],
    ids=lambda terms: terms.path,
)
async def test_what_is_a_rivals_looks_like_what_does_not_exist(setting: Setting, terms: RouteTerms) -> None:
    """The rival of matches is a team that has not played."""
    public, scrimmage = await plant(setting)
    token = setting.portal.accounts.new_token(setting.member("Blue Herons"), "ci", "submit")
    setting.rename("Blue Herons", "Green Newts")
    answers = []
    for name, practice, match in ((public, scrimmage, "1a"), ("0123456789abcdef", "", "99a")):
        path = path_of(terms, name, practice, match)
        if terms.of_programs:
            async with setting.program(token) as program:
                answers.append(await program.request(terms.method, f"{URL}{path}"))
        elif terms.method == POST:
            answers.append(await setting.eve.post(path[1:]))
        else:
            answers.append(await setting.eve.http.get(path))
    assert answers[0].status_code == answers[1].status_code == HTTPStatus.NOT_FOUND
    assert answers[0].content == answers[1].content


def texts_of(answer: httpx.Response) -> str:
    """Return an answer's text; of an archive, that of all its files."""
    if answer.headers.get("content-type") != "application/zip":
        return answer.text
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


async def test_no_planted_secret_of_a_team_reaches_a_rival_or_a_stranger(setting: Setting) -> None:
    answer = await setting.mia.upload(archive(SECRET_CODE), SECRET_FILE, note=SECRET_NOTE)
    public = answer.headers["location"].rpartition("/")[2]
    own = (await setting.mia.get(f"team/submission/{public}")).text
    assert SECRET_NOTE in own
    assert SECRET_FILE in own
    accounts = setting.portal.accounts
    planted = [SECRET_NOTE, SECRET_FILE, SECRET_CODE, public]
    planted.append(accounts.new_token(setting.member("Red Pandas"), "ci", "submit"))
    planted.append(str(setting.mia.http.cookies.get("arena_session")))
    planted.append(accounts.invite(setting.member("Red Pandas").team))
    scrimmage = setting.practise("Red Pandas")
    planted.append(scrimmage)
    planted += [secret("Red Pandas", block, seating) for block in (0, 1) for seating in (0, 1)]
    planted.append(PRINTED)
    # A judge's log, and a rival who has met the team and gets all of its own.
    log = setting.competition.logs / public / "build.log"
    log.parent.mkdir(parents=True)
    log.write_text(LOGGED)
    planted.append(LOGGED)
    rival = accounts.new_token(setting.member("Blue Herons"), "ci", "submit")
    seen = []
    everything = [(terms, "0123456789abcdef", "") for terms in ROUTES]
    everything += [(terms, public, scrimmage) for terms in ROUTES if "{public}" in terms.path]
    for terms, name, practice in everything:
        if terms.method != GET:
            continue
        path = path_of(terms, name, practice)
        seen += [await browser.http.get(path) for browser in (setting.eve, setting.stranger)]
        if terms.of_programs:
            async with setting.program(rival) as program:
                seen.append(await program.get(f"{URL}{path}"))
    assert len(seen) > 80
    assert secret("Blue Herons", 0, 0) in "".join(map(texts_of, seen))
    for answer in seen:
        text = texts_of(answer) + repr(answer.headers)
        assert not [secret for secret in planted if secret in text]


async def test_an_author_who_publishes_shares_the_upload_and_nothing_else(setting: Setting) -> None:
    content = archive(SECRET_CODE)
    public = (await setting.mia.upload(content, note=SECRET_NOTE)).headers["location"].rpartition("/")[2]
    database = setting.portal.database
    with database.change():
        database.update("UPDATE submissions SET state = 'entered' WHERE public = ?", public)
    assert (await setting.stranger.get(f"team/published/{public}")).status_code == HTTPStatus.NOT_FOUND
    await setting.mia.post(f"team/submission/{public}/publish", published="yes")
    answer = await setting.stranger.get(f"team/published/{public}")
    assert answer.content == content
    assert answer.headers["content-disposition"].startswith("attachment")
    assert (await setting.stranger.get(f"team/submission/{public}")).headers["location"] == "/sign-in"
    await setting.mia.post(f"team/submission/{public}/publish", published="no")
    assert (await setting.stranger.get(f"team/published/{public}")).status_code == HTTPStatus.NOT_FOUND


async def forged(browser: Browser, **how: str) -> int:
    return (await browser.post("account/sign-out-everywhere", **how)).status_code


async def test_a_form_that_another_site_sends_changes_nothing(setting: Setting) -> None:
    session = setting.mia.http.cookies.get("arena_session") or ""
    assert await forged(setting.mia, origin="https://evil.example") == HTTPStatus.FORBIDDEN
    assert await forged(setting.mia, origin="null") == HTTPStatus.FORBIDDEN
    assert await forged(setting.mia, csrf="0" * 64) == HTTPStatus.FORBIDDEN
    assert await forged(setting.mia, csrf=await setting.eve.csrf()) == HTTPStatus.FORBIDDEN
    assert setting.portal.accounts.session(session) is not None
    assert await forged(setting.mia) == HTTPStatus.SEE_OTHER
    assert setting.portal.accounts.session(session) is None


async def test_a_closed_team_and_an_ended_session_are_shut_out_at_once(setting: Setting) -> None:
    team = setting.portal.accounts.team("Red Pandas")
    assert team is not None
    await setting.host.post("host/teams/close", team=str(team.id), closed="yes")
    assert (await setting.mia.get("team/")).headers["location"] == "/sign-in"
    assert (await setting.mia.upload(archive())).status_code == HTTPStatus.UNAUTHORIZED
    await setting.host.post("host/teams/close", team=str(team.id), closed="no")
    assert (await setting.mia.get("team/")).status_code == HTTPStatus.OK


@pytest.mark.parametrize("scope", ["read", "sign-in"])
async def test_a_token_does_what_its_scope_says_and_no_more(setting: Setting, scope: str) -> None:
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", scope)
    async with setting.program(token) as program:
        listed = await program.get("submissions")
        assert listed.status_code == (HTTPStatus.OK if scope == "read" else HTTPStatus.FORBIDDEN)
        assert (await program.post("submissions", content=archive())).status_code == HTTPStatus.FORBIDDEN


async def test_guesses_at_keys_are_slowed_down_and_others_are_not(setting: Setting) -> None:
    codes = [(await setting.stranger.post("sign-in", key=f"arena_{number}")).status_code for number in range(14)]
    assert codes[:10] == [HTTPStatus.UNPROCESSABLE_ENTITY] * 10
    assert set(codes[10:]) == {HTTPStatus.TOO_MANY_REQUESTS}
    key = setting.portal.accounts.new_token(setting.member("Red Pandas"), "phone", "sign-in")
    # Neither who guesses nor who asks for pages without end shuts out others behind the same address.
    codes = [(await setting.stranger.get("sign-in")).status_code for _ in range(130)]
    assert codes[-1] == HTTPStatus.TOO_MANY_REQUESTS
    token = setting.portal.accounts.new_token(setting.member("Red Pandas"), "ci", "read")
    async with setting.program(token, "192.0.2.4") as program:
        assert (await program.get("me")).status_code == HTTPStatus.OK
    other = setting.browser("198.51.100.20")
    assert (await other.post("sign-in", key=key)).headers["location"] == "/team/"
    assert (await other.get("team/")).status_code == HTTPStatus.OK


async def test_guesses_shut_out_nobody_who_has_a_key_or_an_invitation(setting: Setting) -> None:
    for number in range(14):
        await setting.stranger.post("sign-in", key=f"arena_{number}")
    mia = setting.member("Red Pandas")
    key = setting.portal.accounts.new_token(mia, "phone", "sign-in")
    invitation = setting.portal.accounts.invite(mia.team)
    for path, fields in (("sign-in", {"key": key}), ("join", {"invitation": invitation, "name": "Max"})):
        neighbour = setting.browser("192.0.2.4")
        assert (await neighbour.post(path, **fields)).status_code == HTTPStatus.SEE_OTHER


async def test_metrics_are_for_this_machine_alone(setting: Setting) -> None:
    assert (await setting.host.get("metrics")).status_code == HTTPStatus.NOT_FOUND
    here = await setting.browser("127.0.0.1").get("metrics")
    assert 'arena_submissions{state="received"} 0.0' in here.text


async def test_a_name_that_leads_here_is_refused(setting: Setting) -> None:
    for path in ("/team/", "/sign-in", "/api/v1/me", "/healthz"):
        for name in ("evil.example", "evil@127.0.0.1", "127.0.0.1/evil"):
            answer = await setting.mia.http.get(path, headers={"host": name})
            assert answer.status_code == HTTPStatus.MISDIRECTED_REQUEST


async def test_a_class_behind_one_address_joins_at_once(setting: Setting) -> None:
    invitation = setting.portal.accounts.invite(setting.member("Red Pandas").team, uses=12, days=1)
    for number in range(12):
        answer = await setting.browser("192.0.2.30").post("join", invitation=invitation, name=f"Student {number}")
        assert answer.status_code == HTTPStatus.SEE_OTHER
