"""Order of the bots at a table, and counts that show how even a schedule is. Pure.

The counts are blocks per bot, meetings per pair and matches per seat.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from msgspec import Struct

from arena.quantities import pluralise
from arena.schedule.blocks import Block, rotations


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


class Span(Struct, frozen=True):
    """The smallest and the largest of some counts."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


class Design(Struct, frozen=True, kw_only=True):
    """Summary of a schedule, without the house bot."""

    blocks: int
    matches: int
    played: Span
    """Number of blocks that each bot plays."""
    met: Span
    """Number of blocks in which each two bots meet."""
    met_mean: float
    """Average of `met` over all pairs. A perfectly even schedule has only the nearest whole numbers."""
    sat: Span
    """Number of matches that each bot plays in each seat."""

    @property
    def text(self) -> str:
        """The summary as one line of text."""
        blocks = pluralise(self.blocks, "block")
        mean = "" if self.met.least == self.met.most else f" (on average {self.met_mean:.1f})"
        return (
            f"{blocks}: each bot plays {self.played}, each two bots meet in {self.met}{mean},"
            f" each bot sits in each seat in {self.sat} {'match' if self.sat.most == 1 else 'matches'}"
        )


def design_of(blocks: Iterable[Block], bots: Iterable[int], seats: int) -> Design:
    """Return the summary of a schedule for these entrants; leave out the house and bots that withdrew."""
    number = matches = 0
    played = dict.fromkeys(sorted(bots), 0)
    met = dict.fromkeys(combinations(played, 2), 0)
    sat = {bot: [0] * seats for bot in played}
    for block in blocks:
        number += 1
        matches += len(block.shifts)
        present = sorted(bot for bot in block.entrants if bot in played)
        for bot in present:
            played[bot] += 1
        for pair in combinations(present, 2):
            met[pair] += 1
        for seated in rotations(block.entrants, block.shifts):
            for seat, bot in enumerate(seated):
                if bot in sat:
                    sat[bot][seat] += 1
    return Design(
        blocks=number,
        matches=matches,
        played=_span(played.values()),
        met=_span(met.values()),
        met_mean=sum(met.values()) / len(met),
        sat=_span(count for seats_of_one in sat.values() for count in seats_of_one),
    )


def _span(counts: Iterable[int]) -> Span:
    found = list(counts)
    return Span(min(found), max(found))
