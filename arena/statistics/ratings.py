"""Ratings with confidence intervals, from all results. Pure.

The model is Plackett and Luce's, for two seats that of Bradley and Terry: each bot has a strength; the first of a
match is drawn in proportion to the strengths, then the second among the others, and so on. Ratings are logarithms
of strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other; a tie counts half for each.

The input is arrays of orders without ties. A tie becomes several orders that share its weight: for two seats half
a win and half a loss. A tie of many seats becomes only some rotations of an order drawn for the match, in which
each tied bot is equally likely to have each place.

The fit is by maximum likelihood. The intervals do not rely on the model: they use the sandwich estimator,
clustered by block, so that neither similar results of one deal nor ties make them too narrow.

Papers: R. L. Plackett, *The analysis of permutations* (1975); R. A. Bradley and M. E. Terry, *Rank analysis of
incomplete block designs* (1952); K.-Y. Liang and S. L. Zeger, *Longitudinal data analysis using generalized
linear models* (1986) for the sandwich.
"""

from collections.abc import Iterator, Sequence
from math import log
from operator import attrgetter

from msgspec import Struct

from arena.arrays import Flags, Numbers, Whole, distinct, np
from arena.statistics.means import NEARLY_NORMAL, cumulative_all, reach
from arena.statistics.standings import CountedMatch, ResultArrays, table_of

MOST_ORDERS = 6
"""Maximum number of orders of a match: enough for all orders of a tie of three."""
MANY = 20_000
"""Number of matches above which each has two orders at most, to save time; random effects then even out."""
ALL_ALIKE = 3
"""Maximum size of a tie in which all rotations of one order place each bot before each other equally often."""
LOTS = 1
"""Seed of random orders; it is fixed so that the same results have the same ratings."""


class Orders(Struct, frozen=True):
    """Orders without ties of all matches, in schedule order."""

    entrants: Whole
    """Numbers of entrants, one order per row, best first; an entrant can occur more than once."""
    weights: Numbers
    """Weight of each row, as a share of its match."""
    blocks: Whole
    """Block of each row: consecutive numbers from 0, in schedule order."""

    def upto(self, blocks: int) -> "Orders":
        """Return the orders of the first `blocks` blocks."""
        end = int(np.searchsorted(self.blocks, blocks))
        return Orders(self.entrants[:end], self.weights[:end], self.blocks[:end])


def orders_of(played: Sequence[CountedMatch]) -> Orders:
    """Return the orders of matches in schedule order. All must have the same number of seats."""
    table = table_of(played)
    most = MOST_ORDERS if len(played) <= MANY else 2
    ways = np.minimum(np.lcm.reduce(table.sizes, axis=1, initial=1), most)
    within = _within(table, ways)
    parts = list(_parts(table, ways, within))
    matches, orders = np.zeros(0, dtype=np.int64), table.entrants
    if parts:
        matches, orders = map(np.concatenate, zip(*parts, strict=True))
    as_scheduled = np.argsort(matches, kind="stable")
    matches = matches[as_scheduled]
    numbers = np.array(list(map(attrgetter("block"), played)), dtype=np.int64)
    blocks = np.cumsum(np.diff(numbers, prepend=numbers[:1]) != 0)
    return Orders(orders[as_scheduled], 1 / ways[matches], blocks[matches])


def _within(table: ResultArrays, ways: Whole) -> Whole:
    """Return the place of each seat among those tied with it, before any rotation."""
    lots = np.random.default_rng(LOTS).random(table.places.shape)
    # If all rotations are used and treat all tied bots alike, no lots are needed.
    whole = (ways[:, None] % table.sizes == 0) & (table.sizes <= ALL_ALIKE)
    lots[whole.all(axis=1)] = np.arange(table.seats)
    within = np.zeros_like(table.places)
    for seat in range(table.seats):
        within += (table.places == table.places[:, [seat]]) & (lots > lots[:, [seat]])
    return within


def _parts(table: ResultArrays, ways: Whole, within: Whole) -> Iterator[tuple[Whole, Whole]]:
    """Yield rows of matches, each with one order; together they are all orders of all matches."""
    for number in distinct(ways).tolist():
        rows = np.flatnonzero(ways == number)
        for way in range(number):
            turned = (within[rows] - way) % table.sizes[rows]
            order = np.argsort(table.places[rows] * table.seats + turned, axis=1)
            yield rows, np.take_along_axis(table.entrants[rows], order, axis=1)


ELO = 400 / log(10)
"""Elo of one unit of log-strength."""
PRIOR = 0.5
"""Weight of a win and of a loss against an average bot that every bot gets, so that all ratings are finite."""
STEPS = 50
SMALL = 1e-6
"""Length of a Newton step at which the fit stops, in units of log-strength."""
LONGEST = 2.0
"""Maximum length of a step, because the curvature is misleading far from the maximum."""
LEVEL = 0.95


class Rating(Struct, frozen=True, kw_only=True):
    """One bot's rating. The mean rating of all competing bots is 0."""

    entrant: int
    elo: float
    error: float
    """Standard error, in Elo."""
    low: float | None
    """Lower end of the 95 % interval; None if the results set no limit, as for a bot that lost every match."""
    high: float | None
    """Upper end; None if the results set no limit, as for a bot that won every match."""
    blocks: int
    """Number of blocks played, on which the interval is based."""
    prior_low: float
    """Same as `low`; if that is None, the lower end with the prior: one extra draw against an average bot."""
    prior_high: float
    """Same as `high`; if that is None, the upper end with the prior."""


class Ratings(Struct, frozen=True, kw_only=True):
    """All ratings of a tournament."""

    ratings: tuple[Rating, ...]
    """Ratings, indexed by entrant."""
    superiority: tuple[tuple[float | None, ...], ...]
    """Probability that the row's bot is stronger than the column's; None if no chain of meetings connects them."""


def rate(orders: Orders, entrants: int, house: int | None = None, start: "Numbers | None" = None) -> Ratings:
    """Return the ratings of all entrants, with intervals.

    Args:
        orders: the results.
        entrants: number of entrants.
        house: the entrant that does not compete, if any; it is rated, but does not count for the mean.
        start: initial guess of the log-strengths, by entrant.
    """
    strengths = fit(orders, entrants, start)
    found = _estimate(orders, strengths, house)
    return Ratings(
        ratings=found.ratings,
        superiority=_superiority(strengths, found.spread, found.freedom, _groups(orders, entrants)),
    )


def ratings_at(orders: Orders, strengths: Numbers, house: int | None) -> tuple[Rating, ...]:
    """Return the ratings for log-strengths that `fit` has returned for these orders, by entrant."""
    return _estimate(orders, strengths, house).ratings


class _Estimate(Struct, frozen=True):
    """Ratings with what their intervals are made from."""

    ratings: tuple[Rating, ...]
    spread: Numbers
    """Covariance of the log-strengths."""
    freedom: Whole
    """Degrees of freedom of each interval."""


def _estimate(orders: Orders, strengths: Numbers, house: int | None) -> _Estimate:
    """Return the ratings for these log-strengths, with their intervals."""
    entrants = len(strengths)
    blocks = _blocks_of_each(orders, entrants)
    limited = _limited(orders, entrants)
    competing = np.arange(entrants) != (-1 if house is None else house)
    # If a bot won or lost everything, the scatter of its results gives no error; the curvature does.
    enough = limited[np.ix_(competing, competing)].all() and len(orders.blocks) > 0 and orders.blocks[-1] > 0
    spread = _sandwich(orders, strengths) if enough else _from_curvature(orders, strengths)
    centred = np.eye(entrants) - competing / competing.sum()
    middle = centred @ strengths * ELO
    covariance = centred @ spread @ centred.T * ELO**2
    errors = np.sqrt(np.diag(covariance))
    # A scatter estimated from few blocks may be too small by chance; the curvature is not estimated.
    freedom = blocks - 1 if enough else np.where(blocks > 1, NEARLY_NORMAL, 0)
    aside = errors * np.array([reach(int(number), LEVEL) for number in freedom])

    def of_account(entrant: int) -> Flags:
        # The house does not count for the mean, so its limits concern only its own rating.
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

    return _Estimate(tuple(map(rating, range(entrants))), spread, freedom)


def _end(end: float, *, limited: Flags) -> float | None:
    """Return an interval's end, or None if it has no limit."""
    return float(end) if limited.all() and np.isfinite(end) else None


def fit(orders: Orders, entrants: int, start: "Numbers | None" = None, exact: float = SMALL) -> Numbers:
    """Return the most likely log-strengths, found by Newton's method.

    Args:
        orders: the results.
        entrants: number of entrants.
        start: initial guess, such as the fit of fewer results.
        exact: length of a step at which the fit stops; the remaining error is about its square.
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
    """Return strengths, and the sums of strengths not drawn yet, both indexed by place and row."""
    # Indexing by place first keeps summands together in memory, which is several times as fast.
    worth = np.ascontiguousarray(np.exp(strengths)[orders.entrants].T)
    return worth, np.cumsum(worth[::-1], axis=0)[::-1]


def _scores(orders: Orders, strengths: Numbers) -> Numbers:
    """Return the derivatives of the log-likelihood by each bot's log-strength, indexed by row and place."""
    worth, left = _stages(orders, strengths)
    scores: Numbers = ((1 - worth * np.cumsum(1 / left, axis=0)) * orders.weights).T
    return scores


def _slope(orders: Orders, strengths: Numbers) -> Numbers:
    """Return the gradient of the log-likelihood, including the prior."""
    scores = _scores(orders, strengths)
    entrants = len(strengths)
    sums = np.bincount(orders.entrants.ravel(), weights=scores.ravel(), minlength=entrants)
    return sums + PRIOR * (1 - 2 / (1 + np.exp(-strengths)))


def _curvature(orders: Orders, strengths: Numbers) -> Numbers:
    """Return the negative second derivatives of the log-likelihood, including the prior."""
    entrants = len(strengths)
    who = np.ascontiguousarray(orders.entrants.T)
    worth, left = _stages(orders, strengths)
    shared = worth * np.cumsum(1 / left**2, axis=0) * orders.weights
    own = worth * (np.cumsum(1 / left, axis=0) * orders.weights - shared)
    alone = np.bincount(who.ravel(), own.ravel(), entrants)
    pairs = np.zeros(entrants * entrants)
    for one in range(len(who)):
        for other in range(one + 1, len(who)):
            # Both are candidates in all draws up to the one of the first-placed of the two.
            cells = who[one] * entrants + who[other]
            pairs -= np.bincount(cells, shared[one] * worth[other], entrants * entrants)
    crossed = pairs.reshape(entrants, entrants)
    chance = 1 / (1 + np.exp(-strengths))
    # A bot in several seats meets itself; both halves of the pair are then on the diagonal, which is right.
    curvature: Numbers = np.diag(alone + 2 * PRIOR * chance * (1 - chance)) + crossed + crossed.T
    return curvature


def _sandwich(orders: Orders, strengths: Numbers) -> Numbers:
    """Return the covariance of log-strengths: the scatter of the blocks' scores between two inverse curvatures."""
    entrants = len(strengths)
    blocks = int(orders.blocks[-1]) + 1
    cells = orders.blocks[:, None] * entrants + orders.entrants
    scores = _scores(orders, strengths)
    by_block = np.bincount(cells.ravel(), scores.ravel(), blocks * entrants).reshape(blocks, entrants)
    bread = np.linalg.inv(_curvature(orders, strengths))
    chance = 1 / (1 + np.exp(-strengths))
    # The prior's two matches count as blocks, so that identical results do not give a variance of 0.
    prior = np.diag(PRIOR**2 * (chance**2 + (1 - chance) ** 2))
    scatter = by_block.T @ by_block * (blocks / (blocks - 1)) + prior
    covariance: Numbers = bread @ scatter @ bread
    return covariance


def _from_curvature(orders: Orders, strengths: Numbers) -> Numbers:
    """Return the covariance from the curvature, with a block's matches counted as one; it is rather too wide."""
    blocks = int(orders.blocks[-1]) + 1 if len(orders.blocks) else 1
    matches = max(float(orders.weights.sum()), 1.0)
    return np.asarray(np.linalg.inv(_curvature(orders, strengths)) * (matches / blocks), dtype=np.float64)


def _limited(orders: Orders, entrants: int) -> Flags:
    """Return a matrix that is True where the column's bot cannot be infinitely stronger than the row's.

    This holds if a chain of bots leads from the row's to the column's, each ranked before or tied with the next.
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
    """Return the number of blocks of each entrant."""
    cells = orders.blocks[:, None] * entrants + orders.entrants
    played: Whole = np.bincount(distinct(cells) % entrants, minlength=entrants)
    return played


def _groups(orders: Orders, entrants: int) -> Whole:
    """Return a number for each entrant, equal for all that a chain of meetings connects."""
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
    """Return the probability that the row's bot is stronger than the column's; None if not comparable."""
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
