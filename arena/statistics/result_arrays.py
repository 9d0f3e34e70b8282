"""Results as arrays, one match per row: the entrants, places and points by seat. Pure."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from arena.arrays import Numbers, Whole, np
from protocol.words import Outcome

Ranking = Sequence[Sequence[int]]
"""Groups of seats, best first."""


class Ended(Protocol):
    """The needed attributes of a finished match."""

    @property
    def entrants(self) -> Sequence[int]:
        """Entrants' numbers, indexed by seat."""

    @property
    def outcome(self) -> Outcome:
        """Outcome of the match."""


class Table(Struct, frozen=True):
    """Matches with the same number of seats, one per row; columns are seats."""

    entrants: Whole
    places: Whole
    """Index of each seat's group in the ranking, 0 for the best."""
    sizes: Whole
    """Number of seats in each seat's group, including itself."""
    shares: Numbers
    """Points: the share of the other seats ranked below; a tie counts half."""

    @property
    def seats(self) -> int:
        """Number of seats in each match; 0 without matches."""
        return int(self.places.shape[1])


def table_of(played: Sequence[Ended]) -> Table:
    """Return the arrays of these matches."""
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
    """Return the index of each seat's group in the ranking."""
    places = [0] * seats
    for place, group in enumerate(ranking):
        for seat in group:
            places[seat] = place
    return places
