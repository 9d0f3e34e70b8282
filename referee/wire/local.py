"""Lines of bots on this machine: an AF_UNIX socket per bot, to which its ZeroMQ connects a PAIR socket.

The arena's end implements ZeroMQ's protocol itself, over the kernel's sockets. libzmq would store the parts of an
endless message without a bound, its thread hides when and how many bytes arrived, and its descriptor is
edge-triggered; and a decision takes several times as long with it.
"""

import errno
import os
import socket as kernel
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio

from referee.wire.line import MAX_TAKEN_BYTES, Bell
from referee.wire.socket_line import IN, LineConnection, Poll, SocketLine, open_poll
from referee.wire.zmtp import Conversation

SOCKET_NAME = "referee.sock"
"""Name of the socket file in a line's directory, to which its bot connects."""
SOCKET_MODE = 0o600
"""Mode of the socket file: access for its owner only. A sandbox whose bot is another user changes the owner."""
PASS_RIGHTS = 83
"""Linux's socket option SO_PASSRIGHTS (6.16 and later; this number on most architectures): whether descriptors may
be sent to the socket."""
WAITING_CONNECTIONS = 1
"""Connections that wait in the kernel while another one is open. The kernel accepts no more."""
HANDSHAKE_SECONDS = 2.0
"""Seconds after which a connection without a ZeroMQ handshake is closed if another one waits. Without one waiting
it stays open: on a busy machine ZeroMQ itself may need longer."""
MAX_CONNECTIONS = 200
"""A bot that has connected this often may keep its connection, but gets no other."""
NO_DESCRIPTORS_SECONDS = 0.1
"""Seconds until a connection is accepted again after the machine ran out of a resource. The host is notified at
once, and voids its match; but a bot may connect between two matches."""
PATH_BYTES = 107
"""The longest path of a socket that the kernel accepts, in bytes."""


class LocalLine(SocketLine):
    """See `SocketLine`. Made by `Wire.open_line`.

    A second connection waits in the kernel until the first is closed and all its bytes have been read.
    """

    def __init__(self, path: Path, bell: Bell, poll: Poll) -> None:
        """Listen at a path.

        Raises:
            OSError: that is not possible.
        """
        super().__init__(poll, bell)
        self.path = path
        """The socket file."""
        self.endpoint = f"ipc://{path}"
        """ZeroMQ's endpoint for a bot that sees the same file system."""
        self.connections = 0
        """Number of connections accepted so far."""
        self._nursery: trio.Nursery
        self._listens = False
        """True if connections are accepted: `own` runs, and there were not too many."""
        self._listener = kernel.socket(kernel.AF_UNIX, kernel.SOCK_STREAM | kernel.SOCK_NONBLOCK)
        try:
            # A received descriptor would be closed here: to free a file of gigabytes takes a second.
            with suppress(OSError):
                self._listener.setsockopt(kernel.SOL_SOCKET, PASS_RIGHTS, 0)
            self._listener.bind(str(path))
            path.chmod(SOCKET_MODE)
            self._listener.listen(WAITING_CONNECTIONS)
        except BaseException:
            self._listener.close()
            raise

    async def own(self) -> None:
        """Serve the line until it is closed and its last frames were sent. Started by `Wire.open_line`."""
        try:
            async with trio.open_nursery() as self._nursery:
                try:
                    self._listen()
                    await self._farewell.wait()
                finally:
                    # No task would serve later connections.
                    self._stop_listening()
                await self._part()
                self._nursery.cancel_scope.cancel()
        finally:
            if self._connection is not None:
                self._end(self._connection)

    async def settle(self) -> None:
        """See `Line`. A connection that waits behind a closed one is accepted and read too."""
        while True:
            await super().settle()
            connection = self._connection
            if connection is None:
                if not self._accept():
                    return
            elif self._is_closed() or (not self._hear(connection) and self._connection is connection):
                return  # The connection is still open: a second read would have closed it.

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
        """Handle a connection that waits to be accepted."""
        connection = self._connection
        if connection is None:
            self._accept()
        elif not connection.conversation.open:
            self._end(connection)
        else:
            self._poll.watch(self._listener.fileno(), 0, self._knocked)

    def _accept(self) -> bool:
        """Accept a waiting connection; return whether there was one."""
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
        connection = LineConnection(socket, Conversation(b"", MAX_TAKEN_BYTES))
        self._let_in(connection)
        self._nursery.start_soon(self._hurry, connection)
        return True

    async def _listen_again(self) -> None:
        await trio.sleep(NO_DESCRIPTORS_SECONDS)
        if self._connection is None:
            self._listen()

    async def _hurry(self, connection: LineConnection) -> None:
        """Accept the next connection if this one has not completed ZeroMQ's handshake in time."""
        await trio.sleep(HANDSHAKE_SECONDS)
        if self._connection is connection and not connection.conversation.open:
            self._listen()

    def _end(self, connection: LineConnection) -> None:
        was_in = self._connection is connection
        super()._end(connection)
        if was_in and not self._farewell.is_set():
            self._listen()


class Wire:
    """Opens lines for bots on this machine. Made by `open_wire`."""

    def __init__(self, poll: Poll) -> None:
        self._poll = poll

    def behind(self, since: float) -> float:
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        return self._poll.probe.behind(since)

    def stopped(self, since: float) -> float:
        """Return for how many seconds this process was stopped since a time on trio's clock."""
        return self._poll.probe.stopped(since)

    def open_line(self, nursery: trio.Nursery, bell: Bell, directory: Path) -> LocalLine:
        """Open a line bound to `SOCKET_NAME` in a directory that only its bot's sandbox should see.

        It uses two descriptors while a bot is connected.

        Args:
            nursery: for the line's task, which ends after `hang_up`. It must close before the wire does.
            bell: rung when an item arrives.
            directory: an existing directory. The caller removes it.

        Raises:
            OSError: no line could be opened, through no fault of a bot: the path is too long (107 bytes are
                allowed), descriptors have run out, or the directory is not writable.
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
    """Open a wire for lines. They must have closed before it does.

    Use::

        async with open_wire() as wire, trio.open_nursery() as nursery:
            line = wire.open_line(nursery, bell, directory)
    """
    async with open_poll() as poll:
        yield Wire(poll)
