"""The possible layouts of a Hive of Hive Mind, those that fit all hints, and the mean value of each hex.

Sets of hexes are numbers in which bit 0 is hex A, bit 11 is L. Pure: for bots.
"""

from collections.abc import Iterable
from functools import cache
from itertools import combinations

from msgspec import Struct

from protocol.games.hive_mind import Hint, Kind
from protocol.games.hive_mind import board as hive_board
from protocol.games.hive_mind.board import CELLS, KINDS

TWOS, THREES = 4, 3
"""Number of hexes with a 2, and with a 3; the others have a 1."""

Layout = tuple[int, int]
"""The masks of the 2s and of the 3s."""


class ShapeBits(Struct, frozen=True):
    """Three connected hexes, and the hexes that they look at, as bits."""

    cells: str
    mask: int
    kind: Kind
    looks: int


def mask(cells: Iterable[str]) -> int:
    """Convert letters to bits."""
    return sum(1 << CELLS.index(cell) for cell in cells)


def letters(bits: int) -> str:
    """Convert bits to letters."""
    return "".join(cell for at, cell in enumerate(CELLS) if bits >> at & 1)


SHAPES = tuple(
    ShapeBits(shape.cells, mask(shape.cells), shape.kind, mask(shape.looks))
    for shape in hive_board.SHAPES.values()
)
BY_KIND: dict[Kind, list[ShapeBits]] = {kind: [] for kind in KINDS}
for _shape in SHAPES:
    BY_KIND[_shape.kind].append(_shape)


@cache
def layouts() -> tuple[Layout, ...]:
    """Return all possible layouts of a Hive: the 3s are not all connected."""
    connected = {shape.mask for shape in SHAPES}
    found: list[Layout] = []
    for high in combinations(CELLS, THREES):
        threes = mask(high)
        if threes not in connected:
            rest = [cell for cell in CELLS if cell not in high]
            found += [(mask(two), threes) for two in combinations(rest, TWOS)]
    return tuple(found)


def total(layout: Layout, looks: int) -> int:
    """Return the sum of some hexes' initial values."""
    twos, threes = layout
    return looks.bit_count() + (twos & looks).bit_count() + 2 * (threes & looks).bit_count()


def fitting(hints: Iterable[Hint]) -> list[Layout]:
    """Return the layouts that agree with all hints about a Hive."""
    left = list(layouts())
    for hint in hints:
        looks, wanted = mask(hint.looks), hint.total
        left = [layout for layout in left if total(layout, looks) == wanted]
    return left


def mean_values(left: list[Layout]) -> list[float]:
    """Return the mean initial value of each hex over the layouts left; indexed by hex."""
    means: list[float] = []
    for at in range(len(CELLS)):
        twos = sum(layout[0] >> at & 1 for layout in left)
        threes = sum(layout[1] >> at & 1 for layout in left)
        means.append(1 + (twos + 2 * threes) / len(left))
    return means
