"""What bots of Hive Mind expect of the others: that they count layouts, each by its own hints, as a counter does.

A seat that counts opens with a shape that tells most, and then places what seems best by its hints: so from the
values of a Hive, and the shapes of round 1, follow its shapes of rounds 2 and 3.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, combinations_with_replacement, product

from bots.hive_layout_bits import ALL, Looked, left, means, told_by
from bots.hive_reckoning import HINT_WORTH, expected_points
from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import BY_KIND, SHAPES, Layout, total
from protocol.games.hive_mind import Kind

ABOUT_BEST = 0.01
"""Bits by which a shape may tell less than the best and still open a Hive: counters compare by samples."""

HEXES = tuple(tuple(at for at in range(len(CELLS)) if shape.mask >> at & 1) for shape in SHAPES)
"""By shape: its hexes."""
OF_KIND: dict[Kind, tuple[int, ...]] = {
    kind: tuple(number for number, shape in enumerate(SHAPES) if shape.kind == kind) for kind in BY_KIND
}
"""The numbers of the shapes of a kind."""
OPENINGS: dict[Kind, tuple[int, ...]] = {
    kind: tuple(
        number
        for number in numbers
        if told_by(SHAPES[number].looks, ALL) > max(told_by(SHAPES[n].looks, ALL) for n in numbers) - ABOUT_BEST
    )
    for kind, numbers in OF_KIND.items()
}
"""Of each kind the shapes that tell most."""
KNOWN_OPENINGS = frozenset(chain.from_iterable(OPENINGS.values()))


def openings(shapes: dict[Kind, int], counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The ways in which so many shapes of each kind that tell most lie over each hex so often."""
    for kinds in product(*(combinations_with_replacement(OPENINGS[kind], n) for kind, n in shapes.items())):
        numbers = tuple(chain.from_iterable(kinds))
        over = Counter(chain.from_iterable(HEXES[number] for number in numbers))
        if all(over[at] == count for at, count in enumerate(counts)):
            yield numbers


def second(opening: int, layout: Layout) -> int:
    """What a seat that counts places in round 2, after this shape, if the Hive holds this."""
    return wanted((_hint(opening, layout),), 0, _left_after((opening,)), buys=True)


def third(opening: int, then: int, layout: Layout, gone: int, *, doubles: bool) -> int:
    """The same in round 3; `gone`: the hexes that hold nothing any more."""
    told = (_hint(opening, layout), _hint(then, layout))
    return wanted(told, gone, _left_after((opening, then)), doubles=doubles)


def _hint(number: int, layout: Layout) -> Looked:
    looks = SHAPES[number].looks
    return looks, total(layout, looks)


@lru_cache(maxsize=4096)
def _left_after(numbers: tuple[int, ...]) -> tuple[int, ...]:
    used = {SHAPES[number].kind for number in numbers}
    return tuple(number for kind, those in OF_KIND.items() if kind not in used for number in those)


@lru_cache(maxsize=16384)
def wanted(
    told: tuple[Looked, ...],
    gone: int,
    numbers: tuple[int, ...],
    *,
    buys: bool = False,
    doubles: bool = False,
) -> int:
    """The number of the shape that seems best to a seat that counts. `buys`: whether it is round 2."""
    found = left(told)
    worths = expected_points(means(found), gone, doubles=doubles)

    def worth(number: int) -> float:
        one, two, three = HEXES[number]
        bits = HINT_WORTH * told_by(SHAPES[number].looks, found) if buys else 0.0
        return worths[one] + worths[two] + worths[three] + bits

    return max(numbers, key=worth)
