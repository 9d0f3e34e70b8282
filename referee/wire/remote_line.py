"""The line of a bot on its author's own machine: TCP, encrypted by its conversation.

`remote` authenticates the other end.
"""

import hmac
import math
from collections import deque

import trio
from msgspec import UNSET, ValidationError

from protocol.codec import Refused, decode_client_message, encode
from protocol.messages import Hello, Invited
from referee.wire.inbox import Inbox
from referee.wire.line import FAREWELL_SECONDS, Bell
from referee.wire.poll import Poll
from referee.wire.socket_line import Connection, SocketLine
from referee.wire.zmtp import PING, ZmtpError

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
        """Whether a match waits for a bot that is not connected."""
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
        """Whether a bot is connected, as far as is known."""
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
        """Whether a bot is connected, and the network's delay is known or cannot be measured."""
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

    async def serve(self, connection: Connection) -> None:
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

    async def _keep_alive(self, connection: Connection) -> None:
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

    def _ping(self, connection: Connection) -> None:
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

    def _take(self, connection: Connection) -> bool:
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

    async def _see_out(self, connection: Connection) -> None:
        await self._farewell.wait()
        await self._part()
        self._end(connection)

    def _invite(self, connection: Connection) -> None:
        connection.leaving += connection.conversation.framed(self._invitation)
        self._send(connection)

    def _cut(self, connection: Connection) -> None:
        self._free_at = trio.current_time() + CUT_SECONDS
        super()._cut(connection)
