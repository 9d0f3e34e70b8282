"""The start-up time of a bot, in which it must send `hello`. Pure: times are passed in.

Delays of a busy machine, or of the referee, are never charged to a bot: they are refunded, as long as they matter.
"""

from referee.match.records import Used

MICROSECONDS = 1_000_000
WORTH_PROLONGING = 100
"""The smallest extension is one part in this many of the start-up time."""
MOST_STARTS = 10
"""The largest extension in start-up times. Beyond it, the attempt is void."""


class StartUp:
    """The start-up time of a seat's bot. Times are in microseconds."""

    def __init__(self, whole: int) -> None:
        """Set the longest time that a start may take."""
        self.whole = whole
        """The longest time that a start may take."""
        self._prolonged = 0
        self._cpu: int | None = None
        self.began = 0
        """The time at which it started to run."""
        self.ends: int | None = None
        """The time by which a (re)started bot must have sent `hello`; None: it has, or has left the match."""
        self.used: Used | None = None
        """The measurement of the start, after it has run out."""

    def begin(self, now: int) -> None:
        """Start the whole time now."""
        self.began = now
        self.ends = now + self.whole
        self._prolonged = 0

    def end(self) -> None:
        """Stop it, because the bot has sent `hello` or left the match."""
        self.ends = None

    def is_out(self, at: int) -> bool:
        """Return whether it runs, and has run out at a time."""
        return self.ends is not None and at >= self.ends

    def prolong(self, at: int) -> bool:
        """Refund delays of the machine and the referee by an extension; return False if they are too small.

        The delays follow from `used`, and are refunded once.
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
        """Return the reason in words for which a bot without `hello` is removed."""
        text = f"no hello in {self.whole / MICROSECONDS:g} s"
        if self._cpu is None:
            return text
        return f"{text} ({self._cpu / MICROSECONDS:.1f} s of processor time used)"

    def is_kept(self) -> bool:
        """Return whether the delays are so large that the bot is kept from starting at all."""
        return self._prolonged > MOST_STARTS * self.whole
