"""Sequential sign test of the ratio between head's and base's use of processor time or memory. Pure.

Each block has one ratio of head's use to base's use in the same deal. The test is of the median of these ratios,
and uses only the side of the limit on which a ratio is: one slow moment of a busy machine counts no more than any
other ratio beyond the limit, and the ratios may have any distribution.

If the median is above the limit, a ratio is below it with a probability of at most one half. A gambler who bets
on "below" at fair odds then wins nothing on average, so that one coin becomes 1/alpha coins with a probability of
at most alpha, however often one looks (Ville's inequality). The gambler spreads the coin evenly over all
probabilities between one half and one (Robbins' mixture). The other side of the test is the mirror image.

Papers: H. Robbins, *Statistical methods related to the law of the iterated logarithm*, Ann. Math. Stat. 41 (1970);
S. R. Howard and A. Ramdas, *Sequential estimation of quantiles*, Bernoulli 28 (2022), for the interval.
"""

from collections.abc import Sequence
from math import inf, isfinite
from statistics import median
from typing import Literal

from msgspec import Struct

from arena.statistics.sprt import Verdict

Resource = Literal["time", "memory"]
"""Processor time per move without the start-up, or the peak of memory in use."""
LARGEST_RATIO = 1000.0
ENOUGH = 1e300
"""Number of coins beyond which a sum is not continued."""
LEVEL = 0.95
HOPELESS = 8
"""Number of blocks without a measurement after which a test that never had one stops."""


class UsageLimit(Struct, frozen=True, kw_only=True):
    """Limit to test: head uses at most `most` times as much as base, by the median of blocks."""

    resource: Resource
    most: float
    alpha: float = 0.05
    """Bound on the probability of finding head within the limit if it is above it."""
    beta: float = 0.05
    """Bound on the probability of finding head above the limit if it is within it."""

    def __post_init__(self) -> None:
        """Check the limit.

        Raises:
            ValueError: a parameter is out of range; the message is one line with the range.
        """
        if not 0 < self.most <= LARGEST_RATIO:
            raise ValueError(f"{self.most:zg} must be above 0, and {LARGEST_RATIO:g} at most")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1):
            raise ValueError(f"alpha = {self.alpha:g} and beta = {self.beta:g} must be between 0 and 1")


class UsageState(Struct, frozen=True, kw_only=True):
    """State of a test."""

    verdict: Verdict = Verdict.UNDECIDED
    blocks: int = 0
    """Number of blocks with a ratio."""
    unmeasured: int = 0
    """Number of blocks without a ratio: a bot was lost, or the measurement failed."""
    within: int = 0
    """Number of ratios within the limit."""
    for_within: float = 1.0
    """Evidence that head is within the limit, in coins; it decides at 1/alpha."""
    for_above: float = 1.0
    """Evidence that head is above the limit, in coins; it decides at 1/beta."""

    @property
    def is_over(self) -> bool:
        """True when more blocks are not needed or would not help."""
        hopeless = self.blocks == 0 and self.unmeasured >= HOPELESS
        return hopeless or self.verdict is not Verdict.UNDECIDED


class UsageWalk:
    """A running test that receives one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, limit: UsageLimit) -> None:
        self.limit = limit
        self.state = UsageState()
        self.ratios: list[float] = []

    def add(self, ratio: float | None) -> None:
        """Add the next block's ratio of head's use to base's; None if it was not measured."""
        state = self.state
        if ratio is None or not (isfinite(ratio) and ratio > 0):
            self.state = UsageState(
                blocks=state.blocks,
                unmeasured=state.unmeasured + 1,
                within=state.within,
                for_within=state.for_within,
                for_above=state.for_above,
            )
            return
        self.ratios.append(ratio)
        blocks = state.blocks + 1
        within = state.within + (ratio <= self.limit.most)
        for_within, for_above = coins(blocks, within), coins(blocks, blocks - within)
        verdict = Verdict.UNDECIDED
        if for_within >= 1 / self.limit.alpha:
            verdict = Verdict.ACCEPTED
        elif for_above >= 1 / self.limit.beta:
            verdict = Verdict.REJECTED
        self.state = UsageState(
            verdict=verdict,
            blocks=blocks,
            unmeasured=state.unmeasured,
            within=within,
            for_within=for_within,
            for_above=for_above,
        )


def coins(bets: int, won: int) -> float:
    """Return the value of one coin after `bets` bets at even odds, of which `won` were won.

    The coin is spread evenly over the best bets for all probabilities between one half and one. The integral is
    the sum of the binomial coefficients C(bets + 1, 0 ... won), divided by (bets + 1) C(bets, won).
    """
    term = total = 1.0
    for place in range(won):
        term *= (won - place) / (bets + 2 - won + place)
        total += term
        if total > ENOUGH or term < total * 1e-17:
            break
    return total / (bets + 1 - won)


def median_interval(ratios: Sequence[float], level: float = LEVEL) -> tuple[float, float, float]:
    """Return the median of the ratios and a confidence interval for it that is valid at any stopping time.

    The interval is 0 to infinity if there are too few ratios. There must be at least one ratio.
    """
    ordered = sorted(ratios)
    number = len(ordered)
    needed = 2 / (1 - level)
    if coins(number, number) < needed:
        return median(ordered), 0.0, inf
    low, high = 0, number
    while high - low > 1:
        middle = (low + high) // 2
        if coins(number, middle) >= needed:
            high = middle
        else:
            low = middle
    return median(ordered), ordered[number - high], ordered[high - 1]
