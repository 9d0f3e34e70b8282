"""The arithmetic of time: main time, reserve, pauses. Pure: it is told what time it is and reads no clock.

All times are whole microseconds. `at` is time on the match's own zero; a *reading* is time on the match's
stopwatch, which stands still while the match is paused. Deadlines and charges are in readings, so that no pause,
however it falls, costs anybody anything.
"""

from enum import Enum
from typing import Any

from msgspec import Struct

from protocol.messages import ClockTerms
from referee.plan import Policy
from referee.rules import Game

MICROSECONDS_PER_MS = 1_000


def clock_terms(game: Game[Any], variant: str, policy: Policy) -> ClockTerms:
    """The times of a match: the variant's published ones, where the policy sets no others."""
    time = game.variant(variant).time
    main_ms = time.main_ms if policy.main_ms is None else dict.fromkeys(time.main_ms, policy.main_ms)
    return ClockTerms(
        main_ms=main_ms,
        reserve_ms=time.reserve_ms if policy.reserve_ms is None else policy.reserve_ms,
        pauses=policy.pauses,
        pause_ms=policy.pause_ms,
        pacing=policy.pacing,
    )


class Stopwatch:
    """A match's running time: stops in a pause, and can be read for any moment past."""

    def __init__(self) -> None:
        self._pauses: list[tuple[int, int]] = []
        self._paused_at: int | None = None

    @property
    def paused(self) -> bool:
        """Whether it stands still now."""
        return self._paused_at is not None

    def pause(self, at: int) -> None:
        """Stops it."""
        self._paused_at = at

    def resume(self, at: int) -> None:
        """Starts it again."""
        if self._paused_at is not None:
            self._pauses.append((self._paused_at, at))
            self._paused_at = None

    def reading(self, at: int) -> int:
        """What it showed at `at`: also for a moment before or within a pause, when a frame tells of one late."""
        if self._paused_at is not None:
            at = min(at, self._paused_at)
        return at - sum(min(end, at) - start for start, end in self._pauses if start < at)

    def when(self, reading: int) -> int | None:
        """The moment at which it will show `reading`, from its last start on; None while it stands still."""
        if self.paused:
            return None
        return reading + sum(end - start for start, end in self._pauses)


class Stage(Enum):
    """Where a moment falls in a seat's time for a window."""

    MAIN = "main"
    RESERVE = "reserve"
    OVER = "over"


class SeatClock(Struct, frozen=True):
    """One seat's time in one window, in readings."""

    opened: int
    """When its window was handed to the transport."""
    main: int
    reserve: int
    """What the seat may use of its reserve in this window; 0 where there is none."""

    @property
    def main_ends(self) -> int:
        """The first moment that is not main time any more: what arrives at it is not in time."""
        return self.opened + self.main

    @property
    def deadline(self) -> int:
        """The first moment at which main time and reserve are gone."""
        return self.main_ends + self.reserve

    def stage(self, reading: int) -> Stage:
        """Where a moment falls. What arrives *before* a deadline is in time, what arrives at it is not."""
        if reading < self.main_ends:
            return Stage.MAIN
        return Stage.RESERVE if reading < self.deadline else Stage.OVER

    def reserve_used(self, reading: int) -> int:
        """How much of the reserve is gone at that moment."""
        return min(max(0, reading - self.main_ends), self.reserve)

    def elapsed(self, reading: int) -> int:
        """Time charged up to that moment: never more than there was."""
        return min(max(0, reading - self.opened), self.main + self.reserve)
