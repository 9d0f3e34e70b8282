"""One client's connection: Hypercorn's HTTP/1.1 on trio, with bounds on a client's requests and delays.

Hypercorn's own connections also support HTTP/2, where one client may have a hundred requests open, and wait
forever for a client that does not read. These process one request at a time, and every wait for the client has a
limit.
"""

import math
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState

HEADER_BYTES = 16 * 1024
"""Maximum bytes of a request's line and headers together."""
READ_BYTES = 16 * 1024
REQUEST_SECONDS = 10.0
"""Seconds in which a client must send a request's line and headers, or start another request."""
STUCK_SECONDS = 30.0
"""Seconds in which a client must read a piece of `PIECE_BYTES`; otherwise its connection is closed."""
PIECE_BYTES = 64 * 1024
REQUESTS = 10_000
"""Maximum requests per connection."""
ENDING_SECONDS = 2.0
LINGER_SECONDS = 10.0
"""Seconds for which a client that is being answered may go on sending; see `close_gently`."""
LINGER_BYTES = 64 * 1024 * 1024
"""Maximum bytes that are discarded meanwhile."""
DIRECT = "arena.direct"
"""The name of our extension of ASGI: the connection itself, for answers in chunks; see `events.RawConnection`."""

AsgiApplication = Callable[[Any, Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]], Awaitable[None]]
"""An ASGI application."""


def configuration() -> Config:
    """Return Hypercorn's configuration: bounds on requests, no server header, no logs."""
    config = Config()
    config.h11_max_incomplete_size = HEADER_BYTES
    config.keep_alive_max_requests = REQUESTS
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = None
    return config


class _Http(H11Protocol):
    """HTTP/1.1 only; requests to upgrade to HTTP/2 are ignored."""

    async def _check_protocol(self, event: h11.Request) -> None:
        pass

    async def _create_stream(self, request: h11.Request) -> None:
        names = [name for name, _ in request.headers]
        if b"content-length" in names and b"transfer-encoding" in names:
            # A proxy in front may use the other header for the request's length, and see another request start
            # within this one (RFC 9112, 6.1).
            await self._send_error_response(HTTPStatus.BAD_REQUEST)
            await self.send(Closed())
            await trio.lowlevel.checkpoint()  # The connection ends here.
        # A refused WebSocket would stay connected for ever.
        headers = [(name, value) for name, value in request.headers if name != b"upgrade"]
        await super()._create_stream(
            h11.Request(
                method=request.method, target=request.target, headers=headers, http_version=request.http_version
            )
        )


class Connection:
    """A connection to a client, until either side ends it."""

    def __init__(
        self,
        application: AsgiApplication,
        stream: trio.abc.HalfCloseableStream,
        client: tuple[str, int] | None,
        failed: Callable[[Exception], None],
    ) -> None:
        """`failed` is called with each error that the application did not handle."""
        self._application = application
        self._stream = stream
        self._socket = stream.socket if isinstance(stream, trio.SocketStream) else None
        self._client = client
        self._failed = failed
        self._deadline = trio.current_time() + REQUEST_SECONDS
        """Time by which the client's next request must have arrived, on trio's clock."""
        self._reading = trio.CancelScope()
        self._turn = trio.Lock()
        self._is_answered = False
        """True if the connection ends after an answer, whether the whole request arrived or not."""

    async def run(self) -> None:
        """Answer the client's requests until the connection ends."""
        try:
            async with trio.open_nursery() as nursery:
                self._nursery = nursery
                self._http = _Http(
                    self._application,  # type: ignore[arg-type]  # only `spawn_app` calls it, and that is ours
                    CONFIG,
                    WorkerContext(None),
                    self,  # type: ignore[arg-type]  # it spawns applications, and is asked for nothing else
                    ConnectionState({}),
                    ssl=False,
                    client=self._client,
                    server=None,
                    send=self._send,
                )
                await self._read()
                nursery.cancel_scope.cancel()
            if self._is_answered:
                await close_gently(self._stream, LINGER_SECONDS)
        finally:
            with trio.move_on_after(ENDING_SECONDS, shield=True):
                await self._stream.aclose()

    async def _read(self) -> None:
        """Pass the client's bytes to Hypercorn until the client disconnects or is too late."""
        while True:
            try:
                with trio.CancelScope(deadline=self._deadline) as self._reading:
                    data = await self._stream.receive_some(READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            if self._reading.cancelled_caught:
                return
            await self._http.handle(RawData(bytes(data)))
            if not data:
                return

    def write_now(self, data: bytes) -> int:
        """Write what the kernel has room for without waiting. Return the number of bytes written.

        A broken connection counts as having accepted everything.
        """
        if self._socket is None:
            return 0
        try:
            return os.write(self._socket.fileno(), data)
        except BlockingIOError:
            return 0
        except OSError:
            self._nursery.cancel_scope.cancel()
            return len(data)

    async def _send(self, event: Event) -> None:
        """Process an event that Hypercorn has for the client."""
        match event:
            case RawData():
                await self.write(event.data)
            case Closed():
                self._is_answered = True
                self._nursery.cancel_scope.cancel()
            case Updated():
                # The deadline applies only while the next request is due from the client.
                self._deadline = trio.current_time() + REQUEST_SECONDS if event.idle else math.inf
                self._reading.deadline = self._deadline
            case _:
                pass

    async def write(self, data: bytes | memoryview) -> None:
        """Write everything in pieces, each with its own time limit."""
        async with self._turn:
            try:
                whole = memoryview(data)
                for first in range(0, len(data), PIECE_BYTES):
                    with trio.fail_after(STUCK_SECONDS):
                        await self._stream.send_all(whole[first : first + PIECE_BYTES])
            except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
                self._nursery.cancel_scope.cancel()

    async def spawn_app(
        self, application: AsgiApplication, config: Config, scope: Any, send: Callable[[Any], Awaitable[None]]
    ) -> Callable[[Any], Awaitable[None]]:
        """See `hypercorn.typing.TaskGroup`."""
        if scope["http_version"] == "1.1":  # Older ones know no chunks.
            scope["extensions"][DIRECT] = self
        give, take = trio.open_memory_channel[Any](config.max_app_queue_size)
        self._nursery.start_soon(self._answer, application, scope, take.receive, send)
        return give.send

    async def _answer(
        self,
        application: AsgiApplication,
        scope: Any,
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        try:
            await application(scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the operator is told, and nobody else
            self._failed(error)
        await send(None)


async def close_gently(stream: trio.abc.HalfCloseableStream, seconds: float) -> None:
    """Close a connection so that the client gets the answer.

    If bytes of the client are unread when a connection is closed, the kernel resets it, and the client may lose
    what was sent. So the rest of its request is discarded, up to `LINGER_BYTES` and for so many seconds.
    """
    with trio.move_on_after(seconds), suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        await stream.send_eof()
        left = LINGER_BYTES
        while left > 0 and (data := await stream.receive_some(READ_BYTES)):
            left -= len(data)
    await trio.aclose_forcefully(stream)


CONFIG = configuration()
