"""Sequential tests by betting, valid after every block. Pure.

A gambler starts with one coin and bets on every block before its result. If a hypothesis is true, the bets against
it are fair or worse, so that the money ever reaches 20 coins with a probability of at most 1 in 20, however often
one looks (Ville's inequality). Each test has a gambler against each of its two hypotheses.

`Anytime` tests a bot's new version at tables of many seats. Old and new version play the same deals in the same
seats against the same others; a block's observation is the difference of their mean points, between -1 and 1. The
differences may have any distribution; only their conditional mean, after all earlier blocks, must be as the
hypothesis states.

`UsageLimit` tests the median of the blocks' ratios between head's and base's use of processor time or memory in
the same deal. It uses only the side of the limit on which a ratio is: one slow moment of a busy machine counts no
more than any other ratio beyond the limit, and the ratios may have any distribution. If the median is above the
limit, a ratio is below it with a probability of at most one half. The gambler bets on "below" at even odds, and
spreads the coin evenly over all probabilities between one half and one (Robbins' mixture).

Papers: I. Waudby-Smith and A. Ramdas, *Estimating means of bounded random variables by betting*, J. R. Stat.
Soc. B 86 (2024): the bets are those of section 4, the interval is the hedged capital process of theorem 3;
H. Robbins, *Statistical methods related to the law of the iterated logarithm*, Ann. Math. Stat. 41 (1970);
S. R. Howard and A. Ramdas, *Sequential estimation of quantiles*, Bernoulli 28 (2022), for the median's interval.
"""

from collections.abc import Sequence
from math import exp, inf, isfinite, log, log1p
from statistics import fmean, median
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from arena.arrays import np
from arena.statistics.sprt import SprtVerdict

MOST = 0.75
"""Largest share of the money that one block can lose; it is below 1, so that the gambler is never ruined."""
GUESSED_VARIANCE = 0.25
"""Initial guess of the variance, with the weight of one block."""
GRID = 2001
"""Number of means from -1 to 1 that an interval is searched on; the step is 0.001."""


class Anytime(Struct, frozen=True, kw_only=True):
    """Hypotheses of a test: H0, the mean difference is at most `low`; H1, it is at least `high`."""

    low: float = 0.0
    high: float = 0.05
    """Points per match; the first of a match has 1 and the last 0."""
    alpha: float = 0.05
    """Maximum probability of accepting H1 if H0 is true."""
    beta: float = 0.05
    """Maximum probability of accepting H0 if H1 is true."""

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            ValueError: a parameter is out of range; the message is one line with the range.
        """
        if not -1 < self.low < self.high < 1:
            raise ValueError(f"low = {self.low:zg} must be below high = {self.high:zg}, both between -1 and 1")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1):
            raise ValueError(f"alpha = {self.alpha:g} and beta = {self.beta:g} must be between 0 and 1")


class AnytimeProgress(Struct, frozen=True):
    """State of a test."""

    verdict: SprtVerdict
    blocks: int
    """Number of blocks considered, up to the first that decided."""
    mean: float
    """Mean difference over these blocks."""
    against_low: float
    """Evidence against H0, an e-value: the money, in coins, of the gambler who bets against it."""
    against_high: float
    """Evidence against H1."""


class Gambler:
    """A gambler who starts with one coin and bets that a mean is above a hypothesis."""

    def __init__(self, hypothesis: float, hoped: float) -> None:
        """Start with one coin; the bets grow fastest if the mean is `hoped` above the hypothesis."""
        self._hypothesis, self._hoped = hypothesis, hoped
        self._seen, self._sum, self._squares = 0, 0.0, GUESSED_VARIANCE
        self.log_money = 0.0

    def bet(self, difference: float) -> None:
        """Bet on one block, with a stake that depends only on the blocks before it."""
        variance = self._squares / (self._seen + 1)
        # This is nearly Kelly's stake, with which the money grows fastest.
        stake = min(self._hoped / (variance + self._hoped**2), MOST / (1 + self._hypothesis))
        self.log_money += log1p(stake * (difference - self._hypothesis))
        before = self._sum / (self._seen + 1)
        self._seen += 1
        self._sum += difference
        self._squares += (difference - before) * (difference - self._sum / (self._seen + 1))


class AnytimeWalk:
    """A running test that receives one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, test: Anytime) -> None:
        hoped = test.high - test.low
        self._test = test
        self._above, self._below = Gambler(test.low, hoped), Gambler(-test.high, hoped)
        self._sum = 0.0
        self.progress = AnytimeProgress(SprtVerdict.UNDECIDED, 0, 0.0, 1.0, 1.0)

    def add(self, block: float) -> None:
        """Add the next block's difference: the new version's mean points minus the old one's."""
        self._above.bet(block)
        self._below.bet(-block)
        self._sum += block
        verdict = SprtVerdict.UNDECIDED
        if self._above.log_money >= -log(self._test.alpha):
            verdict = SprtVerdict.ACCEPTED
        elif self._below.log_money >= -log(self._test.beta):
            verdict = SprtVerdict.REJECTED
        blocks = self.progress.blocks + 1
        money = (exp(self._above.log_money), exp(self._below.log_money))
        self.progress = AnytimeProgress(verdict, blocks, self._sum / blocks, *money)


def interval(differences: Sequence[float], alpha: float = 0.05) -> tuple[float, float]:
    """Return a confidence interval for the mean difference.

    With probability 1 - alpha the intervals after all blocks contain the mean. Each is the intersection of all
    before it, so that it never becomes wider.
    """
    means = np.linspace(-1, 1, GRID)
    possible = np.ones(GRID, dtype=bool)
    up, down = np.zeros(GRID), np.zeros(GRID)
    total, squares = 0.0, GUESSED_VARIANCE
    for seen, difference in enumerate(differences):
        variance = squares / (seen + 1)
        stake = np.sqrt(2 * log(2 / alpha) / (variance * (seen + 1) * log(seen + 2)))
        up += np.log1p(np.minimum(stake, MOST / (1 + means + 1e-9)) * (difference - means))
        down += np.log1p(-np.minimum(stake, MOST / (1 - means + 1e-9)) * (difference - means))
        # The gambler has half a coin on each side.
        possible &= np.maximum(up, down) < log(2 / alpha)
        before = total / (seen + 1)
        total += difference
        squares += (difference - before) * (difference - total / (seen + 2))
    left = means[possible]
    step = means[1] - means[0]
    if not len(left):
        # Every mean is excluded, with probability alpha at most; then return the mean of the differences.
        return (fmean(differences), fmean(differences))
    return (max(-1.0, float(left[0] - step)), min(1.0, float(left[-1] + step)))


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

    verdict: SprtVerdict = SprtVerdict.UNDECIDED
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
        return hopeless or self.verdict is not SprtVerdict.UNDECIDED


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
            self.state = replace(state, verdict=SprtVerdict.UNDECIDED, unmeasured=state.unmeasured + 1)
            return
        self.ratios.append(ratio)
        blocks = state.blocks + 1
        within = state.within + (ratio <= self.limit.most)
        for_within, for_above = coins(blocks, within), coins(blocks, blocks - within)
        verdict = SprtVerdict.UNDECIDED
        if for_within >= 1 / self.limit.alpha:
            verdict = SprtVerdict.ACCEPTED
        elif for_above >= 1 / self.limit.beta:
            verdict = SprtVerdict.REJECTED
        self.state = replace(
            state, verdict=verdict, blocks=blocks, within=within, for_within=for_within, for_above=for_above
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


def median_interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the median of the ratios and a confidence interval for it that is valid at any stopping time.

    The interval is 0 to infinity if there are too few ratios. There must be at least one ratio.
    """
    ordered = sorted(ratios)
    number = len(ordered)
    needed = 2 / (1 - LEVEL)
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
