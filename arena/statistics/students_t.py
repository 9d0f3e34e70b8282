"""Student's t distribution, for intervals from few blocks. Pure.

For whole degrees of freedom it is a finite sum: M. Abramowitz and I. A. Stegun, *Handbook of Mathematical
Functions*, 26.7.3 and 26.7.4.
"""

from functools import cache
from math import atan, cos, pi, sin, sqrt
from statistics import NormalDist

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
