"""Is one bot better than another by so much? A sequential test for two seats, on blocks. Pure.

The generalised sequential probability ratio test (GSPRT) on pentanomial counts: a block is one deal played twice
with the seats swapped, and its two results together are one observation, so that what the deal favours does not
count as luck. The log-likelihood ratio is fishtest's and fastchess's: the same counts give the same number.

Papers: M. Van den Bergh, *Comparing the approximations for the generalized log likelihood ratio of a multinomial
distribution* (Proposition 1.1) and *Comments on normalized Elo* (section 4.1), https://www.cantate.be/Fishtest/;
the test's limits are A. Wald's, *Sequential tests of statistical hypotheses* (1945).
"""

from collections.abc import Callable, Sequence
from enum import Enum
from math import exp, fsum, log, sqrt
from typing import Literal

from msgspec import Struct

from arena.statistics.ratings import ELO

EloModel = Literal["logistic", "normalized"]
NORMALIZED_ELO = 800 / log(10)
"""Normalized Elo of a mean that is one standard deviation of a match's result above one half."""
RESULTS = 5
"""A block's results: 0, 0.5, 1, 1.5 and 2 points."""
UNSEEN = 1e-3
"""Count of a result that was not seen, as fishtest has it: without it some hypotheses would be impossible."""
ROUNDS = 100
"""More than the fixed point ever takes; it is met to 12 digits in about ten."""
EXACT = 1e-12
HALVINGS = 200
MOST_ELO: dict[EloModel, float] = {"logistic": 1000.0, "normalized": 200.0}
"""The largest hypotheses, either way: the fixed point of normalized Elo has no solution above about 231."""


class Verdict(Enum):
    """What a test says so far."""

    ACCEPTED = "accepted"
    """H1: better by at least what was asked."""
    REJECTED = "rejected"
    """H0: not better by more than what was asked."""
    UNDECIDED = "undecided"


class Sprt(Struct, frozen=True, kw_only=True):
    """What is tested: H0, the difference is `elo0`, against H1, it is `elo1`."""

    elo0: float = 0.0
    elo1: float = 5.0
    alpha: float = 0.05
    """At most this often is H1 accepted where H0 holds."""
    beta: float = 0.05
    """At most this often is H0 accepted where H1 holds."""
    model: EloModel = "normalized"

    def __post_init__(self) -> None:
        """Refuses what cannot be tested.

        Raises:
            ValueError: one line that says what would be right.
        """
        most = MOST_ELO[self.model]
        for name, elo in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -most <= elo <= most:  # Nor is anything that is no number.
                raise ValueError(f"{name} = {elo:zg} must be from {-most:g} to {most:g}, with {self.model} Elo")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 = {self.elo0:zg} must be less than elo1 = {self.elo1:zg}")
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise ValueError(f"alpha = {self.alpha:g} and beta = {self.beta:g} must be above 0, together below 1")

    @property
    def lower(self) -> float:
        """At this log-likelihood ratio, or below, H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """At this log-likelihood ratio, or above, H1 is accepted."""
        return log((1 - self.beta) / self.alpha)


class Progress(Struct, frozen=True):
    """How far a test is."""

    verdict: Verdict
    blocks: int
    """How many were looked at: up to the first that decided."""
    llr: float
    counts: tuple[int, ...]


class Walk:
    """A test that takes one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, test: Sprt) -> None:
        self._test = test
        self._counts = [0] * RESULTS
        self.progress = Progress(Verdict.UNDECIDED, 0, 0.0, tuple(self._counts))

    def add(self, block: float) -> None:
        """What the new version got from the next block, of 2."""
        self._counts[round(2 * block)] += 1
        self.progress = state_of(self._test, self._counts)


def state_of(test: Sprt, counts: Sequence[int]) -> Progress:
    """How far the test is after blocks with these counts of results."""
    ratio = llr(counts, test)
    verdict = Verdict.UNDECIDED
    if ratio >= test.upper:
        verdict = Verdict.ACCEPTED
    elif ratio <= test.lower:
        verdict = Verdict.REJECTED
    return Progress(verdict, sum(counts), ratio, tuple(counts))


def llr(counts: Sequence[int], test: Sprt) -> float:
    """Log-likelihood ratio of H1 to H0.

    Args:
        counts: blocks with 0, 0.5, 1, 1.5 and 2 points; or, of matches that are no blocks, losses, draws and wins.
        test: what is tested.
    """
    seen = [count or UNSEEN for count in counts]
    total = sum(seen)
    scores = [index / (len(counts) - 1) for index in range(len(counts))]
    shares = [count / total for count in seen]
    # A block's mean of n matches has a standard deviation smaller by the root of n.
    root = sqrt((len(counts) - 1) / 2)

    def fitted(elo: float) -> list[float]:
        if test.model == "logistic":
            return _with_mean(scores, shares, expected(elo))
        return _with_t_value(scores, shares, elo / NORMALIZED_ELO * root)

    both = zip(shares, fitted(test.elo0), fitted(test.elo1), strict=True)
    return total * fsum(share * log(h1 / h0) for share, h0, h1 in both)


def expected(elo: float) -> float:
    """The share of points that so much Elo promises, by the logistic formula."""
    return 1 / (1 + exp(-elo / ELO))


def _with_mean(scores: Sequence[float], shares: Sequence[float], mean: float) -> list[float]:
    """The most likely distribution with this mean, given these shares (Proposition 1.1)."""
    return _tilted(shares, [score - mean for score in scores])


def _with_t_value(scores: Sequence[float], shares: Sequence[float], t_value: float) -> list[float]:
    """The most likely distribution whose mean is so many standard deviations above one half (section 4.1).

    It is a fixed point: the constraint is made linear at the last guess.
    """
    guess = [1 / len(scores)] * len(scores)
    for _ in range(ROUNDS):
        mean = sum(score * share for score, share in zip(scores, guess, strict=True))
        deviation = sqrt(sum(share * (score - mean) ** 2 for score, share in zip(scores, guess, strict=True)))
        slopes = [
            score - 0.5 - t_value * deviation * (1 + ((score - mean) / deviation) ** 2) / 2 for score in scores
        ]
        last, guess = guess, _tilted(shares, slopes)
        if max(abs(new - old) for new, old in zip(guess, last, strict=True)) < EXACT:
            break
    return guess


def _tilted(shares: Sequence[float], slopes: Sequence[float]) -> list[float]:
    """The most likely distribution in which the slopes have mean 0: each share over 1 + x times its slope."""

    def mean(x: float) -> float:
        return sum(share * slope / (1 + x * slope) for share, slope in zip(shares, slopes, strict=True))

    x = _root(mean, -1 / max(slopes), -1 / min(slopes))
    return [share / (1 + x * slope) for share, slope in zip(shares, slopes, strict=True)]


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that falls from plus to minus infinity between two poles is 0, by halving."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if falling(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
