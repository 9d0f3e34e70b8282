"""The entrance for bots on their authors' own machines: one TCP port, and a line for each key that the host knows.

No client gets past the handshake without such a key. The cost of unknown clients is bounded: their number at once,
in all and per address; the time and the bytes of each; and the rate at which new ones are accepted. Host names are
not resolved, and no message is sent unencrypted.
"""

import hmac
import ipaddress
import math
import re
import socket as kernel
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

import trio
from msgspec import UNSET, Struct, ValidationError

from protocol.codec import Refused, decode_client_message, encode
from protocol.messages import Hello, Invited
from referee.wire.keys import KeyPair, z85
from referee.wire.line import FAREWELL_SECONDS, MAX_TAKEN_BYTES, Bell, Inbox
from referee.wire.socket_line import LineConnection, Poll, SocketLine, open_poll
from referee.wire.zmtp import PING, ZmtpError

if TYPE_CHECKING:
    from referee.wire.curve import SecureConversation

PING_SECONDS = 2.0
"""Seconds between two heartbeat requests. The other end's ZeroMQ answers them by itself."""
DEAD_SECONDS = 8.0
"""Seconds without a byte after which the connection is closed: a network failure gives no notice."""
CUT_SECONDS = 1.0
"""Seconds for which a bot whose connection was closed for its messages may not reconnect."""
DELAYS = 30
"""Number of heartbeats of which the quickest gives the network's delay."""
FIRST_DELAYS, FIRST_SECONDS = 5, 0.05
"""Number and interval in seconds of the heartbeats requested when a bot connects: a match may start soon."""
MOST_SAID = 1_000
"""The most messages of a bot between two matches. One longer than `MOST_HELLO_BYTES` counts as several. If there
are more, the connection is closed."""
MOST_HELLO_BYTES = 4_096
"""The longest `hello` in bytes. Longer messages are not decoded."""
STAMP_BYTES = 4
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
_PORT = re.compile("[0-9]{1,5}")


class RemoteLine(SocketLine):
    """See `SocketLine`. While one connection is open, no other one is accepted, whatever key it proves.

    `begin` assigns the line to a match. Until then a connected bot waits, and may not send messages. If the line
    outlives a match, `rest` takes it back from the match with its connection; later messages to that match are
    dropped.
    """

    def __init__(self, poll: Poll, *, stands: bool = False) -> None:
        """Set up a line. If it `stands`, it outlives a match."""
        super().__init__(poll)
        self.stands = stands
        self.awaited = True
        """True if a match waits for a bot that is not connected."""
        self.cuts = 0
        """Number of connections that have ended."""
        self.away_since = self._came = trio.current_time()
        """The time on trio's clock at which the last connection ended."""
        self._invitation = b""
        self._token = ""
        self._said: int | None = None
        """Number of messages since the last match; None: messages belong to a match, or to a new connection."""
        self._pings: dict[bytes, float] = {}
        """Times of the heartbeat requests that are not answered yet, keyed by the bytes that the answers
        return."""
        self._asked = 0
        self._delays: deque[float] = deque(maxlen=DELAYS)
        self._nobody, self._somebody = trio.Event(), trio.Event()
        self._nobody.set()
        self._free_at = -math.inf

    def behind(self, since: float) -> float:
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        return self._probe.behind(since)

    def stopped(self, since: float) -> float:
        """Return for how many seconds this process was stopped since a time on trio's clock."""
        return self._probe.stopped(since)

    @property
    def connected(self) -> bool:
        """True if a bot is connected, as far as is known."""
        return self._connection is not None

    @property
    def delay(self) -> float | None:
        """The round trip to the bot's ZeroMQ in seconds; None: not known yet.

        It is the shortest of the last minute, which is that of the network alone: a bot's machine may answer late,
        but never early.
        """
        return min(self._delays, default=None)

    @property
    def ready(self) -> bool:
        """True if a bot is connected, and the network's delay is known or cannot be measured."""
        connection = self._connection
        if connection is None or self._is_closed():
            return False
        return bool(self._delays) or trio.current_time() - self._came >= PING_SECONDS

    def begin(self, bell: Bell, token: str) -> None:
        """Assign the line to a match. A bot that is connected, or connects later, is invited to it."""
        self._bell = bell
        self._token = token
        self._invitation = encode(Invited(token=token, stands=True if self.stands else UNSET))
        if self._connection is not None:
            self._invite(self._connection)

    def free(self) -> bool:
        """Return whether a connection would be accepted now."""
        closed = self._farewell.is_set() or trio.current_time() < self._free_at
        return self._connection is None and not closed

    async def rest(self) -> None:
        """Take the line back after a match. A connected bot stays for the next one, unless it was disconnected."""
        self._bell = None
        if self._is_closed():
            self.hang_up()
            with trio.move_on_after(2 * FAREWELL_SECONDS):
                await self.missing(0)
            if self._connection is not None:
                self._end(self._connection)
            self._farewell = trio.Event()
            self._not_reading = False
        self._inbox = Inbox()
        self._is_out_of = False
        self._said = 0
        if self._connection is not None:
            self._watch(self._connection)
            self._go_on_soon()

    def tell(self, frame: bytes) -> None:
        """Send a frame between two matches, if a bot is connected."""
        if self._connection is not None and not self._is_closed():
            self.send(frame)

    async def told(self) -> None:
        """Wait until all frames were sent, or no bot is connected."""
        while (connection := self._connection) is not None and (connection.leaving or self._outbox):
            self._drained = trio.Event()
            await self._drained.wait()

    async def present(self) -> None:
        """Wait until a bot is connected."""
        await self._somebody.wait()

    async def missing(self, seconds: float) -> None:
        """Wait until no bot has been connected for a number of seconds without a break."""
        while True:
            await self._nobody.wait()
            with trio.move_on_after(seconds) as waiting:
                await self._somebody.wait()
            if waiting.cancelled_caught:
                return

    async def serve(self, connection: LineConnection) -> None:
        """Serve a connection to its end. Call only while the line is `free`."""
        self._somebody.set()
        self._nobody = trio.Event()
        self._said = None
        self._came = trio.current_time()
        self._pings.clear()
        self._delays.clear()
        try:
            self._let_in(connection)
            if self._bell is not None:
                self._invite(connection)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._keep_alive, connection)
                nursery.start_soon(self._see_out, connection)
                await connection.over.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._end(connection)
            self.cuts += 1
            self.away_since = trio.current_time()
            self._nobody.set()
            self._somebody = trio.Event()

    async def _keep_alive(self, connection: LineConnection) -> None:
        """Request heartbeats, to find out that a connection is dead, and to measure the network."""
        for _ in range(FIRST_DELAYS):
            self._ping(connection)
            await trio.sleep(FIRST_SECONDS)
        while True:
            await trio.sleep(PING_SECONDS)
            if self._inbox.full():
                connection.heard = trio.current_time()  # Its bytes are not read because the inbox is full.
            silent = trio.current_time() - connection.heard
            if silent >= DEAD_SECONDS:
                self._end(connection)
            else:
                self._ping(connection)

    def _ping(self, connection: LineConnection) -> None:
        """Request a heartbeat, unless other bytes are unsent: the time to send those would be measured, too."""
        if connection.leaving or self._connection is not connection:
            return
        self._asked += 1
        stamp = self._asked.to_bytes(STAMP_BYTES, "big")
        if len(self._pings) >= DELAYS:
            del self._pings[next(iter(self._pings))]
        self._pings[stamp] = trio.current_time()
        connection.leaving += connection.conversation.framed_command(PING + stamp)
        self._send(connection)

    def _take(self, connection: LineConnection) -> bool:
        more = super()._take(connection)
        stamp = connection.conversation.pong
        if stamp is not None:
            connection.conversation.pong = None
            asked = self._pings.pop(stamp, None)
            if asked is not None:
                self._delays.append(self._now() - asked)
        return more

    def _arrived(self, frame: bytes, size: int) -> None:
        if self._said is not None:
            self._said += 1 + size // MOST_HELLO_BYTES
            if self._said > MOST_SAID:
                raise ZmtpError("too much between two matches")
            if self._bell is None or not self._is_hello(frame):
                return
            self._said = None
        super()._arrived(frame, size)

    def _is_hello(self, frame: bytes) -> bool:
        """Return whether a frame is the bot's `hello` to this match. Earlier frames belong to the last one."""
        if len(frame) > MOST_HELLO_BYTES:
            return False
        try:
            said = decode_client_message(frame)
        except (Refused, ValidationError):
            return False
        return isinstance(said, Hello) and hmac.compare_digest(
            said.token.encode(errors="replace"), self._token.encode()
        )

    async def _see_out(self, connection: LineConnection) -> None:
        await self._farewell.wait()
        await self._part()
        self._end(connection)

    def _invite(self, connection: LineConnection) -> None:
        connection.leaving += connection.conversation.framed(self._invitation)
        self._send(connection)

    def _cut(self, connection: LineConnection) -> None:
        self._free_at = trio.current_time() + CUT_SECONDS
        super()._cut(connection)


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
        """True if only programs on this machine can connect."""
        return ipaddress.ip_address(self.host).is_loopback

    def endpoint(self, port: int) -> str:
        """Return ZeroMQ's endpoint for this address with a port."""
        return f"tcp://[{self.host}]:{port}" if ":" in self.host else f"tcp://{self.host}:{port}"


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
        from referee.wire.curve import SecureConversation  # noqa: PLC0415

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
                    await line.serve(LineConnection(socket, conversation))
                finally:
                    self._came(key, False)

    async def _prove(
        self, socket: kernel.socket, conversation: "SecureConversation", address: str
    ) -> RemoteLine | None:
        """Finish the handshake, and return the line of the client's key.

        Return None if the key is unknown or barred, or if the client disconnects.
        """
        from referee.wire.curve import HANDSHAKE_MOST  # noqa: PLC0415 - it is imported by now

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
