"""The line of a bot on its author's own machine: TCP, sealed by its conversation.

`remote` finds out who is at the other end.
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
"""After so long without a byte, the other end is asked for a sign of life: its ZeroMQ gives it by itself."""
DEAD_SECONDS = 8.0
"""After so long without one, the line is cut: a network that went away does not say so."""
CUT_SECONDS = 1.0
"""A bot that was cut off for what it said stays out for so long: else it could say it all anew at once."""
DELAYS = 30
"""Of so many signs of life the quickest tells the network's delay: it is asked for one each `PING_SECONDS`."""
FIRST_DELAYS, FIRST_SECONDS = 5, 0.05
"""So many are asked for at once when a bot comes, at this interval: a match may begin soon."""
MOST_SAID = 1_000
"""Messages of a bot between two matches, of `MOST_HELLO_BYTES` at most: a longer one counts as more. One that says
more is cut off."""
MOST_HELLO_BYTES = 4_096
"""A longer message is no `hello`: it is not looked into."""
STAMP_BYTES = 4


class RemoteLine(SocketLine):
    """See `SocketLine`. While one connection lives, another one does not get in, whatever it knows.

    `begin` gives it to a match; until then, who is connected waits, and may say nothing. Where the line is to
    stand, `rest` takes it back from the match, with its connection: whatever still comes of that match is dropped.
    """

    def __init__(self, poll: Poll, *, stands: bool = False) -> None:
        """`stands`: match after match is played over it."""
        super().__init__(poll)
        self.stands = stands
        self.awaited = True
        """Whether a match waits for a bot that is not connected."""
        self.cuts = 0
        """How many connections have ended."""
        self.away_since = self._came = trio.current_time()
        """While nobody is connected: since when, on trio's clock."""
        self._invitation = b""
        self._token = ""
        self._said: int | None = None
        """Messages since the last match ended; None: what comes is this match's, or from a new connection."""
        self._pings: dict[bytes, float] = {}
        """When signs of life were asked for that have not come yet, by what they give back."""
        self._asked = 0
        self._delays: deque[float] = deque(maxlen=DELAYS)
        self._nobody, self._somebody = trio.Event(), trio.Event()
        self._nobody.set()
        self._free_at = -math.inf

    def behind(self, since: float) -> float:
        """The longest, in seconds, that trio's loop was busy at a stretch since a moment of trio's clock."""
        return self._probe.behind(since)

    def stopped(self, since: float) -> float:
        """Return for how many seconds this process was stopped since a moment of trio's clock."""
        return self._probe.stopped(since)

    @property
    def connected(self) -> bool:
        """Whether somebody is at the other end, as far as we know."""
        return self._connection is not None

    @property
    def delay(self) -> float | None:
        """How long a word takes to the bot's ZeroMQ and back, in seconds; None: it is not known yet.

        The shortest of the last minute: that of the network alone. A bot's machine may answer late, never early.
        """
        return min(self._delays, default=None)

    @property
    def ready(self) -> bool:
        """Whether a bot is connected, and the network's delay known, if it can be."""
        connection = self._connection
        if connection is None or self._is_closed():
            return False
        return bool(self._delays) or trio.current_time() - self._came >= PING_SECONDS

    def begin(self, bell: Bell, token: str) -> None:
        """The match begins: a bot that is connected, or connects later, is invited to it."""
        self._bell = bell
        self._token = token
        self._invitation = encode(Invited(token=token, stands=True if self.stands else UNSET))
        if self._connection is not None:
            self._invite(self._connection)

    def free(self) -> bool:
        """Whether a connection would be let in now."""
        closed = self._farewell.is_set() or trio.current_time() < self._free_at
        return self._connection is None and not closed

    async def rest(self) -> None:
        """The match is over; who is connected stays for the next, unless the match has hung up on it."""
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
        """Says something between two matches, to who is connected."""
        if self._connection is not None and not self._is_closed():
            self.send(frame)

    async def told(self) -> None:
        """Returns when all that was said has left, or nobody is connected."""
        while (connection := self._connection) is not None and (connection.leaving or self._outbox):
            self._drained = trio.Event()
            await self._drained.wait()

    async def present(self) -> None:
        """Returns when somebody is connected."""
        await self._somebody.wait()

    async def missing(self, seconds: float) -> None:
        """Returns when nobody has been connected for so long at a stretch."""
        while True:
            await self._nobody.wait()
            with trio.move_on_after(seconds) as waiting:
                await self._somebody.wait()
            if waiting.cancelled_caught:
                return

    async def serve(self, connection: Connection) -> None:
        """Lets a connection in, to its end. Only while the line is `free`."""
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
        """Notices that the line is cut although nobody says so, and measures the network."""
        for _ in range(FIRST_DELAYS):
            self._ping(connection)
            await trio.sleep(FIRST_SECONDS)
        while True:
            await trio.sleep(PING_SECONDS)
            if self._inbox.full():
                connection.heard = trio.current_time()  # It is we who do not listen.
            silent = trio.current_time() - connection.heard
            if silent >= DEAD_SECONDS:
                self._end(connection)
            else:
                self._ping(connection)

    def _ping(self, connection: Connection) -> None:
        """Asks for a sign of life, unless other words are still on their way: those would be measured."""
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
        """Whether a bot says with it that it has come to the match: what it said before was to the last one."""
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
