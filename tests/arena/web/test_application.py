"""Responses of the server: pages with their headers, and errors in the site's style."""

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing
from httpx import ASGITransport, AsyncClient

from arena.errors import WrongUse
from arena.pages import Page, Website
from arena.pages.template import HTML
from arena.web.cache import ServedCompetition
from arena.web.events import Stream, Streams
from arena.web.server import Application, Site
from referee.log import SILENT
from tests.arena.commands.test_report import cup

Pages = dict[str, Page | Exception]
LONG = b"<p>" + b"long " * 1_000


class Clients:
    """Asks an application, without a socket. `asked`: paths that pages were made of."""

    def __init__(
        self,
        streams: Streams,
        stream_at: Callable[[str], Stream | None],
        folder: Path | None,
        client: str = "127.0.0.1",
    ) -> None:
        self.asked: list[str] = []
        competitions = {} if folder is None else {"cup": ServedCompetition("cup", folder)}
        self.application = Application(Site(competitions), streams, stream_at, SILENT)
        transport = ASGITransport(self.application, client=(client, 4))
        self.http = AsyncClient(transport=transport, base_url="http://arena.example")

    async def get(self, path: str, **headers: str) -> httpx.Response:
        named = {
            name.replace("_", "-"): value for name, value in ({"accept_encoding": "identity"} | headers).items()
        }
        return await self.http.get(path, headers=named)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cups")
    cup(folder)
    return folder / "runs" / "cup"


@pytest.fixture
def clients(results: Path) -> Clients:
    return Clients(Streams(), lambda _: None, results)


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch, clients: Clients) -> Pages:
    """Set up a website with these pages by path."""
    there: Pages = {}

    def page(_: Website, path: str) -> Page | None:
        clients.asked.append(path)
        found = there.get(path)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(Website, "page", page)
    return there


EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
}


@pytest.mark.parametrize("page", ["live", "kiosk"])
async def test_a_feed_of_no_competition_has_pages_only_if_one_is_followed(results: Path, page: str) -> None:
    cups = {"cup": ServedCompetition("cup", results)}
    for feed, code in ((False, 404), (True, 200)):
        application = Application(Site(cups, feed=feed), Streams(), lambda _: None, SILENT)
        async with AsyncClient(transport=ASGITransport(application), base_url="http://arena.example") as http:
            assert code == (await http.get(f"/live/{page}.html")).status_code
            assert 200 == (await http.get(f"/cup/{page}.html")).status_code


class TestHeaders:
    @pytest.mark.parametrize("path", ["/", "/cup/", "/cup/live.html", "/cup/kiosk.html", "/nothing"])
    async def test_no_page_may_run_or_load_what_is_not_the_sites(self, clients: Clients, path: str) -> None:
        answer = await clients.get(path)
        assert EVERYWHERE.items() <= dict(answer.headers).items()
        policy = {
            each.split()[0]: each.split()[1:] for each in answer.headers["content-security-policy"].split(";")
        }
        assert {
            "default-src": ["'none'"],
            "frame-ancestors": ["'none'"],
            "base-uri": ["'none'"],
        }.items() <= policy.items()
        assert ["'self'"] == policy["script-src"] == policy["style-src"]
        assert not re.search(r"<script(?![^>]*src=)|<style|\son\w+=|\sstyle=|javascript:", answer.text)

    async def test_a_page_with_a_policy_of_its_own_keeps_it(self, clients: Clients, pages: Pages) -> None:
        own = "default-src 'none'; script-src 'sha256-abc='; style-src 'sha256-def='"
        pages["x.html"] = Page(
            f'<!doctype html><meta http-equiv="Content-Security-Policy" content="{own}">'.encode(), for_ever=True
        )
        answer = await clients.get("/x.html")
        assert f"{own}; frame-ancestors 'none'" == answer.headers["content-security-policy"]

    async def test_only_replays_may_be_framed_and_only_by_whom_the_host_allows(
        self, results: Path, pages: Pages
    ) -> None:
        cups = {"cup": ServedCompetition("cup", results)}
        pages["replay/x.html"] = pages["cup/x.html"] = Page(b"x", for_ever=True)
        origins = ("https://example.org", "http://localhost:8080")
        for frames, ancestors in (((), "'none'"), (origins, " ".join(origins))):
            application = Application(Site(cups, frames=frames), Streams(), lambda _: None, SILENT)
            async with AsyncClient(transport=ASGITransport(application), base_url="http://arena.example") as http:
                for path, said in (("/replay/x.html", ancestors), ("/cup/x.html", "'none'"), ("/no", "'none'")):
                    policy = (await http.get(path)).headers["content-security-policy"]
                    assert policy.endswith(f"; frame-ancestors {said}")

    async def test_words_far_down_in_a_page_are_no_policy(self, clients: Clients, pages: Pages) -> None:
        hostile = b'<meta http-equiv="Content-Security-Policy" content="script-src *">'
        pages["x.html"] = Page(b"x" * 2_000 + hostile)
        assert "script-src 'self'" in (await clients.get("/x.html")).headers["content-security-policy"]

    async def test_what_is_for_ever_is_kept_and_all_else_asked_for_again(
        self, clients: Clients, pages: Pages
    ) -> None:
        pages.update({"a.html": Page(b"a", for_ever=True), "b.html": Page(b"b")})
        assert "immutable" in (await clients.get("/a.html")).headers["cache-control"]
        assert "no-cache" == (await clients.get("/b.html")).headers["cache-control"]

    async def test_a_page_that_the_client_has_is_not_sent_again(self, clients: Clients, pages: Pages) -> None:
        pages["a.html"] = Page(LONG)
        for encoding in ("identity", "gzip"):
            first = await clients.get("/a.html", accept_encoding=encoding)
            again = await clients.get("/a.html", accept_encoding=encoding, if_none_match=first.headers["etag"])
            assert (304, b"") == (again.status_code, again.content)
            assert first.headers["etag"] == again.headers["etag"]
        other = await clients.get("/a.html", if_none_match='"0", W/"1"')
        assert 200 == other.status_code

    async def test_the_tag_changes_with_the_page(self, clients: Clients, pages: Pages) -> None:
        tags = set()
        for number in range(3):
            pages[f"{number}.html"] = Page(b"%d" % number)
            tags.add((await clients.get(f"/{number}.html")).headers["etag"])
        assert 3 == len(tags)

    async def test_long_pages_are_compressed_for_those_who_take_it(self, clients: Clients, pages: Pages) -> None:
        pages["a.html"] = Page(LONG)
        transport = clients.http._transport
        request = httpx.Request(
            "GET", "http://arena.example/a.html", headers={"accept-encoding": "br, gzip;q=0.8"}
        )
        answer = await transport.handle_async_request(request)
        raw = b"".join([part async for part in answer.stream])  # type: ignore[union-attr]
        assert "gzip" == answer.headers["content-encoding"]
        assert str(len(raw)) == answer.headers["content-length"]
        assert LONG == gzip.decompress(raw)
        for refused in ("identity", "gzip;q=0", "gzip; q=0.0", "br", ""):
            plain = await clients.get("/a.html", accept_encoding=refused)
            assert "content-encoding" not in plain.headers
            assert LONG == plain.content
            assert "accept-encoding" == plain.headers["vary"]


class TestMethods:
    async def test_head_is_answered_as_get_without_a_body(self, clients: Clients, pages: Pages) -> None:
        pages["a.html"] = Page(LONG)
        head, get = await clients.http.head("/a.html"), await clients.http.get("/a.html")
        assert 200 == head.status_code
        assert get.headers.pop("x-request-id") != head.headers.pop("x-request-id")
        assert {**get.headers} == {**head.headers}

    @pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"])
    async def test_nothing_else_is_allowed(self, clients: Clients, pages: Pages, method: str) -> None:
        for path in ("/", "/cup/", "/events"):
            answer = await clients.http.request(method, path, content=b"x" * 100)
            assert 405 == answer.status_code
            assert {"GET", "HEAD"} == set(answer.headers["allow"].split(", "))
            assert HTML == answer.headers["content-type"]
        assert [] == clients.asked


class TestErrors:
    @pytest.mark.parametrize(
        "path",
        [
            "/../../etc/passwd",
            "/%2e%2e/%2e%2e/etc/passwd",
            "/cup/%2e%2e%2fledger.sqlite",
            "/cup%2findex.html",
            "/cup/ledger.sqlite%00.html",
            "/cup/./index.html",
            "//cup//index.html",
            "/.git/config",
            "/cup\\index.html",
            "/%c3%28",
            "/cup/%0d%0aset-cookie:a=b",
            "/" + "a" * 5_000,
            "/" + "a/" * 1_000,
        ],
    )
    async def test_a_strange_path_is_no_page_and_is_not_even_looked_for(
        self, clients: Clients, pages: Pages, path: str
    ) -> None:
        sent: list[dict[str, Any]] = []
        raw = path.encode()

        async def nothing() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        async def take(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": httpx.URL(f"http://a{path}").path if "%" in path else path,
            "raw_path": raw,
            "query_string": b"",
            "headers": [],
            "root_path": "",
        }
        await clients.application(scope, nothing, take)
        assert 404 == sent[0]["status"]
        assert [] == clients.asked
        assert b"passwd" not in sent[1]["body"]

    @pytest.mark.parametrize(
        "ledger", ["ledger.sqlite", "lock", "report.html", "feed.sock", "transcripts/x.jsonl"]
    )
    async def test_files_of_a_results_folder_are_not_served(self, clients: Clients, ledger: str) -> None:
        for path in (f"/cup/{ledger}", f"/{ledger}"):
            assert 404 == (await clients.get(path)).status_code

    async def test_an_error_says_nothing_of_what_is_within(
        self, clients: Clients, pages: Pages, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pages["a.html"] = ValueError("the seed is 7")
        pages["b.html"] = WrongUse("/home/host/ledger: is none")
        for path in ("/a.html", "/b.html"):
            answer = await clients.get(path)
            assert 500 == answer.status_code
            assert HTML == answer.headers["content-type"]
            assert "no-store" == answer.headers["cache-control"]
            assert not {"seed", "ledger", "Traceback"} & set(re.findall(r"\w+", answer.text))
        told = capsys.readouterr().err
        assert "the seed is 7" in told
        assert "/home/host/ledger: is none" in told

    async def test_a_page_that_is_not_there_is_said_to_be_so_in_the_sites_looks(self, clients: Clients) -> None:
        answer = await clients.get("/cup/match/999a.html")
        assert 404 == answer.status_code
        (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', answer.text)
        assert 200 == (await clients.get(str(answer.url.join(style)))).status_code

    async def test_a_competition_without_its_slash_leads_to_it(self, clients: Clients) -> None:
        answer = await clients.get("/cup")
        assert (308, "cup/") == (answer.status_code, answer.headers["location"])

    async def test_browsers_find_no_icon_and_complain_not(self, clients: Clients) -> None:
        assert 204 == (await clients.get("/favicon.ico")).status_code


class TestStreams:
    async def test_a_stream_beyond_the_bound_is_refused_for_a_while(
        self, results: Path, nursery: trio.Nursery
    ) -> None:
        stream = Stream(nursery, lambda: 1)
        for streams, status, said in (
            (Streams(0), 503, "Too many visitors are here"),
            (Streams(1, 0), 429, "your address"),
        ):
            clients = Clients(streams, lambda _: stream, results, client="192.0.2.1")
            answer = await clients.get("/events")
            assert status == answer.status_code
            assert "10" == answer.headers["retry-after"]
            assert said in answer.text
        nursery.cancel_scope.cancel()

    async def test_a_stream_says_what_it_is_and_is_kept_by_nobody(self, nursery: trio.Nursery) -> None:
        stream, sent = Stream(nursery, lambda: {"n": 1}), []
        clients = Clients(Streams(), lambda path: stream if path == "cup/live/events" else None, None)

        async def leave() -> dict[str, Any]:
            await trio.testing.wait_all_tasks_blocked()
            return {"type": "http.disconnect"}

        async def take(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": "GET",
            "path": "/cup/live/events",
            "raw_path": b"/cup/live/events",
            "query_string": b"",
            "headers": [(b"last-event-id", b"9" * 10_000)],
        }
        await clients.application(scope, leave, take)
        headers = dict(sent[0]["headers"])
        assert b"text/event-stream; charset=utf-8" == headers[b"content-type"]
        assert (b"no-store", b"nosniff") == (headers[b"cache-control"], headers[b"x-content-type-options"])
        assert b'data: {"n":1}\n\n' == sent[1]["body"]

    async def test_where_there_is_no_stream_there_is_no_page(self, clients: Clients) -> None:
        assert 404 == (await clients.get("/cup/live/nobody/events")).status_code
