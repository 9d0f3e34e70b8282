"""The time that a ledger writes down: wall time that never goes back, whatever becomes of the machine's clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from arena.terminal import say

SMALL = timedelta(seconds=10)
"""By so much a clock is set back now and then by what keeps it right: the ledger's stands still meanwhile."""
LAST_YEAR = 9_000
"""Of a time that is gone on from: Python's own times end soon after."""


def wall_time() -> datetime:
    """What the machine's clock shows."""
    return datetime.now(UTC)


def uptime() -> timedelta:
    """Since the machine was started, also while it slept."""
    return timedelta(seconds=time.clock_gettime(time.CLOCK_BOOTTIME))


class LedgerClock:
    """Wall time; from where it was, if the machine's clock is set back, and that is said once."""

    def __init__(
        self,
        latest: str | None,
        *,
        wall: Callable[[], datetime] = wall_time,
        elapsed: Callable[[], timedelta] = uptime,
        tell: Callable[[str], None] = say,
    ) -> None:
        """`latest`: the last time in the ledger. The rest: see the functions above."""
        self._wall, self._elapsed, self._tell = wall, elapsed, tell
        self._last = _read(latest)
        self._at = elapsed()
        self._told = False

    def now(self) -> str:
        """ISO 8601, UTC, in milliseconds; no earlier than the time before."""
        wall, at, last = self._wall(), self._elapsed(), self._last
        if last is None or wall >= last:
            now, self._told = wall, False
        elif last - wall <= SMALL:
            now = last
        else:
            # Times between two matches stay right, which the pages tell.
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
    """A time of the ledger; None: it is none, or none that can be gone on from. A stranger may have written it."""
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except (ValueError, TypeError):
        return None
    return found if found is not None and found.tzinfo is not None and found.year < LAST_YEAR else None
