"""When trio's loop last looked for I/O: by it lines know how early what they find may have come."""

import resource
from collections import deque

import trio

from referee.linux.schedstat import RunDelay

WORTH_KEEPING = 0.001
"""Seconds: a loop that is busy for less is not behind."""
KEPT = 10_000
TURN_SECONDS = 0.005
"""Whatever has much to do lets others have their turn when the loop has been busy for so long."""
LEAST_TURN_SECONDS = 0.0005
"""But it gets so long in any case: many that have much to do must not keep each other from all progress."""


class LoopProbe(trio.abc.Instrument):
    """Knows when trio's loop last looked for I/O, and since when what it then found may have been there.

    A loop that was held up (a long collection, a busy machine) finds frames late; they must not count as late.
    Whether the last look slept is told by the kernel's count of voluntary switches: the time a look took would
    not tell sleeping from being preempted. How long it then waited for a processor is counted by the kernel, too:
    on a busy machine what wakes it may have come long before it runs.
    """

    def __init__(self) -> None:
        self.now = trio.lowlevel.current_clock().current_time
        """Trio's clock, read without asking each time which it is: cheaper than `trio.current_time`."""
        self._switches = 0
        self._asleep = self._delay = 0.0
        """At the last look's beginning: when that was, and how long this thread had waited for processors."""
        self._run_delay = RunDelay()
        self._delayed = self._run_delay.seconds
        self.looked = self.now()
        """When the last look ended, on trio's clock: what was not ready then came later."""
        self.came = self.looked
        """The earliest moment at which what the last look found may have become ready."""
        self._busy: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def before_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        now = self.now()
        if now - self.looked > WORTH_KEEPING:
            self._busy.append((now, now - self.looked))
        if timeout > 0:
            self._asleep = now
            self._delay = self._delayed()
            self._switches = _voluntary_switches()

    def after_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        now = self.now()
        slept = timeout > 0 and _voluntary_switches() != self._switches
        # Never before it fell asleep: then there was nothing.
        self.came = max(self._asleep, now - (self._delayed() - self._delay)) if slept else self.looked
        self.looked = now

    def behind(self, since: float) -> float:
        """The longest, in seconds, that the loop was busy at a stretch and looked at nothing, since a moment."""
        longest = self.now() - self.looked
        if longest <= WORTH_KEEPING:
            longest = 0.0
        for end, length in reversed(self._busy):
            if end < since:
                break
            longest = max(longest, length)
        return longest

    def turn_ends(self, began: float) -> float:
        """When a turn that begins at a moment of trio's clock is over: others wait."""
        return max(self.looked + TURN_SECONDS, began + LEAST_TURN_SECONDS)

    def close(self) -> None:
        """Gives up what it holds open."""
        self._run_delay.close()


def _voluntary_switches() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
