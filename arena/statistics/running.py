"""Running ratings with standard errors, for ladders that never read earlier results again. Pure.

Each strength is a Gaussian over log-strengths of Plackett and Luce's model, as in `ratings`. A match moves it by
one step of Newton's method, which includes the uncertainty of the others' strengths. For two seats this is
Glicko's rule, for more seats the same with Plackett and Luce's likelihood. The cost per match is constant.

Papers: M. E. Glickman, *Parameter estimation in large dynamic paired comparison experiments* (1999), equations 9
and 10 without its rating periods; R. C. Weng and C.-J. Lin, *A Bayesian approximation method for online ranking*
(2011).
"""

from collections.abc import Sequence
from math import exp, pi, sqrt

from msgspec import Struct

from arena.statistics.ratings import ELO

MIDDLE = 1500.0
"""Rating displayed for a log-strength of 0."""
START_ERROR = 250.0
"""Standard error of a new bot, in Elo. With a larger one, the first matches spread ratings too far."""
START = (START_ERROR / ELO) ** 2
"""`START_ERROR` as a variance of log-strengths."""
BLUR = 3 / pi**2
"""Factor of an opponent's variance in the flattening of the odds (Glickman 1999, equation 7)."""
LONGEST = 2.0
"""Maximum change of a log-strength per match; on the flat ends of the curve a step would be too long."""


class RunningRating(Struct, frozen=True, kw_only=True):
    """One bot's rating on a ladder."""

    rating: float
    error: float
    """Standard error of the rating, according to the model."""
    blocks: int
    """Number of blocks played in this period."""


def shown(mean: float, variance: float, blocks: int) -> RunningRating:
    """Return a strength as a rating for display."""
    return RunningRating(rating=MIDDLE + ELO * mean, error=ELO * sqrt(variance), blocks=blocks)


def widened(variance: float, points: float) -> float:
    """Return a variance after a possible change of the strength by about `points` Elo."""
    return min(START, variance + (points / ELO) ** 2)


def learn(
    means: list[float], variances: list[float], entrants: Sequence[int], ranking: Sequence[Sequence[int]]
) -> None:
    """Update the strengths of the entrants of one match.

    Args:
        means: log-strengths, by entrant.
        variances: variances of the log-strengths, by entrant.
        entrants: entrants' numbers, by seat.
        ranking: groups of seats, best first.
    """
    found = [_step(seat, means, variances, entrants, ranking) for seat in range(len(entrants))]
    for entrant in dict.fromkeys(entrants):
        # The house may sit in several seats.
        mine = [each for each, other in zip(found, entrants, strict=True) if other == entrant]
        variance = 1 / (1 / variances[entrant] + sum(curve for _, curve in mine))
        step = variance * sum(slope for slope, _ in mine)
        variances[entrant] = variance
        means[entrant] += max(-LONGEST, min(LONGEST, step))


def _step(
    seat: int,
    means: Sequence[float],
    variances: Sequence[float],
    entrants: Sequence[int],
    ranking: Sequence[Sequence[int]],
) -> tuple[float, float]:
    """Return the slope of a ranking's log-likelihood in one seat's strength, and its negative curvature."""
    mine = entrants[seat]
    mean, seats = means[mine], len(entrants)
    blur = (sum([variances[entrant] for entrant in entrants]) - variances[mine]) / (seats - 1)
    scale = 1 / sqrt(1 + BLUR * blur)
    worth = [exp(max(-50.0, min(50.0, scale * (means[entrant] - mean)))) for entrant in entrants]
    left, slope, curve = sum(worth), 0.0, 0.0
    for group in ranking:
        of_group = _drawn(seat, group, worth, left)
        slope, curve = slope + of_group[0], curve + of_group[1]
        if seat in group:
            break
        left -= sum([worth[other] for other in group])
    return scale * slope, scale * scale * curve


def _drawn(seat: int, group: Sequence[int], worth: Sequence[float], left: float) -> tuple[float, float]:
    """Return the slope and curvature from one group's draws, averaged over the rotations of a tied group."""
    slope = curve = 0.0
    share = 1 / len(group)
    for turn in range(len(group)):
        rest = left
        for drawn in (*group[turn:], *group[:turn]):
            chance = min(1.0, worth[seat] / max(rest, worth[seat]))
            slope -= share * chance
            curve += share * chance * (1 - chance)
            if drawn == seat:
                slope += share
                break
            rest -= worth[drawn]
    return slope, curve
