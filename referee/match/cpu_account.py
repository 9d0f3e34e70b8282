"""A bot's processor time in one window, from occasional readings. Pure: readings are passed in.

Readings are made a little after the relevant time, such as the arrival of a frame. The time that may have been
used in between is excluded, so that no bot is charged for a late reading.
"""

from collections import deque

from msgspec import Struct

KEPT = 16
"""Number of readings kept. Older ones concern only times that have been judged already."""
LOOK_US = 10_000
"""The shortest time between two readings of a bot that sends no frame. Each frame is judged by a reading of its
own."""
LOOKS = 64
"""The approximate maximum of such readings in a window."""


class _Point(Struct, frozen=True):
    reading: int
    """The latest time on the match's stopwatch at which it can have been made."""
    used: int


class Account:
    """The processor time of a bot in a window, from the first reading after the window was sent."""

    def __init__(self) -> None:
        self.stale = True
        """Whether a reading is needed now: there is none yet, or the stopwatch was stopped or started since."""
        self._points: deque[_Point] = deque(maxlen=KEPT)
        self._began = 0
        self._counter = 0
        self._cores = 1

    def read(self, reading: int, counter: int, cores: int) -> None:
        """Add a reading.

        In a pause the stopwatch is stopped, so that no time counts: at most `cores` microseconds count per
        microsecond of the stopwatch.

        Args:
            reading: the time on the match's stopwatch.
            counter: the bot's processor time over the match so far, in microseconds.
            cores: the number of cores that the bot may use at once.
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
        """Return the least time that it can have used up to a time on the stopwatch."""
        known = (point.used - max(0, point.reading - reading) * self._cores for point in self._points)
        return max(0, max(known, default=0))

    @property
    def total(self) -> int:
        """The time used up to the last reading."""
        return self._points[-1].used if self._points else 0

    def next_look(self, goal: int) -> int:
        """Return the time of the last reading if it reached a goal, else the earliest at which one could."""
        if not self._points:
            return 0
        last = self._points[-1]
        if last.used >= goal:
            return last.reading
        soonest = (goal - last.used) // self._cores
        return last.reading + max(soonest, LOOK_US, (last.reading - self._began) // LOOKS)
