"""Design of the tables of each round, such that all bots meet nearly equally often. Pure.

The initial design is a net: bots are arranged in rows and columns, and a table takes one bot of each column, from
rows that are `round * column` apart, so that no two meet twice before the rows repeat. Then bots of one round
exchange tables to even out the numbers of meetings (simulated annealing, Kirkpatrick, Gelatt and Vecchi 1983). No
bound is proved, but where a small perfect design is known, it is mostly found.
"""

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise
from math import exp, gcd
from random import Random

from msgspec import Struct

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
    tables = -(-bots // seats) if filled else bots // seats
    return [(bots + table) // tables for table in range(tables)] if filled else [seats] * tables


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
        places = [
            [column * tables + (row + turn * column) % tables for column in range(seats)] for row in range(tables)
        ]
        groups = [[standing[place] for place in table if place < len(standing)] for table in places]
        found.append([*groups, sorted(byes)])
    return found


def _lots(bots: int, seed: str) -> list[int]:
    # `random` returns the same numbers in every Python version, but its shuffles may differ.
    luck = Random(seed)
    return sorted(range(bots), key=[luck.random() for _ in range(bots)].__getitem__)


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
    found = [[list(group) for group in groups] for groups in rounds]
    put = _counting(found, bots, weighing.power)
    draw = Random(seed).random
    tables, byes = len(found[0]) - 1, len(found[0][-1])
    moves = min(MOVES, MOVES_A_PLACE * bots * len(rounds))
    for move in range(moves):
        with_byes = byes and (tables == 1 or move % 2)
        steps = _turn_about(found, draw) if with_byes else _change_of_tables(found, draw)
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
