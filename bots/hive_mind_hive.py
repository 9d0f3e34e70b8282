"""A Hive as bots of Hive Mind see it: hexes as bits, shapes with what they look at, and the layouts left.

Bit 0 is hex A, bit 11 is L.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations

from msgspec import Struct

from protocol.games.hive_mind import Hint, Kind

CELLS = "ABCDEFGHIJKL"
ROWS = ("ABC", "DEFG", "HIJ", "KL")
PLACE = {cell: (2 * at - len(row), y) for y, row in enumerate(ROWS) for at, cell in enumerate(row)}
"""Hex to its place, in half hexes and rows."""
WAYS = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
ALL = (1 << len(CELLS)) - 1
TWOS, THREES = 4, 3
"""How many hexes hold a 2, and a 3; the others hold a 1."""

Layout = tuple[int, int]
"""The masks of the 2s and of the 3s."""


class Shape(Struct, frozen=True):
    """Three connected hexes."""

    cells: str
    mask: int
    kind: Kind
    looks: int


def mask(cells: Iterable[str]) -> int:
    """Letters as bits."""
    return sum(1 << CELLS.index(cell) for cell in cells)


def letters(bits: int) -> str:
    """Bits as letters."""
    return "".join(cell for at, cell in enumerate(CELLS) if bits >> at & 1)


def _step(cell: str, way: tuple[int, int]) -> str | None:
    x, y = PLACE[cell]
    return next((other for other, place in PLACE.items() if place == (x + way[0], y + way[1])), None)


BESIDE = {cell: mask(other for way in WAYS if (other := _step(cell, way))) for cell in CELLS}
"""Hex to those that touch it."""
BORDER = mask(cell for cell in CELLS if BESIDE[cell].bit_count() < len(WAYS))


def _beside(cells: Iterable[str]) -> int:
    found = 0
    for cell in cells:
        found |= BESIDE[cell]
    return found


def _shape(three: tuple[str, ...]) -> Shape | None:
    own = mask(three)
    middles = [cell for cell in three if (BESIDE[cell] & own).bit_count() == 2]  # noqa: PLR2004 - both others
    cells = "".join(three)
    if len(middles) == len(three):
        return Shape(cells, own, "tri", _beside(three) & ~own)
    if len(middles) != 1:
        return None
    (middle,) = middles
    one, other = (cell for cell in three if cell != middle)
    (x, y), ends = PLACE[middle], (PLACE[one], PLACE[other])
    if (2 * x, 2 * y) == (ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]):
        ends_on_border = mask(cell for cell in (one, other) if BORDER & mask(cell))
        looks = _beside(letters(ends_on_border)) & BORDER & ~own
        return Shape(cells, own, "line", looks)
    # The hex that all three touch is the centre; the look goes from there straight away from the middle hex.
    way = (ends[0][0] + ends[1][0] - 2 * x, ends[0][1] + ends[1][1] - 2 * y)
    looks, at = 0, _step(middle, way)
    while at is not None:
        looks, at = looks | mask(at), _step(at, way)
    return Shape(cells, own, "arc", looks)


SHAPES = tuple(shape for three in combinations(CELLS, 3) if (shape := _shape(three)) is not None)
BY_KIND: dict[Kind, tuple[Shape, ...]] = {
    kind: tuple(shape for shape in SHAPES if shape.kind == kind) for kind in ("tri", "arc", "line")
}


@cache
def layouts() -> tuple[Layout, ...]:
    """All that a Hive may hold: the 3s are not all connected."""
    connected = {shape.mask for shape in SHAPES}
    found = []
    for high in combinations(CELLS, THREES):
        threes = mask(high)
        if threes not in connected:
            rest = [cell for cell in CELLS if cell not in high]
            found += [(mask(two), threes) for two in combinations(rest, TWOS)]
    return tuple(found)


def total(layout: Layout, looks: int) -> int:
    """The sum of some hexes' initial values."""
    twos, threes = layout
    return looks.bit_count() + (twos & looks).bit_count() + 2 * (threes & looks).bit_count()


def fitting(hints: Iterable[Hint]) -> list[Layout]:
    """The layouts that all hints about a Hive fit."""
    left = list(layouts())
    for hint in hints:
        looks, wanted = mask(hint.looks), hint.total
        left = [layout for layout in left if total(layout, looks) == wanted]
    return left


def mean_values(left: list[Layout]) -> list[float]:
    """By hex: its initial value, on average over the layouts left."""
    means = []
    for at in range(len(CELLS)):
        twos = sum(layout[0] >> at & 1 for layout in left)
        threes = sum(layout[1] >> at & 1 for layout in left)
        means.append(1 + (twos + 2 * threes) / len(left))
    return means
