"""Schedules for games of more than two seats: in each round every entrant sits at one table or has a bye. Pure.

Only the first rounds of a long schedule are designed. They form a cycle that repeats, each time with the entrants
one place further. After as many cycles as there are entrants, all have played and sat everywhere equally often;
then new lots are drawn.

The design lets all bots meet nearly equally often. It begins as a net: bots are arranged in rows and columns, and
a table takes one bot of each column, from rows that are `round * column` apart, so that no two meet twice before
the rows repeat. Then bots of one round exchange tables to even out the numbers of meetings (simulated annealing,
Kirkpatrick, Gelatt and Vecchi 1983). No bound is proved, but where a small perfect design is known, it is mostly
found.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations, islice, pairwise
from math import exp, gcd
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from arena.quantities import pluralise
from arena.schedule.blocks import Block, rotations
from arena.schedule.contract import Complaint, Fixed, Format
from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec, next_round_from, parts_of
from arena.schedule.pairing import drawn


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
        cost = {}
        for bot in seated:
            sat = self._sat[bot].__getitem__
            cost[bot] = [sum(map(sat, seats)) for seats in places]
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
        mean = ""
        if self.met.least != self.met.most:
            mean = f" (on average {self.met_mean:.1f})"
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
        sat=_span(chain.from_iterable(sat.values())),
    )


def _span(counts: Iterable[int]) -> Span:
    found = list(counts)
    return Span(min(found), max(found))


Groups = list[list[int]]
"""Bots of each table of a round and, last, those that have a bye."""

MOVES, MOVES_A_PLACE = 150_000, 250
"""Maximum number of exchanges tried per weighing: in total, and per place at a table."""
LARGEST = 150
"""Maximum number of bots for which exchanges are tried; with more, pairs meet too rarely for them to help."""


class Weighing(Struct, frozen=True):
    """Penalty for a number of meetings that is off the mean: the difference to this power."""

    power: int
    warmth: float
    """Initial temperature: the increase of the penalty that an exchange may cause with probability 1/e."""


WEIGHINGS = (Weighing(2, 1.0), Weighing(4, 5.0))
"""The first finds perfect designs; where there is none, the second limits the largest difference."""


def table_sizes(bots: int, seats: int, *, filled: bool) -> list[int]:
    """Return the number of bots at each table of a round.

    With `filled`, all bots sit, spread as evenly as possible; otherwise all tables are full.
    """
    if not filled:
        return [seats] * (bots // seats)
    tables = -(-bots // seats)
    return [(bots + table) // tables for table in range(tables)]


def designed(bots: int, seats: int, rounds: int, *, filled: bool, seed: str) -> list[Groups]:
    """Return the rounds of a design.

    Args:
        bots: number of bots, numbered from 0.
        seats: number of seats at a table.
        rounds: number of rounds to make.
        filled: True to leave seats free for the house; otherwise all tables are full, and the remaining bots have
            byes, as nearly equally often as possible.
        seed: seed of all random choices.
    """
    best = net = _net(bots, seats, rounds, filled=filled, seed=seed)
    *tables, byes = net[0]
    if bots <= LARGEST and (len(tables) > 1 or byes):
        for weighing in WEIGHINGS:
            if _unevenness(best, bots)[0] > 1:
                tried = _annealed(net, bots, weighing, f"{seed}/{weighing.power}")
                best = min(best, tried, key=lambda each: _unevenness(each, bots))
    return best


def meetings(rounds: Iterable[Groups], bots: int) -> list[list[int]]:
    """Return the number of meetings of each two bots, as a symmetric matrix."""
    met = [[0] * bots for _ in range(bots)]
    for *tables, _ in rounds:
        for table in tables:
            for one, other in combinations(table, 2):
                met[one][other] += 1
                met[other][one] += 1
    return met


def _net(bots: int, seats: int, rounds: int, *, filled: bool, seed: str) -> list[Groups]:
    """Return the rounds of a net; draw new lots whenever its rows repeat."""
    tables = len(table_sizes(bots, seats, filled=filled))
    period = tables // max((gcd(apart, tables) for apart in range(1, seats)), default=1)
    left_over = 0 if filled else bots - tables * seats
    found, lots = [], list(range(bots))
    for turn in range(rounds):
        if turn % period == 0:
            lots = _lots(bots, f"{seed}/{turn}")
        # Byes rotate by number, independent of the lots, so that no bot has two more than another.
        byes = {(turn * left_over + place) % bots for place in range(left_over)}
        standing = [bot for bot in lots if bot not in byes]
        groups = []
        for row in range(tables):
            places = [column * tables + (row + turn * column) % tables for column in range(seats)]
            groups.append([standing[place] for place in places if place < len(standing)])
        found.append([*groups, sorted(byes)])
    return found


def _lots(bots: int, seed: str) -> list[int]:
    # `random` returns the same numbers in every Python version, but its shuffles may differ.
    rng = Random(seed)
    return sorted(range(bots), key=[rng.random() for _ in range(bots)].__getitem__)


def _unevenness(rounds: list[Groups], bots: int) -> tuple[int, int]:
    """Return the sort key of a design: the spread of its meetings' counts, then the sum of their squares."""
    met = meetings(rounds, bots)
    counts = [met[one][other] for one, other in combinations(range(bots), 2)]
    return max(counts) - min(counts), sum(count * count for count in counts)


Step = tuple[list[int], int, int, bool]
"""A group, a place in it, the bot to put there, and True if the group is a table."""
Draw = Callable[[], float]


def _annealed(rounds: list[Groups], bots: int, weighing: Weighing, seed: str) -> list[Groups]:
    """Return the rounds after many exchanges; towards the end nearly only improvements are accepted."""
    found = [list(map(list, groups)) for groups in rounds]
    put = _counting(found, bots, weighing.power)
    draw = Random(seed).random
    tables, byes = len(found[0]) - 1, len(found[0][-1])
    moves = min(MOVES, MOVES_A_PLACE * bots * len(rounds))
    for move in range(moves):
        with_byes = byes and (tables == 1 or move % 2)
        exchange = _turn_about if with_byes else _change_of_tables
        steps = exchange(found, draw)
        before = [(group, place, group[place], is_table) for group, place, _, is_table in steps]
        worse = sum([put(*step) for step in steps])
        if worse > 0 and draw() >= exp(-worse / (weighing.warmth * (1 - move / moves))):
            for step in reversed(before):
                put(*step)
    return found


def _change_of_tables(rounds: list[Groups], draw: Draw) -> list[Step]:
    """Return the steps by which two bots at two tables of a round exchange places."""
    groups = rounds[int(draw() * len(rounds))]
    tables = len(groups) - 1
    here, apart = int(draw() * tables), 1 + int(draw() * (tables - 1))
    one, other = groups[here], groups[(here + apart) % tables]
    i, j = int(draw() * len(one)), int(draw() * len(other))
    return [(one, i, other[j], True), (other, j, one[i], True)]


def _turn_about(rounds: list[Groups], draw: Draw) -> list[Step]:
    """Return the steps by which two bots exchange a table and a bye in two rounds; their byes stay equal."""
    *tables, byes = rounds[int(draw() * len(rounds))]
    *other_tables, other_byes = rounds[int(draw() * len(rounds))]
    table = tables[int(draw() * len(tables))]
    i, j = int(draw() * len(table)), int(draw() * len(byes))
    one, other = table[i], byes[j]
    if one not in other_byes or other in other_byes:
        return []
    back = next(each for each in other_tables if other in each)
    return [
        (table, i, other, True),
        (byes, j, one, False),
        (back, back.index(other), one, True),
        (other_byes, other_byes.index(one), other, False),
    ]


def _counting(rounds: list[Groups], bots: int, power: int) -> Callable[[list[int], int, int, bool], float]:
    """Return a function that makes a step, updates the meetings and returns the increase of the penalty."""
    met = meetings(rounds, bots)
    mean = sum(map(sum, met)) / (bots * (bots - 1))
    weights = [abs(count - mean) ** power for count in range(len(rounds) + 2)]
    one_more = [more - now for now, more in pairwise(weights)]

    def put(group: list[int], place: int, bot: int, is_table: bool) -> float:
        before, group[place] = group[place], bot
        if not is_table:
            return 0.0
        comes, goes, worse = met[bot], met[before], 0.0
        for other in group:
            if other != bot:
                worse += one_more[comes[other]] - one_more[goes[other] - 1]
                comes[other] += 1
                goes[other] -= 1
                met[other][bot] = comes[other]
                met[other][before] = goes[other]
        return worse

    return put


PLACES = 20_000
"""Maximum number of places (bots times rounds) in a design; more would take longer than some seconds."""


class TablesFormat(Format):
    """See `Format`. In a tournament's file it is the round robin for more than two seats."""

    name = "round_robin"
    for_tables = True

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        parts = list(parts_of(spec, lambda field: field.blocks, partial(_tables, spec)))
        matches = sum(part.rounds * part.size for part in parts) * (spec.rotations or spec.seats)
        return Fixed(partial(_blocks, spec, parts), matches, partial(next_round_from, parts))

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        if (spec.rotations or 0) > spec.seats:
            return "rotations", f"{spec.rotations} are too many; {game} has {spec.seats} seats"
        if not spec.filled and spec.entrants < spec.seats:
            few = f"{pluralise(spec.entrants, 'bot')} cannot fill {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None


def _tables(spec: ScheduleSpec, field: FieldPeriod) -> int:
    """Return the number of tables in a round."""
    return len(table_sizes(len(field.active), spec.seats, filled=spec.filled))


def _blocks(spec: ScheduleSpec, parts: Sequence[RoundSpan], seed: int) -> Iterator[Block]:
    """Yield all blocks. Each field has its own design, made for all rounds that remain at its start."""
    for part in parts:
        active = part.field.active
        tables = Tables(
            entrants=len(active),
            seats=spec.seats,
            rounds=part.field.blocks - part.turn,
            rotations=spec.rotations or spec.seats,
            filled=spec.filled,
        )
        # The number of the house follows the file's bots and precedes the bots that entered later.
        numbers = active if spec.house is None else (*active, spec.house)
        lots = f"{seed}/from {part.first}" if part.turn else seed
        for block in islice(tables.blocks(seed, lots), part.rounds * part.size):
            yield replace(
                block,
                number=part.first + block.number,
                round=part.turn + block.round,
                entrants=tuple([numbers[place] for place in block.entrants]),
            )


class Tables(Struct, frozen=True, kw_only=True):
    """A schedule for games of any number of seats."""

    entrants: int
    """Number of competing bots; the house has the next number."""
    seats: int
    rounds: int
    rotations: int
    """Number of rotations of its table that a block plays."""
    filled: bool
    """True if the house takes empty seats; otherwise bots without a full table have a bye."""

    def blocks(self, seed: int, lots: int | str | None = None) -> Iterator[Block]:
        """Yield the blocks, round after round; `lots` is the seed of random choices, by default `seed`."""
        if not self.filled and self.entrants < self.seats:
            raise ValueError(f"{self.entrants} bots cannot take {self.seats} seats")
        shifts = shifts_of(self.seats, self.rotations)
        lots = seed if lots is None else lots
        cycle = self._cycle(lots)
        number, parts = 0, list[int]()
        for turn in range(self.rounds):
            again, place = divmod(turn, len(cycle))
            if place == 0:
                parts = self._parts(again, lots)
            for table in cycle[place]:
                yield Block(number, turn, tuple([parts[part] for part in table]), shifts, seed)
                number += 1

    def _cycle(self, seed: int | str) -> list[list[tuple[int, ...]]]:
        """Return the tables of each round of the first cycle, with entrants indexed by seat."""
        rounds = designed(self.entrants, self.seats, self._cycle_rounds, filled=self.filled, seed=f"{seed}/tables")
        seating = Seating(self.entrants, self.seats, shifts_of(self.seats, self.rotations))
        rng = Random(f"{seed}/seats")
        # The order differs in every round: in games with turns round the table, a bot's neighbours matter.
        found = []
        for *tables, _ in rounds:
            found.append([seating.seated(sorted(table, key=lambda _: rng.random())) for table in tables])
        return found

    @property
    def _cycle_rounds(self) -> int:
        """Number of rounds in a cycle: all if the design is small enough.

        A longer schedule gets a number of rounds in which all can play, and at full tables meet, equally often.
        """
        longest = max(1, PLACES // self.entrants)
        if self.rounds <= longest:
            return self.rounds
        even = self.entrants - (self.entrants % self.seats == 0)
        return longest - longest % even if longest >= even else longest

    def _parts(self, again: int, seed: int | str) -> list[int]:
        """Return the bot of each part of the cycle in its repetition `again`; the house keeps its own part."""
        times, further = divmod(again, self.entrants)
        lots = drawn(range(self.entrants), seed, f"cycle {times}")
        return [*lots[further:], *lots[:further], self.entrants]
