"""Sequential test of a bot's new version at tables of many seats, valid after every block. Pure.

Old and new version play the same deals in the same seats against the same others; a block's observation is the
difference of their mean points, between -1 and 1. Against each of two hypotheses a gambler, who starts with one
coin, bets on every block before its result. If the hypothesis is true, the bets are fair or worse, so that the
money ever reaches 20 coins with a probability of at most 1 in 20, however often one looks (Ville's inequality).
The differences may have any distribution; only their conditional mean, after all earlier blocks, must be as the
hypothesis states.

Papers: I. Waudby-Smith and A. Ramdas, *Estimating means of bounded random variables by betting*, J. R. Stat.
Soc. B 86 (2024): the bets are those of section 4, the interval is the hedged capital process of theorem 3.
"""

from collections.abc import Sequence
from math import exp, log, log1p
from statistics import fmean

from msgspec import Struct

from arena.arrays import np
from arena.statistics.sprt import Verdict

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

    verdict: Verdict
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


class Walk:
    """A running test that receives one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, test: Anytime) -> None:
        hoped = test.high - test.low
        self._test = test
        self._above, self._below = Gambler(test.low, hoped), Gambler(-test.high, hoped)
        self._sum = 0.0
        self.progress = AnytimeProgress(Verdict.UNDECIDED, 0, 0.0, 1.0, 1.0)

    def add(self, block: float) -> None:
        """Add the next block's difference: the new version's mean points minus the old one's."""
        self._above.bet(block)
        self._below.bet(-block)
        self._sum += block
        verdict = Verdict.UNDECIDED
        if self._above.log_money >= -log(self._test.alpha):
            verdict = Verdict.ACCEPTED
        elif self._below.log_money >= -log(self._test.beta):
            verdict = Verdict.REJECTED
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
