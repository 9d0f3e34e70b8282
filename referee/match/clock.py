"""The arithmetic of time: main time, reserve, pauses. Pure: times are passed in, and no clock is read.

All times are whole microseconds. `at` is the time since the start of the match; a *reading* is a time on the
match's stopwatch, which stops while the match is paused. Deadlines and charges are in readings, so that pauses are
never charged to bots.
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
    """Return the terms of a match's clock: those of the table, or the variant's, as changed by the policy.

    Raises:
        BadClockError: the table describes no clock, or contradicts the policy.
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
    """A match's running time. It stops during pauses, and can be read for any time in the past."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._lengths: list[int] = [0]
        """Sums of the lengths of the first n pauses, at index n."""
        self._paused_at: int | None = None

    @property
    def paused(self) -> bool:
        """Whether it is stopped now."""
        return self._paused_at is not None

    def pause(self, at: int) -> None:
        """Stop it at a time, which must not be before its last start."""
        self._paused_at = at

    def resume(self, at: int) -> None:
        """Start it again."""
        if self._paused_at is not None:
            self._starts.append(self._paused_at)
            self._lengths.append(self._lengths[-1] + at - self._paused_at)
            self._paused_at = None

    def reading(self, at: int) -> int:
        """Return its reading at a time. Frames that are processed late may be from before or within a pause."""
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
        """Return the time at which it will show a reading, from its last start on; None while it is stopped."""
        return None if self.paused else reading + self._lengths[-1]


class Stage(Enum):
    """The part of a seat's time for a window in which a moment falls."""

    MAIN = "main"
    RESERVE = "reserve"
    OVER = "over"


class SeatClock(Struct, frozen=True):
    """A seat's time in a window, in readings. Everything follows from `used`."""

    opened: int
    """The time at which the transport accepted its window; for a remote bot, plus its credit for the network."""
    main: int
    reserve: int
    """The reserve that the seat may use in this window; 0 if there is none."""
    wall_factor: int = 1
    """The number of units of wall time that count as one, at least."""
    account: Account | None = None
    """The bot's processor time in this window, which a `cpu` clock counts. None: only wall time counts."""
    stands: bool = False
    """Whether the clock never runs, so that it is main time until the bot has answered."""

    @property
    def main_ends(self) -> int:
        """The latest end of main time, exclusive: a submission that arrives at it is late."""
        return self.opened + self.main * self.wall_factor

    @property
    def deadline(self) -> int:
        """The latest end of main time and reserve together."""
        return self.opened + (self.main + self.reserve) * self.wall_factor

    def used(self, reading: int) -> int:
        """Return the time used up to a reading, as far as it is known."""
        if self.stands:
            return 0
        wall = max(0, reading - self.opened)
        if self.account is None:
            return wall
        return max(self.account.used(reading), wall // self.wall_factor)

    def stage(self, reading: int) -> Stage:
        """Return the stage of a reading. Submissions *before* a deadline are in time, those at it are not."""
        used = self.used(reading)
        if self.stands or used < self.main:
            return Stage.MAIN
        return Stage.RESERVE if used < self.main + self.reserve else Stage.OVER

    def reserve_used(self, used: int) -> int:
        """Return the part of the used time that is from the reserve."""
        return min(max(0, used - self.main), self.reserve)

    def left_ms(self, reading: int, reserve_ms: int) -> tuple[int, int]:
        """Return the main time left, and that of a reserve, in whole milliseconds."""
        used = self.used(reading)
        reserve = reserve_ms - self.reserve_used(used) // MICROSECONDS_PER_MS
        return max(0, self.main - used) // MICROSECONDS_PER_MS, reserve

    def charged(self, used: int) -> int:
        """Return the part of the used time that is charged: at most main time and reserve."""
        return min(used, self.main + self.reserve)

    def own(self, charged: int) -> bool:
        """Return whether a charge is the bot's own doing: it had no time, or used it all as processor time."""
        if self.main + self.reserve == 0:
            return True
        return self.account is not None and self.account.total >= charged

    def next_look(self, *, into_reserve: bool) -> int | None:
        """Return the time at which to check next whether main time is over; None: never.

        With `into_reserve`, whether main time and reserve are.
        """
        if self.stands:
            return None
        latest = self.deadline if into_reserve else self.main_ends
        if self.account is None:
            return latest
        return min(latest, self.account.next_look(self.main + self.reserve if into_reserve else self.main))


def reserve_after(terms: ClockTerms, reserve: int, used: int) -> int:
    """Return what remains of a seat's reserve after a window of its own that used some of it, in microseconds."""
    given_back = 0 if terms.bronstein_ms is UNSET else min(used, terms.bronstein_ms * MICROSECONDS_PER_MS)
    increment = 0 if terms.increment_ms is UNSET else terms.increment_ms * MICROSECONDS_PER_MS
    return reserve - used + given_back + increment
