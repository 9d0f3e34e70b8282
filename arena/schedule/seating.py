"""Order of the bots at a table, for games of any number of seats. Pure."""

from collections.abc import Sequence
from itertools import combinations


class Seating:
    """Assigns seats table after table so that each bot sits in all seats about equally often."""

    def __init__(self, bots: int, seats: int, shifts: Sequence[int]) -> None:
        """Start a schedule.

        Args:
            bots: number of bots, numbered from 0; the next number marks an empty seat.
            seats: number of seats at a table.
            shifts: the rotations of a table that are played; see `rotations`.
        """
        self._absent, self._seats, self._shifts = bots, seats, shifts
        # Empty seats are counted too, so that they vary.
        self._sat = [[0] * seats for _ in range(bots + 1)]

    def seated(self, table: Sequence[int]) -> tuple[int, ...]:
        """Return the table ordered so that each bot has the seats it had least; fill empty seats with the mark."""
        seated = [*table, *[self._absent] * (self._seats - len(table))]
        if len(self._shifts) < self._seats:
            # With all rotations, every bot sits in every seat in any order.
            self._improve(seated)
        for place, bot in enumerate(seated):
            for seat in self._seats_of(place):
                self._sat[bot][seat] += 1
        return tuple(seated)

    def _improve(self, seated: list[int]) -> None:
        """Exchange pairs while this lowers the cost. The cost is a whole number, so the loop ends."""
        places = [self._seats_of(place) for place in range(self._seats)]
        cost = {bot: [sum(self._sat[bot][seat] for seat in seats) for seats in places] for bot in seated}
        better = True
        while better:
            better = False
            for one, other in combinations(range(self._seats), 2):
                a, b = cost[seated[one]], cost[seated[other]]
                if a[one] + b[other] > a[other] + b[one]:
                    seated[one], seated[other] = seated[other], seated[one]
                    better = True

    def _seats_of(self, place: int) -> list[int]:
        """Return the seats of a place at a table, one for each match of the block."""
        return [(place + shift) % self._seats for shift in self._shifts]


def shifts_of(seats: int, rotations: int) -> tuple[int, ...]:
    """Return the shift of the table in each match of a block, evenly spread round the table."""
    return tuple(number * seats // rotations for number in range(rotations))
