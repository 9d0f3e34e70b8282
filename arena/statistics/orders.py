"""Results as the fit of ratings wants them: arrays of orders, best first. Pure.

A tie is broken in every way at once, each counted for its share: for two seats half a win and half a loss. Of a
tie of many only some of its rotations are taken, from an order drawn for the match: each of those tied is then as
likely to stand in each place.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from arena.arrays import Numbers, Whole, distinct, np
from arena.statistics.result_arrays import Table, table_of
from arena.statistics.standings import Played

MOST_ORDERS = 6
"""Orders that a match with ties is taken apart into, at most: all that ties of two and three need together."""
MANY = 20_000
"""Of more matches each is taken apart into two orders at most: what is drawn evens out, and time is saved."""
ALL_ALIKE = 3
"""So many tied, or fewer: the rotations of one order have each of them before each other equally often."""
LOTS = 1
"""Seed of the orders that are drawn: the same results, the same ratings."""


class Orders(Struct, frozen=True):
    """Matches taken apart into orders without ties, in schedule order."""

    entrants: Whole
    """An order a row: who was first, second, … Numbers of entrants; one may be there more than once."""
    weights: Numbers
    """What share of its match each row is."""
    blocks: Whole
    """Which block each row is of: 0, 1, … in schedule order, none left out."""

    def upto(self, blocks: int) -> "Orders":
        """The first so many blocks."""
        end = int(np.searchsorted(self.blocks, blocks))
        return Orders(self.entrants[:end], self.weights[:end], self.blocks[:end])


def orders_of(played: Sequence[Played]) -> Orders:
    """The orders of matches that are given in schedule order. All have the same number of seats."""
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
    """By seat: where among those tied with it a seat stands, before any rotation."""
    lots = np.random.default_rng(LOTS).random(table.places.shape)
    # Where all rotations are taken and are all there is to it, nothing is left to lots.
    whole = (ways[:, None] % table.sizes == 0) & (table.sizes <= ALL_ALIKE)
    lots[whole.all(axis=1)] = np.arange(table.seats)
    within = np.zeros_like(table.places)
    for seat in range(table.seats):
        within += (table.places == table.places[:, [seat]]) & (lots > lots[:, [seat]])
    return within


def _parts(table: Table, ways: Whole, within: Whole) -> Iterator[tuple[Whole, Whole]]:
    """Rows of matches, with an order of each; together they have all orders of all matches."""
    for number in distinct(ways).tolist():
        rows = np.flatnonzero(ways == number)
        for way in range(number):
            turned = (within[rows] - way) % table.sizes[rows]
            order = np.argsort(table.places[rows] * table.seats + turned, axis=1)
            yield rows, np.take_along_axis(table.entrants[rows], order, axis=1)
