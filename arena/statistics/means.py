"""Mean points with an interval, from matches in blocks. Pure.

The interval uses Student's t distribution, which for whole degrees of freedom is a finite sum: M. Abramowitz and
I. A. Stegun, *Handbook of Mathematical Functions*, 26.7.3 and 26.7.4.
"""

from collections.abc import Sequence
from functools import cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist

from msgspec import Struct

from arena.arrays import Numbers, np

NEARLY_NORMAL = 400
"""Degrees of freedom from which on the normal distribution is used; the difference is less than 0.001."""
HALVINGS = 60


def cumulative(t: float, freedom: int) -> float:
    """Return the probability of a value below `t`."""
    if freedom >= NEARLY_NORMAL:
        return NormalDist().cdf(t)
    angle = atan(t / sqrt(freedom))
    square = cos(angle) ** 2
    term = cos(angle) if freedom % 2 else 1.0
    total = 0.0
    for number in range(2 + freedom % 2, freedom + 1, 2):
        total += term
        term *= square * (number - 1) / number
    inside = (angle + sin(angle) * total) * 2 / pi if freedom % 2 else sin(angle) * total
    return (1 + inside) / 2


def cumulative_all(t: Numbers, freedom: int) -> Numbers:
    """Return the probabilities of values below each `t`."""
    if freedom >= NEARLY_NORMAL:
        return np.array([NormalDist().cdf(value) for value in t.tolist()])
    angle = np.arctan(t / sqrt(freedom))
    square = np.cos(angle) ** 2
    term = np.cos(angle) if freedom % 2 else np.ones_like(t)
    total = np.zeros_like(t)
    for number in range(2 + freedom % 2, freedom + 1, 2):
        total += term
        term = term * square * (number - 1) / number
    inside = (angle + np.sin(angle) * total) * 2 / pi if freedom % 2 else np.sin(angle) * total
    return np.asarray((1 + inside) / 2)


@cache  # The bots of a tournament need the same few values.
def reach(freedom: int, level: float) -> float:
    """Return an interval's half-width in standard errors; infinity for less than one degree of freedom."""
    if freedom < 1:
        return float("inf")
    low, high = 0.0, 1.0
    while cumulative(high, freedom) < (1 + level) / 2:
        high *= 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if cumulative(middle, freedom) < (1 + level) / 2:
            low = middle
        else:
            high = middle
    return high


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
