"""What base and head used in a block, for tests of time and memory. Pure."""

from collections.abc import Sequence

from msgspec import Struct

from arena.statistics import Resource, UsageLimit, UsageState, UsageWalk, median_interval
from protocol.refusals import Conduct
from referee.match import SeatReport


class SeatUse(Struct, frozen=True):
    """What one seat's bot used in a match. None: not measured, or the bot was not there to the end."""

    us_per_move: float | None = None
    """Processor time per window after the start-up, in microseconds."""
    peak_bytes: int | None = None
    """The most memory that it held at once."""


def uses_of(
    reports: Sequence[SeatReport], windows: Sequence[int], conduct: Sequence[Conduct]
) -> tuple[SeatUse, ...]:
    """Return what each seat's bot used. Empty: the match has no reports."""
    return tuple(
        _use_of(report, number) if kind is Conduct.OK else SeatUse()
        for report, number, kind in zip(reports, windows, conduct, strict=bool(reports))
    )


def _use_of(report: SeatReport, windows: int) -> SeatUse:
    time = None
    if report.cpu_us is not None and report.start_cpu_us is not None and windows:
        time = max(0, report.cpu_us - report.start_cpu_us) / windows
    return SeatUse(time, report.peak_bytes)


def ratio_of(base: Sequence[SeatUse], head: Sequence[SeatUse], resource: Resource) -> float | None:
    """Return head's use in a block divided by base's. None: it is not known.

    Of time, the means over the block's matches are compared; of memory, the most of any of them.
    """
    of_base, of_head = _used(base, resource), _used(head, resource)
    return of_head / of_base if of_base and of_head else None


def _used(uses: Sequence[SeatUse], resource: Resource) -> float | None:
    """Return what a bot used in the matches of a block. None: it is not known of one of them, or there is none."""
    values = [each.us_per_move if resource == "time" else each.peak_bytes for each in uses]
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return None
    return sum(known) / len(known) if resource == "time" else max(known)


class UsageFinding(Struct, frozen=True):
    """How a test of time or memory came out."""

    limit: UsageLimit
    state: UsageState
    ratio: tuple[float, float, float] | None
    """Head's use divided by base's: the median of blocks, and a 95 % interval. None: nothing was measured."""


def usage_finding(walk: UsageWalk) -> UsageFinding:
    """Return how a test stands."""
    return UsageFinding(walk.limit, walk.state, median_interval(walk.ratios) if walk.ratios else None)
