"""Is a bot's new version better at tables of many seats? A test that may be looked at after every block. Pure.

Old and new version play the same deals in the same seats against the same others; a block's observation is the
difference of their mean points, between -1 and 1. Against each of two hypotheses a gambler bets on every block,
before it is seen, with what is left of one coin. Where the hypothesis holds the bets are fair or worse, so that
the money ever comes to 20 coins with a probability of at most 1 in 20, however often one looks (Ville's
inequality). That holds whatever the differences' distribution is, as long as blocks follow each other fairly:
their mean, given all before, is what the hypothesis says.

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
"""The largest share of the money that one block can lose: it is never ruined."""
GUESSED_VARIANCE = 0.25
"""The variance before anything is seen, counted as one block's."""
GRID = 2001
"""Means from -1 to 1 that an interval is made of: it is right to 0.001."""


class Anytime(Struct, frozen=True, kw_only=True):
    """What is tested: H0, the mean difference is at most `low`, against H1, it is at least `high`."""

    low: float = 0.0
    high: float = 0.05
    """In points a match, of which a match has 1 for the first and 0 for the last."""
    alpha: float = 0.05
    """At most this often is H1 accepted where H0 holds."""
    beta: float = 0.05
    """At most this often is H0 accepted where H1 holds."""

    def __post_init__(self) -> None:
        """Refuses what cannot be tested.

        Raises:
            ValueError: one line that says what would be right.
        """
        if not -1 < self.low < self.high < 1:
            raise ValueError(f"low = {self.low:zg} must be below high = {self.high:zg}, both between -1 and 1")
        if not (0 < self.alpha < 1 and 0 < self.beta < 1):
            raise ValueError(f"alpha = {self.alpha:g} and beta = {self.beta:g} must be between 0 and 1")


class AnytimeProgress(Struct, frozen=True):
    """How far a test is."""

    verdict: Verdict
    blocks: int
    """How many were looked at: up to the first that decided."""
    mean: float
    """Of their differences."""
    against_low: float
    """Evidence against H0, an e-value: the coins that betting against it has come to."""
    against_high: float
    """Evidence against H1."""


class Gambler:
    """Bets that a mean is above a hypothesis, with what is left of one coin."""

    def __init__(self, hypothesis: float, hoped: float) -> None:
        """`hoped`: how far above the hypothesis the mean is if the bets are to pay best."""
        self._hypothesis, self._hoped = hypothesis, hoped
        self._seen, self._sum, self._squares = 0, 0.0, GUESSED_VARIANCE
        self.log_money = 0.0

    def bet(self, difference: float) -> None:
        """One block: the stake is fixed by those before it."""
        variance = self._squares / (self._seen + 1)
        # Nearly Kelly's stake, which makes the money grow fastest.
        stake = min(self._hoped / (variance + self._hoped**2), MOST / (1 + self._hypothesis))
        self.log_money += log1p(stake * (difference - self._hypothesis))
        before = self._sum / (self._seen + 1)
        self._seen += 1
        self._sum += difference
        self._squares += (difference - before) * (difference - self._sum / (self._seen + 1))


class Walk:
    """A test that takes one block after the other, in schedule order, up to the first that decides."""

    def __init__(self, test: Anytime) -> None:
        hoped = test.high - test.low
        self._test = test
        self._above, self._below = Gambler(test.low, hoped), Gambler(-test.high, hoped)
        self._sum = 0.0
        self.progress = AnytimeProgress(Verdict.UNDECIDED, 0, 0.0, 1.0, 1.0)

    def add(self, block: float) -> None:
        """The next block's difference: the new version's mean points minus the old one's."""
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
    """Where the mean difference is: with probability 1 - alpha the intervals after every block hold it.

    It is the intersection of what each block left possible, so that it never becomes wider.
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
        # Half a coin on each side.
        possible &= np.maximum(up, down) < log(2 / alpha)
        before = total / (seen + 1)
        total += difference
        squares += (difference - before) * (difference - total / (seen + 2))
    left = means[possible]
    step = means[1] - means[0]
    if not len(left):
        # All are ruled out, which happens in a share alpha at most; the mean of what was seen is as good as any.
        return (fmean(differences), fmean(differences))
    return (max(-1.0, float(left[0] - step)), min(1.0, float(left[-1] + step)))
