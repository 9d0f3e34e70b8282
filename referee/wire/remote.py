"""The entrance for bots on their authors' own machines: one TCP port, and a line for each key that the host knows.

No client gets past the handshake without such a key. The cost of unknown clients is bounded: their number at once,
in all and per address; the time and the bytes of each; and the rate at which new ones are accepted. Host names are
not resolved, and no message is sent unencrypted.
"""

import ipaddress
import re
import socket as kernel
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import trio
from msgspec import Struct

from referee.wire.keys import KeyPair, z85
from referee.wire.line import FAREWELL_SECONDS, MAX_TAKEN_BYTES
from referee.wire.poll import Poll, open_poll
from referee.wire.remote_line import RemoteLine
from referee.wire.socket_line import Connection
from referee.wire.zmtp import ZmtpError

if TYPE_CHECKING:
    from referee.wire.zmtp_curve import SecureConversation

HANDSHAKE_SECONDS = 3.0
"""Seconds from a connection to the proof of its key."""
STRANGERS = 32
"""The most connections at once that have not proved a key. More are closed at once."""
STRANGERS_OF_ONE = 8
"""The most of them from one address; with IPv6, from one /64 network, since every client has a whole one."""
ACCEPT_SECONDS = 0.01
"""Seconds between two new connections. At 0.12 ms of arithmetic each, a flood costs the loop a few per cent."""
BACKLOG = 64
"""Connections that wait in the kernel."""
KERNEL_BYTES = 256 * 1024
"""The kernel's buffer of a connection in bytes, in each direction."""
NO_DESCRIPTORS_SECONDS = 0.1


class BadAddressError(ValueError):
    """A text is not the address of a port on this machine. The error's text is one line."""


class Address(Struct, frozen=True):
    """An address to listen on."""

    host: str
    """A numeric IP address. Names are not resolved."""
    port: int
    """The port; 0: the kernel chooses one."""

    @property
    def family(self) -> kernel.AddressFamily:
        """IPv4 or IPv6."""
        return kernel.AF_INET6 if ":" in self.host else kernel.AF_INET

    @property
    def loopback(self) -> bool:
        """Whether only programs on this machine can connect."""
        return ipaddress.ip_address(self.host).is_loopback

    def endpoint(self, port: int) -> str:
        """Return ZeroMQ's endpoint for this address with a port."""
        return f"tcp://[{self.host}]:{port}" if ":" in self.host else f"tcp://{self.host}:{port}"


_PORT = re.compile("[0-9]{1,5}")


def read_address(text: str) -> Address:
    """Return the address in `ADDRESS:PORT`, `[ADDRESS]:PORT` or `:PORT`. The last is for this machine only.

    Raises:
        BadAddressError: the text is no such address.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        raise BadAddressError(f"{text!r}: {host!r} is not a numeric address; names are not looked up") from None
    if not colon or not _PORT.fullmatch(port) or int(port) > 65_535:  # noqa: PLR2004 - ports have two bytes
        raise BadAddressError(f"{text!r}: a port from 0 to 65535 follows the address: 127.0.0.1:5555")
    return Address(host, int(port))


def origin(address: str) -> str:
    """Return the address by which clients are counted: an IPv4 address, or the /64 network of an IPv6 address."""
    whole = ipaddress.ip_address(address)
    if isinstance(whole, ipaddress.IPv4Address):
        return str(whole)
    if whole.ipv4_mapped is not None:
        return str(whole.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(whole), 64), strict=False))


class Lobby:
    """An open port, and the lines behind it. Made by `open_lobby`."""

    def __init__(
        self,
        keys: KeyPair,
        known: Iterable[str],
        poll: Poll,
        turned_away: Callable[[str, str], None],
        came: Callable[[str, bool], None],
        *,
        barred: Collection[str],
        stands: bool,
    ) -> None:
        # Here: matches without remote bots do without the cryptography. No connection waits for its import.
        from referee.wire.zmtp_curve import SecureConversation  # noqa: PLC0415

        self.lines = {key: RemoteLine(poll, stands=stands) for key in known}
        """The lines, keyed by public key in Z85."""
        self.endpoint = ""
        self._converse = partial(SecureConversation, keys, MAX_TAKEN_BYTES)
        self._turned_away = turned_away
        self._came = came
        self._barred = frozenset(barred)
        self._strangers: Counter[str] = Counter()

    async def listen(self, listener: kernel.socket, nursery: trio.Nursery) -> None:
        """Accept connections, one after the other, until cancelled."""
        while True:
            await trio.lowlevel.wait_readable(listener)
            try:
                connection, (address, *_) = listener.accept()
            except (BlockingIOError, ConnectionError):
                continue  # It is closed already.
            except OSError as error:
                # The client is unknown: it may be any bot for which a match waits.
                for line in self.lines.values():
                    if not line.connected:
                        line.machine_is_out_of(error)
                await trio.sleep(NO_DESCRIPTORS_SECONDS)
                continue
            if self._strangers.total() >= STRANGERS or self._strangers[origin(address)] >= STRANGERS_OF_ONE:
                connection.close()
            else:
                nursery.start_soon(self._serve, connection, address)
            await trio.sleep(ACCEPT_SECONDS)

    async def _serve(self, socket: kernel.socket, address: str) -> None:
        """Serve a connection from its first byte to its end."""
        with socket, suppress(OSError):
            socket.setblocking(False)
            socket.setsockopt(kernel.IPPROTO_TCP, kernel.TCP_NODELAY, 1)
            line: RemoteLine | None = None
            self._strangers[origin(address)] += 1
            try:
                with trio.move_on_after(HANDSHAKE_SECONDS):
                    conversation = self._converse()
                    line = await self._prove(socket, conversation, address)
            except ZmtpError as error:
                self._turned_away(address, str(error))
            finally:
                self._strangers[origin(address)] -= 1
                if not self._strangers[origin(address)]:
                    del self._strangers[origin(address)]
            if line is not None and line.free():
                conversation.let_in()
                key = next(key for key, known in self.lines.items() if known is line)
                self._came(key, True)
                try:
                    await line.serve(Connection(socket, conversation))
                finally:
                    self._came(key, False)

    async def _prove(
        self, socket: kernel.socket, conversation: "SecureConversation", address: str
    ) -> RemoteLine | None:
        """Return the line of the key that the other end proves; None if it is unknown, or the end has left."""
        from referee.wire.zmtp_curve import HANDSHAKE_MOST  # noqa: PLC0415 - it is imported by now

        while True:
            if conversation.next() is not None:
                raise ZmtpError("a message in the handshake")
            _say(socket, conversation.answer())
            if conversation.client is not None:
                break
            await trio.lowlevel.wait_readable(socket)
            said = socket.recv(HANDSHAKE_MOST)
            if not said:
                return None
            conversation.hear(said, trio.current_time())
        key = z85(conversation.client)
        line = None if key in self._barred else self.lines.get(key)
        if line is None:
            conversation.refuse()
            _say(socket, conversation.answer())
            self._turned_away(address, f"its key is not known here: {key}")
        return line


def _say(socket: kernel.socket, words: bytes) -> None:
    """Send the few hundred bytes of a handshake.

    If the kernel has no room for them, the other end does not read.
    """
    if words and socket.send(words) < len(words):
        raise ZmtpError("does not read")


@asynccontextmanager
async def open_lobby(
    address: Address,
    keys: KeyPair,
    known: Iterable[str],
    turned_away: Callable[[str, str], None] = lambda _address, _why: None,
    came: Callable[[str, bool], None] = lambda _key, _is_here: None,
    *,
    barred: Collection[str] = (),
    stands: bool = False,
) -> AsyncIterator[Lobby]:
    """Open a port for bots that hold one of the known keys. Closing it takes up to `FAREWELL_SECONDS`.

    Args:
        address: the address to listen on.
        keys: the host's own key pair.
        known: public keys in Z85. Each gets a line.
        turned_away: called with the address of a rejected client and the reason.
        came: called with a bot's key, and True when it is connected or False when its connection has ended.
        barred: known keys that are not admitted any more. Their lines stay without a bot.
        stands: whether the lines outlive a match.

    Raises:
        OSError: the port is not available.
    """
    with kernel.socket(address.family, kernel.SOCK_STREAM) as listener:
        listener.setsockopt(kernel.SOL_SOCKET, kernel.SO_REUSEADDR, 1)
        for way in (kernel.SO_RCVBUF, kernel.SO_SNDBUF):
            listener.setsockopt(kernel.SOL_SOCKET, way, KERNEL_BYTES)
        listener.bind((address.host, address.port))
        listener.listen(BACKLOG)
        listener.setblocking(False)
        async with open_poll() as poll, trio.open_nursery() as nursery:
            lobby = Lobby(keys, known, poll, turned_away, came, barred=barred, stands=stands)
            lobby.endpoint = address.endpoint(listener.getsockname()[1])
            nursery.start_soon(lobby.listen, listener, nursery)
            yield lobby
            await _part(lobby)
            nursery.cancel_scope.cancel()


async def _part(lobby: Lobby) -> None:
    """Close all lines after their last frames were sent."""
    for line in lobby.lines.values():
        line.hang_up()
    with trio.move_on_after(2 * FAREWELL_SECONDS):
        for line in lobby.lines.values():
            await line.missing(0)
