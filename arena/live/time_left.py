"""A person's remaining time in a window, for display only: the referee's clock decides."""

MINUTE, HOUR = 60, 3600
NARROWEST = 12
"""Minimum width in columns, enough for `reserve 4:10`."""


class TimeLeft:
    """Main time and reserve of one window. All times are seconds on the same clock, which may be any."""

    def __init__(self, now: float, main_ms: int, reserve_ms: int) -> None:
        self._main = main_ms / 1000
        self._reserve = reserve_ms / 1000
        self._since: float | None = now
        self._used = 0.0
        self.width = max(len(self.text(now)), len(f"reserve {clock_text(self._reserve)}"), NARROWEST)
        """Columns of the longest possible text, so that a prompt behind it does not move."""

    def pause(self, now: float) -> None:
        """Stop the clock."""
        if self._since is not None:
            self._used += now - self._since
            self._since = None

    def resume(self, now: float) -> None:
        """Start the clock again."""
        if self._since is None:
            self._since = now

    def text(self, now: float) -> str:
        """Return the time left as `0:42`, as `0:42 +5:00` with a reserve, or as `reserve 4:10` within it."""
        used = self._used + (0.0 if self._since is None else now - self._since)
        main = self._main - used
        if main <= 0 < self._reserve:
            return f"reserve {clock_text(self._reserve + main)}"
        return clock_text(main) + (f" +{clock_text(self._reserve)}" if self._reserve else "")


def clock_text(seconds: float) -> str:
    """Return whole seconds as `4:10`; from an hour on as `23:59:57`."""
    whole = max(0, int(seconds))
    if whole < HOUR:
        return f"{whole // MINUTE}:{whole % MINUTE:02}"
    return f"{whole // HOUR}:{whole % HOUR // MINUTE:02}:{whole % MINUTE:02}"
