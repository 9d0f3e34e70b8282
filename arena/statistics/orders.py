"""Results as arrays of orders without ties, best first: the input of the fit of ratings. Pure.

A tie becomes several orders that share its weight: for two seats half a win and half a loss. A tie of many seats
becomes only some rotations of an order drawn for the match, in which each tied bot is equally likely to have each
place.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from arena.arrays import Numbers, Whole, distinct, np
from arena.statistics.result_arrays import Table, table_of
from arena.statistics.standings import Played

MOST_ORDERS = 6
"""Maximum number of orders of a match; it is the number that ties of two and three need together."""
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
    """Share of its match that each row has."""
    blocks: Whole
    """Block of each row: consecutive numbers from 0, in schedule order."""

    def upto(self, blocks: int) -> "Orders":
        """Return the orders of the first `blocks` blocks."""
        end = int(np.searchsorted(self.blocks, blocks))
        return Orders(self.entrants[:end], self.weights[:end], self.blocks[:end])


def orders_of(played: Sequence[Played]) -> Orders:
    """Return the orders of matches in schedule order. All must have the same number of seats."""
    table = table_of(played)
    most = MOST_ORDERS if len(played) <= MANY else 2
    ways = np.minimum(np.lcm.reduce(table.sizes, axis=1, initial=1), most)
    within = _within(table, ways)
    parts = list(_parts(table, ways, within))
    matches = np.concatenate([rows for rows, _ in parts]) if parts else np.zeros(0, dtype=np.int64)
    orders = np.concatenate([orders for _, orders in parts]) if parts else table.entrants
    as_scheduled = np.argsort(matches, kind="stable")
    matches = matches[as_scheduled]
    numbers = np.array([match.block for match in played], dtype=np.int64)
    blocks = np.cumsum(np.diff(numbers, prepend=numbers[:1]) != 0)
    return Orders(orders[as_scheduled], 1 / ways[matches], blocks[matches])


def _within(table: Table, ways: Whole) -> Whole:
    """Return the place of each seat among those tied with it, before any rotation."""
    lots = np.random.default_rng(LOTS).random(table.places.shape)
    # If all rotations are used and treat all tied bots alike, no lots are needed.
    whole = (ways[:, None] % table.sizes == 0) & (table.sizes <= ALL_ALIKE)
    lots[whole.all(axis=1)] = np.arange(table.seats)
    within = np.zeros_like(table.places)
    for seat in range(table.seats):
        within += (table.places == table.places[:, [seat]]) & (lots > lots[:, [seat]])
    return within


def _parts(table: Table, ways: Whole, within: Whole) -> Iterator[tuple[Whole, Whole]]:
    """Yield rows of matches, each with one order; together they are all orders of all matches."""
    for number in distinct(ways).tolist():
        rows = np.flatnonzero(ways == number)
        for way in range(number):
            turned = (within[rows] - way) % table.sizes[rows]
            order = np.argsort(table.places[rows] * table.seats + turned, axis=1)
            yield rows, np.take_along_axis(table.entrants[rows], order, axis=1)
