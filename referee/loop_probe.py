"""When trio's loop last looked for I/O: by it `wire` knows how early what it finds may have come."""

import resource
from collections import deque

import trio

WORTH_KEEPING = 0.001
"""Seconds: a loop that is busy for less is not behind."""
KEPT = 10_000


class LoopProbe(trio.abc.Instrument):
    """Knows when trio's loop last looked for I/O, and since when what it then found may have been there.

    A loop that was held up (a long collection, a busy machine) finds frames late; they must not count as late.
    Whether the last look slept is told by the kernel's count of voluntary switches: the time a look took would
    not tell sleeping from being preempted.
    """

    def __init__(self) -> None:
        self._now = trio.lowlevel.current_clock().current_time
        self._switches = 0
        self.looked = self._now()
        """When the last look ended, on trio's clock: what was not ready then came later."""
        self.came = self.looked
        """The earliest moment at which what the last look found may have become ready."""
        self._busy: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def before_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        if self._now() - self.looked > WORTH_KEEPING:
            self._busy.append((self._now(), self._now() - self.looked))
        if timeout > 0:
            self._switches = _voluntary_switches()

    def after_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        now = self._now()
        slept = timeout > 0 and _voluntary_switches() != self._switches
        self.came = now if slept else self.looked
        self.looked = now

    def behind(self, since: float) -> float:
        """The longest, in seconds, that the loop was busy at a stretch and looked at nothing, since a moment."""
        longest = self._now() - self.looked
        if longest <= WORTH_KEEPING:
            longest = 0.0
        for end, length in reversed(self._busy):
            if end < since:
                break
            longest = max(longest, length)
        return longest


def _voluntary_switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
