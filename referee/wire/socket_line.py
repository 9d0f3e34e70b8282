"""A bot's line over a non-blocking socket, local or from another machine: receives, sends and stamps frames.

There is no layer between this and the kernel: received bytes stay in the kernel until they are read here, so that
an excess stays with its sender, and all that had arrived can be read at any moment. `zmtp` parses the bytes.
"""

import math
import socket as kernel
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import trio

from referee.linux.shortage import shortage_in, shortage_text
from referee.wire.line import (
    FAREWELL_SECONDS,
    MUCH,
    OUTBOX_BYTES,
    OUTBOX_FRAMES,
    Bell,
    Inbox,
    Incoming,
    Line,
    Outgoing,
)
from referee.wire.poll import IN, OUT, Poll
from referee.wire.zmtp import Conversation, ZmtpError

READ_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
"""Frames are passed to the kernel together, up to this size."""


class LineConnection:
    """An accepted connection, with the bytes on their way out."""

    __slots__ = ("conversation", "deaf", "emptied", "events", "heard", "leaving", "over", "socket")

    def __init__(self, socket: kernel.socket, conversation: Conversation) -> None:
        """Store a non-blocking socket and its conversation."""
        self.socket = socket
        self.conversation = conversation
        self.leaving = bytearray()
        """Bytes to send next. Some of the first frame may have been sent already."""
        self.deaf = False
        """True if the other end accepts no more bytes. Bytes that it sent before may still be read."""
        self.emptied = -math.inf
        """The time on trio's clock at which all received bytes were read; minus infinity while there may be
        more."""
        self.events = 0
        """The events that are watched for."""
        self.heard = trio.current_time()
        """The time on trio's clock at which the last byte was read."""
        self.over = trio.Event()


class SocketLine(Line):
    """See `Line`. One connection at a time.

    A message of several parts is no message of the protocol: the host receives one frame that names the number of
    parts and does not decode; the parts are dropped. When the inbox is full, received bytes stay in the kernel and
    with the sender, and count as arrived when there is room again. No frames are stored for a bot that is not
    connected: when it reconnects, the field `told` of its `welcome` has all events.

    Every `send` with `timed` leads to exactly one `HandedOver`, in order, whether or not the frame could be sent.
    Stamps never decrease.
    """

    def __init__(self, poll: Poll, bell: Bell | None = None) -> None:
        """Set up a line. The bell is rung when an item arrives; None: no frame may arrive yet."""
        self._poll = poll
        self._probe = poll.probe
        self._now = poll.probe.now
        self._bell = bell
        self._connection: LineConnection | None = None
        self._inbox = Inbox()
        self._since = -math.inf  # bytes that are read next arrived after this time
        self._outbox: deque[bytes] = deque()
        self._outbox_bytes = 0
        self._not_reading = False
        self._is_to_go_on = False
        self._in_vain = 0  # moves since the last frame arrived
        self._is_out_of = False  # the machine is out of a resource, and the host was notified
        self._farewell = trio.Event()
        self._drained = trio.Event()

    # Calls from the host.

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`."""
        connection = self._connection
        if connection is None or not connection.conversation.open or connection.deaf or self._is_closed():
            pass
        elif connection.leaving or self._outbox:
            self._queue(frame for frame, _ in frames)
        else:
            framed = connection.conversation.framed
            self._send_all(connection, b"".join([framed(frame) for frame, _ in frames]))
        if timed := sum([timed for _, timed in frames]):
            self._inbox.handed_over(timed)

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        was_full = self._inbox.full()
        item = self._inbox.take()
        if was_full and not self._inbox.full():
            # There may be more frames in the bytes read already, of which the kernel gives no notice.
            self._go_on_soon()
        return item

    def has_more(self) -> bool:
        """See `Line`."""
        return self._inbox.has_more()

    def turn_to(self, bell: Bell) -> None:
        """Assign the line to another match, which receives all items from now on, and those queued."""
        self._bell = bell
        self._is_out_of = False  # Only the other match was notified.
        if self._inbox.has_more():
            bell.ring()

    def skip_to(self, is_wanted: Callable[[bytes], bool]) -> bool:
        """Drop items until a frame satisfies a condition; return whether there is such a frame."""
        while self._inbox.has_more():
            if self._inbox.begins_with(is_wanted):
                return True
            self.receive_nowait()
        return False

    async def settle(self) -> None:
        """See `Line`. Bytes that had reached this machine are in the kernel, and are read at once."""
        # A line that is closed is not read: its bot may send without end.
        try:
            while self._connection is not None and not self._is_closed() and self._hear(self._connection):
                await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            self._go_on_soon()  # Of bytes that were read but not yet parsed, the kernel gives no notice.
            raise

    def forget_unsent(self) -> None:
        """See `Line`."""
        self._outbox.clear()
        self._outbox_bytes = 0

    def hang_up(self) -> None:
        """See `Line`. Tries for `FAREWELL_SECONDS`."""
        self._farewell.set()

    def machine_is_out_of(self, error: OSError) -> None:
        """Notify the host once that the machine is out of a resource, so that it does not wait for the bot."""
        if self._is_out_of or self._bell is None or self._is_closed():
            return
        self._is_out_of = True
        self._inbox.out_of(shortage_text(error))
        self._bell.ring()

    def _is_closed(self) -> bool:
        return self._not_reading or self._farewell.is_set()

    def _is_full(self) -> bool:
        """Return whether received bytes stay in the kernel.

        A closed line reads and drops them, up to their end.
        """
        return self._inbox.full() and not self._is_closed()

    # A connection, from its start to its end.

    def _let_in(self, connection: LineConnection) -> None:
        self._connection = connection
        self._since = self._probe.came
        self._say(connection)
        self._watch(connection)
        self._go_on_soon()  # It may have sent more already.

    def _end(self, connection: LineConnection) -> None:
        """Close a connection and drop its unsent frames."""
        if self._connection is connection:
            self._connection = None
            self.forget_unsent()
            self._poll.watch(connection.socket.fileno(), 0, self._ready)
            connection.socket.close()
            self._drained.set()
            connection.over.set()

    def _cut(self, connection: LineConnection) -> None:
        """Close a connection that sent bytes which no ZeroMQ PAIR socket sends."""
        self._end(connection)

    async def _part(self) -> None:
        """Send the last frames and close the connection, within `FAREWELL_SECONDS`.

        Bytes from the other end are read: otherwise the kernel would drop frames that the other end has not read.
        """
        if self._connection is not None:
            self._watch(self._connection)  # A full inbox may have stopped the reading.
        with trio.move_on_after(FAREWELL_SECONDS):
            while (connection := self._connection) is not None and (connection.leaving or self._outbox):
                self._drained = trio.Event()
                await self._drained.wait()
            if connection is not None:
                with suppress(OSError):
                    connection.socket.shutdown(kernel.SHUT_WR)
                await connection.over.wait()

    def _watch(self, connection: LineConnection) -> None:
        """Watch for the events that can be handled now."""
        events = 0 if self._is_full() else IN
        if (connection.leaving or self._outbox) and not connection.deaf:
            events |= OUT
        if events != connection.events and self._connection is connection:
            connection.events = events
            try:
                self._poll.watch(connection.socket.fileno(), events, self._ready)
            except OSError as error:
                # The kernel has no room for one more watch: the bot's frames would never be read.
                self.machine_is_out_of(error)

    def _ready(self, events: int) -> None:
        connection = self._connection
        if connection is not None and events & OUT:
            self._send(connection)
            self._watch(connection)
        if connection is not None and events & ~OUT and not self._is_to_go_on:
            self._go_on()

    # Reading. None of it waits.

    def _go_on_soon(self) -> None:
        """Continue reading after other lines have had their turn."""
        if not self._is_to_go_on:
            self._is_to_go_on = True
            self._poll.soon(self._go_on)

    def _go_on(self) -> None:
        self._is_to_go_on = False
        connection = self._connection
        if connection is not None:
            if self._hear(connection):
                self._go_on_soon()
            self._watch(connection)

    def _hear(self, connection: LineConnection) -> bool:
        """Read and parse received bytes; return whether it stopped only to let other lines run."""
        began, worked = self._now(), time.thread_time()
        moves, more = 0, True
        came = self._inbox.arrivals
        connection.emptied = -math.inf
        try:
            if connection.conversation.holds_nothing and not self._is_full():
                # The usual case: a single message, which is read at once.
                moves, more = 1, self._read(connection, began)
            while more and not self._is_full() and not (moves and self._now() >= self._probe.turn_ends(began)):
                more = self._take(connection) or self._read(connection, self._now())
                moves += 1
        except ZmtpError as error:
            moves = MUCH
            self._cut(connection)
            if self.on_cut is not None and self._bell is not None and not self._is_closed():
                self.on_cut(str(error))
        except OSError as error:
            if shortage_in(error) is not None:
                self.machine_is_out_of(error)
            self._end(connection)
        # Fragments too small to be a frame add up, over any number of turns.
        self._in_vain = 0 if self._inbox.arrivals > came else self._in_vain + moves
        if max(moves, self._in_vain) >= MUCH:
            # Processor time, not wall time: other threads may have had the processor.
            self.wasted += time.thread_time() - worked
        # If there is more, it may have been there when this started.
        self._since = max(self._since, began if more else connection.emptied)
        if self._bell is not None and self._inbox.arrivals > came:
            self._bell.ring()
        return more and not self._is_full() and self._connection is connection

    def _take(self, connection: LineConnection) -> bool:
        """Parse the next frame from the bytes read; return False where more bytes are needed."""
        conversation = connection.conversation
        frame = conversation.next()
        if frame is None:
            self._say(connection)
            return conversation.unfinished
        self._arrived(frame, conversation.size)
        return True

    def _arrived(self, frame: bytes, size: int) -> None:
        if self._bell is None:
            raise ZmtpError("something before it was invited")
        if not self._is_closed():
            self._inbox.arrived(max(self._since, self._probe.came), frame, size)

    def _read(self, connection: LineConnection, at: float) -> bool:
        """Read received bytes; return False where the socket is empty, as after a short read.

        `at` is the current time, or shortly before.
        """
        if connection.emptied > -math.inf:
            return False
        try:
            data = connection.socket.recv(READ_BYTES)
        except BlockingIOError:
            connection.emptied = at
            return False
        if not data:
            self._end(connection)
            return False
        connection.heard = at
        if len(data) < READ_BYTES:
            connection.emptied = at
        if self._farewell.is_set():
            return True
        message = connection.conversation.only_message(data)
        if message is None:
            connection.conversation.hear(data, at)
            return True
        self._arrived(message, len(message))
        return False

    # Sending. None of it waits.

    def _say(self, connection: LineConnection) -> None:
        """Send ZeroMQ's own commands. A bot that requests heartbeats and does not read them gets none."""
        answer = connection.conversation.answer()
        if answer and len(connection.leaving) < SEND_BYTES:
            connection.leaving += answer
            self._send(connection)

    def _queue(self, frames: Iterable[bytes]) -> None:
        for frame in frames:
            if len(self._outbox) >= OUTBOX_FRAMES or self._outbox_bytes >= OUTBOX_BYTES:
                self._give_up()
                return
            self._outbox.append(frame)
            self._outbox_bytes += len(frame)

    def _send_all(self, connection: LineConnection, data: bytes) -> None:
        """Send bytes, if nothing before them is unsent. The kernel usually accepts them at once."""
        try:
            sent = connection.socket.send(data)
        except OSError:
            sent = 0  # `_send` meets the error again, unless the kernel merely had no room.
        if sent < len(data):
            connection.leaving += data[sent:]
            self._send(connection)

    def _send(self, connection: LineConnection) -> None:
        """Pass the kernel as many bytes as it accepts."""
        try:
            while self._fill(connection):
                del connection.leaving[: connection.socket.send(connection.leaving)]
        except BlockingIOError:
            self._watch(connection)
        except OSError as error:
            if shortage_in(error) is not None:
                self.machine_is_out_of(error)
            connection.deaf = True
            connection.leaving.clear()
            self.forget_unsent()
        if not connection.leaving:
            self._drained.set()

    def _fill(self, connection: LineConnection) -> bool:
        """Frame the next messages if the bytes before are sent; return False when there are none."""
        while not connection.leaving or (self._outbox and len(connection.leaving) < SEND_BYTES):
            if not self._outbox:
                return False
            frame = self._outbox.popleft()
            self._outbox_bytes -= len(frame)
            connection.leaving += connection.conversation.framed(frame)
        return True

    def _give_up(self) -> None:
        self.forget_unsent()
        self._not_reading = True
        self._inbox.not_reading()
        if self._bell is not None:
            self._bell.ring()
