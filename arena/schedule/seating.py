"""Who of a table sits where, in games of any number of seats. Pure: a function of its arguments."""

from collections.abc import Sequence
from itertools import combinations


class Seating:
    """Seats table after table, and remembers who sat where."""

    def __init__(self, bots: int, seats: int, shifts: Sequence[int]) -> None:
        """Begins a schedule.

        Args:
            bots: how many there are, numbered from 0; the number after them stands for a seat that is left over.
            seats: how many a table has.
            shifts: the rotations of a table that are played; see `rotations`.
        """
        self._absent, self._seats, self._shifts = bots, seats, shifts
        # Empty seats, too, must not always be the same.
        self._sat = [[0] * seats for _ in range(bots + 1)]

    def seated(self, table: Sequence[int]) -> tuple[int, ...]:
        """The table in an order that lets each sit where it has sat least; seats that are left over filled up."""
        seated = [*table, *[self._absent] * (self._seats - len(table))]
        if len(self._shifts) < self._seats:
            # Else everyone sits everywhere, in any order.
            self._improve(seated)
        for place, bot in enumerate(seated):
            for seat in self._seats_of(place):
                self._sat[bot][seat] += 1
        return tuple(seated)

    def _improve(self, seated: list[int]) -> None:
        """Exchanges any two that gain by it, until there are none. Gains are whole: it comes to an end."""
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
        """The seats that a place at a table comes to, one in each match of the block."""
        return [(place + shift) % self._seats for shift in self._shifts]


def shifts_of(seats: int, rotations: int) -> tuple[int, ...]:
    """By how many places a table moves on in each match of a block: evenly spread round the table."""
    return tuple(number * seats // rotations for number in range(rotations))
