"""Candidates for each seat's symbol, with the features and figures of a whole pool for clues and conditions."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES
from referee.games.runes_to_ruins import conditions
from referee.games.runes_to_ruins.clues import Clue, group_runes
from referee.games.runes_to_ruins.pools import (
    POSITIONS,
    Pool,
    count,
    mark,
)
from referee.games.runes_to_ruins.symbols import SIDES, TOUCHED


class Sliced:
    """One number per symbol of a pool, stored as bit slices: slice `n` is the set of symbols with bit `n` set."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.slices: list[int] = []

    def add(self, chosen: int, weight: int = 1) -> None:
        """Add a weight to the numbers of the chosen symbols."""
        for bit in range(weight.bit_length()):
            if weight >> bit & 1:
                self._carry(chosen, bit)

    def _carry(self, chosen: int, bit: int) -> None:
        slices = self.slices
        while chosen:
            while len(slices) <= bit:
                slices.append(0)
            was = slices[bit]
            slices[bit] = was ^ chosen
            chosen &= was
            bit += 1

    def by_number(self) -> dict[int, int]:
        """Return the set of symbols with each number."""
        sets = {0: self.every}
        for bit in range(len(self.slices) - 1, -1, -1):
            found = self.slices[bit]
            sets = {
                number + (is_set << bit): both
                for number, each in sets.items()
                for is_set, both in enumerate((each & ~found, each & found))
                if both
            }
        return sets


class _Values(dict[int, dict[Any, int]]):
    """Sets of a pool's symbols, indexed by clue, then by feature; computed on first access."""

    def __init__(self, pool: Pool, clues: dict[int, Clue]) -> None:
        super().__init__()
        self.pool, self.clues = pool, clues

    def __missing__(self, n: int) -> dict[Any, int]:
        self[n] = found = self.clues[n].values(self.pool)
        return found


class Candidates:
    """A pool with its features for clues and its figures for conditions, computed on first use."""

    def __init__(self, pool: Pool, clues: dict[int, Clue]) -> None:
        self.pool = pool
        self.values = _Values(pool, clues)
        self._figures: dict[int, Sliced] = {}
        self._by_figure: dict[int, dict[int, int]] = {}

    def by_figure(self, condition: int) -> dict[int, int]:
        """Return the set of symbols with each figure of a condition; higher figures are better."""
        if condition not in self._by_figure:
            sign = conditions.RANKED[condition][1] if condition in conditions.RANKED else 1
            sets = self.figure(condition).by_number()
            self._by_figure[condition] = {sign * number: each for number, each in sets.items()}
        return self._by_figure[condition]

    def between(self, condition: int, low: float, high: float) -> int:
        """Return the symbols whose figure is at least `low` and at most `high`."""
        chosen = 0
        for figure, found in self.by_figure(condition).items():
            if low <= figure <= high:
                chosen |= found
        return chosen

    def figure(self, condition: int) -> Sliced:
        """Return the figures of a condition without their sign: 2 uses the figures of 1, and 4 those of 3."""
        condition = {2: 1, 4: 3}.get(condition, condition)
        if condition not in self._figures:
            self._figures[condition] = _FIGURES[condition](self.pool)
        return self._figures[condition]


def _weighed(pool: Pool, weight: Callable[[Any], int]) -> Sliced:
    total = Sliced(pool.all)
    for position in POSITIONS:
        for bit in range(4):
            runes = [rune for rune in NAMES if weight(rune) >> bit & 1]
            total.add(pool.marked(mark((position,), runes)), 1 << bit)
    return total


@cache
def _touching() -> list[list[tuple[int, int]]]:
    """Return pairs of marks for each two adjacent positions.

    The first mark is a set of runes in one position, the second all runes in the other that join with them.
    """
    found = []
    for one, other in SIDES:
        alike: dict[int, list[str]] = {}
        for rune in NAMES:
            touching = mark((other,), [each for each in NAMES if TOUCHED[other][each] & TOUCHED[one][rune]])
            alike.setdefault(touching, []).append(rune)
        found.append([(mark((one,), runes), touching) for touching, runes in alike.items()])
    return found


def _joined(pool: Pool) -> Sliced:
    total = Sliced(pool.all)
    for side in _touching():
        found = 0
        for runes, touching in side:
            found |= pool.marked(runes) & pool.marked(touching)
        total.add(found)
    return total


@cache
def _in_group(group: str) -> tuple[int, ...]:
    """Return one mark per position: the group's runes there."""
    return tuple(mark((at,), group_runes(group)) for at in POSITIONS)


def _group_counts(pool: Pool) -> dict[str, dict[int, int]]:
    return {group: pool.counted(_in_group(group)) for group in (*DIVINE, *MUNDANE)}


def _numbered(every: int, sets: dict[int, int]) -> Sliced:
    total = Sliced(every)
    for number, found in sets.items():
        total.add(found, number)
    return total


def _largest(pool: Pool) -> Sliced:
    left, sets = pool.all, {}
    counts = _group_counts(pool)
    for number in range(6, 0, -1):
        found = 0
        for each in counts.values():
            found |= each.get(number, 0)
        sets[number] = found & left
        left &= ~found
    return _numbered(pool.all, sets)


def _connected(pool: Pool) -> Sliced:
    counts = _group_counts(pool)
    sets = []
    for at in POSITIONS:
        found = 0
        for group, each in counts.items():
            single = each.get(1, 0)
            found |= pool.marked(_in_group(group)[at]) & ~single
        sets.append(found)
    return _numbered(pool.all, count(sets, pool.all))


def _different(pool: Pool, groups: Sequence[str]) -> Sliced:
    return _numbered(pool.all, pool.counted([mark(POSITIONS, group_runes(group)) for group in groups]))


_FIGURES: dict[int, Callable[[Pool], Sliced]] = {
    1: lambda pool: _weighed(pool, conditions.SEGMENTS.__getitem__),
    3: lambda pool: _weighed(pool, conditions.LINES.__getitem__),
    5: _joined,
    6: _largest,
    7: _connected,
    13: lambda pool: _different(pool, MUNDANE),
    14: lambda pool: _different(pool, DIVINE),
}


@cache
def group_marks() -> dict[tuple[int, ...], str]:
    """Map marks to groups: those that count a group's runes, and those that detect any of its runes."""
    every = (*DIVINE, *MUNDANE)
    found: dict[tuple[int, ...], str] = {}
    for group in every:
        found[_in_group(group)] = group
        found[mark(POSITIONS, group_runes(group)),] = group
    return found


@cache
def uses(rune: str) -> int:
    """Return the mark of a rune in any position."""
    return mark(POSITIONS, (rune,))
