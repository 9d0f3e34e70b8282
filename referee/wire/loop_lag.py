"""When trio's loop last looked for I/O: by it lines know how early what they find may have come."""

from collections import deque

import trio

from referee.linux.awake_clock import AwakeClock
from referee.linux.schedstat import ThreadCounters

WORTH_KEEPING = 0.001
"""Seconds: a loop that is busy for less is not behind."""
KEPT = 10_000
TURN_SECONDS = 0.005
"""Whatever has much to do lets others have their turn when the loop has been busy for so long."""
LEAST_TURN_SECONDS = 0.0005
"""But it gets so long in any case: many that have much to do must not keep each other from all progress."""
OVERSLEPT_SECONDS = 0.002
"""The poll rounds up to whole milliseconds. A look that sleeps longer than that was kept from ending."""


class LoopProbe(trio.abc.Instrument):
    """Knows when trio's loop last looked for I/O, and since when what it then found may have been there.

    A loop that was held up (a long collection, a busy machine) finds frames late; they must not count as late.
    Whether the last look slept is told by the kernel's count of voluntary switches: the time a look took would
    not tell sleeping from being preempted. How long it then waited for a processor is counted by the kernel, too:
    on a busy machine what wakes it may have come long before it runs.

    A look that overslept what it asked for, by more than its wait for a processor explains, was kept from ending:
    the process was stopped, or the machine stood still. What it then finds may have come since it began.
    """

    def __init__(self) -> None:
        clock = trio.lowlevel.current_clock()
        self._awake = clock if isinstance(clock, AwakeClock) else None
        self.now = clock.current_time
        """Trio's clock, read without asking each time which it is: cheaper than `trio.current_time`."""
        self._asleep = self._waited = 0.0
        """At the last look's beginning: when that was, and how long this thread had waited for processors."""
        self._yields = self._stops = 0
        """And how often it had given up its processor, and been stopped."""
        self._thread = ThreadCounters() if self._awake is None else self._awake.thread
        self.looked = self.now()
        """When the last look ended, on trio's clock: what was not ready then came later."""
        self.came = self.looked
        """The earliest moment at which what the last look found may have become ready."""
        self._busy: deque[tuple[float, float]] = deque(maxlen=KEPT)

    def before_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        # Read once more, the clock would take the sleep for ended.
        now = self.now() if self._awake is None or timeout <= 0 else self._awake.fell_asleep
        if now - self.looked > WORTH_KEEPING:
            self._busy.append((now, now - self.looked))
        if timeout > 0:
            self._asleep = now
            if self._awake is None:
                self._thread.read()
            else:
                self._stops = self._awake.stops  # It has read the thread's counters just now.
            self._yields, self._waited = self._thread.yields, self._thread.waited

    def after_io_wait(self, timeout: float) -> None:
        """Trio's hook."""
        now = self.now()
        if timeout > 0:
            self._thread.read()
        if timeout > 0 and self._thread.yields != self._yields:
            delay = self._thread.waited - self._waited
            stopped = self._awake is not None and self._awake.stops != self._stops
            overslept = now - self._asleep - timeout - delay > OVERSLEPT_SECONDS
            # Never before it fell asleep: then there was nothing.
            self.came = self._asleep if stopped or overslept else max(self._asleep, now - delay)
        else:
            self.came = self.looked
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

    def stopped(self, since: float) -> float:
        """Return for how many seconds this process was stopped since a moment, as far as trio's clock knows."""
        return 0.0 if self._awake is None else self._awake.stopped(since)

    def turn_ends(self, began: float) -> float:
        """When a turn that begins at a moment of trio's clock is over: others wait."""
        return max(self.looked + TURN_SECONDS, began + LEAST_TURN_SECONDS)

    def close(self) -> None:
        """Gives up what it holds open."""
        if self._awake is None:
            self._thread.close()
