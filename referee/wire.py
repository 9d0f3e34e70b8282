"""ZeroMQ under trio: one endpoint a bot, to which it connects a PAIR socket. The only file that imports zmq.

On our side each is a STREAM socket: libzmq listens, moves bytes both ways, and holds a bounded number of them;
what they mean is read by `zmtp`. A PAIR socket of libzmq's would hold the parts of a message that never ends,
without any bound, and takes frames one by one only; a decision takes as long as over one.

The task that owns such a socket, and all that is sent and taken over it, is `wire_line`.

Why our own: zmq-anyio 0.4.1 passes the same stress, but its round trip took 2.5 times as long as this one's
(163 µs, 66 and a bare 42 on one machine), its bursts 2.6 times; it does not tell when a frame arrived, and a
receive that is broken off loses the frame that then comes for it (4,500 of 5,000 in a test of that).
"""

import errno
import math
import os
import socket as kernel
import struct
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, closing, suppress
from pathlib import Path

import trio
import zmq

from referee.line import Bell
from referee.loop_probe import LoopProbe
from referee.run_delay import RunDelay, io_threads
from referee.wire_line import ZmqLine, endpoint

SOCKET_NAME = "referee.sock"
"""The file in a line's directory that its bot connects to."""
SOCKET_MODE = 0o600
"""Its owner's alone; a sandbox whose bot is another user gives it to that user."""
QUEUED_READS = 64
"""How many reads from the kernel libzmq may hold of a connection, each of at most 8 KiB."""
QUEUED_SENDS = 64
"""How many of our sends libzmq may hold for a bot, beside what the kernel buffers."""
WAITING_TO_CONNECT = 100
PASS_RIGHTS = 83
"""An option of Linux's sockets, from 6.16 on, on most kinds of machines: whether descriptors may be sent to it."""
WAITED_AGAIN_SECONDS = 0.001
"""How old what the kernel has counted for libzmq's thread may be."""

# Plain numbers: the flags' own arithmetic takes longer than the calls they are for.
_EVENTS = zmq.EVENTS
_CAN_TAKE = int(zmq.POLLIN)
_AT_ONCE = int(zmq.NOBLOCK)
_NAME = int(zmq.NOBLOCK | zmq.SNDMORE)


def _has_come(socket: "zmq.Socket[bytes]") -> bool:
    return bool(socket.get(_EVENTS) & _CAN_TAKE)  # type: ignore[operator]  # of this option it is a number


class ZmqStream:
    """A STREAM socket: see `wire_line.Stream`."""

    def __init__(self, socket: "zmq.Socket[bytes]") -> None:
        socket.set(zmq.STREAM_NOTIFY, 0)
        socket.set(zmq.RCVHWM, QUEUED_READS)
        socket.set(zmq.SNDHWM, QUEUED_SENDS)
        self.descriptor: int = socket.FD
        self._socket = socket

    def has_come(self) -> bool:
        """See `Stream`."""
        return _has_come(self._socket)

    def take(self) -> bytes:
        """See `Stream`."""
        return self._socket.recv(_AT_ONCE)

    def take_with_descriptor(self) -> tuple[int, bytes]:
        """See `Stream`."""
        said = self._socket.recv(_AT_ONCE, copy=False)
        return said.get(zmq.SRCFD), said.bytes

    def give(self, name: bytes, data: bytes) -> bool:
        """See `Stream`."""
        try:
            self._socket.send(name, _NAME)
        except zmq.ZMQError:
            return False
        self._socket.send(data, _AT_ONCE)
        return True

    def close(self, linger: float) -> None:
        """See `Stream`. Libzmq reports nothing more of it."""
        self._socket.disable_monitor()
        self._socket.close(linger=round(linger * 1000))


class ZmqNews:
    """What libzmq reports of a STREAM socket's connections: see `wire_door.News`."""

    def __init__(self, news: "zmq.Socket[bytes]", of: "zmq.Socket[bytes]") -> None:
        # Unbounded, but read at every tick: with a bound, libzmq's thread would wait here, holding a lock.
        news.set(zmq.RCVHWM, 0)
        address = f"inproc://door-{of.FD}"
        of.monitor(address, zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        news.connect(address)
        self.descriptor: int = news.FD
        self._news = news

    def next(self) -> tuple[bool, int] | None:
        """See `News`."""
        if not _has_come(self._news):
            return None
        event, descriptor = struct.unpack("=Hi", self._news.recv_multipart(_AT_ONCE)[0])
        return event == zmq.EVENT_ACCEPTED, descriptor

    def close(self) -> None:
        """See `News`."""
        self._news.close()


class Sounding:
    """Proves how far libzmq's I/O thread has got, by sending a frame of the referee's own through it.

    That thread moves bytes from the kernel to the sockets. A frame sent through it comes out after whatever the
    kernel had for other sockets when it was sent, up to one read of each.
    """

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", probe: LoopProbe, directory: Path) -> None:
        self.probe = probe
        self._asked: list[trio.Event] = []
        self._bell = Bell()
        self._lag = 0.0
        place = endpoint(directory / "sounding.sock")
        self._near = context.socket(zmq.PAIR)
        self._near.bind(place)
        self._far = context.socket(zmq.PAIR)
        self._far.connect(place)

    async def take(self) -> float:
        """See `wire_line.Sounding`."""
        done = trio.Event()
        self._asked.append(done)
        self._bell.ring()
        await done.wait()
        return self._lag

    async def run(self) -> None:
        """Owns both sockets. One passage serves all who ask meanwhile for the next."""
        descriptor = self._near.FD
        try:
            while True:
                await self._bell.wait()
                asked, self._asked = self._asked, []
                sent = came = trio.current_time()
                self._far.send(b"", _AT_ONCE)
                while not _has_come(self._near):
                    await trio.lowlevel.wait_readable(descriptor)
                    came = max(sent, self.probe.came)
                self._near.recv(_AT_ONCE)
                self._lag = came - sent
                for done in asked:
                    done.set()
        finally:
            self._near.close(linger=0)
            self._far.close(linger=0)


class Wire:
    """Opens lines. Made by `open_wire`, one a process."""

    def __init__(self, context: "zmq.Context[zmq.Socket[bytes]]", sounding: Sounding, run_delay: RunDelay) -> None:
        """`run_delay`: of the thread that libzmq has for this context."""
        self._context = context
        self._sounding = sounding
        self._run_delay = run_delay
        self._waited, self._waited_at = 0, -math.inf

    def waited(self) -> int:
        """How long, in microseconds, libzmq's thread was ready to run and did not: what it carries was late."""
        now = trio.current_time()
        if now - self._waited_at >= WAITED_AGAIN_SECONDS:
            self._waited_at, self._waited = now, round(self._run_delay.seconds() * 1e6)
        return self._waited

    def behind(self, since: float) -> float:
        """The longest, in seconds, that trio's loop was busy at a stretch since a moment of trio's clock."""
        return self._sounding.probe.behind(since)

    def open_line(self, nursery: trio.Nursery, bell: Bell, directory: Path) -> ZmqLine:
        """A line bound to `SOCKET_NAME` in a directory that only its bot's sandbox should see.

        Its owner runs in `nursery`, which must close before the wire does. It uses five descriptors while a
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
        try:
            with ExitStack() as undo:
                socket = undo.enter_context(self._socket(zmq.STREAM))
                news = undo.enter_context(self._socket(zmq.PAIR))
                stream = ZmqStream(socket)
                line = ZmqLine(path, bell, stream, ZmqNews(news, socket), self._sounding)
                listener = undo.enter_context(_listener(path))
                path.chmod(SOCKET_MODE)
                socket.set(zmq.USE_FD, listener.fileno())
                socket.bind(line.endpoint)
                listener.detach()
                undo.pop_all()
        except (OSError, zmq.ZMQError) as error:
            # Of a path that is too long Python says so itself, without a number.
            number = error.errno or errno.ENAMETOOLONG
            raise OSError(number, error.strerror or os.strerror(number), str(path)) from None
        nursery.start_soon(line.own, name=f"owner of {path}")
        return line

    def _socket(self, kind: int) -> "zmq.Socket[bytes]":
        socket = self._context.socket(kind)
        socket.set(zmq.LINGER, 0)
        return socket


def _listener(path: Path) -> kernel.socket:
    """Listens at a file. Who connects can pass no descriptors on, where the kernel knows how to refuse them.

    Received, they would be libzmq's to close: a file of gigabytes that nobody else holds takes a second to free.
    """
    listener = kernel.socket(kernel.AF_UNIX)
    try:
        with suppress(OSError):
            listener.setsockopt(kernel.SOL_SOCKET, PASS_RIGHTS, 0)
        listener.bind(str(path))
        listener.listen(WAITING_TO_CONNECT)
    except BaseException:
        listener.close()
        raise
    return listener


@asynccontextmanager
async def open_wire() -> AsyncIterator[Wire]:
    """The process's one ZeroMQ context, and what its lines share. Lines must have closed before it does.

    Closing waits up to `FAREWELL_SECONDS` for the last frames of lines that were hung up on::

        async with open_wire() as wire, trio.open_nursery() as nursery:
            line = wire.open_line(nursery, bell, directory)
    """
    probe = LoopProbe()
    others = io_threads()
    context = zmq.Context()
    trio.lowlevel.add_instrument(probe)
    try:
        context.set(zmq.MAX_SOCKETS, context.get(zmq.SOCKET_LIMIT))
        with tempfile.TemporaryDirectory(prefix="wire-") as directory:
            async with trio.open_nursery() as nursery:
                sounding = Sounding(context, probe, Path(directory))
                nursery.start_soon(sounding.run)
                await sounding.take()
                with closing(RunDelay(max(io_threads() - others, default=-1))) as run_delay:
                    yield Wire(context, sounding, run_delay)
                nursery.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(probe)
        probe.close()
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(context.term)
