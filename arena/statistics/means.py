"""Mean points with an interval, from matches in blocks. Pure."""

from collections.abc import Sequence
from math import sqrt

from msgspec import Struct

from arena.statistics.students_t import reach

LEVEL = 0.95


class MeanPoints(Struct, frozen=True):
    """Mean points per match, with a 95 % interval within 0 to 1."""

    mean: float
    low: float
    high: float
    blocks: int


def mean_points(points: Sequence[tuple[int, float]]) -> MeanPoints:
    """Return the mean of points, each listed with its block. There must be at least one match.

    Matches of a block are not independent, so the interval uses the differences between blocks: Student's t, with
    the variance of a mean over clusters of unequal sizes (W. G. Cochran, *Sampling Techniques*, 6.3). If all
    matches were won, or all lost, it is the interval of Clopper and Pearson over blocks.
    """
    mean = sum(gained for _, gained in points) / len(points)
    residuals: dict[int, float] = {}
    for block, gained in points:
        residuals[block] = residuals.get(block, 0.0) + gained - mean
    blocks = len(residuals)
    if mean in (0, 1):
        aside = 1 - ((1 - LEVEL) / 2) ** (1 / blocks)
        return MeanPoints(mean, max(0.0, mean - aside), min(1.0, mean + aside), blocks)
    if blocks == 1:
        return MeanPoints(mean, 0.0, 1.0, blocks)
    variance = blocks / (blocks - 1) * sum(each**2 for each in residuals.values()) / len(points) ** 2
    aside = reach(blocks - 1, LEVEL) * sqrt(variance)
    return MeanPoints(mean, max(0.0, mean - aside), min(1.0, mean + aside), blocks)
