"""A bot's line over a non-blocking socket, local or from another machine: receives, sends and stamps frames.

There is no layer between this and the kernel: received bytes stay in the kernel until they are read here, so that
an excess stays with its sender, and all that had arrived can be read at any moment. `zmtp` parses the bytes.

The sockets of all lines are in one level-triggered epoll, which trio watches: no line needs a task that waits. A
probe records when trio's loop last polled for I/O, so that lines know how early received frames may have arrived.
"""

import math
import os
import select
import socket as kernel
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress

import trio

from referee.linux.awake_clock import AwakeClock
from referee.linux.processes import ThreadCounters
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
from referee.wire.zmtp import Conversation, ZmtpError

READ_BYTES = 64 * 1024
SEND_BYTES = 64 * 1024
"""Frames are passed to the kernel together, up to this size."""
WORTH_KEEPING = 0.001
"""Seconds of work below which the loop does not count as behind."""
KEPT = 10_000
TURN_SECONDS = 0.005
"""Seconds of work after which a task with more work lets others run."""
LEAST_TURN_SECONDS = 0.0005
"""The shortest turn in seconds: many busy tasks must not keep each other from all progress."""
OVERSLEPT_SECONDS = 0.002
"""Seconds by which a poll may oversleep: it rounds up to whole milliseconds. A longer sleep was held up."""
IN, OUT = select.EPOLLIN, select.EPOLLOUT
AT_ONCE = 256
"""The most sockets that are handled before other tasks run. The others are reported again at the next poll."""
Ready = Callable[[int], None]
"""A function called with the events of a ready socket. It must not block."""


class LoopProbe(trio.abc.Instrument):
    """Records when trio's loop last polled for I/O, and how early the frames found then may have arrived.

    A loop that was held up (by a long garbage collection, by a busy machine) finds frames late; these must not
    count as late. The kernel's count of voluntary switches shows whether the last poll slept: its duration would
    not
    distinguish sleeping from being preempted. The kernel also counts how long the thread then waited for a
    processor: on a busy machine the frame that wakes it may have arrived long before it runs.

    If a poll overslept its timeout by more than its wait for a processor explains, the process was stopped, or the
    machine stood still. Frames found then may have arrived at any time since the poll started.
    """

    def __init__(self) -> None:
        clock = trio.lowlevel.current_clock()
        self._awake = clock if isinstance(clock, AwakeClock) else None
        self.now = clock.current_time
        """Cached trio clock; `trio.current_time` looks it up on every call."""
        self._asleep = self._waited = 0.0
        """The start of the last poll, and how long this thread had waited for processors by then."""
        self._yields = self._stops = 0
        """Numbers of times that the thread had yielded its processor by then, and had been stopped."""
        self._thread = ThreadCounters() if self._awake is None else self._awake.thread
        self.looked = self.now()
        """The end of the last poll, on trio's clock. Frames that it did not find arrived later."""
        self.came = self.looked
        """The earliest time at which the frames found by the last poll may have arrived."""
        self._busy: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def before_io_wait(self, timeout: float) -> None:
        """See `trio.abc.Instrument`."""
        # To read the clock once more would make it take the sleep for ended.
        now = self.now() if self._awake is None or timeout <= 0 else self._awake.fell_asleep
        if now - self.looked > WORTH_KEEPING:
            self._busy.append((now, now - self.looked))
        if timeout > 0:
            self._asleep = now
            if self._awake is None:
                self._thread.read()
            else:
                self._stops = self._awake.stops  # It has read the thread's counters just now.
            self._yields, self._waited = self._thread.yields, self._thread.waited

    def after_io_wait(self, timeout: float) -> None:
        """See `trio.abc.Instrument`."""
        now = self.now()
        if timeout > 0:
            self._thread.read()
        if timeout > 0 and self._thread.yields != self._yields:
            delay = self._thread.waited - self._waited
            stopped = self._awake is not None and self._awake.stops != self._stops
            overslept = now - self._asleep - timeout - delay > OVERSLEPT_SECONDS
            # Never before the sleep: no frame was there then.
            self.came = self._asleep if stopped or overslept else max(self._asleep, now - delay)
        else:
            self.came = self.looked
        self.looked = now

    def behind(self, since: float) -> float:
        """Return the longest event-loop stall since a time on trio's clock, in seconds."""
        longest = self.now() - self.looked
        if longest <= WORTH_KEEPING:
            longest = 0.0
        for end, length in reversed(self._busy):
            if end < since:
                break
            longest = max(longest, length)
        return longest

    def stopped(self, since: float) -> float:
        """Return the seconds for which this process was stopped since a time on trio's clock, if it knows."""
        return 0.0 if self._awake is None else self._awake.stopped(since)

    def turn_ends(self, began: float) -> float:
        """Return the end of a turn that starts at a time on trio's clock, after which others must run."""
        return max(self.looked + TURN_SECONDS, began + LEAST_TURN_SECONDS)

    def close(self) -> None:
        """Close the file of the thread's counters, if it belongs to this object."""
        if self._awake is None:
            self._thread.close()


class Poll:
    """Calls functions when the sockets that they watch are ready. Made by `open_poll`."""

    def __init__(self, probe: LoopProbe) -> None:
        self.probe = probe
        self._epoll = select.epoll()
        self._ready: dict[int, Ready] = {}
        self._soon: list[Callable[[], None]] = []
        # Becomes readable to wake the task that waits.
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._epoll.register(self._wake, IN)

    def watch(self, descriptor: int, events: int, ready: Ready) -> None:
        """Call `ready` whenever a socket is ready for one of these events; with no events, stop watching it.

        A socket without events must not stay in the epoll: its other end's closing would be reported for ever.
        """
        if not events:
            if self._ready.pop(descriptor, None) is not None:
                self._epoll.unregister(descriptor)
        elif descriptor in self._ready:
            self._ready[descriptor] = ready
            self._epoll.modify(descriptor, events)
        else:
            self._epoll.register(descriptor, events)
            self._ready[descriptor] = ready

    def soon(self, call: Callable[[], None]) -> None:
        """Call a function after other sockets have had their turn."""
        if not self._soon:
            os.eventfd_write(self._wake, 1)
        self._soon.append(call)

    async def run(self) -> None:
        """Wait for sockets and call their functions, until cancelled."""
        poll, ready, descriptor = self._epoll.poll, self._ready, self._epoll.fileno()
        while True:
            await trio.lowlevel.wait_readable(descriptor)
            soon, self._soon = self._soon, []
            if soon:
                os.eventfd_read(self._wake)
            for socket, events in poll(0, AT_ONCE):
                # An earlier call may have stopped watching it.
                if socket in ready:
                    ready[socket](events)
            for call in soon:
                call()

    def close(self) -> None:
        """Close the descriptors. No socket may be watched any more."""
        self._epoll.close()
        os.close(self._wake)


@asynccontextmanager
async def open_poll() -> AsyncIterator[Poll]:
    """Open a poll. All sockets must have been removed before it closes."""
    probe = LoopProbe()
    poll = Poll(probe)
    trio.lowlevel.add_instrument(probe)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(poll.run)
            yield poll
            nursery.cancel_scope.cancel()
    finally:
        trio.lowlevel.remove_instrument(probe)
        probe.close()
        poll.close()


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
        """Return whether to read no more bytes now, because the inbox is full.

        A closed line is never full: it reads and drops all bytes until the connection ends.
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
