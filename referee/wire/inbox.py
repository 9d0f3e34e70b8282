"""What has come of one bot and the host has not heard yet: in order, bounded, with stamps that never go back."""

import math
from collections import deque
from collections.abc import Callable

import trio

from referee.wire.line import INBOX_BYTES, INBOX_FRAMES, Arrived, HandedOver, Incoming, NotReading, OutOf


class Inbox:
    """Filled by a line's tasks, emptied by the host. Rings no bell: that is the line's to do."""

    def __init__(self) -> None:
        self.stamped = -math.inf
        """The latest stamp that was given."""
        self.arrivals = 0
        """How many frames have ever come."""
        self._items: deque[Incoming] = deque()
        self._frames = 0
        self._bytes = 0

    def full(self) -> bool:
        """Whether no further frame is to be taken in; the rest is left with the sender."""
        return self._frames >= INBOX_FRAMES or self._bytes >= INBOX_BYTES

    def has_more(self) -> bool:
        """Whether there is something to take out."""
        return bool(self._items)

    def arrived(self, at: float, frame: bytes, size: int) -> None:
        """A frame has come, at a moment of trio's clock; see `Arrived`."""
        self.arrivals += 1
        self._frames += 1
        self._bytes += len(frame)
        self._items.append(Arrived(self._stamp(at), frame, max(size, len(frame))))

    def handed_over(self, frames: int = 1) -> None:
        """The transport has taken so many timed frames, now."""
        for _ in range(frames):
            self._items.append(HandedOver(self._stamp(trio.current_time())))

    def not_reading(self) -> None:
        """The bot does not read: nothing follows."""
        self._items.append(NotReading(self._stamp(trio.current_time())))

    def out_of(self, what: str) -> None:
        """Add that the machine has run out of something; see `OutOf`."""
        self._items.append(OutOf(self._stamp(trio.current_time()), what))

    def begins_with(self, is_wanted: Callable[[bytes], bool]) -> bool:
        """Whether what is next is a frame, and one that is wanted."""
        return isinstance(item := self._items[0], Arrived) and is_wanted(item.frame)

    def take(self) -> Incoming:
        """The next thing that came.

        Raises:
            trio.WouldBlock: nothing is there.
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
