"""One bot's line as the host sees it: frames out, frames in with the time they arrived. Knows no transport.

`socket_line` is one over a socket, on this machine (`local`) or from another (`remote_line`); `memory` has one
within this process.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import trio
from msgspec import Struct

from protocol.messages import MAX_FRAME_BYTES

INBOX_FRAMES = 128
"""How many frames a line holds for the host, more than a bot may say in a window. When it is full, the transport
leaves the rest with the sender."""
INBOX_BYTES = 512 * 1024
"""Like `INBOX_FRAMES`: no further frame is taken from the transport while the host has this much to read: twice
what a bot may say in a window. With the largest message besides, a line holds less than 1 MiB."""
MAX_TAKEN_BYTES = 4 * MAX_FRAME_BYTES
"""Messages up to this size are handed up, to be refused by name. A larger one costs its sender the connection."""
OUTBOX_FRAMES = 4_000
OUTBOX_BYTES = 512 * 1024
"""More than this unsent, in frames or bytes, and the bot counts as not reading."""
MUCH = 32
"""So many reads and messages in one turn of a line are much: no legal action is half as large."""
FAREWELL_SECONDS = 1.0
"""How long a line that was hung up on tries to get its last frames out."""


class Arrived(Struct, frozen=True):
    """A frame from the bot. `at`: seconds on trio's clock, stamped before anything was decoded."""

    at: float
    frame: bytes
    size: int
    """What it took on the wire, in bytes, of a message of parts; else the frame's own."""


class HandedOver(Struct, frozen=True):
    """The transport took a frame that was sent with `timed`: the moment from which a window's time is charged.

    No bell rings for it: it is there to be received before whatever its bot says next.

    Also said, at the first attempt, when it could not take it because the bot is not there or does not read: that
    costs the bot's time.
    """

    at: float


class NotReading(Struct, frozen=True):
    """The bot has left so much unread that no more is kept for it. Nothing follows."""

    at: float


class OutOf(Struct, frozen=True):
    """The machine has run out of something that the line needs: no fault of its bot, which may wait in vain."""

    at: float
    what: str
    """One line: what has run out, and what is needed."""


Incoming = Arrived | HandedOver | NotReading | OutOf
Outgoing = tuple[bytes, bool]
"""A frame, and whether it is timed: then a `HandedOver` follows when the transport takes it."""


class Bell:
    """Wakes the one task that waits for any of many lines. Ringing while nobody waits is remembered."""

    __slots__ = ("_answer", "_answering", "_failure", "_rung", "_waiting")

    def __init__(self) -> None:
        self._rung = False
        self._waiting: trio.lowlevel.Task | None = None
        self._answer: Callable[[], bool] | None = None
        self._answering = False
        self._failure: Exception | None = None

    def ring(self) -> None:
        """Something is there to be received."""
        self._rung = True
        if self._waiting is not None and (self._answer is None or self._is_for_the_task(self._answer)):
            trio.lowlevel.reschedule(self._waiting)
            self._waiting = self._answer = None

    async def wait(self, answer: Callable[[], bool] | None = None) -> None:
        """Returns once it has rung since the last return.

        `answer`: does there and then, in the task that rings, what there is to do: that saves a turn of
        trio's loop. It returns True where the task that waits must go on, which also does so if `answer` rings
        itself. What it raises is raised from here.
        """
        if self._rung:
            await trio.lowlevel.checkpoint()
        else:
            # By hand: an Event for each frame would cost as much as hearing it.
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
        except Exception as failure:  # noqa: BLE001 - it is raised where the answer is from
            self._failure = failure
            return True
        finally:
            self._answering = False

    def _give_up(self, _raise_cancel: object) -> trio.lowlevel.Abort:
        self._waiting = self._answer = None
        return trio.lowlevel.Abort.SUCCEEDED


class Line(ABC):
    """The host's end of one bot's line. No method but `settle` waits; none raises for what a bot does."""

    took = 0.0
    """For how many seconds in all trio's loop worked on turns of this line in which `MUCH` came."""
    on_cut: Callable[[str], None] | None = None
    """Called with the reason when the bot's connection was closed for what it sent."""

    @abstractmethod
    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """Gives frames to the transport, in order: one by one would wake its thread, and the bot, for each."""

    def send(self, frame: bytes, *, timed: bool = False) -> None:
        """Gives one frame to the transport, after those before. `timed` asks for a `HandedOver`."""
        self.send_burst(((frame, timed),))

    @abstractmethod
    def receive_nowait(self) -> Incoming:
        """The next thing that came, in order.

        Raises:
            trio.WouldBlock: nothing is there. The bell rings when something comes.
        """

    @abstractmethod
    def has_more(self) -> bool:
        """Whether something is there to be received."""

    @abstractmethod
    async def settle(self) -> None:
        """Returns when all that had reached this machine before the call can be received (up to INBOX_FRAMES)."""

    @abstractmethod
    def forget_unsent(self) -> None:
        """Drops what was sent but not yet taken by the transport: a new connection starts from `welcome`."""

    @abstractmethod
    def hang_up(self) -> None:
        """Ends the line once what was sent has gone out, or cannot. Idempotent."""
