"""Many results as arrays, a match a row: who sat where, in which place they ended, and their points. Pure."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Ranking = Sequence[Sequence[int]]
"""Groups of seats, best first."""


class Table(Struct, frozen=True):
    """Matches of the same number of seats; columns by seat."""

    entrants: NDArray[np.int64]
    places: NDArray[np.int64]
    """Groups of the ranking, 0 the best."""
    tied: NDArray[np.bool_]
    """With any other seat."""
    shares: NDArray[np.float64]
    """Points: the share of the other seats that this one is ranked before, ties as a half."""

    @property
    def seats(self) -> int:
        """Of each match; 0 where there is none."""
        return int(self.places.shape[1])


def tabled(sitting: Sequence[Sequence[int]], rankings: Sequence[Ranking]) -> Table:
    """The arrays of matches, of which it is given who sat where, and how they ended."""
    seats = len(sitting[0]) if sitting else 0
    shape = (len(sitting), seats)
    entrants = np.array(sitting, dtype=np.int64).reshape(shape)
    places = np.array([_places(ranking, seats) for ranking in rankings], dtype=np.int64).reshape(shape)
    before, level = np.zeros((2, *shape))
    for seat in range(seats):
        before += places < places[:, [seat]]
        level += places == places[:, [seat]]
    # Each is level with itself.
    return Table(entrants, places, level > 1, (before + (level - 1) / 2) / max(seats - 1, 1))


def _places(ranking: Ranking, seats: int) -> list[int]:
    """By seat."""
    places = [0] * seats
    for place, group in enumerate(ranking):
        for seat in group:
            places[seat] = place
    return places
