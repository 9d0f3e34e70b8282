"""Routes for people who play in the browser, below `play/`: see `arena.practice`.

A seat belongs to a browser by a secret in a cookie, of which the server knows the hash. A link for another person
has its secret behind `#`, where browsers keep it to themselves, and is exchanged for a seat by a POST. No secret
is in a path, a log, an entity tag or an error. The server passes on what the referee's process says.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import trio
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arena.errors import MachineCannot, WrongUse
from arena.pages import Page, PageMaker, seat_page, start_page
from arena.practice import (
    MOST_LOG,
    OVER,
    REPLAY,
    TRANSCRIPT,
    Answer,
    NoRoomError,
    Order,
    OrderError,
    Request,
    Said,
    SeatsFile,
    Tables,
    answer_of,
    ask,
    connect,
    gone,
    hash_of,
    log_file,
    messages_after,
    order_of_form,
    read_line,
    read_seats,
    terms_of,
)
from arena.tournament import is_held
from arena.web.catalog import folders_in
from arena.web.events import Stream
from arena.web.guard import Guard, Rate, RateLimits, Refusal, read_body, read_form
from arena.web.server import ALWAYS, STREAM_HEADERS, Serving, page_headers, private_page
from protocol.codec import Refused, decode_untrusted, encode
from referee.linux.files import read_regular
from referee.log import Logger

COOKIE = "arena_player"
COOKIE_SECONDS = 30 * 86_400
SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
"""Pattern of a secret: 256 random bits."""
BODY_BYTES = 16 * 1024
BODY_SECONDS = 10.0
BEGIN = Rate(burst=10, seconds=6.0)
"""How often an address may ask for a match."""
SAY = Rate(burst=120, seconds=0.05)
"""How often a seat may say something: previews follow each pressed key."""
JOIN = Rate(burst=20, seconds=3.0)
MOST_REPLAY = 40 * 1024 * 1024
MOST_TRANSCRIPT = 64 * 1024 * 1024
RELAY_BYTES = 64 * 1024
MOST_EVENT = 15
"""Maximum digits of the number of an event."""
LOST = "The referee's process has ended, so this match cannot be finished."
NO_MATCH = "There is no such match here, or no longer."
NO_SEAT = "You have no seat in this match. A seat belongs to the browser that took it."
Handler = Callable[[HttpRequest], Awaitable[Response]]


class Key(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request to join."""

    key: str


class Play:
    """The routes of people in the browser: see `server.Extension`."""

    links: Sequence[tuple[str, str]] = (("Play", "play/"),)

    def __init__(self, folder: Path, guard: Guard, maker: PageMaker, places: Sequence[Path], log: Logger) -> None:
        """Serve matches with people.

        Args:
            folder: the folder of all their matches.
            guard: the site's own address.
            maker: the settings of pages.
            places: the competitions that are served; while one is played, it comes first.
            log: the operator's log.
        """
        self._folder = folder
        self._guard = guard
        self._maker = maker
        self._places = tuple(places)
        self._log = log
        self._limits = RateLimits()
        self._tables: Tables | None = None

    async def run(self, nursery: trio.Nursery, port: int) -> None:
        """See `server.Extension`."""
        del port
        self._tables = Tables(self._folder, nursery, self._log, self._is_playing)
        await self._tables.keep()

    def show(self, competitions: object) -> None:
        """See `server.Extension`."""

    def stream(self, scope: Scope) -> Stream | int | None:
        """See `server.Extension`. The streams of seats are routes, because each goes to one browser."""
        del scope
        return None

    def routes(self) -> Sequence[Route]:
        """See `server.Extension`."""
        return [
            Route("/play", self._to_folder, methods=["GET"]),
            Route("/play/", self._start, methods=["GET"]),
            Route("/play/index.html", self._start, methods=["GET"]),
            Route("/play/new", _in_json(self._new), methods=["POST"]),
            Route("/play/{id}", self._to_folder, methods=["GET"]),
            Route("/play/{id}/", self._seat, methods=["GET"]),
            Route("/play/{id}/join", self._join_page, methods=["GET"]),
            Route("/play/{id}/join", _in_json(self._join), methods=["POST"]),
            Route("/play/{id}/events", self._events, methods=["GET"]),
            Route("/play/{id}/say", _in_json(self._say), methods=["POST"]),
            Route("/play/{id}/replay", self._replay, methods=["GET"]),
            Route("/play/{id}/transcript.jsonl", self._transcript, methods=["GET"]),
        ]

    # Pages.

    async def _to_folder(self, request: HttpRequest) -> Response:
        """Lead from `play` and `play/ID` to the page there. Links on a page are relative to its folder."""
        if "id" in request.path_params:
            self._folder_of(request)
        name = request.scope["path"].rpartition("/")[2]
        return Response(status_code=308, headers=ALWAYS | {"location": f"{name}/"})

    async def _start(self, request: HttpRequest) -> Response:
        tables = self._ready()
        own = await trio.to_thread.run_sync(tables.own_matches, self._holder(request))
        sits = [{"href": f"{each.id}/", "title": each.title, "is_over": each.is_over} for each in own]
        return private_page(start_page(self._maker, cannot=await tables.why_not(), sits=sits))

    async def _new(self, request: HttpRequest) -> Response:
        self._guard.check_origin(request)
        client = self._guard.client(request)
        holder, cookie = self._holder_or_new(request)
        self._limits.spend("play", client or self._holder(request), BEGIN)
        is_json = _is_json(request)
        try:
            if is_json:
                order = decode_untrusted(await self._body(request), Order)
            else:
                order = order_of_form(await read_form(request))
            id_ = await self._ready().begin(terms_of(order), holder, client)
        except (OrderError, NoRoomError, Refused) as error:
            raise _refusal_of(error) from None
        if is_json:
            return _json(answer_of(200, ok=True, id=id_, href=f"{id_}/"), cookie)
        return Response(
            status_code=303, headers=ALWAYS | {"location": f"{id_}/", "cache-control": "no-store"} | cookie
        )

    async def _seat(self, request: HttpRequest) -> Response:
        folder, seats = self._own(request)
        return private_page(seat_page(self._maker, folder.name, seats.game, seats.title))

    async def _join_page(self, request: HttpRequest) -> Response:
        folder = self._folder_of(request)
        seats = read_seats(folder)
        if seats is None:
            raise Refusal(HTTPStatus.NOT_FOUND, NO_MATCH)
        return private_page(seat_page(self._maker, folder.name, seats.game, seats.title, join=True))

    async def _replay(self, request: HttpRequest) -> Response:
        folder, _ = self._over(request)
        page = Page(await self._file(folder / REPLAY, MOST_REPLAY))
        return Response(page.body, headers=page_headers(page) | {"cache-control": "no-store"})

    async def _transcript(self, request: HttpRequest) -> Response:
        folder, _ = self._over(request)
        body = await self._file(folder / TRANSCRIPT, MOST_TRANSCRIPT)
        return Response(body, headers=ALWAYS | {"content-type": "application/jsonl", "cache-control": "no-store"})

    # What the page's script asks for.

    async def _join(self, request: HttpRequest) -> Response:
        self._guard.check_origin(request)
        holder, cookie = self._holder_or_new(request)
        self._limits.spend("join", self._guard.client(request) or self._holder(request), JOIN)
        folder = self._folder_of(request)
        try:
            key = decode_untrusted(await self._json_body(request), Key).key
        except Refused:
            return _json(answer_of(400, ok=False, text="This is no request of this site."))
        answer = await self._ask(folder, Request(do="join", holder=holder, key=hash_of(key)))
        return _json(answer, cookie if answer.status == HTTPStatus.OK else {})

    async def _say(self, request: HttpRequest) -> Response:
        self._guard.check_origin(request)
        folder, _ = self._own(request)
        holder = self._holder(request)
        self._limits.spend("say", holder, SAY)
        body = await self._json_body(request)
        try:
            said = decode_untrusted(body, Said)
        except Refused:
            return _json(answer_of(400, ok=False, text="This is no request of this site."))
        return _json(await self._ask(folder, Request(do="say", holder=holder, said=said)))

    async def _events(self, request: HttpRequest) -> Response:
        folder, _ = self._own(request)
        last = request.headers.get("last-event-id", "")
        after = int(last) if last.isascii() and last.isdecimal() and len(last) <= MOST_EVENT else -1
        return SeatStream(folder, Request(do="stream", holder=self._holder(request), after=after))

    # Parts.

    def _ready(self) -> Tables:
        if self._tables is None:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "The server is starting.", retry_after=2)
        return self._tables

    def _folder_of(self, request: HttpRequest) -> Path:
        """Return the folder of the match in a request's path."""
        folder = self._ready().find(request.path_params["id"])
        if folder is None:
            raise Refusal(HTTPStatus.NOT_FOUND, NO_MATCH)
        return folder

    def _own(self, request: HttpRequest) -> tuple[Path, SeatsFile]:
        """Return the match in a request's path, in which its browser has a seat."""
        folder = self._folder_of(request)
        seats = read_seats(folder)
        if seats is None:
            raise Refusal(HTTPStatus.NOT_FOUND, NO_MATCH)
        if seats.seat_of(self._holder(request)) is None:
            raise Refusal(HTTPStatus.FORBIDDEN, NO_SEAT)
        return folder, seats

    def _over(self, request: HttpRequest) -> tuple[Path, SeatsFile]:
        """Return such a match that is over, so that all of it may be shown."""
        folder, seats = self._own(request)
        if not seats.over:
            raise Refusal(HTTPStatus.NOT_FOUND, "The match is not over.")
        return folder, seats

    def _holder(self, request: HttpRequest) -> str:
        """Return the hash of a browser's secret; "" if it has none."""
        secret = self._guard.cookie(request, COOKIE)
        return hash_of(secret) if SECRET.fullmatch(secret) else ""

    def _holder_or_new(self, request: HttpRequest) -> tuple[str, dict[str, str]]:
        """Return the hash of a browser's secret, and the header that gives it one if it has none."""
        if holder := self._holder(request):
            return holder, {}
        secret = secrets.token_urlsafe(32)
        return hash_of(secret), {"set-cookie": self._guard.set_cookie(COOKIE, secret, COOKIE_SECONDS)}

    async def _body(self, request: HttpRequest) -> bytes:
        return await read_body(request, BODY_BYTES, BODY_SECONDS)

    async def _json_body(self, request: HttpRequest) -> bytes:
        if not _is_json(request):
            raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "This is no request of this site.")
        return await self._body(request)

    async def _ask(self, folder: Path, asked: Request) -> Answer:
        try:
            return await ask(folder, asked)
        except OSError:
            return answer_of(HTTPStatus.GONE, ok=False, text=_why_gone(read_seats(folder)) or OVER)
        except trio.TooSlowError:
            return answer_of(HTTPStatus.SERVICE_UNAVAILABLE, ok=False, text="The referee is busy; try again.")

    async def _file(self, path: Path, most: int) -> bytes:
        try:
            return await trio.to_thread.run_sync(read_regular, path, most)
        except OSError:
            raise Refusal(HTTPStatus.NOT_FOUND, "This match has no such file.") from None

    async def _is_playing(self) -> bool:
        """Return whether a competition that is served is being played now."""
        return await trio.to_thread.run_sync(_is_any_running, self._places)


def play_of(asked: Serving, folder: Path, log: Logger) -> Play:
    """Return the routes of people for a server. `folder`: the folder of their matches."""
    maker = PageMaker(live=False, url=asked.url, links=Play.links, announcement=asked.announcement)
    return Play(folder, asked.guard, maker, asked.places, log)


class SeatStream(Response):
    """The messages to one seat, passed on from the referee's process."""

    def __init__(self, folder: Path, asked: Request) -> None:
        super().__init__()
        self._match = folder
        self._asked = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the messages until either side ends."""
        del scope
        with suppress(OSError, trio.BrokenResourceError):
            async with await connect(self._match) as process:
                await process.send_all(encode(self._asked) + b"\n")
                found = await read_line(process, RELAY_BYTES)
                if found is not None and not found[0].startswith(b"200 "):
                    raise HTTPException(int(found[0].partition(b" ")[0]))
                if found is not None:
                    await _pass_on(process, found[1], receive, send)
                    return
        await self._send_stored(send)

    async def _send_stored(self, send: Send) -> None:
        """Send what the process left in its folder, and why there are no more messages."""
        seats = read_seats(self._match)
        seat = None if seats is None else seats.seat_of(self._asked.holder)
        await _begin_stream(send)
        if seats is not None and seats.has_ended and seat is not None:
            with suppress(OSError):
                log = await trio.to_thread.run_sync(read_regular, log_file(self._match, seat), MOST_LOG)
                body = messages_after(log, self._asked.after)
                await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body", "body": gone(_why_gone(seats)), "more_body": False})


async def _pass_on(process: trio.SocketStream, data: bytes, receive: Receive, send: Send) -> None:
    """Send what the process of a match says. A browser that misses its end connects again."""
    await _begin_stream(send)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_until_disconnected, receive, nursery.cancel_scope)
        while data:
            await send({"type": "http.response.body", "body": data, "more_body": True})
            try:
                data = bytes(await process.receive_some(RELAY_BYTES))
            except trio.BrokenResourceError:
                data = b""
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        nursery.cancel_scope.cancel()


async def _begin_stream(send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})


async def _until_disconnected(receive: Receive, sending: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        await trio.lowlevel.checkpoint()
    sending.cancel()


def _why_gone(seats: SeatsFile | None) -> str:
    """Return why a match without a process has no result; "" if it has one."""
    if seats is None:
        return NO_MATCH
    return "" if seats.over else seats.gone or LOST


def _is_any_running(places: tuple[Path, ...]) -> bool:
    """Return whether one of the competitions at some places is being played."""
    with suppress(WrongUse, MachineCannot):
        for folder in folders_in(places, some=False):
            with suppress(WrongUse, MachineCannot):
                if is_held(folder):
                    return True
    return False


def _is_json(request: HttpRequest) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _json(answer: Answer, more: dict[str, str] | None = None) -> Response:
    headers = ALWAYS | {"content-type": "application/json", "cache-control": "no-store"} | (more or {})
    return Response(answer.body, answer.status, headers)


def _in_json(handle: Handler) -> Handler:
    """Return a handler that answers requests in JSON in the same way when it refuses them."""

    async def handled(request: HttpRequest) -> Response:
        try:
            return await handle(request)
        except Refusal as refused:
            if not _is_json(request):
                raise
            return _json(answer_of(refused.status_code, ok=False, text=refused.text), dict(refused.headers or {}))

    return handled


def _refusal_of(error: Exception) -> Refusal:
    """Return the refusal of an order that is not played."""
    if isinstance(error, NoRoomError):
        return Refusal(HTTPStatus(error.status), str(error), retry_after=error.retry_seconds)
    text = str(error) if isinstance(error, OrderError) else "This is no order of a match."
    return Refusal(HTTPStatus.BAD_REQUEST, text)
