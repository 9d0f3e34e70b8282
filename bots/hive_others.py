"""A model of the other seats of Hive Mind, for bots: each counts the layouts that fit its own hints.

A counting seat opens with one of the most informative shapes, and then places the shape that its hints make best.
So the layout of a Hive and the shapes of round 1 determine its shapes of rounds 2 and 3.
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
"""Bits by which an opening may be less informative than the best: counters compare by samples."""

HEXES = tuple(tuple(at for at in range(len(CELLS)) if shape.mask >> at & 1) for shape in SHAPES)
"""The hexes of each shape; indexed by the shape's number."""
OF_KIND: dict[Kind, tuple[int, ...]] = {
    kind: tuple(number for number, shape in enumerate(SHAPES) if shape.kind == kind) for kind in BY_KIND
}
"""The numbers of the shapes of each kind."""
OPENINGS: dict[Kind, tuple[int, ...]] = {
    kind: tuple(
        number
        for number in numbers
        if told_by(SHAPES[number].looks, ALL) > max(told_by(SHAPES[n].looks, ALL) for n in numbers) - ABOUT_BEST
    )
    for kind, numbers in OF_KIND.items()
}
"""The most informative shapes of each kind."""
KNOWN_OPENINGS = frozenset(chain.from_iterable(OPENINGS.values()))


def openings(shapes: dict[Kind, int], counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the choices of openings that cover each hex `counts` times.

    `shapes` is the number of openings of each kind; `counts` is indexed by hex.
    """
    for kinds in product(*(combinations_with_replacement(OPENINGS[kind], n) for kind, n in shapes.items())):
        numbers = tuple(chain.from_iterable(kinds))
        over = Counter(chain.from_iterable(HEXES[number] for number in numbers))
        if all(over[at] == count for at, count in enumerate(counts)):
            yield numbers


def second(opening: int, layout: Layout) -> int:
    """Return the shape that a counting seat places in round 2 after this opening, if the Hive has this layout."""
    return wanted((_hint(opening, layout),), 0, _left_after((opening,)), buys=True)


def third(opening: int, then: int, layout: Layout, gone: int, *, doubles: bool) -> int:
    """Return the shape that a counting seat places in round 3.

    `gone` is the mask of the hexes that have scored.
    """
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
    """Return the number of the shape that is best for a counting seat. `buys` is True in round 2."""
    found = left(told)
    worths = expected_points(means(found), gone, doubles=doubles)

    def worth(number: int) -> float:
        one, two, three = HEXES[number]
        bits = HINT_WORTH * told_by(SHAPES[number].looks, found) if buys else 0.0
        return worths[one] + worths[two] + worths[three] + bits

    return max(numbers, key=worth)
