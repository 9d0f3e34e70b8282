"""Whatever is asked of any route: no error of ours, no secret of others, and no answer without its headers.

Requests are made of the server's ASGI application directly, so that they hold what no client library would send.
"""

import itertools
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from arena.accounts import Account
from arena.pages import PATHS, PageMaker
from arena.portal import ROUTES
from arena.portal.visit import CSRF, SESSION, csrf_of
from arena.practice import NoRoomError, Tables
from arena.web import Guard, RateLimits
from arena.web.events import Streams
from arena.web.play import Play
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.arena.portal.conftest import PRINTED, Setting, archive
from tests.arena.reports.played import secret
from tests.long import cases

ROLES = ("spectator", "member", "host", "program")
NOTE, FILE, CODE, LOGGED = "note-a81f3c", "file-77b2d0.tar.gz", "code-5e99aa", "log-1c0f4d"
HOSTILE = (
    *("", "0", "1", "-1", "2", "999999999", "9" * 40, "1e9", "NaN", "\u0661", "true", "null", "..", ".", "yes"),
    *("%2e%2e", "%00", "\x00", "\n", "\r\nset-cookie: a=b", "' OR 1=1 --", "<script>", "{{ 7*7 }}", "\u202e"),
    *("\ud7ff", "\u00e9" * 300, "x" * 5_000, "//evil.example", "https://evil.example/", "[" * 200),
)
FIELDS = (
    *("name", "key", "invitation", "scope", "id", "uses", "team", "closed", "published", "paused", "sure", "text"),
    *("reason", "note", "request", "opponent", "matches", "page", "seat", "filename", CSRF),
)
NEEDED = {
    b"x-content-type-options",
    b"referrer-policy",
    b"content-security-policy",
    b"cross-origin-opener-policy",
    b"cross-origin-resource-policy",
    b"cache-control",
    b"x-request-id",
}
BOUNDARY = "b0undary"
ORIGIN = "http://127.0.0.1:8000"

hostile = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
pairs = st.lists(st.tuples(st.one_of(st.sampled_from(FIELDS), hostile), hostile), max_size=6)


class Asked(Struct, frozen=True, kw_only=True):
    """A request of no role yet."""

    method: str
    path: str
    """Path with the names of parameters in braces."""
    params: tuple[str, ...] = ()
    """Values of the parameters; an empty one stands for what exists, as one that is missing does."""
    ending: str = ""
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = {}
    kind: str = "form"
    """Kind of the body: a form, a form with files, none, or a media type of bytes."""
    fields: tuple[tuple[str, str], ...] = ()
    content: bytes = b""
    genuine: bool = True
    """True if a form comes from a page of the session."""


names = st.sampled_from(
    (
        "host",
        "origin",
        "cookie",
        "authorization",
        "content-length",
        "accept-encoding",
        "range",
        "if-none-match",
        "idempotency-key",
        "x-forwarded-for",
        "x-request-id",
        "sec-fetch-site",
        "upgrade",
        "expect",
        "accept",
    )
)
header_values = st.one_of(
    hostile,
    st.sampled_from(
        (
            "bytes=0-",
            "bytes=9-1",
            "bytes=" + "0-1," * 200,
            "gzip;q=0",
            '"a"',
            "Bearer ",
            "Bearer arena_x",
            "Basic Og==",
            f"{SESSION}=",
            f"{SESSION}=x; {SESSION}=y",
            "null",
            "evil.example",
            "-5",
            "websocket",
            "cross-site",
        )
    ),
)
methods = st.one_of(
    st.sampled_from(("GET", "POST", "HEAD")),
    st.sampled_from(("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "PROPFIND")),
)
PUBLIC = (
    *("", "index.html", "glossary.html", "results/", "results/matches.html", "results/match/1a.html", "*"),
    *("results/match/3a.html", "results/bot/0.html", "results/bots.json", "results/feed.xml", "results/late.json"),
    *("results/live.html", "results/kiosk.html", "results/watch.html", "results/schedule.html", "favicon.ico"),
    *("results/live/events", "live/events", "team/events", "host/events", "assets/x.js", "play/", "play/new"),
    *("play/{id}/", "play/{id}/say", "play/{id}/join", "play/{id}/events", "play/{id}/replay"),
)
paths = st.sampled_from([*[terms.path for terms in ROUTES], *PUBLIC])
requests = st.builds(
    Asked,
    method=methods,
    path=st.one_of(paths, paths, hostile),
    params=st.lists(st.one_of(st.just(""), st.just(""), hostile), min_size=4, max_size=4).map(tuple),
    ending=st.one_of(
        st.just(""), st.just(""), st.sampled_from(("/", "//", "/..", ";a", ".html", "%2f", "%ff", "\x00"))
    ),
    query=pairs.map(tuple),
    headers=st.dictionaries(names, header_values, max_size=2),
    kind=st.sampled_from(("form", "form", "files", "json", "bytes", "none", "multipart/form-data", "\xff")),
    fields=pairs.map(tuple),
    content=st.one_of(st.binary(max_size=200), st.just(archive()), st.just(b"x" * 100_000), st.just(b"[" * 5_000)),
    genuine=st.sampled_from((True, True, True, False)),
)


def form_of(asked: Asked, csrf: str) -> tuple[str, bytes]:
    """Return the kind and the content of a request's body."""
    fields = [*asked.fields, (CSRF, csrf)] if asked.genuine else list(asked.fields)
    match asked.kind:
        case "form":
            return "application/x-www-form-urlencoded", urlencode(fields, errors="replace").encode()
        case "files":
            head = f"--{BOUNDARY}\r\ncontent-disposition: form-data; name="
            text = "".join(f'{head}"{name}"\r\n\r\n{value}\r\n' for name, value in fields)
            text += f'{head}"bot"; filename="{"x" * len(fields)}"\r\n\r\n'
            body = text.encode() + asked.content + f"\r\n--{BOUNDARY}--\r\n".encode()
            return f"multipart/form-data; boundary={BOUNDARY}", body
        case "json":
            return "application/json", msgspec.json.encode(dict(fields))
        case "none":
            return "", b""
        case _:
            return asked.kind, asked.content


class Answer(Struct, frozen=True):
    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    @property
    def text(self) -> str:
        return f"{self.headers!r}\n{self.body.decode(errors='replace')}"


async def ask(application: Application, scope: dict[str, Any], body: bytes) -> Answer:
    """Make a request, and leave when its answer is there or it is a stream."""
    pieces = [body[at : at + 10_000] for at in range(0, len(body), 10_000)] or [b""]
    waiting = [
        {"type": "http.request", "body": piece, "more_body": number < len(pieces)}
        for number, piece in enumerate(pieces, 1)
    ]
    told: list[Any] = []

    async def receive() -> Any:
        await trio.lowlevel.checkpoint()
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        await trio.lowlevel.checkpoint()
        told.append(message)

    with trio.fail_after(20):
        await application(scope, receive, send)
    (start, *rest) = told
    assert "http.response.start" == start["type"]
    return Answer(start["status"], list(start["headers"]), b"".join(each.get("body", b"") for each in rest))


class Fuzzed:
    """A portal with two teams, of which the first has secrets, and visitors of each role of the second."""

    def __init__(self, setting: Setting, nursery: trio.Nursery) -> None:
        self.setting = setting
        portal = setting.portal
        portal.rates = RateLimits(itertools.count(0, 1_000_000).__next__)  # Nothing is too much.
        tables = Tables(setting.competition.server / "practice", nursery, SILENT, self._is_playing)
        play = Play(tables.folder, Guard(), PageMaker(live=False), (), SILENT)
        play._tables = tables
        play._limits = portal.rates
        site = Site({})
        self.application = Application(site, Streams(), lambda _: None, SILENT, [portal, play])
        self.application.show({part.slug: part for part in portal.parts})
        self.heads = [match.played.head for match in portal.parts[0].some([(0, 0), (1, 1)])]
        self.mia, self.eve = setting.member("Red Pandas"), setting.member("Blue Herons")
        (self.ada,) = portal.accounts.members(None)
        self.public = self.scrimmage = ""
        self.planted: dict[str, list[str]] = {}
        tables.begin = self._no_room  # type: ignore[method-assign, assignment]

    async def _is_playing(self) -> bool:
        await trio.lowlevel.checkpoint()
        return False

    async def _no_room(self, *_: object) -> str:
        await trio.lowlevel.checkpoint()
        raise NoRoomError("There is no room.", 503, 60)

    async def plant(self) -> None:
        """Give the first team secrets of all kinds."""
        setting, accounts = self.setting, self.setting.portal.accounts
        answer = await setting.mia.upload(archive(CODE), FILE, note=NOTE)
        self.public = answer.headers["location"].rpartition("/")[2]
        self.scrimmage = setting.practise("Red Pandas")
        log = setting.competition.logs / self.public / "build.log"
        log.parent.mkdir(parents=True)
        log.write_text(LOGGED)
        keys = [accounts.new_token(self.mia, "ci", "submit"), accounts.open_session(self.mia)]
        keys += [
            accounts.invite(self.mia.team),
            accounts.invite(None),
            str(setting.competition.results),
            "Traceback",
        ]
        own = [NOTE, FILE, LOGGED, self.public, self.scrimmage, PRINTED]
        own += [secret("Red Pandas", block, seating) for block in (0, 1) for seating in (0, 1)]
        self.planted = {key: [*keys, CODE, *own] for key in ROLES}
        self.planted["host"] = [*keys, CODE]  # The host may see the rest, but not the code.

    def path(self, asked: Asked) -> str:
        """Return a request's path, percent-encoded."""
        path, exists = asked.path, {"part": "results", "name": "build.log", "number": "1", "id": "0123456789ab"}
        exists |= {"match": "1a", "public": self.scrimmage if "scrimmage" in path else self.public}
        values = iter(asked.params)
        for name, value in exists.items():
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", next(values, "") or value)
        return quote(f"/{path}{asked.ending}", safe="/%;*", errors="replace")

    def scope(self, asked: Asked, role: str) -> tuple[dict[str, Any], bytes]:
        """Return the ASGI scope and the body of a request by a role."""
        accounts = self.setting.portal.accounts
        account: Account | None = {"member": self.eve, "host": self.ada, "program": self.eve}.get(role)
        headers = {"host": "127.0.0.1:8000", "origin": ORIGIN}
        csrf = ""
        if role == "program":
            headers["authorization"] = f"Bearer {accounts.new_token(self.eve, 'ci', 'submit')}"
        elif account is not None:
            session = accounts.open_session(account)
            csrf, headers["cookie"] = csrf_of(session), f"{SESSION}={session}"
        kind, body = form_of(asked, csrf)
        headers |= {"content-type": kind} if kind else {}
        headers |= asked.headers
        raw = self.path(asked)
        scope = {
            "type": "http",
            "http_version": "1.1",
            "asgi": {"version": "3.0"},
            "method": asked.method,
            "scheme": "http",
            "path": unquote(raw),
            "raw_path": raw.encode(),
            "root_path": "",
            "query_string": urlencode(asked.query, errors="replace").encode(),
            "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()],
            "client": ("192.0.2.77", 4000),
            "server": None,
            "extensions": {},
            "state": {},
        }
        return scope, body

    def mend(self) -> None:
        """Undo what ends an account or a team, so that the next request has its role again."""
        database = self.setting.portal.database
        with database.change():
            database.update("UPDATE accounts SET disabled = NULL")
            database.update("UPDATE teams SET closed = NULL")
            database.update("DELETE FROM tokens WHERE account = ?", self.eve.id)
            database.update("DELETE FROM sessions WHERE account != ?", self.mia.id)
            database.update("DELETE FROM invitations WHERE inviter IS NOT NULL")

    def of_the_rival(self) -> tuple[Any, ...]:
        """Return what no request of others may change."""
        portal = self.setting.portal
        accounts, submission = portal.accounts, portal.submissions.by_public(self.public)
        return (
            submission,
            accounts.tokens(self.mia),
            [each.name for each in accounts.members(self.mia.team)],
            portal.submissions.of_team(self.mia.team or 0),
            len(portal.scrimmages.of_team(self.mia.team or 0)),
        )


def check(answer: Answer, asked: Asked, planted: list[str]) -> None:
    names = [name for name, _ in answer.headers]
    assert answer.status < 500 or answer.status == HTTPStatus.SERVICE_UNAVAILABLE
    if answer.status == HTTPStatus.SERVICE_UNAVAILABLE:
        assert asked.path in {"healthz", "play/new"}, answer.text  # The disk of this machine, or no room.
    assert NEEDED <= set(names), answer.headers
    assert len(names) == len(set(names))
    headers = dict(answer.headers)
    assert all(value.isascii() and b"\n" not in value and b"\r" not in value for value in headers.values())
    target = urlsplit(headers.get(b"location", b"").decode())
    assert ("", "") == (target.scheme, target.netloc)
    assert not target.path.startswith(("//", "/\\"))
    assert b"HttpOnly" in headers.get(b"set-cookie", b"HttpOnly")
    assert not [each for each in planted if each in answer.text]


@pytest.fixture
def fuzzed(tmp_path: Path, played: Path) -> Iterator[Fuzzed]:
    """Set up a portal whose host withholds what all seats saw.

    Each request has a run of trio's own, because Hypothesis calls no async function.
    """
    setting = Setting(tmp_path, "[server]", 'views = "own"')
    setting.play(played)

    async def make() -> Fuzzed:
        await setting.join()
        async with trio.open_nursery() as nursery:
            fuzzed = Fuzzed(setting, nursery)
            await fuzzed.plant()
        return fuzzed

    yield trio.run(make)
    setting.close()


@pytest.mark.parametrize("role", ROLES)
def test_no_request_breaks_a_route_or_finds_what_is_anothers(fuzzed: Fuzzed, role: str) -> None:
    before = fuzzed.of_the_rival()

    @settings(max_examples=cases(40, 5_000), deadline=None, suppress_health_check=list(HealthCheck))
    @given(requests)
    def each(asked: Asked) -> None:
        fuzzed.mend()
        answer = trio.run(ask, fuzzed.application, *fuzzed.scope(asked, role))
        check(answer, asked, fuzzed.planted[role])
        if role != "host":
            assert before == fuzzed.of_the_rival()

    each()


@pytest.mark.parametrize("role", ROLES)
def test_every_route_is_asked_as_its_pages_ask(fuzzed: Fuzzed, role: str) -> None:
    """Draw nothing, so that no route is left to luck."""
    files = [str(make(head)) for head in fuzzed.heads for make in PATHS.values()]
    ways: list[tuple[str, str]] = [(terms.method, terms.path) for terms in ROUTES]
    ways += [("GET", path) for path in (*PUBLIC, *files)]
    seen: set[int] = set()
    for method, path in ways:
        fuzzed.mend()
        asked = Asked(method=method, path=path)
        answer = trio.run(ask, fuzzed.application, *fuzzed.scope(asked, role))
        check(answer, asked, fuzzed.planted[role])
        seen.add(answer.status)
    assert {HTTPStatus.OK, HTTPStatus.NOT_FOUND} <= seen
