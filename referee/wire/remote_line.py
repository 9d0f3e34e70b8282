"""The line of a bot on its author's own machine: TCP, sealed by its conversation.

`remote` finds out who is at the other end.
"""

import math

import trio

from protocol.codec import encode
from protocol.messages import Invited
from referee.wire.line import Bell
from referee.wire.poll import Poll
from referee.wire.socket_line import Connection, SocketLine
from referee.wire.zmtp import PING

PING_SECONDS = 2.0
"""After so long without a byte, the other end is asked for a sign of life: its ZeroMQ gives it by itself."""
DEAD_SECONDS = 8.0
"""After so long without one, the line is cut: a network that went away does not say so."""
CUT_SECONDS = 1.0
"""A bot that was cut off for what it said stays out for so long: else it could say it all anew at once."""


class RemoteLine(SocketLine):
    """See `SocketLine`. While one connection lives, another one does not get in, whatever it knows.

    `begin` gives it to a match; until then, who is connected waits, and may say nothing.
    """

    def __init__(self, poll: Poll) -> None:
        super().__init__(poll)
        self._invitation = b""
        self._nobody, self._somebody = trio.Event(), trio.Event()
        self._nobody.set()
        self._free_at = -math.inf

    def behind(self, since: float) -> float:
        """The longest, in seconds, that trio's loop was busy at a stretch since a moment of trio's clock."""
        return self._probe.behind(since)

    @property
    def connected(self) -> bool:
        """Whether somebody is at the other end, as far as we know."""
        return self._connection is not None

    def begin(self, bell: Bell, token: str) -> None:
        """The match begins: a bot that is connected, or connects later, is invited to it."""
        self._bell = bell
        self._invitation = encode(Invited(token=token))
        if self._connection is not None:
            self._invite(self._connection)

    def free(self) -> bool:
        """Whether a connection would be let in now."""
        closed = self._farewell.is_set() or trio.current_time() < self._free_at
        return self._connection is None and not closed

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
            self._nobody.set()
            self._somebody = trio.Event()

    async def _keep_alive(self, connection: Connection) -> None:
        """Notices that the line is cut although nobody says so."""
        while True:
            await trio.sleep(PING_SECONDS)
            if self._inbox.full():
                connection.heard = trio.current_time()  # It is we who do not listen.
            silent = trio.current_time() - connection.heard
            if silent >= DEAD_SECONDS:
                self._end(connection)
            elif silent >= PING_SECONDS and not connection.leaving:
                connection.leaving += connection.conversation.framed_command(PING)
                self._send(connection)

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
