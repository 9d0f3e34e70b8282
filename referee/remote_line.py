"""The line of a bot on its author's own machine: TCP, moved by trio itself, sealed by its conversation.

Who is at the other end is `remote_wire`'s to find out. Nothing of libzmq is between: what has come is with the
kernel until it is read here, so that what is too much stays with its sender, and all that had arrived can be read
at any moment.
"""

import math
import socket as kernel
from collections import deque
from collections.abc import Sequence
from contextlib import suppress

import trio

from protocol.codec import encode
from protocol.messages import Invited
from referee.inbox import Inbox
from referee.line import (
    FAREWELL_SECONDS,
    MUCH,
    OUTBOX_BYTES,
    OUTBOX_FRAMES,
    Bell,
    Incoming,
    Line,
    Outgoing,
)
from referee.loop_probe import LoopProbe
from referee.remote_connection import Connection
from referee.zmtp import PING, NotSpoken

READ_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
"""Frames are sealed together, up to this size, when the kernel has taken those before."""
PING_SECONDS = 2.0
"""After so long without a byte, the other end is asked for a sign of life: its ZeroMQ gives it by itself."""
CUT_SECONDS = 1.0
"""A bot that was cut off for what it said stays out for so long: else it could say it all anew at once."""
DEAD_SECONDS = 8.0
"""After so long without one, the line is cut: a network that went away does not say so."""


class RemoteLine(Line):
    """See `Line`. One connection at a time: while it lives, another one does not get in, whatever it knows.

    `begin` gives it to a match; until then, who is connected waits, and may say nothing.
    """

    def __init__(self, probe: LoopProbe) -> None:
        self._probe = probe
        self._bell: Bell | None = None
        self._invitation = b""
        self._connection: Connection | None = None
        self._nobody, self._somebody = trio.Event(), trio.Event()
        self._nobody.set()
        self._free_at = -math.inf

        self._outbox: deque[Outgoing] = deque()
        self._outbox_bytes = 0
        self._not_reading = False
        self._farewell = trio.Event()
        self._blocked, self._drained = trio.Event(), trio.Event()

        self._inbox = Inbox()
        self._room = trio.Event()
        self._since = -math.inf  # what is found next came later than this

    def behind(self, since: float) -> float:
        """The longest, in seconds, that trio's loop was busy at a stretch since a moment of trio's clock."""
        return self._probe.behind(since)

    @property
    def connected(self) -> bool:
        """Whether somebody is at the other end, as far as we know."""
        return self._connection is not None

    def begin(self, bell: Bell, token: str) -> None:
        """The match begins: whoever is there, or comes later, is invited to it."""
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
        self._connection = connection
        self._somebody.set()
        self._nobody = trio.Event()
        self._since = self._probe.came
        try:
            with connection.over:
                async with trio.open_nursery() as nursery:
                    if self._bell is not None:
                        self._invite(connection)
                    self._send(connection)
                    nursery.start_soon(self._read, connection)
                    nursery.start_soon(self._write, connection)
                    nursery.start_soon(self._watch, connection)
                    nursery.start_soon(self._part, connection)
        finally:
            self._connection = None
            self._drop(connection)
            self._nobody.set()
            self._somebody = trio.Event()

    # What the host does.

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`. Nothing is kept for a bot that is not there: when it is back, `told` has it."""
        for frame, timed in frames:
            if len(self._outbox) >= OUTBOX_FRAMES or self._outbox_bytes >= OUTBOX_BYTES:
                self._give_up()
            if self._connection is None or self._not_reading or self._farewell.is_set():
                self._inbox.handed_over(int(timed))
            else:
                self._outbox.append((frame, timed))
                self._outbox_bytes += len(frame)
        if self._connection is not None:
            self._send(self._connection)

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        item = self._inbox.take()
        if not self._inbox.full():
            self._room.set()
        return item

    def has_more(self) -> bool:
        """See `Line`."""
        return self._inbox.has_more()

    async def settle(self) -> None:
        """See `Line`: what had reached this machine is with the kernel, and is read at once."""
        while self._connection is not None and self._hear(self._connection):
            await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()

    def forget_unsent(self) -> None:
        """See `Line`."""
        self._inbox.handed_over(sum(timed for _, timed in self._outbox))
        self._outbox.clear()
        self._outbox_bytes = 0

    def hang_up(self) -> None:
        """See `Line`. Tries for `FAREWELL_SECONDS`."""
        self._farewell.set()

    # The tasks of a connection.

    async def _read(self, connection: Connection) -> None:
        while True:
            if self._inbox.full():
                self._room = trio.Event()
                await self._room.wait()
            else:
                await trio.lowlevel.wait_readable(connection.socket)
            # With room again, there may be more in what was read already, and nothing in the kernel.
            while self._hear(connection):
                await trio.lowlevel.checkpoint()

    async def _write(self, connection: Connection) -> None:
        """What the kernel did not take at once."""
        while True:
            await self._blocked.wait()
            self._blocked = trio.Event()
            await trio.lowlevel.wait_writable(connection.socket)
            self._send(connection)

    async def _watch(self, connection: Connection) -> None:
        """Notices that the line is cut although nobody says so."""
        while True:
            await trio.sleep(PING_SECONDS)
            if self._inbox.full():
                connection.heard = trio.current_time()  # It is we who do not listen.
            silent = trio.current_time() - connection.heard
            if silent >= DEAD_SECONDS:
                connection.end()
            elif silent >= PING_SECONDS and not connection.leaving:
                connection.leaving += connection.conversation.framed_command(PING)
                self._send(connection)

    async def _part(self, connection: Connection) -> None:
        """Ends it in order: had we not read what it says, the kernel would take back what it has not read."""
        await self._farewell.wait()
        with trio.move_on_after(FAREWELL_SECONDS):
            while connection.leaving or self._outbox:
                self._drained = trio.Event()
                await self._drained.wait()
            with suppress(OSError):
                connection.socket.shutdown(kernel.SHUT_WR)
            await trio.sleep_forever()  # `_read` hears the other end's end
        connection.end()

    # Reading. None of it waits.

    def _hear(self, connection: Connection) -> bool:
        """Takes what has come; whether it stopped only to let others run."""
        began = trio.current_time()
        moves, more = 0, True
        until = self._probe.turn_ends(began)
        try:
            while more and not self._inbox.full() and not (moves and trio.current_time() >= until):
                more = self._take(connection) or self._read_more(connection)
                moves += 1
        except NotSpoken:
            self._free_at = trio.current_time() + CUT_SECONDS
            connection.end()
            more = False
        except OSError:
            connection.end()
            more = False
        now = trio.current_time()
        if moves >= MUCH:
            self.took += now - began
        # What there is more of may have been there when this began.
        self._since = max(self._since, began) if more else now
        return more and not self._inbox.full()

    def _read_more(self, connection: Connection) -> bool:
        """Reads what has come; false where nothing has."""
        try:
            said = connection.socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        connection.heard = trio.current_time()
        if not said:
            connection.end()
            return False
        connection.conversation.hear(said, connection.heard)
        return True

    def _take(self, connection: Connection) -> bool:
        """Takes what is next of what was read; False where more has to be read for it."""
        conversation = connection.conversation
        frame = conversation.next()
        if frame is None:
            self._answer(connection)
            return conversation.unfinished
        if self._bell is None:
            raise NotSpoken("something before it was invited")
        if not self._farewell.is_set() and not self._not_reading:
            self._inbox.arrived(max(self._since, self._probe.came), frame, conversation.size)
            self._ring()
        return True

    def _answer(self, connection: Connection) -> None:
        """Says what ZeroMQ says for itself. Who asks for signs of life and does not read them gets none."""
        answer = connection.conversation.answer()
        if answer and len(connection.leaving) < SEND_BYTES:
            connection.leaving += answer
            self._send(connection)

    # Sending. None of it waits.

    def _invite(self, connection: Connection) -> None:
        connection.leaving += connection.conversation.framed(self._invitation)
        self._send(connection)

    def _send(self, connection: Connection) -> None:
        """Gives the kernel as much as it takes."""
        try:
            while self._fill(connection):
                del connection.leaving[: connection.socket.send(connection.leaving)]
            self._drained.set()
        except BlockingIOError:
            self._blocked.set()
        except OSError:
            connection.end()

    def _fill(self, connection: Connection) -> bool:
        """Seals what is next, when the kernel has all that was before; false when there is nothing."""
        if connection.leaving:
            return True
        self._inbox.handed_over(connection.leaving_timed)
        connection.leaving_timed = 0
        while self._outbox and len(connection.leaving) < SEND_BYTES:
            frame, timed = self._outbox.popleft()
            self._outbox_bytes -= len(frame)
            connection.leaving += connection.conversation.framed(frame)
            connection.leaving_timed += timed
        return bool(connection.leaving)

    def _drop(self, connection: Connection) -> None:
        """A connection is over, and what was for it."""
        self._inbox.handed_over(connection.leaving_timed)
        connection.leaving_timed = 0
        self.forget_unsent()

    def _give_up(self) -> None:
        if not self._not_reading:
            self.forget_unsent()
            self._not_reading = True
            self._inbox.not_reading()
            self._ring()

    def _ring(self) -> None:
        if self._bell is not None:
            self._bell.ring()
