"""One bot's line as the host sees it: frames out, frames in with the time they arrived. Knows no transport.

`wire` makes lines over ZeroMQ; `MemoryLine` is one over memory channels, for tests under the virtual clock and
for seats that live in the referee's own process (a person at the terminal).
"""

from abc import ABC, abstractmethod

import trio
from msgspec import Struct

INBOX_FRAMES = 64
"""How many frames a line holds for the host. When it is full, the transport leaves the rest with the sender."""


class Arrived(Struct, frozen=True):
    """A frame from the bot. `at`: seconds on trio's clock, stamped before anything was decoded."""

    at: float
    frame: bytes


class HandedOver(Struct, frozen=True):
    """The transport took a frame that was sent with `timed`: the moment from which a window's time is charged.

    Also said, at the first attempt, when it could not take it because the bot is not there or does not read: that
    costs the bot's time.
    """

    at: float


class NotReading(Struct, frozen=True):
    """The bot has left so much unread that no more is kept for it. Nothing follows."""

    at: float


Incoming = Arrived | HandedOver | NotReading


class Bell:
    """Wakes the one task that waits for any of many lines. Ringing while nobody waits is remembered."""

    def __init__(self) -> None:
        self._event = trio.Event()

    def ring(self) -> None:
        """Something is there to be received."""
        self._event.set()

    async def wait(self) -> None:
        """Returns once it has rung since the last return."""
        await self._event.wait()
        self._event = trio.Event()


class Line(ABC):
    """The host's end of one bot's line. No method but `settle` waits; none raises for what a bot does."""

    @abstractmethod
    def send(self, frame: bytes, *, timed: bool = False) -> None:
        """Gives a frame to the transport, in order. `timed` asks for a `HandedOver`."""

    @abstractmethod
    def receive_nowait(self) -> Incoming:
        """The next thing that came, in order.

        Raises:
            trio.WouldBlock: nothing is there. The bell rings when something comes.
        """

    @abstractmethod
    async def settle(self) -> None:
        """Returns when all that had reached this machine before the call can be received (up to INBOX_FRAMES)."""

    @abstractmethod
    def forget_unsent(self) -> None:
        """Drops what was sent but not yet taken by the transport: a new connection starts from `welcome`."""

    @abstractmethod
    def hang_up(self) -> None:
        """Ends the line once what was sent has gone out, or cannot. Idempotent."""


class MemoryLine(Line):
    """A line over memory. The bot's end: `said` a frame, `hear` the next one. Stamps with trio's clock."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._in_send, self._in_receive = trio.open_memory_channel[Incoming](10 * INBOX_FRAMES)
        self._out_send, self._out_receive = trio.open_memory_channel[bytes](10_000)

    def send(self, frame: bytes, *, timed: bool = False) -> None:
        """See `Line`. A bot that has hung up, or reads nothing, loses frames."""
        try:
            self._out_send.send_nowait(frame)
        except trio.WouldBlock:
            self._push(NotReading(trio.current_time()))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        if timed:
            self._push(HandedOver(trio.current_time()))

    def receive_nowait(self) -> Incoming:
        """See `Line`."""
        return self._in_receive.receive_nowait()

    async def settle(self) -> None:
        """See `Line`: memory has no transit."""
        await trio.lowlevel.checkpoint()

    def forget_unsent(self) -> None:
        """See `Line`: what was sent is with the bot."""

    def hang_up(self) -> None:
        """See `Line`. The bot's `hear` then raises trio.EndOfChannel."""
        self._out_send.close()

    def say(self, frame: bytes, at: float | None = None) -> None:
        """The bot's end: a frame arrives now, or bears the arrival time `at`."""
        self._push(Arrived(trio.current_time() if at is None else at, frame))

    async def hear(self) -> bytes:
        """The bot's end: the next frame.

        Raises:
            trio.EndOfChannel: the referee has hung up.
        """
        return await self._out_receive.receive()

    def _push(self, item: Incoming) -> None:
        self._in_send.send_nowait(item)
        self._bell.ring()
