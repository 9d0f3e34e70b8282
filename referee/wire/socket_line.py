"""A bot's line over a socket that does not block, local or from another machine: what came, what leaves, and when.

Nothing is between this and the kernel: what has come is with the kernel until it is read here, so that what is too
much stays with its sender, and all that had arrived can be read at any moment. `zmtp` knows what the bytes mean.
"""

import math
import socket as kernel
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import trio

from referee.linux.shortage import shortage_in, shortage_text
from referee.wire.inbox import Inbox
from referee.wire.line import FAREWELL_SECONDS, MUCH, OUTBOX_BYTES, OUTBOX_FRAMES, Bell, Incoming, Line, Outgoing
from referee.wire.poll import IN, OUT, Poll
from referee.wire.zmtp import Conversation, ZmtpError

READ_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
"""Frames are given to the kernel together, up to this size."""


class Connection:
    """One connection that was let in, and what is on its way out."""

    __slots__ = ("conversation", "deaf", "emptied", "events", "heard", "leaving", "over", "socket")

    def __init__(self, socket: kernel.socket, conversation: Conversation) -> None:
        """`socket`: does not block."""
        self.socket = socket
        self.conversation = conversation
        self.leaving = bytearray()
        """What is to leave next, and has begun to."""
        self.deaf = False
        """The other end takes nothing any more. What it said before may still be read."""
        self.emptied = -math.inf
        """When all that had come was read, on trio's clock; minus infinity while there may be more."""
        self.events = 0
        """What is watched for."""
        self.heard = trio.current_time()
        """When the last byte came."""
        self.over = trio.Event()


class SocketLine(Line):
    """See `Line`. One connection at a time.

    A message of several parts is no message of the protocol: it is handed up as one frame that says so and does
    not decode; nothing is kept of its parts. When the inbox is full, what came stays with kernel and sender,
    and counts as arrived when there is room again. Nothing is kept for a bot that is not there: when it is back,
    `told` has it.

    Every `send` with `timed` leads to exactly one `HandedOver`, in order, whatever becomes of the frame. Stamps
    never go backwards.
    """

    def __init__(self, poll: Poll, bell: Bell | None = None) -> None:
        """`bell`: rung when something comes; None: nothing may come yet."""
        self._poll = poll
        self._probe = poll.probe
        self._now = poll.probe.now
        self._bell = bell
        self._connection: Connection | None = None
        self._inbox = Inbox()
        self._since = -math.inf  # what is found next came later than this
        self._outbox: deque[bytes] = deque()
        self._outbox_bytes = 0
        self._not_reading = False
        self._is_to_go_on = False
        self._in_vain = 0  # moves since a frame came
        self._is_out_of = False  # the machine is out of something, and the host was told
        self._farewell = trio.Event()
        self._drained = trio.Event()

    # What the host does.

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
            # There may be more in what was read already, and nothing with the kernel.
            self._go_on_soon()
        return item

    def has_more(self) -> bool:
        """See `Line`."""
        return self._inbox.has_more()

    def turn_to(self, bell: Bell) -> None:
        """What comes from now on, or is there, is another match's to hear."""
        self._bell = bell
        self._is_out_of = False  # The other match was told, and this one is to be.
        if self._inbox.has_more():
            bell.ring()

    def skip_to(self, is_wanted: Callable[[bytes], bool]) -> bool:
        """Drops what has come before a frame that is wanted; whether that is there."""
        while self._inbox.has_more():
            if self._inbox.begins_with(is_wanted):
                return True
            self.receive_nowait()
        return False

    async def settle(self) -> None:
        """See `Line`: what had reached this machine is with the kernel, and is read at once."""
        # A bot that is not heard any more may send without end.
        try:
            while self._connection is not None and not self._is_closed() and self._hear(self._connection):
                await trio.lowlevel.checkpoint()
            await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            self._go_on_soon()  # What was read and not yet heard is not with the kernel, which would tell of it.
            raise

    def forget_unsent(self) -> None:
        """See `Line`."""
        self._outbox.clear()
        self._outbox_bytes = 0

    def hang_up(self) -> None:
        """See `Line`. Tries for `FAREWELL_SECONDS`."""
        self._farewell.set()

    def machine_is_out_of(self, error: OSError) -> None:
        """Tell the host once that the machine has run out of something: it does not wait for the bot then."""
        if self._is_out_of or self._bell is None or self._is_closed():
            return
        self._is_out_of = True
        self._inbox.out_of(shortage_text(error))
        self._bell.ring()

    def _is_closed(self) -> bool:
        return self._not_reading or self._farewell.is_set()

    def _is_full(self) -> bool:
        """Whether what comes is to wait with the kernel: not if it is dropped, and its end waited for."""
        return self._inbox.full() and not self._is_closed()

    # A connection, from its beginning to its end.

    def _let_in(self, connection: Connection) -> None:
        self._connection = connection
        self._since = self._probe.came
        self._say(connection)
        self._watch(connection)
        self._go_on_soon()  # It may have said more already.

    def _end(self, connection: Connection) -> None:
        """It is over, for whatever reason, and what was for it."""
        if self._connection is connection:
            self._connection = None
            self.forget_unsent()
            self._poll.watch(connection.socket.fileno(), 0, self._ready)
            connection.socket.close()
            self._drained.set()
            connection.over.set()

    def _cut(self, connection: Connection) -> None:
        """It says what no ZeroMQ PAIR socket says."""
        self._end(connection)

    async def _part(self) -> None:
        """Ends in order, in `FAREWELL_SECONDS` at most.

        What the other end says is read: else the kernel would take back what that has not read.
        """
        if self._connection is not None:
            self._watch(self._connection)  # There may have been no room for it.
        with trio.move_on_after(FAREWELL_SECONDS):
            while (connection := self._connection) is not None and (connection.leaving or self._outbox):
                self._drained = trio.Event()
                await self._drained.wait()
            if connection is not None:
                with suppress(OSError):
                    connection.socket.shutdown(kernel.SHUT_WR)
                await connection.over.wait()

    def _watch(self, connection: Connection) -> None:
        """Watches for what can be done now."""
        events = 0 if self._is_full() else IN
        if (connection.leaving or self._outbox) and not connection.deaf:
            events |= OUT
        if events != connection.events and self._connection is connection:
            connection.events = events
            try:
                self._poll.watch(connection.socket.fileno(), events, self._ready)
            except OSError as error:
                # The kernel has no room for one more watch: the bot would never be heard.
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
        """Others have their turn first."""
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

    def _hear(self, connection: Connection) -> bool:
        """Takes what has come; whether it stopped only to let others run."""
        began, worked = self._now(), time.thread_time()
        moves, more = 0, True
        came = self._inbox.arrivals
        connection.emptied = -math.inf
        try:
            if connection.conversation.holds_nothing and not self._is_full():
                # The usual case, and mostly all there is: one message, which is read at once.
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
        # What comes in bits too small to be anything is as much, however many turns it comes in.
        self._in_vain = 0 if self._inbox.arrivals > came else self._in_vain + moves
        if max(moves, self._in_vain) >= MUCH:
            # Not by the clock: time in which others had the processor is no work of this line's.
            self.took += time.thread_time() - worked
        # What there is more of may have been there when this began.
        self._since = max(self._since, began if more else connection.emptied)
        if self._bell is not None and self._inbox.arrivals > came:
            self._bell.ring()
        return more and not self._is_full() and self._connection is connection

    def _take(self, connection: Connection) -> bool:
        """Takes what is next of what was read; False where more has to be read for it."""
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

    def _read(self, connection: Connection, at: float) -> bool:
        """Reads what has come; False where that was all: a short read has emptied the socket.

        `at`: now, or just before.
        """
        if connection.emptied > -math.inf:
            return False
        try:
            said = connection.socket.recv(READ_BYTES)
        except BlockingIOError:
            connection.emptied = at
            return False
        if not said:
            self._end(connection)
            return False
        connection.heard = at
        if len(said) < READ_BYTES:
            connection.emptied = at
        if self._farewell.is_set():
            return True
        message = connection.conversation.only_message(said)
        if message is None:
            connection.conversation.hear(said, at)
            return True
        self._arrived(message, len(message))
        return False

    # Sending. None of it waits.

    def _say(self, connection: Connection) -> None:
        """Says what ZeroMQ says for itself. A bot that asks for signs of life and does not read them gets none."""
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

    def _send_all(self, connection: Connection, data: bytes) -> None:
        """Gives the kernel what is framed, when it has all that was before: mostly it takes that at once."""
        try:
            sent = connection.socket.send(data)
        except OSError:
            sent = 0  # It is met again, if it is more than that there is no room.
        if sent < len(data):
            connection.leaving += data[sent:]
            self._send(connection)

    def _send(self, connection: Connection) -> None:
        """Gives the kernel as much as it takes."""
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

    def _fill(self, connection: Connection) -> bool:
        """Frames what is next, when the kernel has all that was before; False when there is nothing."""
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
