"""The host's view of a bot's line: frames out, and frames in with their arrival times.

Independent of the transport.

`socket_line` implements it over a socket, on this machine (`local`) or from another (`remote_line`); `memory`
within this process.
"""

from abc import ABC, abstractmethod
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
"""If more than this is unsent, in frames or bytes, the bot counts as not reading."""
MUCH = 32
"""Reads and messages in one turn of a line that count as too many: no legal action needs half of them."""
FAREWELL_SECONDS = 1.0
"""Seconds in which a line that is closed tries to send its last frames."""


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
Outgoing = tuple[bytes, bool]
"""A frame, and whether it is timed: then a `HandedOver` follows when the transport accepts it."""


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

    took = 0.0
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
