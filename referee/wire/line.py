"""The host's view of a bot's line: frames out, and frames in with their arrival times.

Independent of the transport: `socket_line` implements it over a socket, on this machine (`local`) or from another
(`remote`); `MemoryLine` within this process.
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence

import trio
from msgspec import Struct

from protocol.messages import MAX_FRAME_BYTES

INBOX_FRAMES = 128
"""Frames that a line holds for the host, more than a bot may send in a window. When it is full, the transport
leaves the rest with the sender."""
INBOX_BYTES = 512 * 1024
"""Bytes that a line holds for the host, twice the number that a bot may send in a window. When it is full, no
frame is read from the transport. Together with the largest message, a line holds less than 1 MiB."""
MAX_TAKEN_BYTES = 4 * MAX_FRAME_BYTES
"""The largest message, in bytes, that is passed to the host to be refused by name. A larger one closes the
connection."""
OUTBOX_FRAMES = 4_000
OUTBOX_BYTES = 512 * 1024
"""The most unsent frames, or bytes, of a bot that still counts as reading."""
MUCH = 32
"""Reads and messages in one turn of a line that count as too many: no legal action needs half of them."""
FAREWELL_SECONDS = 1.0
"""Seconds in which a line that is closed tries to send its last frames."""
Outgoing = tuple[bytes, bool]
"""A frame, and whether it is timed: then a `HandedOver` follows when the transport accepts it."""
UNREAD_FRAMES = 10_000
"""The most unread frames of a bot that still counts as reading."""


class Arrived(Struct, frozen=True):
    """A frame from the bot."""

    at: float
    """The time of arrival on trio's clock, stamped before anything was decoded."""
    frame: bytes
    size: int
    """The size of the frame in bytes; for a message of several parts, the size of all parts on the wire."""


class HandedOver(Struct, frozen=True):
    """The transport has accepted a frame sent with `timed`. A window's time is charged from this moment.

    No bell rings for it. It can be received before the bot's next frame.

    It also appears, at the first attempt, if the transport could not accept the frame because the bot is not
    connected or does not read: that is charged to the bot.
    """

    at: float


class NotReading(Struct, frozen=True):
    """The bot left too much unread, so that no more is stored for it. No item follows."""

    at: float


class OutOf(Struct, frozen=True):
    """The machine has run out of a resource that the line needs.

    The bot is not at fault, and may wait for ever.
    """

    at: float
    what: str
    """One line that names the resource and the remedy."""


Incoming = Arrived | HandedOver | NotReading | OutOf


class Bell:
    """Wakes the one task that waits for any of many lines. A ring while no task waits is remembered."""

    __slots__ = ("_answer", "_answering", "_failure", "_rung", "_waiting")

    def __init__(self) -> None:
        self._rung = False
        self._waiting: trio.lowlevel.Task | None = None
        self._answer: Callable[[], bool] | None = None
        self._answering = False
        self._failure: Exception | None = None

    def ring(self) -> None:
        """Wake the host: an item can be received."""
        self._rung = True
        if self._waiting is not None and (self._answer is None or self._is_for_the_task(self._answer)):
            trio.lowlevel.reschedule(self._waiting)
            self._waiting = self._answer = None

    async def wait(self, answer: Callable[[], bool] | None = None) -> None:
        """Wait until the bell has rung since the last return.

        Args:
            answer: a function that is called in the task that rings, to do the work at once: that saves a turn of
                trio's loop. If it returns True, or rings the bell itself, this call returns. Its exceptions are
                raised from here.
        """
        if self._rung:
            await trio.lowlevel.checkpoint()
        else:
            # Without an Event: one per frame would cost as much as processing the frame.
            self._waiting, self._answer = trio.lowlevel.current_task(), answer
            await trio.lowlevel.wait_task_rescheduled(self._give_up)
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
        self._rung = False

    def _is_for_the_task(self, answer: Callable[[], bool]) -> bool:
        if self._answering:
            return False
        self._answering, self._rung = True, False
        try:
            return answer() or self._rung
        except Exception as failure:  # noqa: BLE001 - raised again in `wait`
            self._failure = failure
            return True
        finally:
            self._answering = False

    def _give_up(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._waiting = self._answer = None
        return trio.lowlevel.Abort.SUCCEEDED


class Line(ABC):
    """The host's end of a bot's line. Only `settle` waits. No behaviour of the bot makes a method raise."""

    wasted = 0.0
    """Seconds that the event loop has spent on turns of this line in which `MUCH` arrived."""
    on_cut: Callable[[str], None] | None = None
    """A function called with the reason when the bot's connection is closed because of its messages."""

    @abstractmethod
    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """Send frames in order, in one go: sent one by one, each would wake the bot."""

    def send(self, frame: bytes, *, timed: bool = False) -> None:
        """Send a frame. With `timed`, a `HandedOver` follows."""
        self.send_burst(((frame, timed),))

    @abstractmethod
    def receive_nowait(self) -> Incoming:
        """Return the next item received, in order.

        Raises:
            trio.WouldBlock: there is none. The bell rings when one arrives.
        """

    @abstractmethod
    def has_more(self) -> bool:
        """Return whether an item can be received."""

    @abstractmethod
    async def settle(self) -> None:
        """Wait until all frames that had reached this machine can be received (up to INBOX_FRAMES)."""

    @abstractmethod
    def forget_unsent(self) -> None:
        """Drop the frames that the transport has not accepted yet: a new connection starts with `welcome`."""

    @abstractmethod
    def hang_up(self) -> None:
        """Close the line when its frames have been sent, or cannot be. Idempotent."""


class Inbox:
    """A queue filled by a line's tasks and emptied by the host. The line rings the bell."""

    def __init__(self) -> None:
        self.stamped = -math.inf
        """The latest stamp."""
        self.arrivals = 0
        """Number of frames that ever arrived."""
        self._items: deque[Incoming] = deque()
        self._frames = 0
        self._bytes = 0

    def full(self) -> bool:
        """Return whether no more frames may be added. The rest stays with the sender."""
        return self._frames >= INBOX_FRAMES or self._bytes >= INBOX_BYTES

    def has_more(self) -> bool:
        """Return whether an item is queued."""
        return bool(self._items)

    def arrived(self, at: float, frame: bytes, size: int) -> None:
        """Add a frame that arrived at a time on trio's clock; see `Arrived`."""
        self.arrivals += 1
        self._frames += 1
        self._bytes += len(frame)
        self._items.append(Arrived(self._stamp(at), frame, max(size, len(frame))))

    def handed_over(self, frames: int = 1) -> None:
        """Add that the transport accepted a number of timed frames now."""
        for _ in range(frames):
            self._items.append(HandedOver(self._stamp(trio.current_time())))

    def not_reading(self) -> None:
        """Add that the bot does not read. Nothing may be added after this."""
        self._items.append(NotReading(self._stamp(trio.current_time())))

    def out_of(self, what: str) -> None:
        """Add that the machine has run out of something; see `OutOf`."""
        self._items.append(OutOf(self._stamp(trio.current_time()), what))

    def begins_with(self, is_wanted: Callable[[bytes], bool]) -> bool:
        """Return whether the next item is a frame that satisfies a condition."""
        return isinstance(item := self._items[0], Arrived) and is_wanted(item.frame)

    def take(self) -> Incoming:
        """Pop the oldest item.

        Raises:
            trio.WouldBlock: there is none.
        """
        if not self._items:
            raise trio.WouldBlock
        item = self._items.popleft()
        if isinstance(item, Arrived):
            self._frames -= 1
            self._bytes -= len(item.frame)
        return item

    def _stamp(self, at: float) -> float:
        self.stamped = max(self.stamped, at)
        return self.stamped


class MemoryLine(Line):
    """A line over memory channels, stamped with trio's clock.

    The bot's end sends with `say` and reads with `hear`.
    """

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._inbox = Inbox()
        self._out_send, self._out_receive = trio.open_memory_channel[bytes](UNREAD_FRAMES)

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`. Frames for a bot that has disconnected, or does not read, are dropped."""
        for frame, timed in frames:
            try:
                self._out_send.send_nowait(frame)
            except trio.WouldBlock:
                self._inbox.not_reading()
                self._bell.ring()
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
            if timed:
                self._inbox.handed_over()

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        return self._inbox.take()

    def has_more(self) -> bool:
        """See `Line`."""
        return self._inbox.has_more()

    async def settle(self) -> None:
        """See `Line`. Frames in memory are never in transit."""
        await trio.lowlevel.checkpoint()

    def forget_unsent(self) -> None:
        """See `Line`. Frames that were sent have been delivered."""

    def hang_up(self) -> None:
        """See `Line`. The bot's `hear` then raises trio.EndOfChannel."""
        self._out_send.close()

    @property
    def stamped(self) -> float:
        """The latest stamp of a received frame. Later frames have no earlier stamp."""
        return self._inbox.stamped

    def say(self, frame: bytes, at: float | None = None) -> None:
        """Send a frame from the bot's end, with the arrival time `at` or the current time.

        Raises:
            trio.WouldBlock: the inbox is full.
        """
        if self._inbox.full():
            raise trio.WouldBlock
        self._inbox.arrived(trio.current_time() if at is None else at, frame, len(frame))
        self._bell.ring()

    async def hear(self) -> bytes:
        """Return the next frame, at the bot's end.

        Raises:
            trio.EndOfChannel: the referee has closed the line.
        """
        return await self._out_receive.receive()

    def hear_nowait(self) -> bytes | None:
        """Return the next frame, at the bot's end, or None where there is none."""
        try:
            return self._out_receive.receive_nowait()
        except (trio.WouldBlock, trio.EndOfChannel):
            return None
