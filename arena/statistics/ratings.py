"""How strong each bot is, and how sure that is: ratings with intervals from results. Pure.

The model is Plackett and Luce's, for two seats that of Bradley and Terry: each bot has a strength; who is first
is drawn in proportion to the strengths, then who is second among those who are left, and so on. Ratings are
logarithms of strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other, a tie being half of
each.

The fit is by maximum likelihood. The intervals do not trust the model: they are from the sandwich estimator,
clustered by block, so that neither matches of one deal that come out alike, nor ties, make them too narrow.

Papers: R. L. Plackett, *The analysis of permutations* (1975); R. A. Bradley and M. E. Terry, *Rank analysis of
incomplete block designs* (1952); K.-Y. Liang and S. L. Zeger, *Longitudinal data analysis using generalized
linear models* (1986) for the sandwich.
"""

from math import log

from msgspec import Struct

from arena.arrays import Flags, Numbers, Whole, distinct, np
from arena.statistics.orders import Orders
from arena.statistics.students_t import NEARLY_NORMAL, cumulative_all, reach

ELO = 400 / log(10)
"""Elo of one unit of log-strength."""
PRIOR = 0.5
"""Each bot is given a win and a loss of so much weight against a bot of middle strength: no rating is infinite."""
STEPS = 50
SMALL = 1e-6
"""The last of Newton's steps is no longer than this, in units of log-strength."""
LONGEST = 2.0
"""A longer step is cut: far from the maximum the curvature misleads."""
LEVEL = 0.95


class Rating(Struct, frozen=True, kw_only=True):
    """One bot's rating. The mean of all that compete is 0."""

    entrant: int
    elo: float
    error: float
    """Standard error, in Elo."""
    low: float | None
    """Lower end of the 95 % interval. None: results set no lower limit, as for a bot that lost every match."""
    high: float | None
    """Upper end; None: no upper limit, as for a bot that won every match."""
    blocks: int
    """How many blocks it played: what the interval rests on."""
    prior_low: float
    """Where `low` is None: the lower end if the prior is believed: one drawn match against a bot of middle
    strength. Else as `low`."""
    prior_high: float
    """The same of `high`."""


class Ratings(Struct, frozen=True, kw_only=True):
    """All ratings of a tournament."""

    ratings: tuple[Rating, ...]
    """By entrant."""
    superiority: tuple[tuple[float | None, ...], ...]
    """Likelihood of superiority: row over column, how probable it is that the one is the stronger.

    None: the two are not comparable, for no chain of meetings connects them."""


def rate(orders: Orders, entrants: int, house: int | None = None, start: "Numbers | None" = None) -> Ratings:
    """Ratings of all entrants, with intervals.

    Args:
        orders: the results.
        entrants: how many there are; orders name them by number.
        house: the entrant that does not compete, if there is one: it is rated, but does not move the middle.
        start: a guess of the log-strengths.
    """
    strengths = fit(orders, entrants, start)
    blocks = _blocks_of_each(orders, entrants)
    limited = _limited(orders, entrants)
    competing = np.arange(entrants) != (-1 if house is None else house)
    # While some results are all one way their scatter says nothing of what is still possible; the curve does.
    enough = limited[np.ix_(competing, competing)].all() and len(orders.blocks) > 0 and orders.blocks[-1] > 0
    spread = _sandwich(orders, strengths) if enough else _from_curvature(orders, strengths)
    centred = np.eye(entrants) - competing / competing.sum()
    middle = centred @ strengths * ELO
    covariance = centred @ spread @ centred.T * ELO**2
    errors = np.sqrt(np.diag(covariance))
    # A scatter that is estimated from few blocks may be too small by chance; the curvature is not estimated.
    freedom = blocks - 1 if enough else np.where(blocks > 1, NEARLY_NORMAL, 0)
    aside = errors * np.array([reach(int(number), LEVEL) for number in freedom])

    def of_account(entrant: int) -> Flags:
        # The house does not move the middle: how far it is from others limits nobody but itself.
        return competing if competing[entrant] else np.ones(entrants, dtype=bool)

    curved = centred @ _from_curvature(orders, strengths) @ centred.T * ELO**2 if enough else covariance
    believed = np.sqrt(np.diag(curved)) * reach(NEARLY_NORMAL, LEVEL)

    def rating(entrant: int) -> Rating:
        low = _end(middle[entrant] - aside[entrant], limited=limited[entrant, of_account(entrant)])
        high = _end(middle[entrant] + aside[entrant], limited=limited[of_account(entrant), entrant])
        return Rating(
            entrant=entrant,
            elo=float(middle[entrant]),
            error=float(errors[entrant]),
            low=low,
            high=high,
            blocks=int(blocks[entrant]),
            prior_low=float(middle[entrant] - believed[entrant]) if low is None else low,
            prior_high=float(middle[entrant] + believed[entrant]) if high is None else high,
        )

    return Ratings(
        ratings=tuple(map(rating, range(entrants))),
        superiority=_superiority(strengths, spread, freedom, _groups(orders, entrants)),
    )


def _end(end: float, *, limited: Flags) -> float | None:
    """An interval's end, if there is one."""
    return float(end) if limited.all() and np.isfinite(end) else None


def fit(orders: Orders, entrants: int, start: "Numbers | None" = None, exact: float = SMALL) -> Numbers:
    """The most likely log-strengths, by Newton's method.

    Args:
        orders: the results.
        entrants: how many there are.
        start: a guess, such as the fit of fewer results.
        exact: the steps end with one no longer than this; what is left is about its square.
    """
    strengths = np.zeros(entrants) if start is None else start
    for _ in range(STEPS):
        step = np.linalg.solve(_curvature(orders, strengths), _slope(orders, strengths))
        longest = float(np.abs(step).max())
        strengths = strengths + step * min(1.0, LONGEST / max(longest, exact))
        if longest < exact:
            break
    return strengths


def _stages(orders: Orders, strengths: Numbers) -> tuple[Numbers, Numbers]:
    """By place and row: strengths, and the sums of those that were still to be drawn from."""
    # A place after the other: what stands together in memory is added up several times as fast.
    worth = np.ascontiguousarray(np.exp(strengths)[orders.entrants].T)
    return worth, np.cumsum(worth[::-1], axis=0)[::-1]


def _scores(orders: Orders, strengths: Numbers) -> Numbers:
    """By row and place: how the likelihood rises with the strength of the bot there."""
    worth, left = _stages(orders, strengths)
    scores: Numbers = ((1 - worth * np.cumsum(1 / left, axis=0)) * orders.weights).T
    return scores


def _slope(orders: Orders, strengths: Numbers) -> Numbers:
    """The likelihood's gradient, the prior's included."""
    scores = _scores(orders, strengths)
    entrants = len(strengths)
    sums = np.bincount(orders.entrants.ravel(), weights=scores.ravel(), minlength=entrants)
    return sums + PRIOR * (1 - 2 / (1 + np.exp(-strengths)))


def _curvature(orders: Orders, strengths: Numbers) -> Numbers:
    """The negative of the likelihood's second derivatives, the prior's included."""
    entrants = len(strengths)
    who = np.ascontiguousarray(orders.entrants.T)
    worth, left = _stages(orders, strengths)
    shared = worth * np.cumsum(1 / left**2, axis=0) * orders.weights
    own = worth * (np.cumsum(1 / left, axis=0) * orders.weights - shared)
    alone = np.bincount(who.ravel(), own.ravel(), entrants)
    pairs = np.zeros(entrants * entrants)
    for one in range(len(who)):
        for other in range(one + 1, len(who)):
            # Both are drawn from as long as the one that stands first is there.
            cells = who[one] * entrants + who[other]
            pairs -= np.bincount(cells, shared[one] * worth[other], entrants * entrants)
    crossed = pairs.reshape(entrants, entrants)
    chance = 1 / (1 + np.exp(-strengths))
    # A bot in several seats meets itself: both halves of the pair are then on the diagonal, as they should be.
    curvature: Numbers = np.diag(alone + 2 * PRIOR * chance * (1 - chance)) + crossed + crossed.T
    return curvature


def _sandwich(orders: Orders, strengths: Numbers) -> Numbers:
    """Covariance of the log-strengths: how much the blocks' scores scatter, between two inverse curvatures."""
    entrants = len(strengths)
    blocks = int(orders.blocks[-1]) + 1
    cells = orders.blocks[:, None] * entrants + orders.entrants
    scores = _scores(orders, strengths)
    by_block = np.bincount(cells.ravel(), scores.ravel(), blocks * entrants).reshape(blocks, entrants)
    bread = np.linalg.inv(_curvature(orders, strengths))
    chance = 1 / (1 + np.exp(-strengths))
    # The prior's two matches are blocks too: where all blocks came out alike, that does not make us certain.
    prior = np.diag(PRIOR**2 * (chance**2 + (1 - chance) ** 2))
    scatter = by_block.T @ by_block * (blocks / (blocks - 1)) + prior
    covariance: Numbers = bread @ scatter @ bread
    return covariance


def _from_curvature(orders: Orders, strengths: Numbers) -> Numbers:
    """Covariance as the likelihood alone has it, a block's matches taken for one: rather too wide."""
    blocks = int(orders.blocks[-1]) + 1 if len(orders.blocks) else 1
    matches = max(float(orders.weights.sum()), 1.0)
    return np.asarray(np.linalg.inv(_curvature(orders, strengths)) * (matches / blocks), dtype=np.float64)


def _limited(orders: Orders, entrants: int) -> Flags:
    """Row and column: whether results keep the column's bot from being endlessly far above the row's.

    They do if there is a chain from the row's bot to the column's, each ranked before the next (or tied) once.
    """
    seats = orders.entrants.shape[1] if len(orders.entrants) else 0
    chain = np.eye(entrants, dtype=bool)
    for one in range(seats):
        for other in range(one + 1, seats):
            chain[orders.entrants[:, one], orders.entrants[:, other]] = True
    for through in range(entrants):
        chain |= chain[:, [through]] & chain[[through], :]
    return chain


def _blocks_of_each(orders: Orders, entrants: int) -> Whole:
    """How many blocks each entrant played."""
    cells = orders.blocks[:, None] * entrants + orders.entrants
    played: Whole = np.bincount(distinct(cells) % entrants, minlength=entrants)
    return played


def _groups(orders: Orders, entrants: int) -> Whole:
    """Return a number for each entrant, the same for those whom a chain of meetings connects."""
    groups = np.arange(entrants)
    if len(orders.entrants) == 0:
        return groups
    while True:
        lowest = groups[orders.entrants].min(axis=1)
        joined = groups.copy()
        for place in range(orders.entrants.shape[1]):
            np.minimum.at(joined, orders.entrants[:, place], lowest)
        joined = joined[joined]
        if (joined == groups).all():
            return joined
        groups = joined


def _superiority(
    strengths: Numbers, covariance: Numbers, freedom: Whole, groups: Whole
) -> tuple[tuple[float | None, ...], ...]:
    """How probable it is that the row's bot is stronger than the column's."""
    gap = strengths[:, None] - strengths[None, :]
    variance = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    ratio = gap / np.sqrt(np.where(variance > 0, variance, 1))
    less = np.maximum(np.minimum(freedom[:, None], freedom[None, :]), 1)
    found = np.zeros_like(gap)
    for each in distinct(less).tolist():
        cells = less == each
        found[cells] = cumulative_all(ratio[cells], each)
    rows: list[list[float | None]] = found.tolist()
    for row, group in zip(rows, groups, strict=True):
        for other in np.flatnonzero(groups != group):
            row[other] = None
    return tuple(map(tuple, rows))
