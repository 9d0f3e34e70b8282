"""A line over memory channels: for tests under the virtual clock, and for a person at the referee's terminal."""

from collections.abc import Sequence

import trio

from referee.wire.inbox import Inbox
from referee.wire.line import Bell, Incoming, Line, Outgoing

UNREAD_FRAMES = 10_000
"""More than this, and the bot counts as not reading."""


class MemoryLine(Line):
    """A line over memory. The bot's end: `say` a frame, `hear` the next one. Stamps with trio's clock."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._inbox = Inbox()
        self._out_send, self._out_receive = trio.open_memory_channel[bytes](UNREAD_FRAMES)

    def send_burst(self, frames: Sequence[Outgoing]) -> None:
        """See `Line`. A bot that has hung up, or reads nothing, loses frames."""
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
        """See `Line`: memory has no transit."""
        await trio.lowlevel.checkpoint()

    def forget_unsent(self) -> None:
        """See `Line`: what was sent is with the bot."""

    def hang_up(self) -> None:
        """See `Line`. The bot's `hear` then raises trio.EndOfChannel."""
        self._out_send.close()

    @property
    def stamped(self) -> float:
        """The latest stamp of what came here: what comes next bears no earlier one."""
        return self._inbox.stamped

    def say(self, frame: bytes, at: float | None = None) -> None:
        """The bot's end: a frame arrives now, or bears the arrival time `at`.

        Raises:
            trio.WouldBlock: the referee has much to hear of this bot already.
        """
        if self._inbox.full():
            raise trio.WouldBlock
        self._inbox.arrived(trio.current_time() if at is None else at, frame, len(frame))
        self._bell.ring()

    async def hear(self) -> bytes:
        """The bot's end: the next frame.

        Raises:
            trio.EndOfChannel: the referee has hung up.
        """
        return await self._out_receive.receive()

    def hear_nowait(self) -> bytes | None:
        """The bot's end: the next frame, or None where there is none."""
        try:
            return self._out_receive.receive_nowait()
        except (trio.WouldBlock, trio.EndOfChannel):
            return None
