"""A bot's processor time in one window, from what was read of it now and then. Pure: it is told every reading.

Readings are taken a little after the moments that count: a frame has arrived, the referee has woken. What may have
been used in between is left out of the account, so that no bot pays for how late it was looked at.
"""

from collections import deque

from msgspec import Struct

KEPT = 16
"""Readings kept: older ones could only tell of moments that have been judged."""
LOOK_US = 10_000
"""Between looks at a bot from which nothing comes, at least. What arrives is judged by a reading of its own."""
LOOKS = 64
"""Nor are there many more looks at a window than this: a bot that sleeps is not worth more."""


class _Point(Struct, frozen=True):
    reading: int
    """Of the match's stopwatch, at the latest when it was taken."""
    used: int


class Account:
    """One bot's account in one window; it begins with the first reading after its window was sent."""

    def __init__(self) -> None:
        self.stale = True
        """Whether it should be read now: it has not begun, or the stopwatch was stopped or started since."""
        self._points: deque[_Point] = deque(maxlen=KEPT)
        self._began = 0
        self._counter = 0
        self._cores = 1

    def read(self, reading: int, counter: int, cores: int) -> None:
        """It was read: the bot's processor time over the match so far, in microseconds, on at most so many cores.

        In a pause the stopwatch stands, and what was used meanwhile is nothing: no more than `cores` for each
        microsecond of the stopwatch's.
        """
        used = 0
        if not self._points:
            self._began = reading
        else:
            last = self._points[-1]
            grown, possible = counter - self._counter, (reading - last.reading) * cores
            used = last.used + max(0, min(grown, possible))
        self._points.append(_Point(reading, used))
        self._counter = counter
        self._cores = cores
        self.stale = False

    def used(self, reading: int) -> int:
        """The least that it can have used up to a moment."""
        known = (point.used - max(0, point.reading - reading) * self._cores for point in self._points)
        return max(0, max(known, default=0))

    @property
    def total(self) -> int:
        """What it has used up to the last reading."""
        return self._points[-1].used if self._points else 0

    def next_look(self, goal: int) -> int:
        """The moment of the reading that showed so much used, or else the next at which one could."""
        if not self._points:
            return 0
        last = self._points[-1]
        if last.used >= goal:
            return last.reading
        soonest = (goal - last.used) // self._cores
        return last.reading + max(soonest, LOOK_US, (last.reading - self._began) // LOOKS)
