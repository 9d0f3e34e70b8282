"""Sequential test of a difference in strength between two bots, on blocks of two-seat games. Pure.

The test is the generalised sequential probability ratio test (GSPRT) on pentanomial counts. A block is one deal
played twice with the seats swapped, and its two results together are one observation, so that a one-sided deal
adds no variance. The log-likelihood ratio equals that of fishtest and fastchess for the same counts.

Papers: M. Van den Bergh, *Comparing the approximations for the generalized log likelihood ratio of a multinomial
distribution* (Proposition 1.1) and *Comments on normalized Elo* (section 4.1), https://www.cantate.be/Fishtest/;
the test's limits are A. Wald's, *Sequential tests of statistical hypotheses* (1945).
"""

from collections.abc import Callable, Sequence
from enum import Enum
from math import exp, fsum, log, sqrt
from operator import mul, sub
from typing import Literal

from msgspec import Struct

from arena.statistics.ratings import ELO

EloModel = Literal["logistic", "normalized"]
NORMALIZED_ELO = 800 / log(10)
"""Normalized Elo of a mean result that is one standard deviation of a match's result above one half."""
RESULTS = 5
"""Number of possible results of a block: 0, 0.5, 1, 1.5 and 2 points."""
UNSEEN = 1e-3
"""Count used for a result that did not occur, as in fishtest; with 0 some hypotheses would be impossible."""
ROUNDS = 100
"""Maximum number of iterations to the fixed point; about ten reach 12 digits."""
EXACT = 1e-12
HALVINGS = 200
MOST_ELO: dict[EloModel, float] = {"logistic": 1000.0, "normalized": 200.0}
"""Largest hypotheses in both directions; the fixed point of normalized Elo has no solution above about 231."""


class SprtVerdict(Enum):
    """Result of a test so far."""

    ACCEPTED = "accepted"
    """H1: the difference is at least the one tested for."""
    REJECTED = "rejected"
    """H0: the difference is not larger than the lower limit."""
    UNDECIDED = "undecided"


class Sprt(Struct, frozen=True, kw_only=True):
    """Hypotheses of a test: H0, the difference is `elo0`; H1, it is `elo1`."""

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    """Maximum probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Maximum probability of accepting H0 if H1 is true."""
    model: EloModel = "normalized"

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ValueError: a parameter is out of range; the message is one line with the range.
        """
        most = MOST_ELO[self.model]
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -most <= elo <= most:  # The comparison also refuses NaN.
                raise ValueError(f"{name} = {elo:zg} must be from {-most:g} to {most:g}, with {self.model} Elo")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 = {self.elo0:zg} must be less than elo1 = {self.elo1:zg}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(f"alpha = {self.alpha:g} and beta = {self.beta:g} must be above 0, together below 1")

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at or below which H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at or above which H1 is accepted."""
        return log((1 - self.beta) / self.alpha)


class SprtState(Struct, frozen=True):
    """State of a test."""

    verdict: SprtVerdict
    blocks: int
    """Number of blocks considered, up to the first that decided."""
    llr: float
    counts: tuple[int, ...]


class SprtWalk:
    """A running test that receives one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, test: Sprt) -> None:
        self._test = test
        self._counts = [0] * RESULTS
        self.progress = SprtState(SprtVerdict.UNDECIDED, 0, 0.0, tuple(self._counts))

    def add(self, block: float) -> None:
        """Add the next block: the new version's points, of 2."""
        self._counts[round(2 * block)] += 1
        self.progress = state_of(self._test, self._counts)


def state_of(test: Sprt, counts: Sequence[int]) -> SprtState:
    """Return the state of the test after blocks with these counts of results."""
    ratio = llr(counts, test)
    verdict = SprtVerdict.UNDECIDED
    if ratio >= test.upper:
        verdict = SprtVerdict.ACCEPTED
    elif ratio <= test.lower:
        verdict = SprtVerdict.REJECTED
    return SprtState(verdict, sum(counts), ratio, tuple(counts))


def llr(counts: Sequence[int], test: Sprt) -> float:
    """Return the log-likelihood ratio of H1 to H0.

    Args:
        counts: numbers of blocks with 0, 0.5, 1, 1.5 and 2 points; for single matches, losses, draws and wins.
        test: the hypotheses.
    """
    seen = [count or UNSEEN for count in counts]
    total = sum(seen)
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    shares = [count / total for count in seen]
    # The standard deviation of a mean of n matches is smaller by the root of n.
    root = sqrt((len(counts) - 1) / 2)

    def fitted(elo: float) -> list[float]:
        if test.model == "logistic":
            # The most likely distribution with this mean for the observed shares (Proposition 1.1).
            mean = expected(elo)
            return _tilted(shares, [score - mean for score in scores])
        return _with_t_value(scores, shares, elo / NORMALIZED_ELO * root)

    both = zip(shares, fitted(test.elo0), fitted(test.elo1), strict=True)
    return total * fsum(share * log(h1 / h0) for share, h0, h1 in both)


def expected(elo: float) -> float:
    """Return the expected share of points at this difference in Elo, by the logistic formula."""
    return 1 / (1 + exp(-elo / ELO))


def _with_t_value(scores: Sequence[float], shares: Sequence[float], t_value: float) -> list[float]:
    """Return the most likely distribution whose mean is `t_value` standard deviations above one half (4.1).

    The distribution is a fixed point: each iteration makes the constraint linear at the last guess.
    """
    guess = [1 / len(scores)] * len(scores)
    for _ in range(ROUNDS):
        mean = sum(map(mul, scores, guess))
        deviation = sqrt(sum(share * (score - mean) ** 2 for score, share in zip(scores, guess, strict=True)))
        slopes = [
            score - 0.5 - t_value * deviation * (1 + ((score - mean) / deviation) ** 2) / 2 for score in scores
        ]
        last, guess = guess, _tilted(shares, slopes)
        if max(map(abs, map(sub, guess, last))) < EXACT:
            break
    return guess


def _tilted(shares: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """Return the most likely distribution with mean slope 0: each share divided by 1 + x times its slope."""

    def mean(x: float) -> float:
        return sum(share * slope / (1 + x * slope) for share, slope in zip(shares, slopes, strict=True))

    x = _root(mean, -1 / max(slopes), -1 / min(slopes))
    return [share / (1 + x * slope) for share, slope in zip(shares, slopes, strict=True)]


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a function that falls from plus to minus infinity between two poles, by bisection."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
