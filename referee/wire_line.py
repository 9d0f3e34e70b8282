"""A bot's line over ZeroMQ: the task that owns its socket, what is on its way out, and when what came came.

A ZeroMQ socket shows trio one descriptor, which becomes readable when *something* changed, once; any call on the
socket may use that up. So one task owns each socket: it alone waits for it, asks whether something has come after
its last call, and sleeps only when nothing has that it wants. Whoever makes room wakes that task; `send_burst`,
which does not wait, may use the socket in the owner's place while it sleeps, and then asks as the owner would.

`wire` is what libzmq does of it, `wire_door` who is let in, `zmtp` what the bytes mean.
"""

import math
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Protocol

import trio

from referee.inbox import Inbox
from referee.line import (
    FAREWELL_SECONDS,
    INBOX_FRAMES,
    MUCH,
    OUTBOX_BYTES,
    OUTBOX_FRAMES,
    Bell,
    Incoming,
    Line,
    Outgoing,
)
from referee.loop_probe import LoopProbe
from referee.wire_door import Door, News, Peer
from referee.zmtp import NotSpoken, framed

SEND_BYTES = 64 * 1024
"""Frames are given to libzmq together, up to this size: it wakes its thread, and the bot, for each call."""
RETRY_SECONDS = 0.005
"""When to try again to send to a bot for which libzmq holds all it may: it does not say when it has room."""
QUIET_PASSAGES = 2
"""Settled is a line that got nothing from this many passages of libzmq's thread: a large frame takes it two."""
SETTLE_READS = 128
"""More than libzmq and the kernel can hold of what a bot said before the line began to settle."""
PASS_MOVES = 256
"""Messages or reads that an owner moves before it lets other tasks run."""
SENT_FRAMES = 256
"""Frames given to libzmq at once."""


class Stream(Protocol):
    """Bytes to and from all who are connected to one endpoint, each by libzmq's name for it. None of it waits."""

    descriptor: int
    """Becomes readable when something changed, once; any call below may use that up."""

    def has_come(self) -> bool:
        """Whether there is something to take. To be asked after the last other call, before a sleep."""

    def take(self) -> bytes:
        """Who speaks next, then what it said: as much as was read at once."""

    def take_with_descriptor(self) -> tuple[int, bytes]:
        """In place of the second: libzmq's descriptor of its connection, and what it said."""

    def give(self, name: bytes, data: bytes) -> bool:
        """Bytes for one of them; False where there is no room for more, or it is gone."""

    def close(self, linger: float) -> None:
        """Tries for so many seconds to get out what was given."""


class Sounding(Protocol):
    """Tells how far libzmq's thread has got with what the kernel had."""

    probe: LoopProbe

    async def take(self) -> float:
        """Returns after a passage of that thread which began after the call, with the seconds it took."""


def endpoint(path: Path) -> str:
    """What ZeroMQ calls a socket's file."""
    return f"ipc://{path}"


class ZmqLine(Line):
    """A line over one endpoint. Made by `Wire.open_line`.

    One bot is connected at a time. A second one gets in once the first has gone and all it said has been read;
    until then it is disconnected whenever it tries. A message of several parts is no message of the protocol: it
    is handed up as one frame that says so and does not decode; nothing is kept of its parts. When the inbox is
    full, what came stays with libzmq, then the kernel, then the sender, and counts as arrived when there is room
    again. What is in the kernel is lost if its sender leaves before.

    Every `send` with `timed` leads to exactly one `HandedOver`, in order, whatever becomes of the frame. Stamps
    never go backwards.
    """

    def __init__(self, path: Path, bell: Bell, stream: Stream, news: News, sounding: Sounding) -> None:
        self.path = path
        """The socket's file."""
        self.endpoint = endpoint(path)
        """What a bot that sees the same files connects to."""
        self._stream = stream
        self._door = Door(path, news, self._connection_ended)
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

        self._inbox = Inbox()
        self._told = False  # whether something has come for which the bell has not rung yet
        self._unread = False  # whether what was read may hold another message
        self._messages = 0  # ever taken
        self._reads = 0  # of libzmq's from the kernel, ever taken
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
        if self._outbox or self._stream.has_come():
            self._wake()

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        was_full = self._inbox.full()
        item = self._inbox.take()
        if was_full:
            self._wake()
        return item

    def has_more(self) -> bool:
        """See `Line`."""
        return self._inbox.has_more()

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
            while quiet < QUIET_PASSAGES and not self._inbox.full():
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

    def _connection_ended(self, descriptor: int) -> None:
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
        began = trio.current_time()
        moves = 0
        until = self._probe.turn_ends(began)
        while (more := self._move()) and moves < PASS_MOVES and trio.current_time() < until:
            moves += 1
        now = trio.current_time()
        if moves >= MUCH:
            self.took += now - began
        if not self._holds:
            # What there is more of may have been there when this pass began.
            self._since = max(self._since, began) if more else now
        return more

    def _move(self) -> bool:
        """Takes one message or read, and sends what can be sent; false where there is nothing of either."""
        has_come = self._stream.has_come()
        # Taken first: what a bot said before it was given a window must not be stamped after it.
        taking = self._wants() and self._take(can_read=has_come)
        sending = bool(self._outbox) and self._send_frames()
        if not (taking or sending) and self._timed:
            self._stamp_timed(self._queued)
        return taking or sending

    def _wants(self) -> bool:
        return not (self._holds or self._not_reading or self._hung_up or self._inbox.full())

    def _take(self, *, can_read: bool) -> bool:
        """Takes the next message, or reads what may become one; false when there is neither."""
        frame = self._next_message() if self._unread else None
        if frame is None and not self._unread:
            if not can_read:
                return self._change_peers()
            self._read()
            frame = self._next_message()
        if frame is not None:
            self._messages += 1
            self._inbox.arrived(min(self._since, self._ceiling), *frame)
            self._told = True
        return True

    def _read(self) -> None:
        """Takes from libzmq what it read at once from one of the connections."""
        name = self._stream.take()
        self._reads += 1
        peer = self._peer
        if peer is not None and peer.name == name:
            said = self._stream.take()
            if peer.conversation is not None:
                peer.conversation.hear(said, trio.current_time())
        else:
            self._meet(name, *self._stream.take_with_descriptor())

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

    def _next_message(self) -> tuple[bytes, int] | None:
        """The next whole message of who is in, and its size on the wire, if it has said one.

        If not, ZeroMQ's own words are answered.
        """
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
        self._unread = message is not None or peer.conversation.unfinished
        if message is not None:
            return message, peer.conversation.size
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
        while outbox and before - len(outbox) < SENT_FRAMES:
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
        return self._stream.give(peer.name, data)

    async def _sleep(self) -> None:
        """Until the socket's descriptor or `_wake`, which must come after a pass that found nothing to do."""
        self._asleep = True
        # Mostly for as long as it takes: a cancel scope for each sleep would cost more than the rest of it.
        timed = self._outbox or self._hung_up
        try:
            with trio.CancelScope(deadline=self._sleeps_until()) if timed else nullcontext():
                await trio.lowlevel.wait_readable(self._stream.descriptor)
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
            trio.lowlevel.notify_closing(self._stream.descriptor)

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
        self._stream.close(FAREWELL_SECONDS if self._hung_up else 0)
        self._door.close()
        self._closed = True
        for done in self._passes:
            done.set()

    def _give_up(self) -> None:
        self.forget_unsent()
        self._not_reading = True
        self._inbox.not_reading()
        self._bell.ring()

    def _stamp_timed(self, through: int) -> None:
        """The HandedOver of every timed frame up to the one of that number."""
        while self._timed and self._timed[0] <= through:
            self._timed.popleft()
            self._inbox.handed_over()
