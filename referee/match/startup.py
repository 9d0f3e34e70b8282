"""How long a bot may take to start: until it must have said `hello`. Pure: told the moments, as `match` is.

A bot does not pay for a busy machine: what that, or the referee, took from its start is given back to it, for as
long as that is worth it.
"""

from referee.match.records import Used

MICROSECONDS = 1_000_000
WORTH_PROLONGING = 100
"""A bot's start-up time is not prolonged by less than one part in so many of it."""
MOST_STARTS = 10
"""Nor by more than so many times of it: then the attempt is void."""


class StartUp:
    """One seat's. Times are microseconds."""

    def __init__(self, whole: int) -> None:
        """`whole`: how long a start may take."""
        self.whole = whole
        """How long a start may take."""
        self._prolonged = 0
        self._cpu: int | None = None
        self.began = 0
        """The moment since which it runs."""
        self.ends: int | None = None
        """The moment by which a (re)started bot must have said `hello`; None: it has, or need not any more."""
        self.used: Used | None = None
        """What it was like, once it has run out."""

    def begin(self, now: int) -> None:
        """It is whole, and runs from now."""
        self.began = now
        self.ends = now + self.whole
        self._prolonged = 0

    def end(self) -> None:
        """The bot has said `hello`, or has no part in the match any more."""
        self.ends = None

    def is_out(self, at: int) -> bool:
        """Whether it runs, and has run out by that moment."""
        return self.ends is not None and at >= self.ends

    def prolong(self, at: int) -> bool:
        """Gives back, from now on, what the machine and the referee took of it; False: that is not worth it.

        What they took follows from `used`, and is prolonged for once.
        """
        used, self.used = self.used, None
        self._cpu = None if used is None else used.cpu
        if used is None or used.flooded:
            return False
        taken = used.withheld + used.behind
        more, self._prolonged = taken - self._prolonged, taken
        if more < self.whole // WORTH_PROLONGING:
            return False
        self.ends = at + more
        return True

    def why_out(self) -> str:
        """In words, why a bot is out that has said no `hello`."""
        text = f"no hello in {self.whole / MICROSECONDS:g} s"
        if self._cpu is None:
            return text
        return f"{text} ({self._cpu / MICROSECONDS:.1f} s of processor time used)"

    def is_kept(self) -> bool:
        """Whether so much was taken of it that the bot is kept from starting at all."""
        return self._prolonged > MOST_STARTS * self.whole
