"""Who sits at which table, and where, in games of any number of seats. Pure: a function of its arguments.

A round divides the bots among tables so that those meet who have met least; where a table has seats over, the
house fills them. Lots are drawn by the caller, who gives each round an order.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

Order = Sequence[int]
"""The bots as lots were drawn for a round."""


class Seating:
    """Divides bots among tables round after round, and remembers who met whom and sat where."""

    def __init__(self, bots: int, seats: int, shifts: Sequence[int], *, house: int | None) -> None:
        """Begins a schedule.

        Args:
            bots: how many there are, numbered from 0.
            seats: how many a table has.
            shifts: the rotations of a table that are played; see `rotations`.
            house: the number of the bot that fills seats which are left over. None: all tables are full, and where
                the bots do not divide by the seats, some have a bye, as nearly equally often as can be.
        """
        if house is None and bots < seats:
            raise ValueError(f"{bots} bots cannot take {seats} seats")
        self._bots, self._seats, self._shifts, self._house = bots, seats, shifts, house
        self._sizes = table_sizes(bots, seats, filled=house is not None)
        self._played = [0] * bots
        self._met = [[0] * bots for _ in range(bots)]
        self._sat = [[0] * seats for _ in range(bots)]

    def next_round(self, order: Order) -> list[tuple[int, ...]]:
        """The tables of a round, each by seat in its first match."""
        tables = self._divided(order)
        for table in tables:
            for bot in table:
                self._played[bot] += 1
            for one, other in combinations(table, 2):
                self._met[one][other] += 1
                self._met[other][one] += 1
        return [self._seated(table) for table in tables]

    def _divided(self, order: Order) -> list[list[int]]:
        """Tables of those who have met least; a bot has a bye only if none has had fewer."""
        left = iter(sorted(order, key=lambda bot: self._played[bot]))
        groups = [[next(left) for _ in range(size)] for size in self._sizes]
        tables, byes = len(groups), list(left)
        groups.append(byes)
        # What it costs a bot to be in a group: its meetings so far with those who are. A bye is no meeting.
        cost = [[sum(self._met[bot][other] for other in group) for group in groups] for bot in range(self._bots)]
        for row in cost:
            row[tables] = 0

        def gain(one: int, other: int) -> int:
            here, there = group_of[one], group_of[other]
            if here == there or (tables in (here, there) and self._played[one] != self._played[other]):
                return 0
            # Each is counted in the group that the other leaves, unless that is the byes.
            between = self._met[one][other] * ((here != tables) + (there != tables))
            return cost[one][here] + cost[other][there] - cost[one][there] - cost[other][here] + between

        def swap(one: int, other: int) -> None:
            here, there = group_of[one], group_of[other]
            for row, met in zip(cost, self._met, strict=True):
                change = met[other] - met[one]
                row[here] += change * (here != tables)
                row[there] -= change * (there != tables)
            group_of[one], group_of[other] = there, here

        group_of = {bot: number for number, group in enumerate(groups) for bot in group}
        _improve(order, gain, swap)
        return [[bot for bot in order if group_of[bot] == number] for number in range(tables)]

    def _seated(self, table: list[int]) -> tuple[int, ...]:
        """The table in an order that lets each sit where it has sat least."""
        absent = self._bots
        seated = table + [absent] * (self._seats - len(table))

        def cost(bot: int, place: int) -> int:
            return 0 if bot == absent else sum(self._sat[bot][seat] for seat in self._seats_of(place))

        def gain(one: int, other: int) -> int:
            a, b = seated[one], seated[other]
            return cost(a, one) + cost(b, other) - cost(a, other) - cost(b, one)

        def swap(one: int, other: int) -> None:
            seated[one], seated[other] = seated[other], seated[one]

        if len(self._shifts) < self._seats:
            _improve(range(self._seats), gain, swap)
        for place, bot in enumerate(seated):
            if bot != absent:
                for seat in self._seats_of(place):
                    self._sat[bot][seat] += 1
        return tuple(self._house if bot == absent and self._house is not None else bot for bot in seated)

    def _seats_of(self, place: int) -> list[int]:
        """The seats that a place at a table comes to, one in each match of the block."""
        return [(place + shift) % self._seats for shift in self._shifts]


def table_sizes(bots: int, seats: int, *, filled: bool) -> list[int]:
    """How many bots sit at each table of a round: as equally many as can be, or all seats of fewer tables."""
    tables = -(-bots // seats) if filled else bots // seats
    return [(bots + table) // tables for table in range(tables)] if filled else [seats] * tables


def shifts_of(seats: int, rotations: int) -> tuple[int, ...]:
    """By how many places a table moves on in each match of a block: evenly spread round the table."""
    return tuple(number * seats // rotations for number in range(rotations))


def _improve(those: Sequence[int], gain: Callable[[int, int], int], swap: Callable[[int, int], None]) -> None:
    """Exchanges any two that gain by it, until there are none. Gains are whole: it comes to an end."""
    better = True
    while better:
        better = False
        for one, other in combinations(those, 2):
            if gain(one, other) > 0:
                swap(one, other)
                better = True
