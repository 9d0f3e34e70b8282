"""The time a person has left in a window, as it is shown. What counts is the referee's clock, not this one."""


class TimeLeft:
    """Main time and reserve of one window. All moments are seconds on one clock, whichever that is."""

    def __init__(self, now: float, main_ms: int, reserve_ms: int) -> None:
        self._main = main_ms / 1000
        self._reserve = reserve_ms / 1000
        self._since: float | None = now
        self._used = 0.0

    def pause(self, now: float) -> None:
        """The clocks stand still."""
        if self._since is not None:
            self._used += now - self._since
            self._since = None

    def resume(self, now: float) -> None:
        """The clocks run again."""
        if self._since is None:
            self._since = now

    def text(self, now: float) -> str:
        """As `0:42`, `0:42 +5:00` with a reserve, `reserve 4:10` within it."""
        used = self._used + (0.0 if self._since is None else now - self._since)
        main = self._main - used
        if main <= 0 < self._reserve:
            return f"reserve {_minutes(self._reserve + main)}"
        return _minutes(main) + (f" +{_minutes(self._reserve)}" if self._reserve else "")


def _minutes(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02}"
