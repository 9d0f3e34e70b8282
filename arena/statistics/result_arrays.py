"""Many results as arrays, a match a row: who sat where, in which place they ended, and their points. Pure."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from arena.arrays import Numbers, Whole, np
from protocol.words import Outcome

Ranking = Sequence[Sequence[int]]
"""Groups of seats, best first."""


class Ended(Protocol):
    """What is needed of a match that was played."""

    @property
    def entrants(self) -> Sequence[int]:
        """By seat."""

    @property
    def outcome(self) -> Outcome:
        """How it ended."""


class Table(Struct, frozen=True):
    """Matches of the same number of seats; columns by seat."""

    entrants: Whole
    places: Whole
    """Groups of the ranking, 0 the best."""
    sizes: Whole
    """How many seats each seat's group has, itself among them."""
    shares: Numbers
    """Points: the share of the other seats that this one is ranked before, ties as a half."""

    @property
    def seats(self) -> int:
        """Of each match; 0 where there is none."""
        return int(self.places.shape[1])


def table_of(played: Sequence[Ended]) -> Table:
    """The arrays of these matches."""
    sitting = [match.entrants for match in played]
    seats = len(sitting[0]) if sitting else 0
    shape = (len(sitting), seats)
    entrants = np.array(sitting, dtype=np.int64).reshape(shape)
    rankings = (match.outcome.ranking for match in played)
    places = np.array([_places(ranking, seats) for ranking in rankings], dtype=np.int64).reshape(shape)
    before, sizes = np.zeros((2, *shape), dtype=np.int64)
    for seat in range(seats):
        before += places < places[:, [seat]]
        sizes += places == places[:, [seat]]
    shares = (before + (sizes - 1) / 2) / max(seats - 1, 1)
    return Table(entrants, places, sizes, shares)


def _places(ranking: Ranking, seats: int) -> list[int]:
    """By seat."""
    places = [0] * seats
    for place, group in enumerate(ranking):
        for seat in group:
            places[seat] = place
    return places
