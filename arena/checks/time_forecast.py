"""How long a tournament will take, from one short match of each bot. Pure."""

from collections.abc import Iterable, Mapping
from statistics import median

from msgspec import Struct

from arena.schedule import Block


class Forecast(Struct, frozen=True):
    """Between which times a tournament will take, if its matches are like those of the check."""

    matches: int
    at_once: int
    lower_seconds: float
    """If bots think at the same time, and starts take as long as in the quickest match."""
    upper_seconds: float
    """If bots think one after the other, and starts take as long as in the median match."""


def forecast(
    blocks: Iterable[Block], matches: int, times: Mapping[int, tuple[float, float]], *, at_once: int
) -> Forecast | None:
    """A tournament's; None if no match was measured.

    Args:
        blocks: those that are known before the first match.
        matches: in all, of which later ones are taken to be like those known.
        times: by entrant, how many seconds its match took, and how many of them it thought itself.
        at_once: matches at once.
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
