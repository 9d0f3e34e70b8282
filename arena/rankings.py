"""Results as the fit of ratings wants them: arrays of orders, best first. Pure.

A tie is broken in every way at once, each counted for its share: for two seats half a win and half a loss. Of a
tie of many only its rotations are taken, from an order drawn for the match: each of those tied stands in each
place equally often.
"""

from collections.abc import Sequence
from math import lcm
from random import Random

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from arena.standings import Played

MOST_ORDERS = 12
"""Orders that a match with ties is taken apart into, at most: all that ties of two, three and four need."""
ALL_ALIKE = 3
"""So many tied, or fewer: the rotations of one order have each of them before each other equally often."""


class Orders(Struct, frozen=True):
    """Matches taken apart into orders without ties."""

    entrants: NDArray[np.int64]
    """An order a row: who was first, second, … Numbers of entrants; one may be there more than once."""
    weights: NDArray[np.float64]
    """What share of its match each row is."""
    blocks: NDArray[np.int64]
    """Which block each row is of: 0, 1, … in schedule order, none left out."""

    def upto(self, blocks: int) -> "Orders":
        """The first so many blocks. Rows are in schedule order."""
        end = int(np.searchsorted(self.blocks, blocks))
        return Orders(self.entrants[:end], self.weights[:end], self.blocks[:end])


def orders_of(played: Sequence[Played]) -> Orders:
    """The orders of matches that are given in schedule order. All have the same number of seats."""
    rows: list[list[int]] = []
    weights: list[float] = []
    blocks: list[int] = []
    number, last = -1, None
    for match in played:
        number += match.block != last
        last = match.block
        found = _orders(match)
        rows += found
        weights += [1 / len(found)] * len(found)
        blocks += [number] * len(found)
    seats = len(rows[0]) if rows else 0
    table = np.array(rows, dtype=np.int64).reshape(len(rows), seats)
    return Orders(table, np.array(weights), np.array(blocks, dtype=np.int64))


def _orders(match: Played) -> list[list[int]]:
    """A match's orders: one, if there are no ties."""
    ranking = match.outcome.ranking
    if len(ranking) == len(match.entrants):
        return [[match.entrants[seat] for (seat,) in ranking]]
    groups = [[match.entrants[seat] for seat in group] for group in ranking]
    ways = min(MOST_ORDERS, lcm(*(len(group) for group in groups)))
    if ways > 1 and max(len(group) for group in groups) > ALL_ALIKE:
        luck = Random(f"{match.block}/{match.seating}")
        for group in groups:
            luck.shuffle(group)
    return [[one for group in groups for one in _turned(group, way)] for way in range(ways)]


def _turned(group: list[int], way: int) -> list[int]:
    """One of a group's rotations."""
    start = way % len(group)
    return group[start:] + group[:start]
