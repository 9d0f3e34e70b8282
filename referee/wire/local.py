"""Lines of bots on this machine: an AF_UNIX socket a bot, to which it connects a PAIR socket of its own ZeroMQ.

Our end speaks ZeroMQ's protocol itself, over the kernel's sockets. libzmq's would hold the parts of a message that
never ends without any bound, has a thread that hides when bytes came and how much of them there is, and tells by
one edge of one descriptor that something has changed; a decision takes several times as long over it.
"""

import errno
import os
import socket as kernel
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio

from referee.wire.line import MAX_TAKEN_BYTES, Bell
from referee.wire.poll import IN, Poll, open_poll
from referee.wire.socket_line import Connection, SocketLine
from referee.wire.zmtp import Conversation

SOCKET_NAME = "referee.sock"
"""The file in a line's directory that its bot connects to."""
SOCKET_MODE = 0o600
"""Its owner's alone; a sandbox whose bot is another user gives it to that user."""
PASS_RIGHTS = 83
"""An option of Linux's sockets, from 6.16 on, on most kinds of machines: whether descriptors may be sent to it."""
WAITING_CONNECTIONS = 1
"""Connections that wait with the kernel while one is in; further ones are not let in by it."""
HANDSHAKE_SECONDS = 2.0
"""A connection that has not become ZeroMQ's by then is dropped when it keeps another one out. Alone, it never is:
on a machine that is busy, ZeroMQ itself may need longer."""
MAX_CONNECTIONS = 200
"""A bot that has connected this often may keep its connection, but gets no other."""
NO_DESCRIPTORS_SECONDS = 0.1
"""When to try again to let somebody in, where the machine has run out of something. The host is told at once: its
match is void. But a bot may connect between two matches."""
PATH_BYTES = 107
"""The kernel takes no longer path of a socket."""


class LocalLine(SocketLine):
    """See `SocketLine`. Made by `Wire.open_line`.

    A second connection waits with the kernel until the first has gone and all it said has been read.
    """

    def __init__(self, path: Path, bell: Bell, poll: Poll) -> None:
        """Listens at a path.

        Raises:
            OSError: it cannot.
        """
        super().__init__(poll, bell)
        self.path = path
        """The socket's file."""
        self.endpoint = f"ipc://{path}"
        """What a bot that sees the same files connects to."""
        self.connections = 0
        """How many were ever let in."""
        self._nursery: trio.Nursery
        self._listens = False
        """Whether somebody is let in: the owner is there, and there were not too many."""
        self._listener = kernel.socket(kernel.AF_UNIX, kernel.SOCK_STREAM | kernel.SOCK_NONBLOCK)
        try:
            # Received, they were ours to close: a file of gigabytes takes a second to free.
            with suppress(OSError):
                self._listener.setsockopt(kernel.SOL_SOCKET, PASS_RIGHTS, 0)
            self._listener.bind(str(path))
            path.chmod(SOCKET_MODE)
            self._listener.listen(WAITING_CONNECTIONS)
        except BaseException:
            self._listener.close()
            raise

    async def own(self) -> None:
        """Lives until the line is hung up on and its last frames have gone out. Started by `Wire.open_line`."""
        try:
            async with trio.open_nursery() as self._nursery:
                try:
                    self._listen()
                    await self._farewell.wait()
                finally:
                    # Nobody would serve those who connect from now on.
                    self._stop_listening()
                await self._part()
                self._nursery.cancel_scope.cancel()
        finally:
            if self._connection is not None:
                self._end(self._connection)

    async def settle(self) -> None:
        """See `Line`. A connection that waits for another to go is let in, and heard too."""
        while True:
            await super().settle()
            connection = self._connection
            if connection is None:
                if not self._accept():
                    return
            elif self._is_closed() or (not self._hear(connection) and self._connection is connection):
                return  # It has not gone: a second look would have told.

    def _listen(self) -> None:
        self._listens = self._listener.fileno() >= 0
        if self._listens:
            try:
                self._poll.watch(self._listener.fileno(), IN, self._knocked)
            except OSError as error:
                self.machine_is_out_of(error)

    def _stop_listening(self) -> None:
        if self._listens:
            self._listens = False
            self._poll.watch(self._listener.fileno(), 0, self._knocked)
            self._listener.close()

    def _knocked(self, _events: int) -> None:
        """Somebody waits to be let in."""
        connection = self._connection
        if connection is None:
            self._accept()
        elif not connection.conversation.open:
            self._end(connection)
        else:
            self._poll.watch(self._listener.fileno(), 0, self._knocked)

    def _accept(self) -> bool:
        """Lets in a connection that waits; whether there was one."""
        if not self._listens:
            return False
        try:
            socket, _ = self._listener.accept()
        except OSError as error:
            if error.errno not in {errno.EAGAIN, errno.ECONNABORTED, errno.EINTR}:
                self.machine_is_out_of(error)
                self._poll.watch(self._listener.fileno(), 0, self._knocked)
                self._nursery.start_soon(self._listen_again)
            return False
        socket.setblocking(False)
        self.connections += 1
        if self.connections >= MAX_CONNECTIONS:
            self._stop_listening()
            with suppress(OSError):
                self.path.unlink()
        else:
            self._poll.watch(self._listener.fileno(), 0, self._knocked)
        connection = Connection(socket, Conversation(b"", MAX_TAKEN_BYTES))
        self._let_in(connection)
        self._nursery.start_soon(self._hurry, connection)
        return True

    async def _listen_again(self) -> None:
        await trio.sleep(NO_DESCRIPTORS_SECONDS)
        if self._connection is None:
            self._listen()

    async def _hurry(self, connection: Connection) -> None:
        """A connection that does not speak ZeroMQ in time gives its place to the next one."""
        await trio.sleep(HANDSHAKE_SECONDS)
        if self._connection is connection and not connection.conversation.open:
            self._listen()

    def _end(self, connection: Connection) -> None:
        was_in = self._connection is connection
        super()._end(connection)
        if was_in and not self._farewell.is_set():
            self._listen()


class Wire:
    """Opens lines. Made by `open_wire`."""

    def __init__(self, poll: Poll) -> None:
        self._poll = poll

    def behind(self, since: float) -> float:
        """The longest, in seconds, that trio's loop was busy at a stretch since a moment of trio's clock."""
        return self._poll.probe.behind(since)

    def stopped(self, since: float) -> float:
        """Return for how many seconds this process was stopped since a moment of trio's clock."""
        return self._poll.probe.stopped(since)

    def open_line(self, nursery: trio.Nursery, bell: Bell, directory: Path) -> LocalLine:
        """A line bound to `SOCKET_NAME` in a directory that only its bot's sandbox should see.

        Its owner runs in `nursery`, which must close before the wire does. It uses two descriptors while a
        bot is connected.

        Args:
            nursery: Where the owner runs; it ends after `hang_up`, or when cancelled.
            bell: Rung when something comes.
            directory: Exists, and is the caller's to make and remove.

        Raises:
            OSError: No line could be made, through no fault of a bot: the path is too long (107 bytes are
                allowed), descriptors have run out, the directory cannot be written.
        """
        path = directory.absolute() / SOCKET_NAME
        if len(os.fsencode(path)) > PATH_BYTES:
            reason = "too long a path for a socket; set TMPDIR to a shorter one"
            raise OSError(errno.ENAMETOOLONG, reason, str(path))
        try:
            line = LocalLine(path, bell, self._poll)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        nursery.start_soon(line.own, name=f"owner of {path}")
        return line


@asynccontextmanager
async def open_wire() -> AsyncIterator[Wire]:
    """The process's lines, and what they share. Lines must have closed before it does.

    Use::

        async with open_wire() as wire, trio.open_nursery() as nursery:
            line = wire.open_line(nursery, bell, directory)
    """
    async with open_poll() as poll:
        yield Wire(poll)
