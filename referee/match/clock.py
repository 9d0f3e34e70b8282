"""The arithmetic of time: main time, reserve, pauses. Pure: it is told what time it is and reads no clock.

All times are whole microseconds. `at` is time on the match's own zero; a *reading* is time on the match's
stopwatch, which stands still while the match is paused. Deadlines and charges are in readings, so that no pause,
however it falls, costs anybody anything.
"""

from bisect import bisect_left
from enum import Enum
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.messages import ClockTerms
from referee.match.clock_config import BadClockError, ClockTable, terms_of
from referee.match.cpu_account import Account
from referee.match.policy import Policy
from referee.rules import Game

MICROSECONDS_PER_MS = 1_000


def clock_terms(game: Game[Any], variant: str, policy: Policy, table: ClockTable | None = None) -> ClockTerms:
    """The times of a match: the table's, or the variant's published ones where the policy sets no others.

    Raises:
        BadClockError: the table makes no clock, or does not go with the policy.
    """
    time = game.variant(variant).time
    if table is None:
        main_ms = time.main_ms if policy.main_ms is None else dict.fromkeys(time.main_ms, policy.main_ms)
        reserve_ms = time.reserve_ms if policy.reserve_ms is None else policy.reserve_ms
        terms = ClockTerms(main_ms=main_ms, reserve_ms=reserve_ms)
    else:
        for field in ("main_ms", "reserve_ms"):
            if getattr(policy, field) is not None:
                raise BadClockError(f"policy.{field}", "the [clock] table says the times")
        terms = terms_of(table, time)
        if policy.pacing == "fixed" and not all(terms.main_ms.values()):
            raise BadClockError("policy.pacing", "a window without main time has no fixed length")
    return replace(terms, pauses=policy.pauses, pause_ms=policy.pause_ms, pacing=policy.pacing)


class Stopwatch:
    """A match's running time: stops in a pause, and can be read for any moment past."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._lengths: list[int] = [0]
        """The n-th is the length of the first n pauses together, so that a reading need not add them up."""
        self._paused_at: int | None = None

    @property
    def paused(self) -> bool:
        """Whether it stands still now."""
        return self._paused_at is not None

    def pause(self, at: int) -> None:
        """Stops it; not before its last start."""
        self._paused_at = at

    def resume(self, at: int) -> None:
        """Starts it again."""
        if self._paused_at is not None:
            self._starts.append(self._paused_at)
            self._lengths.append(self._lengths[-1] + at - self._paused_at)
            self._paused_at = None

    def reading(self, at: int) -> int:
        """What it showed at `at`: also for a moment before or within a pause, when a frame tells of one late."""
        if self._paused_at is not None:
            at = min(at, self._paused_at)
        if not self._starts:
            return at
        begun = bisect_left(self._starts, at)
        if begun == 0:
            return at
        start, before = self._starts[begun - 1], self._lengths[begun - 1]
        return at - before - min(self._lengths[begun] - before, at - start)

    def when(self, reading: int) -> int | None:
        """The moment at which it will show `reading`, from its last start on; None while it stands still."""
        return None if self.paused else reading + self._lengths[-1]


class Stage(Enum):
    """Where a moment falls in a seat's time for a window."""

    MAIN = "main"
    RESERVE = "reserve"
    OVER = "over"


class SeatClock(Struct, frozen=True):
    """One seat's time in one window, in readings. What is counted is `used`: all else follows from it."""

    opened: int
    """When its window was handed to the transport; for a remote bot, plus what it is credited for the network."""
    main: int
    reserve: int
    """What the seat may use of its reserve in this window; 0 where there is none."""
    wall_factor: int = 1
    """How much time on the wall counts as one, at least."""
    account: Account | None = None
    """The bot's processor time in this window, which a `cpu` clock counts. None: only time on the wall counts."""
    stands: bool = False
    """Nothing is ever used of it: it is main time until the bot has answered."""

    @property
    def main_ends(self) -> int:
        """When main time ends at the latest. That moment is not in it any more: what arrives then is late."""
        return self.opened + self.main * self.wall_factor

    @property
    def deadline(self) -> int:
        """When main time and reserve are gone at the latest."""
        return self.opened + (self.main + self.reserve) * self.wall_factor

    def used(self, reading: int) -> int:
        """How much time was used up to that moment, as far as is known."""
        if self.stands:
            return 0
        wall = max(0, reading - self.opened)
        if self.account is None:
            return wall
        return max(self.account.used(reading), wall // self.wall_factor)

    def stage(self, reading: int) -> Stage:
        """Where a moment falls. What arrives *before* a deadline is in time, what arrives at it is not."""
        used = self.used(reading)
        if self.stands or used < self.main:
            return Stage.MAIN
        return Stage.RESERVE if used < self.main + self.reserve else Stage.OVER

    def reserve_used(self, used: int) -> int:
        """How much of the reserve that is."""
        return min(max(0, used - self.main), self.reserve)

    def left_ms(self, reading: int, reserve_ms: int) -> tuple[int, int]:
        """Main time left, and of a reserve, in whole milliseconds."""
        used = self.used(reading)
        reserve = reserve_ms - self.reserve_used(used) // MICROSECONDS_PER_MS
        return max(0, self.main - used) // MICROSECONDS_PER_MS, reserve

    def charged(self, used: int) -> int:
        """How much of it is charged: never more than there was."""
        return min(used, self.main + self.reserve)

    def own(self, charged: int) -> bool:
        """Whether so much was charged by the bot's own doing: it had no time, or used it all as processor time."""
        if self.main + self.reserve == 0:
            return True
        return self.account is not None and self.account.total >= charged

    def next_look(self, *, into_reserve: bool) -> int | None:
        """When main time (`into_reserve`: main time and reserve) may next be found to have ended; None: never."""
        if self.stands:
            return None
        latest = self.deadline if into_reserve else self.main_ends
        if self.account is None:
            return latest
        return min(latest, self.account.next_look(self.main + self.reserve if into_reserve else self.main))


def reserve_after(terms: ClockTerms, reserve: int, used: int) -> int:
    """What is left of a seat's reserve after a window of its own that used so much of it, in microseconds."""
    given_back = 0 if terms.bronstein_ms is UNSET else min(used, terms.bronstein_ms * MICROSECONDS_PER_MS)
    increment = 0 if terms.increment_ms is UNSET else terms.increment_ms * MICROSECONDS_PER_MS
    return reserve - used + given_back + increment
