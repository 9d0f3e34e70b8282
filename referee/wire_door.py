"""Who may be connected to a line over ZeroMQ: one bot at a time, and none that is in another's way."""

import math
import os
import socket as kernel
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import trio

from referee.line import MAX_TAKEN_BYTES
from referee.zmtp import Conversation

HANDSHAKE_MS = 2_000
"""A connection that has not become ZeroMQ's by then is dropped when it keeps another one out. Alone, it never is:
on a machine that is busy, ZeroMQ itself may need longer."""
WAITING_CONNECTIONS = 1
"""How many may be open beside the one that is let in: until they say something, if that one has not ended."""
MAX_CONNECTIONS = 200
"""A bot that has connected this often may keep its connection, but gets no other. Each may cost a descriptor."""


class News(Protocol):
    """What libzmq reports of the connections of one endpoint."""

    descriptor: int
    """Becomes readable when there is something to hear, once."""

    def next(self) -> tuple[bool, int] | None:
        """Whether a connection was accepted, or else has been closed, and its descriptor; None: nothing more."""

    def close(self) -> None:
        """Only after libzmq has stopped reporting: it would wait for ever for somebody to hear it."""


class Peer:
    """One connection that was let in, and what is said on it."""

    __slots__ = ("conversation", "descriptor", "ended", "left", "name")

    def __init__(self, name: bytes, descriptor: int, said: bytes) -> None:
        """`said`: what it has said so far."""
        self.name = name
        """What libzmq calls it."""
        self.descriptor = descriptor
        """Libzmq's own: by the time we use it, the number may mean another file."""
        self.conversation: Conversation | None = Conversation(said, MAX_TAKEN_BYTES)
        """None: it said what no ZeroMQ says, and is being disconnected. What it still says is not read."""
        self.ended = False
        """Libzmq has closed it; what it said last may still be on its way to the socket."""
        self.left = False
        """It has ended, and all that it said is with the socket."""


class Door:
    """Lets one connection at a time into a line, and disconnects the others: their ZeroMQ then tries again.

    What a connection said that is then cut off is lost, and a bot may take its end for the referee's. So one that
    is alone is never cut off for being slow.
    """

    def __init__(self, path: Path, news: News, ended: Callable[[int], None]) -> None:
        """`path`: of the socket's file. `ended`: told the descriptor of a connection that libzmq has closed."""
        self._path = path
        self._news = news
        self._tell_ended = ended
        self._accepted = 0
        self.open: dict[int, float] = {}
        """Descriptors, and by when each must have become ZeroMQ's if another one wants in."""

    async def keep(self) -> None:
        """Hears what libzmq reports, until it is cancelled."""
        while True:
            self.catch_up()
            await trio.lowlevel.wait_readable(self._news.descriptor)

    def catch_up(self) -> None:
        """Hears all that libzmq has reported. Does not wait: any task may call it while `keep` sleeps."""
        while (told := self._news.next()) is not None:
            accepted, descriptor = told
            if accepted:
                self._hear_accepted(descriptor)
            else:
                self.open.pop(descriptor, None)
                self._tell_ended(descriptor)

    def greeted(self, descriptor: int) -> None:
        """This connection has become ZeroMQ's."""
        if descriptor in self.open:
            self.open[descriptor] = math.inf

    def refuse(self, descriptor: int) -> None:
        """Disconnects one for which there is no room, and those that hold the room in vain: it will try again."""
        now = trio.current_time()
        self.disconnect(descriptor)
        for late in [each for each, by in self.open.items() if by <= now]:
            self.disconnect(late)

    def disconnect(self, descriptor: int) -> None:
        """Shuts a connection down under libzmq. By now the number may mean another file.

        Libzmq notices, and closes its end, unless it had already stopped listening to that connection: then it
        does so when there is room for what it has said, or with the line.
        """
        if descriptor not in self.open:
            return  # It was gone before what it said was read.
        self.open[descriptor] = math.inf
        with suppress(OSError), kernel.socket(fileno=os.dup(descriptor)) as connection:
            if connection.getsockname() == str(self._path):
                connection.shutdown(kernel.SHUT_RDWR)

    def close(self) -> None:
        """Only after libzmq has stopped reporting."""
        self._news.close()
        del self._tell_ended  # Its line knows its door: memory is free at once where there is no circle.

    def _hear_accepted(self, descriptor: int) -> None:
        self._accepted += 1
        if self._accepted >= MAX_CONNECTIONS:
            # Unbinding would end the connection that there is, too.
            with suppress(OSError):
                self._path.unlink()
        self.open[descriptor] = trio.current_time() + HANDSHAKE_MS / 1000
        if len(self.open) > 1 + WAITING_CONNECTIONS:
            self.refuse(descriptor)
