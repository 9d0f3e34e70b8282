"""ZeroMQ under trio: one endpoint a bot, to which it connects a PAIR socket. The only file that imports zmq.

On our side each is a STREAM socket: libzmq listens, moves bytes both ways, and holds a bounded number of them;
what they mean is read by `zmtp`. A PAIR socket of libzmq's would hold the parts of a message that never ends,
without any bound, and takes frames one by one only; a decision takes as long as over one.

A ZeroMQ socket shows trio one descriptor, which becomes readable when *something* changed, once; any call on the
socket may use that up. So one task owns each socket: it alone waits for it, asks for the socket's EVENTS after its
last call, and sleeps only when they hold nothing it wants. Whoever makes room wakes that task; `send`, which does
not wait, may use the socket in the owner's place while it sleeps, and then asks for EVENTS as the owner would.

Why our own: zmq-anyio 0.4.1 passes the same stress, but its round trip took 2.5 times as long as this one's
(163 µs, 66 and a bare 42 on one machine), its bursts 2.6 times; it does not tell when a frame arrived, and a
receive that is broken off loses the frame that then comes for it (4,500 of 5,000 in a test of that).
"""

import math
import os
import socket as kernel
import struct
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, nullcontext, suppress
from pathlib import Path

import trio
import zmq

from referee.line import (
    FAREWELL_SECONDS,
    INBOX_BYTES,
    INBOX_FRAMES,
    MAX_TAKEN_BYTES,
    OUTBOX_BYTES,
    OUTBOX_FRAMES,
    Arrived,
    Bell,
    HandedOver,
    Incoming,
    Line,
    NotReading,
    Outgoing,
)
from referee.loop_probe import LoopProbe
from referee.run_delay import RunDelay, io_threads
from referee.zmtp import Conversation, NotSpoken, framed

SOCKET_NAME = "referee.sock"
"""The file in a line's directory that its bot connects to."""
QUEUED_READS = 64
"""How many reads from the kernel libzmq may hold of a connection, each of at most 8 KiB."""
SEND_BYTES = 64 * 1024
"""Frames are given to libzmq together, up to this size: it wakes its thread, and the bot, for each call."""
QUEUED_SENDS = 64
"""How many such libzmq may hold for a bot, beside what the kernel buffers."""
RETRY_SECONDS = 0.005
"""When to try again to send to a bot for which libzmq holds all it may: it does not say when it has room."""
HANDSHAKE_MS = 2_000
"""A connection that has not become ZeroMQ's by then is dropped when it keeps another one out. Alone, it never is:
on a machine that is busy, ZeroMQ itself may need longer."""
WAITING_CONNECTIONS = 1
"""How many may be open beside the one that is let in: until they say something, if that one has not ended."""
MAX_CONNECTIONS = 200
"""A bot that has connected this often may keep its connection, but gets no other. Each may cost a descriptor."""
QUIET_PASSAGES = 2
"""Settled is a line that got nothing from this many passages of libzmq's thread: a large frame takes it two."""
SETTLE_READS = 128
"""More than libzmq and the kernel can hold of what a bot said before the line began to settle."""
WAITED_AGAIN_SECONDS = 0.001
"""How old what the kernel has counted for libzmq's thread may be."""
PASS_FRAMES = 256
"""Frames an owner moves before it lets other tasks run."""


def _events(socket: "zmq.Socket[bytes]") -> int:
    return socket.get(_EVENTS)  # type: ignore[return-value]  # of this option it is a number


# Plain numbers: the flags' own arithmetic takes longer than the calls they are for.
_EVENTS = zmq.EVENTS
_CAN_TAKE = int(zmq.POLLIN)
_AT_ONCE = int(zmq.NOBLOCK)
_NAME = int(zmq.NOBLOCK | zmq.SNDMORE)


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
        endpoint = f"ipc://{directory / 'sounding.sock'}"
        self._near = context.socket(zmq.PAIR)
        self._near.bind(endpoint)
        self._far = context.socket(zmq.PAIR)
        self._far.connect(endpoint)

    async def take(self) -> float:
        """Returns after one passage that began after the call, with the seconds it took."""
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
                while not _events(self._near) & _CAN_TAKE:
                    await trio.lowlevel.wait_readable(descriptor)
                    came = max(sent, self.probe.came)
                self._near.recv(_AT_ONCE)
                self._lag = came - sent
                for done in asked:
                    done.set()
        finally:
            self._near.close(linger=0)
            self._far.close(linger=0)


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

    def __init__(self, line: "ZmqLine", socket: "zmq.Socket[bytes]", news: "zmq.Socket[bytes]") -> None:
        self._line = line
        self._accepted = 0
        self.open: dict[int, float] = {}
        """Descriptors, and by when each must have become ZeroMQ's if another one wants in."""
        self._news = news
        # Unbounded, but read at every tick: with a bound, libzmq's thread would wait here, holding a lock.
        self._news.set(zmq.RCVHWM, 0)
        address = f"inproc://door-{socket.FD}"
        socket.monitor(address, zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        self._news.connect(address)

    async def keep(self) -> None:
        """Owns the socket on which libzmq reports the line's connections."""
        descriptor = self._news.FD
        while True:
            self.catch_up()
            await trio.lowlevel.wait_readable(descriptor)

    def catch_up(self) -> None:
        """Hears all that libzmq has reported. Does not wait: any task may call it while `keep` sleeps."""
        while _events(self._news) & _CAN_TAKE:
            event, value = struct.unpack("=Hi", self._news.recv_multipart(_AT_ONCE)[0])
            if event == zmq.EVENT_ACCEPTED:
                self._hear_accepted(value)
            else:
                self.open.pop(value, None)
                self._line.connection_ended(value)

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
            if connection.getsockname() == str(self._line.path):
                connection.shutdown(kernel.SHUT_RDWR)

    def close(self) -> None:
        """Only after libzmq has stopped reporting: it would wait for ever for somebody to hear it."""
        self._news.close()
        del self._line  # It knows its door: memory is free at once where there is no circle.

    def _hear_accepted(self, descriptor: int) -> None:
        self._accepted += 1
        if self._accepted >= MAX_CONNECTIONS:
            # Unbinding would end the connection that there is, too.
            with suppress(OSError):
                self._line.path.unlink()
        self.open[descriptor] = trio.current_time() + HANDSHAKE_MS / 1000
        if len(self.open) > 1 + WAITING_CONNECTIONS:
            self.refuse(descriptor)


class ZmqLine(Line):
    """A line over one bound socket. Made by `Wire.open_line`.

    One bot is connected at a time. A second one gets in once the first has gone and all it said has been read;
    until then it is disconnected whenever it tries. A message of several parts is no message of the protocol: it
    is handed up as one frame that says so and does not decode; nothing is kept of its parts. When the inbox is
    full, what came stays with libzmq, then the kernel, then the sender, and counts as arrived when there is room
    again. What is in the kernel is lost if its sender leaves before.

    Every `send` with `timed` leads to exactly one `HandedOver`, in order, whatever becomes of the frame. Stamps
    never go backwards.
    """

    def __init__(
        self, socket: "zmq.Socket[bytes]", news: "zmq.Socket[bytes]", path: Path, bell: Bell, sounding: Sounding
    ) -> None:
        self.path = path
        """The socket's file."""
        self.endpoint = f"ipc://{path}"
        """What a bot that sees the same files connects to."""
        self._socket = socket
        self._descriptor: int = socket.FD
        self._door = Door(self, socket, news)
        self._peer: Peer | None = None
        self._next: Peer | None = None  # comes in when all that the one before it said has been read
        self._nursery: trio.Nursery
        self._bell = bell
        self._probe = sounding.probe
        self._sounding = sounding

        self._outbox: deque[bytes] = deque()
        self._outbox_bytes = 0
        self._queued = 0  # frames ever put into the outbox
        self._timed: deque[int] = deque()  # of those, which still owe a HandedOver
        self._not_reading = False
        self._hung_up = False
        self._farewell = math.inf  # when to stop trying to get the outbox out

        self._inbox: deque[Incoming] = deque()
        self._held_frames = 0
        self._held_bytes = 0
        self._told = False  # whether something has come for which the bell has not rung yet
        self._unread = False  # whether what was read may hold another message
        self._messages = 0  # ever taken
        self._reads = 0  # of libzmq's from the kernel, ever taken
        self._stamped = -math.inf
        self._since = self._probe.looked  # what is found next may have come as early as this
        self._ceiling = math.inf  # while settling: but not later than this
        self._settles = 0
        self._holds = 0

        self._asleep = False
        self._woken = -math.inf  # the loop's last look before the sleep was broken off
        self._again = False
        self._passes: list[trio.Event] = []
        self._closed = False

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`. Nothing is kept for a bot that does not read, or after `hang_up`."""
        outbox, idle = self._outbox, self._asleep and not self._outbox
        for frame, timed in frames:
            if len(outbox) >= OUTBOX_FRAMES or self._outbox_bytes >= OUTBOX_BYTES:
                self._give_up()
            self._queued += 1
            if timed:
                self._timed.append(self._queued)
            if not (self._not_reading or self._hung_up):
                outbox.append(frame)
                self._outbox_bytes += len(frame)
        if not outbox:
            self._stamp_timed(self._queued)
        elif idle:
            self._send_in_its_sleep()
        else:
            self._wake()

    def _send_in_its_sleep(self) -> None:
        """Sends in the sleeping owner's place, and wakes it only if there is something for it to do.

        Nothing else can come between: this does not wait, and the owner goes on with a look at EVENTS.
        """
        self._send_frames()
        if self._outbox or _events(self._socket) & _CAN_TAKE:
            self._wake()

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        if not self._inbox:
            raise trio.WouldBlock
        item = self._inbox.popleft()
        if isinstance(item, Arrived):
            was_full = self._full()
            self._held_frames -= 1
            self._held_bytes -= len(item.frame)
            if was_full:
                self._wake()
        return item

    def has_more(self) -> bool:
        """See `Line`."""
        return bool(self._inbox)

    async def settle(self) -> None:
        """See `Line`.

        What this brings in may have been in the kernel before the call, for as long as libzmq's thread is
        behind: it is stamped that much before the moment at which what the loop's last look found may have come.
        """
        came = self._probe.came
        self._settles += 1
        try:
            self._ceiling = min(self._ceiling, came - await self._lag())
            messages, reads, quiet = self._messages, self._reads, 0
            while quiet < QUIET_PASSAGES and not self._full():
                if self._messages - messages >= INBOX_FRAMES or self._reads - reads >= SETTLE_READS:
                    break
                before = self._reads
                await self._passed()
                quiet = quiet + 1 if self._reads == before else 0
                if quiet < QUIET_PASSAGES:
                    await self._sounding.take()
        finally:
            self._settles -= 1
            if not self._settles:
                self._ceiling = math.inf
        await trio.lowlevel.checkpoint()

    def forget_unsent(self) -> None:
        """See `Line`."""
        self._outbox.clear()
        self._outbox_bytes = 0
        self._stamp_timed(self._queued)

    def hang_up(self) -> None:
        """See `Line`. Tries for `FAREWELL_SECONDS`; after `forget_unsent` there is nothing to try."""
        if not self._hung_up:
            self._hung_up = True
            self._farewell = trio.current_time() + FAREWELL_SECONDS
            self._wake()

    async def own(self) -> None:
        """The task that owns the socket; ends after `hang_up`. Started by `Wire.open_line`."""
        try:
            async with trio.open_nursery() as self._nursery:
                self._nursery.start_soon(self._door.keep)
                await self._serve()
                self._nursery.cancel_scope.cancel()
        finally:
            self._close()

    def connection_ended(self, descriptor: int) -> None:
        """For the door: libzmq has closed a connection."""
        for peer in (self._peer, self._next):
            if peer is not None and peer.descriptor == descriptor and not peer.ended:
                self._ended(peer)
                break

    def _ended(self, peer: Peer) -> None:
        peer.ended = True
        self._nursery.start_soon(self._see_out, peer)

    async def _see_out(self, peer: Peer) -> None:
        """Lets the next one in once all that this one said has been read."""
        await self._sounding.take()  # What it said last may have been on its way to the socket.
        peer.left = True
        self._wake()

    async def _serve(self) -> None:
        while not self._finished():
            passes, self._passes = self._passes, []
            self._again = False
            more = self._pass()
            for done in passes:
                done.set()
            if self._told:
                self._ring()
            if more or self._again:
                await trio.lowlevel.checkpoint()
            elif not self._finished():
                await self._sleep()

    def _ring(self) -> None:
        """Tells the host; if it answers at once, it may send in the owner's place as in its sleep."""
        self._told = False
        self._asleep = True
        self._bell.ring()
        self._asleep = False

    def _pass(self) -> bool:
        """Moves all that can be moved; true when it stopped only to let others run."""
        for _ in range(PASS_FRAMES):
            events = _events(self._socket)
            # Taken first: what a bot said before it was given a window must not be stamped after it.
            taking = self._wants() and self._take(can_read=bool(events & _CAN_TAKE))
            sending = bool(self._outbox) and self._send_frames()
            if not (taking or sending):
                if self._timed:
                    self._stamp_timed(self._queued)
                break
        if not self._holds:
            self._since = trio.current_time()
        return taking or sending

    def _wants(self) -> bool:
        return not (self._holds or self._not_reading or self._hung_up or self._full())

    def _full(self) -> bool:
        return self._held_frames >= INBOX_FRAMES or self._held_bytes >= INBOX_BYTES

    def _take(self, *, can_read: bool) -> bool:
        """Takes the next message, or reads what may become one; false when there is neither."""
        frame = self._next_message() if self._unread else None
        if frame is None and can_read:
            self._read()
            frame = self._next_message()
        elif frame is None:
            return self._change_peers()
        if frame is not None:
            self._messages += 1
            self._held_frames += 1
            self._held_bytes += len(frame)
            self._inbox.append(Arrived(self._stamp(min(self._since, self._ceiling)), frame))
            self._told = True
        return True

    def _read(self) -> None:
        """Takes from libzmq what it read at once from one of the connections."""
        name = self._socket.recv(_AT_ONCE)
        self._reads += 1
        peer = self._peer
        if peer is not None and peer.name == name:
            said = self._socket.recv(_AT_ONCE)
            if peer.conversation is not None:
                peer.conversation.hear(said)
        else:
            first = self._socket.recv(_AT_ONCE, copy=False)
            self._meet(name, first.get(zmq.SRCFD), first.bytes)

    def _meet(self, name: bytes, descriptor: int, said: bytes) -> None:
        """Somebody else speaks: lets it in, if nobody is, or next, if who is in has ended; else cuts it off.

        A ZeroMQ that waits to be let in says no more than its greeting, so of who is next more is not heard.
        """
        self._door.catch_up()
        newcomer = Peer(name, descriptor, said)
        if self._peer is None:
            self._peer = newcomer
        elif self._peer.ended and self._next is None:
            self._next = newcomer
        else:
            if self._peer.ended or self._peer.descriptor != descriptor:
                self._door.refuse(descriptor)
            return
        if descriptor not in self._door.open:
            # Its end was reported when it was nobody's.
            self._ended(newcomer)

    def _change_peers(self) -> bool:
        """If who was in has left, the next is; true if there is one."""
        if self._peer is None or not self._peer.left:
            return False
        self._peer, self._next = self._next, None
        self._unread = self._peer is not None
        return self._unread

    def _next_message(self) -> bytes | None:
        """The next whole message, if who is in has said one; if not, ZeroMQ's own words are answered."""
        self._unread = False
        peer = self._peer
        if peer is None or peer.conversation is None:
            return None
        try:
            message = peer.conversation.next()
        except NotSpoken:
            peer.conversation = None
            self._door.disconnect(peer.descriptor)
            return None
        if message is not None:
            self._unread = True
            return message
        if answer := peer.conversation.answer():
            self._send(peer, answer)
            self._again = True  # The call may have used up the socket's word that something has come.
        if peer.conversation.open:
            self._door.greeted(peer.descriptor)
        return None

    def _send_frames(self) -> bool:
        """Gives libzmq as much as it takes; false when that is nothing."""
        outbox, peer = self._outbox, self._peer
        if peer is None or peer.conversation is None or not peer.conversation.open:
            return False
        before = len(outbox)
        while outbox and before - len(outbox) < PASS_FRAMES:
            burst, size = [], 0
            for frame in outbox:
                burst.append(framed(frame))
                size += len(frame)
                if size >= SEND_BYTES:
                    break
            if not self._send(peer, b"".join(burst)):
                break
            for _ in burst:
                outbox.popleft()
            self._outbox_bytes -= size
        if self._timed:
            self._stamp_timed(self._queued - len(outbox))
        return len(outbox) < before

    def _send(self, peer: Peer, data: bytes) -> bool:
        """Gives libzmq bytes for a connection; false where it has no room for more, or the connection is gone."""
        try:
            self._socket.send(peer.name, _NAME)
        except zmq.ZMQError:
            return False
        self._socket.send(data, _AT_ONCE)
        return True

    async def _sleep(self) -> None:
        """Until the socket's descriptor or `_wake`, which must come after a pass that found nothing to do."""
        self._asleep = True
        # Mostly for as long as it takes: a cancel scope for each sleep would cost more than the rest of it.
        timed = self._outbox or self._hung_up
        try:
            with trio.CancelScope(deadline=self._sleeps_until()) if timed else nullcontext():
                await trio.lowlevel.wait_readable(self._descriptor)
                self._since = max(self._since, self._probe.came)
        except trio.ClosedResourceError:
            self._since = max(self._since, self._woken)
        finally:
            self._asleep = False

    def _sleeps_until(self) -> float:
        """When to wake although nothing comes."""
        until = self._farewell
        if self._outbox and self._peer is not None:
            until = min(until, trio.current_time() + RETRY_SECONDS)
        return until

    def _wake(self) -> None:
        self._again = True
        if self._asleep:
            # Nothing is being closed: this breaks off the wait, at a third of what a cancel scope a wait costs.
            self._asleep = False
            self._woken = self._probe.looked
            trio.lowlevel.notify_closing(self._descriptor)

    async def _lag(self) -> float:
        """Sounds while nothing is taken in, so that all that is found afterwards gets the benefit of it."""
        self._holds += 1
        try:
            return await self._sounding.take()
        finally:
            self._holds -= 1
            self._wake()

    async def _passed(self) -> None:
        """Returns after a pass of the owner that began after the call."""
        if not self._closed:
            done = trio.Event()
            self._passes.append(done)
            self._wake()
            await done.wait()

    def _finished(self) -> bool:
        return self._hung_up and (not self._outbox or trio.current_time() >= self._farewell)

    def _close(self) -> None:
        if self._hung_up:
            self._pass()
        self._socket.disable_monitor()
        self._socket.close(linger=round(FAREWELL_SECONDS * 1000) if self._hung_up else 0)
        self._door.close()
        self._closed = True
        for done in self._passes:
            done.set()

    def _give_up(self) -> None:
        self.forget_unsent()
        self._not_reading = True
        self._inbox.append(NotReading(self._stamp(trio.current_time())))
        self._bell.ring()

    def _stamp_timed(self, through: int) -> None:
        """The HandedOver of every timed frame up to the one of that number."""
        while self._timed and self._timed[0] <= through:
            self._timed.popleft()
            self._inbox.append(HandedOver(self._stamp(trio.current_time())))

    def _stamp(self, at: float) -> float:
        self._stamped = max(self._stamped, at)
        return self._stamped


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

    def open_line(self, nursery: trio.Nursery, bell: Bell, directory: Path, *, mode: int = 0o600) -> ZmqLine:
        """A line bound to `SOCKET_NAME` in a directory that only its bot's sandbox should see.

        Its owner runs in `nursery`, which must close before the wire does. It uses five descriptors while a
        bot is connected.

        Args:
            nursery: Where the owner runs; it ends after `hang_up`, or when cancelled.
            bell: Rung when something comes.
            directory: Exists, and is the caller's to make and remove.
            mode: Of the socket's file. A bot that runs as another user needs leave to write, and to enter
                `directory`.

        Raises:
            OSError: No line could be made, through no fault of a bot: the path is too long (107 bytes are
                allowed), descriptors have run out, the directory cannot be written.
        """
        path = directory.absolute() / SOCKET_NAME
        try:
            with ExitStack() as undo:
                socket = undo.enter_context(self._socket(zmq.STREAM))
                news = undo.enter_context(self._socket(zmq.PAIR))
                socket.set(zmq.STREAM_NOTIFY, 0)
                socket.set(zmq.RCVHWM, QUEUED_READS)
                socket.set(zmq.SNDHWM, QUEUED_SENDS)
                line = ZmqLine(socket, news, path, bell, self._sounding)
                socket.bind(line.endpoint)
                path.chmod(mode)
                undo.pop_all()
        except zmq.ZMQError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        nursery.start_soon(line.own, name=f"owner of {path}")
        return line

    def _socket(self, kind: int) -> "zmq.Socket[bytes]":
        socket = self._context.socket(kind)
        socket.set(zmq.LINGER, 0)
        return socket


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
