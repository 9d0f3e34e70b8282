"""The server of `arena serve`: connects its sockets, its application, and the results and feeds that it watches.

See `docs/serving.md`.
"""

import errno
import ipaddress
import resource
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import trio
from msgspec import Struct

from arena.errors import MachineCannot, WrongUse
from arena.terminal import say
from arena.web.application import Application, Site
from arena.web.catalog import missing_places
from arena.web.competition_watcher import CompetitionWatcher
from arena.web.connection import AsgiApplication, Connection
from arena.web.events import MOST_CLIENTS, MOST_OF_ADDRESS, Streams
from referee.linux.processes import be_nice
from referee.log import Logger

BACKLOG = 512
OTHER_CONNECTIONS = 500
"""Maximum connections in addition to those with an event stream."""
FILES = 100
"""Maximum files that the server itself has open."""
UNREAD_BYTES = 64 * 1024
"""Send buffer of the kernel for a client that does not read."""
REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: 24\r\n"
    b"retry-after: 10\r\nconnection: close\r\n\r\nToo many are connected.\n"
)
REFUSING_SECONDS = 1.0
NICENESS = 15
"""Niceness of the server, so that matches have priority. With all processors busy, its share is 1/30 of a
match's."""


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
    streams: int = MOST_CLIENTS
    """Maximum event streams at once."""
    streams_of_address: int = MOST_OF_ADDRESS
    """Maximum event streams from one address other than this machine's own."""


async def serve(asked: Serving, log: Logger) -> None:
    """Serve until cancelled.

    Raises:
        WrongUse: a place holds no results, or the server cannot listen at the address.
        MachineCannot: the port is in use.
    """
    be_nice(NICENESS)  # Threads inherit the niceness, so it is set before any starts.
    async with trio.open_nursery() as nursery:
        site = Site({}, asked.delay, feed=bool(asked.feeds))
        watcher = CompetitionWatcher(asked.places, asked.feeds, nursery, log)
        application = Application(site, Streams(asked.streams, asked.streams_of_address), watcher.stream_at, log)
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
        await Server(application, asked.streams, application.failed).serve(listening)


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

    def __init__(self, application: AsgiApplication, streams: int, failed: Callable[[Exception], None]) -> None:
        """`streams` is the maximum number of event streams; `failed` is called with each unexpected error."""
        self._application = application
        self._failed = failed
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
        if self.connected >= self._most:
            await _refuse(stream)
            return
        self.connected += 1
        try:
            await Connection(self._application, stream, client, self._failed).run()
        except* Exception as group:  # noqa: BLE001 - one client's connection ends none but its own
            for error in group.exceptions:
                self._failed(error)
        finally:
            self.connected -= 1


async def _refuse(stream: trio.abc.HalfCloseableStream) -> None:
    with trio.move_on_after(REFUSING_SECONDS):
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await stream.send_all(REFUSAL)
    await trio.aclose_forcefully(stream)
