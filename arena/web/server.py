"""The server of `arena serve`: its sockets, and its read-only ASGI application of pages, streams and error pages.

See `docs/serving.md`.
"""

import errno
import ipaddress
import re
import resource
import secrets
import socket
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

import trio
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from arena.errors import MachineCannot, WrongUse
from arena.pages import NO_ANNOUNCEMENT, Announcement, Page, Website
from arena.terminal import say
from arena.web.cache import BusyError, Cache, Kept, ServedCompetition
from arena.web.catalog import missing_places, seasons_in
from arena.web.competition_watcher import CompetitionWatcher
from arena.web.connection import DIRECT, AsgiApplication, Connection, close_gently
from arena.web.events import MOST_CLIENTS, MOST_OF_ADDRESS, Receive, Send, Stream, Streams, address_of
from arena.web.guard import Guard, Refusal
from referee.linux.processes import be_nice
from referee.linux.shortage import shortage_in
from referee.log import Logger

BACKLOG = 512
OF_ADDRESS = 3
"""Maximum connections from one address, as a multiple of its event streams."""
OTHER_CONNECTIONS = 500
"""Maximum connections in addition to those with an event stream."""
FILES = 150
"""Maximum files that the server itself has open, with connections that are being refused."""
MOST_REFUSING = 50
"""Maximum connections that are being refused in words."""
UNREAD_BYTES = 64 * 1024
"""Send buffer of the kernel for a client that does not read."""
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 24\r\n"
    b"retry-after: 10\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\nToo many are connected.\n"
)
REFUSING_SECONDS = 1.0
NICENESS = 15
"""Niceness of the server, so that matches have priority. With all processors busy, its share is 1/30 of a
match's."""


NICENESS_OF_PORTAL = 5
"""Niceness of a server whose teams wait for its answers: about a third of a match's share."""


class Serving(Struct, frozen=True, kw_only=True):
    """Options of the server."""

    places: tuple[Path, ...] = ()
    """Results folders, folders of them, or tournament files; if empty, `runs`."""
    host: str = "127.0.0.1"
    port: int = 8000
    """Port to listen on; 0 for any free one."""
    feeds: tuple[str, ...] = ()
    """Endpoints of feeds in addition to those in results folders."""
    delay: float | None = None
    """Seconds after which matches are shown from all viewpoints; None: as soon as their block counts."""
    url: str = ""
    """Address of the site's top as visitors see it, with a slash at its end; "" if it is unknown."""
    embed: tuple[str, ...] = ()
    """Origins whose pages may show replays within them; `*` for all."""
    streams: int = MOST_CLIENTS
    """Maximum event streams at once."""
    streams_of_address: int = MOST_OF_ADDRESS
    """Maximum event streams from one address other than this machine's own."""
    niceness: int = NICENESS
    behind_proxy: bool = False
    """True if all visitors come through a proxy of the host's; see `Guard`."""
    practice: bool | None = None
    """True if people may play here; None: only if the server listens at this machine's own address."""
    announcement: Announcement = NO_ANNOUNCEMENT

    @property
    def guard(self) -> Guard:
        """The checks of requests against the site's own address."""
        return Guard(self.url, behind_proxy=self.behind_proxy)

    @property
    def has_practice(self) -> bool:
        """True if people may play here."""
        return is_loopback(self.host) if self.practice is None else self.practice


class Extension(Protocol):
    """Further routes of a server, in front of its pages."""

    links: Sequence[tuple[str, str]]
    """Texts and paths of the links in the head of each page."""

    def routes(self) -> Sequence[Route]:
        """Return the routes."""

    def show(self, competitions: Sequence[ServedCompetition]) -> None:
        """Take note of the competitions that are served now."""

    def stream(self, scope: Scope) -> Stream | int | None:
        """Return the event stream at a request's path, or the status of its refusal.

        None: the path is none of this extension's.
        """

    async def run(self, nursery: trio.Nursery, port: int) -> None:
        """Work until cancelled."""


async def serve(asked: Serving, log: Logger, extensions: Sequence[Extension] = ()) -> None:
    """Serve until cancelled.

    Raises:
        WrongUse: a place holds no results, or the server cannot listen at the address.
        MachineCannot: the port is in use.
    """
    be_nice(asked.niceness)  # Threads inherit the niceness, so it is set before any starts.
    async with trio.open_nursery() as nursery:
        links = [link for each in extensions for link in each.links]
        site = Site(
            {},
            asked.delay,
            feed=bool(asked.feeds),
            url=asked.url,
            frames=asked.embed,
            links=links,
            announcement=asked.announcement,
        )
        site.practice = asked.has_practice
        watcher = CompetitionWatcher(asked.places, asked.feeds, nursery, log, asked.announcement)
        streams = Streams(asked.streams, asked.streams_of_address)
        application = Application(site, streams, watcher.stream_at, log, extensions, guard=asked.guard)
        watcher.show = application.show
        await watcher.scan(first=True)
        listening = await listeners(asked.host, asked.port)
        port = listening[0].socket.getsockname()[1]
        for place in missing_places(asked.places):
            say(f"{place}: there is no such folder yet; its competitions will appear when there is")
        say(f"serving at http://{authority(asked.host, port)}/")
        if not is_loopback(asked.host):
            say(f"--host {asked.host}: all who reach this machine can read these pages, without encryption")
        log.info("serving", endpoint=authority(asked.host, port))
        nursery.start_soon(watcher.keep)
        for extension in extensions:
            nursery.start_soon(extension.run, nursery, port)
        server = Server(
            application, asked.streams, application.failed, of_address=OF_ADDRESS * asked.streams_of_address
        )
        await server.serve(listening)


async def demand_port(host: str, port: int) -> None:
    """Refuse at once what a server that starts later could not listen to.

    Raises:
        WrongUse, MachineCannot: see `listeners`.
    """
    for listener in await listeners(host, port):
        await listener.aclose()


async def listeners(host: str, port: int) -> list[trio.SocketListener]:
    """Open sockets that listen at an address.

    Raises:
        WrongUse: the machine has no such address, or the user may not use the port.
        MachineCannot: the port is in use.
    """
    where = f"http://{authority(host, port)}"
    try:
        return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    except socket.gaierror as error:
        raise WrongUse(f"--host {host}: is not an address of this machine: {error.strerror}") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise MachineCannot(f"{where}: the port is in use; --port takes another") from None
        raise WrongUse(f"{where}: cannot listen there: {error.strerror or error}") from None


def authority(host: str, port: int) -> str:
    """Return the address in the form that URLs use."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to the host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """A server with a bounded number of connections."""

    def __init__(
        self,
        application: AsgiApplication,
        streams: int,
        failed: Callable[[Exception], None],
        *,
        of_address: int = OF_ADDRESS * MOST_OF_ADDRESS,
    ) -> None:
        """Serve an application.

        Args:
            application: the application.
            streams: maximum number of event streams.
            failed: called with each unexpected error.
            of_address: maximum connections from one address other than this machine's own.
        """
        self._application = application
        self._failed = failed
        self._of_address = of_address
        self._addresses = Counter[str]()
        self._refusing = 0
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most = min(streams + OTHER_CONNECTIONS, max(1, files - FILES))
        self.connected = 0

    async def serve(self, listening: list[trio.SocketListener]) -> None:
        """Answer all connections until cancelled."""
        for listener in listening:
            listener.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_BYTES)
        await trio.serve_listeners(self._connected, listening)

    async def _connected(self, stream: trio.SocketStream) -> None:
        try:
            host, port, *_ = stream.socket.getpeername()
        except OSError:  # The client has disconnected already.
            await trio.aclose_forcefully(stream)
            return
        await self.answer(stream, (str(host), int(port)))

    async def answer(self, stream: trio.abc.HalfCloseableStream, client: tuple[str, int]) -> None:
        """Answer one client until its connection ends, or refuse it if too many are connected."""
        address = address_of(client[0])
        if self.connected >= self._most or (address and self._addresses[address] >= self._of_address):
            await self._refuse(stream)
            return
        self.connected += 1
        self._addresses[address] += 1
        try:
            await Connection(self._application, stream, client, self._failed).run()
        except* Exception as group:  # noqa: BLE001 - one client's connection ends none but its own
            for error in group.exceptions:
                self._failed(error)
        finally:
            self.connected -= 1
            self._addresses[address] -= 1
            if not self._addresses[address]:
                del self._addresses[address]

    async def _refuse(self, stream: trio.abc.HalfCloseableStream) -> None:
        """Refuse a client in words; at once and without any if many are being refused, who hold descriptors."""
        if self._refusing >= MOST_REFUSING:
            await trio.aclose_forcefully(stream)
            return
        self._refusing += 1
        try:
            with trio.move_on_after(REFUSING_SECONDS):
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await stream.send_all(REFUSAL)
            await close_gently(stream, REFUSING_SECONDS)
        finally:
            self._refusing -= 1


PATH = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,150}/){0,3}(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,150})?")
"""Pattern of valid paths. No page needs escapes, hidden files or parent folders."""
DEEPEST = 16
"""Maximum folders in the path of an error page for which its links are made relative."""
FIRST_PAGE = ("", "index.html")
EVENTS = "events"
ICON = "favicon.ico"
"""Path of the icon, which browsers request by default. The site has none; the answer is empty, not an error."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'"
)
NO_FORMS, OWN_FORMS = "form-action 'none'", "form-action 'self'"
_OWN_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">')
OWN_POLICY_WITHIN = 1_000
"""Bytes at a page's start that may contain its own policy, which allows its script and style by hash."""
FRAMED = "replay/"
"""Start of the paths of pages that other sites may show, if the host allows it."""
FOR_EVER = "public, max-age=31536000, immutable"
NO_CACHE = "no-cache"
ALWAYS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
DEFAULTS = ALWAYS | {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}
"""Headers of each answer that does not have its own ones of these names."""
OVER_TLS = {"strict-transport-security": "max-age=31536000"}
"""Header by which browsers use TLS alone, if visitors do."""
REQUEST_ID = "arena.request"
"""Key of a request's id in its ASGI scope. The server makes it; what a client sends is not used."""
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    *((name.encode(), value.encode()) for name, value in ALWAYS.items()),
]
SAID = {
    404: "There is no such page.",
    403: "This is not yours to see.",
    405: "This page cannot be changed in this way.",
    429: "Too many pages are open at your address. Close some of them, or try again in a while.",
    500: "This page cannot be made. The operator's log says why.",
    503: "Too many visitors are here at once. Try again in a while.",
}
CANNOT_NOW = "The server's disk or database does not answer. Nothing is lost. Try again in a while."
RETRY_SECONDS = 10


class Site:
    """The served competitions and their website; both change as competitions appear and disappear."""

    def __init__(
        self,
        competitions: dict[str, ServedCompetition],
        delay: float | None = None,
        *,
        feed: bool = False,
        url: str = "",
        frames: Sequence[str] = (),
        links: Sequence[tuple[str, str]] = (),
        announcement: Announcement = NO_ANNOUNCEMENT,
    ) -> None:
        """`frames`: origins whose pages may show replays; for others, see `Website`."""
        self._delay = delay
        self._feed = feed
        self._url = url
        self.is_secure = url.startswith("https:")
        """True if visitors come over TLS."""
        self._links = tuple(links)
        self.announcement = announcement
        self.practice = False
        """True if the first page offers games to people."""
        self.frames = tuple(frames)
        self.show(competitions)

    def show(self, competitions: dict[str, ServedCompetition]) -> None:
        """Replace the served competitions."""
        self.competitions = competitions
        seasons = seasons_in(competitions.values())
        self.folders = frozenset(competitions) | {season.slug for season in seasons}
        self.website = Website(
            tuple(competitions.values()),
            live=True,
            feed=self._feed,
            delay=self._delay,
            seasons=seasons,
            url=self._url,
            embeds=bool(self.frames),
            links=self._links,
            practice=self.practice,
            announcement=self.announcement,
        )


class Application:
    """The server's ASGI application."""

    def __init__(
        self,
        site: Site,
        streams: Streams,
        stream_at: Callable[[str], Stream | None],
        log: Logger,
        extensions: Sequence[Extension] = (),
        *,
        guard: Guard | None = None,
    ) -> None:
        """`stream_at` returns the event stream at a path, or None; `guard` knows clients behind a proxy."""
        self._guard = guard or Guard()
        self._site = site
        self._streams = streams
        self._stream_at = stream_at
        self._log = log
        self._extensions = extensions
        self._cache = Cache(announcement=site.announcement)
        routes = [route for extension in extensions for route in extension.routes()]
        self._pages = Starlette(
            routes=[*routes, Route("/{path:path}", self._page, methods=["GET", "HEAD"])],
            exception_handlers={HTTPException: self._refused, Exception: self._broken},
        )
        # Such a redirect would point to the host that the client names.
        self._pages.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        request_id = scope[REQUEST_ID] = secrets.token_hex(8)
        begun = False

        async def send_complete(message: Any) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = message | {"headers": self._complete(message.get("headers", ()), request_id)}
            await send(message)

        try:
            await self._respond(scope, receive, send_complete)
        except Exception as error:  # noqa: BLE001 - the operator is told, and nobody else
            self.failed(error, scope["path"][1:], request_id)
            if not begun:
                await self._failure(scope, error)(scope, receive, send_complete)

    async def _respond(self, scope: Any, receive: Receive, send: Send) -> None:
        path = scope["path"][1:]
        # Streams bypass Starlette, which would keep a request's objects in memory as long as the stream lasts.
        if path.endswith(EVENTS) and scope["method"] == "GET" and PATH.fullmatch(path):
            stream = self._stream(scope, path)
            if isinstance(stream, int):
                await self._error(scope, stream)(scope, receive, send)
                return
            if stream is not None:
                host = self._guard.host(Request(scope))
                if self._streams.full or self._streams.full_for(host):
                    await self._error(scope, 503 if self._streams.full else 429)(scope, receive, send)
                else:
                    direct = scope.get("extensions", {}).get(DIRECT)
                    await self._streams.answer(stream, STREAM_HEADERS, host, receive, send, direct=direct)
                return
        await self._pages(scope, receive, send)

    def _complete(self, headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
        """Return the headers of an answer, with its request's id and those that every answer must have."""
        own = [(name, value) for name, value in headers if name != b"x-request-id"]
        names = {name for name, _ in own}
        defaults = DEFAULTS | OVER_TLS if self._site.is_secure else DEFAULTS
        own += [(name.encode(), value.encode()) for name, value in defaults.items() if name.encode() not in names]
        return [*own, (b"x-request-id", request_id.encode())]

    def _stream(self, scope: Scope, path: str) -> Stream | int | None:
        for extension in self._extensions:
            if (found := extension.stream(scope)) is not None:
                return found
        return self._stream_at(path)

    async def _page(self, request: Request) -> Response:
        path = request.scope["path"][1:]
        if not PATH.fullmatch(path) or b"%" in request.scope["raw_path"]:
            return self._error(request.scope, 404)
        if path == ICON:
            return Response(status_code=204, headers=ALWAYS | {"cache-control": "max-age=86400"})
        if path in self._site.folders:
            # Links on a page are relative to its folder.
            return Response(status_code=308, headers=ALWAYS | {"location": f"{path}/"})
        try:
            found = await self._cache.page(self._site.website, path, self._site.competitions)
        except BusyError:
            return self._error(request.scope, 503)
        frames = self._site.frames if path.startswith(FRAMED) else ()
        forms = self._site.practice and path in FIRST_PAGE
        return self._error(request.scope, 404) if found is None else _answer(request, found, frames, forms=forms)

    async def _refused(self, request: Request, error: Exception) -> Response:
        status, more = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
        response = self._error(request.scope, status, error.text if isinstance(error, Refusal) else "")
        response.headers.update(more or {})
        return response

    async def _broken(self, request: Request, error: Exception) -> Response:
        """Return the answer to a request that failed. Starlette raises the error again, so it is reported once."""
        return self._failure(request.scope, error)

    def _failure(self, scope: Scope, error: Exception) -> Response:
        status = status_of_failure(error)
        text = CANNOT_NOW if status == HTTPStatus.SERVICE_UNAVAILABLE else ""
        return self._error(scope, status, text)

    def _error(self, scope: Scope, status: int, text: str = "") -> Response:
        # The page's links have one `..` per folder of the path, so deep paths are not followed.
        path = scope["path"][1:]
        path = path if path.count("/") <= DEEPEST else ""
        said = text or SAID.get(status, "")
        # All pages that do not exist are the same, so that nobody learns which of them are another's.
        request = "" if status == HTTPStatus.NOT_FOUND else scope[REQUEST_ID]
        page = self._site.website.error(path, HTTPStatus(status).phrase, said, request)
        headers = page_headers(page) | {"cache-control": "no-store"}
        if status in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
            headers["retry-after"] = str(RETRY_SECONDS)
        return Response(page.body, status, headers)

    def failed(self, error: Exception, path: str = "", request: str = "") -> None:
        """Report an error to the operator, with the id of the request; clients see no details of it."""
        self._log.error("page_failed", id=request, path=path, reason=repr(error))
        if isinstance(error, WrongUse | MachineCannot):
            say(f"request {request}: {path}: {error.format_message()}")
        else:
            say(f"request {request}: {path}: {''.join(traceback.format_exception(error))}")

    def show(self, competitions: dict[str, ServedCompetition]) -> None:
        """Replace the served competitions."""
        self._site.show(competitions)
        self._cache.forget(set(competitions))
        for extension in self._extensions:
            extension.show(tuple(competitions.values()))


def status_of_failure(error: BaseException) -> HTTPStatus:
    """Return the status of an answer to a request that failed: 503 if the machine is at fault, otherwise 500."""
    if isinstance(error, MachineCannot | OSError) or shortage_in(error) is not None:
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.INTERNAL_SERVER_ERROR


def _answer(request: Request, found: Kept, frames: Sequence[str], *, forms: bool) -> Response:
    """Return a response with the page, or with status 304 if the client has it already.

    `frames`, `forms`: see `page_headers`.
    """
    headers = page_headers(found.page, frames, forms=forms)
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


def private_page(page: Page, status: int = 200, **headers: str) -> Response:
    """Return a response with a page that only its visitor may keep, and whose forms may be sent to this site."""
    own = page_headers(page, forms=True) | {"cache-control": "no-store"}
    return Response(page.body, status, own | {name.replace("_", "-"): each for name, each in headers.items()})


def page_headers(page: Page, frames: Sequence[str] = (), *, forms: bool = False) -> dict[str, str]:
    """Return the headers of a page.

    Args:
        page: the page.
        frames: origins whose pages may show it.
        forms: whether its forms may be sent to this site.
    """
    own = _OWN_POLICY.search(page.body, 0, OWN_POLICY_WITHIN) if page.kind.startswith("text/html") else None
    policy = POLICY if own is None else own[1].decode()
    if forms:
        policy = policy.replace(NO_FORMS, OWN_FORMS)
    ancestors = " ".join(frames) or "'none'"
    policy = f"{policy}; frame-ancestors {ancestors}"
    return ALWAYS | {"content-type": page.kind, "content-security-policy": policy}


def _takes_gzip(accepted: str) -> bool:
    for each in accepted.split(","):
        name, _, quality = each.partition(";")
        if name.strip().lower() == "gzip":
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", quality)
    return False


def _tags(given: str) -> set[str]:
    """Parse the entity tags of an `If-None-Match` header, at most 101 parts of it."""
    return {each.strip().removeprefix("W/").strip('"').removesuffix("-gzip") for each in given.split(",", 100)}
