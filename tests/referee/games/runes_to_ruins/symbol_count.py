"""Counts the legal symbols without going through them: by columns, of which only little matters.

Beside a given middle column, it matters of the two runes in an outer one whether both hang on it, whether they
join its two runes, and their groups. So for each middle column the left and the right ones are tallied by these,
and the tallies are multiplied.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import product

from msgspec import Struct

from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, RUNES, Rune
from tests.referee.games.runes_to_ruins.naive_actions import ends

SIX = range(6)


class Column(Struct, frozen=True):
    """Two runes, one above the other: the points they touch, as masks, and their groups."""

    top: int
    bottom: int
    unlike: int
    """Mask of their groups in the Order whose groups all differ."""
    alike: tuple[int, int]
    """Their groups in the other Order."""


class Tally(Struct):
    """Outer columns beside a middle one that have the same groups in the Order whose groups differ."""

    all: Counter[bool]
    """Whether they join the middle runes, to their number."""
    having: Counter[tuple[bool, int, int]]
    """The same, a group of the other Order, and how often they have it."""
    pairs: Counter[tuple[bool, int]]
    """The same, and the mask of their groups in the other Order; only those whose groups differ."""


def legal_symbols() -> tuple[int, int]:
    """How many there are; and of them, how many whose groups differ in both Orders."""
    one, both = _unlike(0)
    other, again = _unlike(1)
    assert both == again
    return one + other - both, both


def _unlike(order: int) -> tuple[int, int]:
    """Those whose groups in this Order differ: with at most three alike in the other, and with none."""
    columns = [list(_columns(position, order)) for position in range(3)]
    few, none = 0, 0
    for middle in columns[1]:
        joined = bool(middle.top & middle.bottom)
        left, right = _tallies(columns[0], middle), _tallies(columns[2], middle)
        for mask, one in left.items():
            other = right.get(63 & ~mask & ~middle.unlike)
            if other is not None:
                few += _few_alike(one, other, middle.alike, joined=joined)
                none += _none_alike(one, other, middle.alike, joined=joined)
    return few, none


def _columns(position: int, order: int) -> Iterator[Column]:
    for top, bottom in product(RUNES, RUNES):
        (unlike, alike), (unlike_below, alike_below) = _groups(top, order), _groups(bottom, order)
        if unlike != unlike_below:
            yield Column(
                top=_mask(position, top),
                bottom=_mask(position + 3, bottom),
                unlike=1 << unlike | 1 << unlike_below,
                alike=(alike, alike_below),
            )


def _groups(rune: Rune, order: int) -> tuple[int, int]:
    both = DIVINE.index(rune.divine), MUNDANE.index(rune.mundane)
    return both[order], both[1 - order]


def _mask(position: int, rune: Rune) -> int:
    return sum(1 << (7 * down + across) for across, down in ends(position, rune.name))


def _tallies(outer: list[Column], middle: Column) -> dict[int, Tally]:
    """Those of the outer columns that hang on the middle one and have other groups, by their groups."""
    tallies: dict[int, Tally] = defaultdict(lambda: Tally(Counter(), Counter(), Counter()))
    reach = middle.top | middle.bottom
    for column in outer:
        if column.unlike & middle.unlike:
            continue
        top, bottom = column.top, column.bottom
        if top & bottom:
            top = bottom = top | bottom
        if not (top & reach and bottom & reach):
            continue
        joins = any(mask & middle.top and mask & middle.bottom for mask in (top, bottom))
        tally = tallies[column.unlike]
        tally.all[joins] += 1
        one, other = column.alike
        if one == other:
            tally.having[joins, one, 2] += 1
        else:
            tally.having[joins, one, 1] += 1
            tally.having[joins, other, 1] += 1
            tally.pairs[joins, 1 << one | 1 << other] += 1
    return tallies


def _few_alike(left: Tally, right: Tally, middle: tuple[int, int], *, joined: bool) -> int:
    """All, less those that have one group of the other Order four times or more: there can be one such group."""
    total = 0
    for one, other in product((False, True), repeat=2):
        if joined or one or other:
            total += left.all[one] * right.all[other]
            for group in SIX:
                here = middle.count(group)
                lefts, rights = (
                    [tally.all[joins] - tally.having[joins, group, 1] - tally.having[joins, group, 2]]
                    + [tally.having[joins, group, times] for times in (1, 2)]
                    for tally, joins in ((left, one), (right, other))
                )
                total -= sum(lefts[a] * rights[b] for a, b in product(range(3), repeat=2) if a + b + here >= 4)
    return total


def _none_alike(left: Tally, right: Tally, middle: tuple[int, int], *, joined: bool) -> int:
    """Those whose groups in the other Order differ too."""
    if middle[0] == middle[1]:
        return 0
    own = 1 << middle[0] | 1 << middle[1]
    return sum(
        count * sum(right.pairs[other, 63 & ~own & ~mask] for other in (False, True) if joined or one or other)
        for (one, mask), count in left.pairs.items()
        if not mask & own
    )
