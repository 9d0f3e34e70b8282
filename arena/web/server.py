"""The server's sockets, and its limit on simultaneous connections. See `docs/serving.md`."""

import errno
import ipaddress
import resource
import socket
from collections.abc import Callable
from contextlib import suppress

import trio

from arena.errors import MachineCannot, WrongUse
from arena.web.connection import Application, Connection

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

    def __init__(self, application: Application, streams: int, failed: Callable[[Exception], None]) -> None:
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
