"""The clock of a ledger: wall time that never goes back, even if the machine's clock does."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from arena.terminal import say

SMALL = timedelta(seconds=10)
"""Correction by which a clock is set back now and then. The ledger's clock stops for that long."""
LAST_YEAR = 9_000
"""Last year of a time from which the clock can continue. Python's times end soon after."""


def wall_time() -> datetime:
    """Return the time of the machine's clock."""
    return datetime.now(UTC)


def uptime() -> timedelta:
    """Return the time since the machine was started, including its sleep."""
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


class LedgerClock:
    """Wall time that continues from its last value if the machine's clock is set back. That is reported once."""

    def __init__(
        self,
        latest: str | None,
        *,
        wall: Callable[[], datetime] = wall_time,
        elapsed: Callable[[], timedelta] = uptime,
        tell: Callable[[str], None] = say,
    ) -> None:
        """Continue after `latest`, the last time in the ledger.

        Args:
            latest: a time in ISO 8601; None or an unusable text: begin at the machine's time.
            wall: returns the machine's time.
            elapsed: returns the time since a fixed moment.
            tell: shows a line to the host.
        """
        self._wall, self._elapsed, self._tell = wall, elapsed, tell
        self._last = _read(latest)
        self._at = elapsed()
        self._told = False

    def now(self) -> str:
        """Return the time in ISO 8601, in UTC, in milliseconds; never earlier than the last one."""
        wall, at, last = self._wall(), self._elapsed(), self._last
        if last is None or wall >= last:
            now, self._told = wall, False
        elif last - wall <= SMALL:
            now = last
        else:
            # The times between matches, which the pages show, stay right.
            now = last + (at - self._at)
            if not self._told:
                self._told = True
                self._tell(
                    f"this machine's clock was set back: it shows {_text(wall)}, and the ledger's last time is"
                    f" {_text(last)}; its times go on from there. Nothing else depends on them"
                )
        self._last, self._at = now, at
        return _text(now)


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def _read(text: str | None) -> datetime | None:
    """Return an untrusted time of the ledger; None if it is invalid or too late to continue from."""
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return None
    return found if found is not None and found.tzinfo is not None and found.year < LAST_YEAR else None
