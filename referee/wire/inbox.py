"""The queue of a bot's received frames and events: in order, bounded, with stamps that never decrease."""

import math
from collections import deque
from collections.abc import Callable

import trio

from referee.wire.line import INBOX_BYTES, INBOX_FRAMES, Arrived, HandedOver, Incoming, NotReading, OutOf


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
