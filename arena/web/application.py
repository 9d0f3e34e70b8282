"""The server's read-only ASGI application: pages, event streams, and error pages in the site's design."""

import re
import traceback
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.errors import MachineCannot, WrongUse
from arena.pages import Website
from arena.terminal import say
from arena.web.cache import BusyError, Cache, Kept, ServedCompetition, kept
from arena.web.catalog import seasons_in
from arena.web.connection import DIRECT
from arena.web.events import Receive, Send, Stream, Streams
from referee.log import Logger

PATH = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}/){0,3}(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,150})?")
"""Pattern of valid paths. No page needs escapes, hidden files or parent folders."""
DEEPEST = 16
"""Maximum folders in the path of an error page for which its links are made relative."""
EVENTS = "events"
ICON = "favicon.ico"
"""Path of the icon, which browsers request by default. The site has none; the answer is empty, not an error."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'"
)
_OWN_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">')
OWN_POLICY_WITHIN = 1_000
"""Bytes at a page's start that may contain its own policy, which allows its script and style by hash."""
FOR_EVER = "public, max-age=31536000, immutable"
NO_CACHE = "no-cache"
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    *((name.encode(), value.encode()) for name, value in ALWAYS.items()),
]
SAID = {
    404: "There is no such page.",
    405: "This site is read-only.",
    429: "Too many pages are open at your address. Close some of them, or try again in a while.",
    500: "This page cannot be made now. The operator's log says why.",
    503: "Too many visitors are here at once. Try again in a while.",
}
RETRY_SECONDS = 10


class Site:
    """The served competitions and their website; both change as competitions appear and disappear."""

    def __init__(
        self, competitions: dict[str, ServedCompetition], delay: float | None = None, *, feed: bool = False
    ) -> None:
        """`delay`, `feed`: see `Website`."""
        self._delay = delay
        self._feed = feed
        self.show(competitions)

    def show(self, competitions: dict[str, ServedCompetition]) -> None:
        """Replace the served competitions."""
        self.competitions = competitions
        seasons = seasons_in(competitions.values())
        self.folders = frozenset(competitions) | {season.slug for season in seasons}
        self.website = Website(
            tuple(competitions.values()), live=True, feed=self._feed, delay=self._delay, seasons=seasons
        )


class Application:
    """The server's ASGI application."""

    def __init__(
        self, site: Site, streams: Streams, stream_at: Callable[[str], Stream | None], log: Logger
    ) -> None:
        """`stream_at` returns the event stream at a path, or None."""
        self._site = site
        self._streams = streams
        self._stream_at = stream_at
        self._log = log
        self._cache = Cache()
        self._pages = Starlette(
            routes=[Route("/{path:path}", self._page, methods=["GET", "HEAD"])],
            exception_handlers={HTTPException: self._refused},
        )
        # Such a redirect would point to the host that the client names.
        self._pages.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        path = scope["path"][1:]
        # Streams bypass Starlette, which would keep a request's objects in memory as long as the stream lasts.
        if path.endswith(EVENTS) and scope["method"] == "GET" and PATH.fullmatch(path):
            stream = self._stream_at(path)
            if stream is not None:
                host, _ = scope.get("client") or ("", 0)
                if self._streams.full or self._streams.full_for(host):
                    await self._error(path, 503 if self._streams.full else 429)(scope, receive, send)
                else:
                    direct = scope.get("extensions", {}).get(DIRECT)
                    await self._streams.answer(stream, STREAM_HEADERS, host, receive, send, direct=direct)
                return
        await self._pages(scope, receive, send)

    async def _page(self, request: Request) -> Response:
        path = request.scope["path"][1:]
        if not PATH.fullmatch(path) or b"%" in request.scope["raw_path"]:
            return self._error(path, 404)
        if path == ICON:
            return Response(status_code=204, headers=ALWAYS | {"cache-control": "max-age=86400"})
        if path in self._site.folders:
            # Links on a page are relative to its folder.
            return Response(status_code=308, headers=ALWAYS | {"location": f"{path}/"})
        try:
            found = await self._cache.page(self._site.website, path, self._site.competitions)
        except BusyError:
            return self._error(path, 503)
        except Exception as error:  # noqa: BLE001 - the operator is told, and nobody else
            self.failed(error, path)
            return self._error(path, 500)
        return self._error(path, 404) if found is None else _answer(request, found)

    async def _refused(self, request: Request, error: Exception) -> Response:
        status, more = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
        response = self._error(request.scope["path"][1:], status)
        response.headers.update(more or {})
        return response

    def _error(self, path: str, status: int) -> Response:
        # The page's links have one `..` per folder of the path, so deep paths are not followed.
        path = path if path.count("/") <= DEEPEST else ""
        page = self._site.website.error(path, HTTPStatus(status).phrase, SAID.get(status, ""))
        headers = _headers(kept(page)) | {"cache-control": "no-store"}
        if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
            headers["retry-after"] = str(RETRY_SECONDS)
        return Response(page.body, status, headers)

    def failed(self, error: Exception, path: str = "") -> None:
        """Report an error to the operator; clients see no details of it."""
        self._log.error("page_failed", path=path, reason=repr(error))
        if isinstance(error, WrongUse | MachineCannot):
            say(f"{path}: {error.format_message()}")
        else:
            say("".join(traceback.format_exception(error)))

    def show(self, competitions: dict[str, ServedCompetition]) -> None:
        """Replace the served competitions."""
        self._site.show(competitions)
        self._cache.forget(set(competitions))


def _answer(request: Request, found: Kept) -> Response:
    """Return a response with the page, or with status 304 if the client has it already."""
    headers = _headers(found)
    compressed = found.compressed is not None and _takes_gzip(request.headers.get("accept-encoding", ""))
    headers["etag"] = f'"{found.tag}{"-gzip" * compressed}"'
    headers["cache-control"] = FOR_EVER if found.page.for_ever else NO_CACHE
    if found.compressed is not None:
        headers["vary"] = "accept-encoding"
    if found.tag in _tags(request.headers.get("if-none-match", "")):
        del headers["content-type"]
        return Response(status_code=304, headers=headers)
    if compressed:
        headers["content-encoding"] = "gzip"
    return Response(found.compressed if compressed else found.page.body, headers=headers)


def _headers(found: Kept) -> dict[str, str]:
    page = found.page
    own = _OWN_POLICY.search(page.body, 0, OWN_POLICY_WITHIN) if page.kind.startswith("text/html") else None
    policy = POLICY if own is None else own[1].decode()
    return ALWAYS | {
        "content-type": page.kind,
        "content-security-policy": f"{policy}; frame-ancestors 'none'",
    }


def _takes_gzip(accepted: str) -> bool:
    for each in accepted.split(","):
        name, _, quality = each.partition(";")
        if name.strip().lower() == "gzip":
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", quality)
    return False


def _tags(given: str) -> set[str]:
    """Parse the entity tags of an `If-None-Match` header, at most 101 parts of it."""
    return {each.strip().removeprefix("W/").strip('"').removesuffix("-gzip") for each in given.split(",", 100)}
