"""A line over memory channels: for tests under the virtual clock, and for a person at the referee's terminal."""

from collections.abc import Sequence

import trio

from referee.wire.inbox import Inbox
from referee.wire.line import Bell, Incoming, Line, Outgoing

UNREAD_FRAMES = 10_000
"""If more frames are unread, the bot counts as not reading."""


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
