"""A forecast of a tournament's duration, from one short match of each bot. Pure."""

from collections.abc import Iterable, Mapping
from statistics import median

from msgspec import Struct

from arena.schedule import Block


class Forecast(Struct, frozen=True):
    """Bounds on a tournament's duration, if its matches are like those of the check."""

    matches: int
    at_once: int
    lower_seconds: float
    """Seconds if bots think at the same time, and starts take as long as in the quickest match."""
    upper_seconds: float
    """Seconds if bots think one after the other, and starts take as long as in the median match."""


def forecast(
    blocks: Iterable[Block], matches: int, times: Mapping[int, tuple[float, float]], *, at_once: int
) -> Forecast | None:
    """Forecast a tournament's duration. Return None if no match was measured.

    Args:
        blocks: the blocks that are known before the first match.
        matches: the total number of matches; later ones are assumed to be like those of `blocks`.
        times: by entrant, the seconds that its match took, and the seconds that it thought itself.
        at_once: the number of matches played at once.
    """
    if not times:
        return None
    rest = [whole - own for whole, own in times.values() if whole > own] or [0.0]
    typical = sum(own for _, own in times.values()) / len(times)
    known, longest, together = 0, 0.0, 0.0
    for block in blocks:
        thought = [times[each][1] if each in times else typical for each in block.entrants]
        known += len(block.shifts)
        longest += len(block.shifts) * max(thought)
        together += len(block.shifts) * sum(thought)
    share = matches / max(1, known) / at_once
    return Forecast(
        matches,
        at_once,
        share * (longest + known * min(rest)),
        share * (together + known * median(rest)),
    )
