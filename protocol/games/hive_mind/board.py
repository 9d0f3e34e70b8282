"""A Hive of Hive Mind: its twelve hexes, and the 55 shapes with the hexes they look at.

Shapes and hexes are named by letters, sorted: `ADE`. Sets of hexes are masks of `BOARD`. Pure: for rules and bots.
See docs/games/hive_mind.md, R1.
"""

from itertools import combinations

from msgspec import Struct

from protocol.games.hexes import POINTED, Hexes, centred_rows
from protocol.games.hive_mind import Kind

BOARD = Hexes(centred_rows(["ABC", "DEFG", "HIJ", "KL"]), POINTED)
CELLS = "".join(BOARD.names)
BORDER = sum(bit for bit in BOARD.name if BOARD.neighbours(bit).bit_count() < len(POINTED))
"""The mask of the hexes that do not have all their neighbours on the board."""
KINDS: tuple[Kind, ...] = ("tri", "arc", "line")


class Shape(Struct, frozen=True):
    """Three connected hexes, and the hexes whose sum they reveal."""

    cells: str
    kind: Kind
    looks: str
    """Hexes whose initial values are added up for the seat that places the shape."""


def _shape(mask: int) -> Shape | None:
    """Return the shape of three hexes, or None if they are not connected."""
    touching = {bit: BOARD.neighbours(bit) & mask for bit in BOARD.name if bit & mask}
    middles = [bit for bit, others in touching.items() if others.bit_count() == 2]  # noqa: PLR2004 - both others
    if not middles:
        return None
    if len(middles) == len(touching):
        return Shape(_letters(mask), "tri", _letters(BOARD.neighbours(mask)))
    (middle,) = middles
    ends = [bit for bit in touching if bit != middle]
    if _direction(ends[0], middle) == _direction(middle, ends[1]):
        return Shape(_letters(mask), "line", _letters(_beside(ends, mask)))
    centre = BOARD.neighbours(ends[0]) & BOARD.neighbours(middle) & BOARD.neighbours(ends[1])
    return Shape(_letters(mask), "arc", _letters(_ray(centre, _direction(middle, centre))))


def _letters(mask: int) -> str:
    return "".join(BOARD.cells(mask))


def _direction(one: int, other: int) -> str:
    return next(way for way in POINTED if BOARD.step(one, way) == other)


def _beside(ends: list[int], mask: int) -> int:
    """Return the hexes that a line looks at: those on the border that touch its ends on the border (R1)."""
    beside = 0
    for end in ends:
        if end & BORDER:
            beside |= BOARD.neighbours(end) & BORDER
    return beside & ~mask


def _ray(start: int, way: str) -> int:
    """Return a hex and all hexes in a straight line from it, to the edge."""
    ray = 0
    while start:
        ray |= start
        start = BOARD.step(start, way)
    return ray


SHAPES: dict[str, Shape] = {
    shape.cells: shape for three in combinations(CELLS, 3) if (shape := _shape(BOARD.mask(three))) is not None
}
"""Every shape by its letters."""


def shape_named(name: str) -> Shape | None:
    """Return the shape of that name, its letters in any order and case (R5), or None."""
    shape = SHAPES.get(name)
    if shape is None and len(name) == 3 and name.isascii():  # noqa: PLR2004
        # The upper case of some letters beyond ASCII is one of A to L.
        shape = SHAPES.get("".join(sorted(name.upper())))
    return shape
