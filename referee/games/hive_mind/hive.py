"""A Hive: its twelve hexes, the 55 shapes with what they look at, and how its values may lie.

Shapes and hexes are named by letters, sorted: `ADE`. Values are twelve digits, those of A to L.
"""

from itertools import combinations
from random import Random

from msgspec import Struct

from protocol.games.hive_mind import Kind
from referee.games.hexes import POINTED, Hexes, centred_rows
from referee.rules import BadSetupError

BOARD = Hexes(centred_rows(["ABC", "DEFG", "HIJ", "KL"]), POINTED)
CELLS = "".join(BOARD.names)
BORDER = sum(bit for bit in BOARD.name if BOARD.neighbours(bit).bit_count() < len(POINTED))
"""The mask of the hexes that do not have all their neighbours on the board."""
KINDS: tuple[Kind, ...] = ("tri", "arc", "line")
ONES, TWOS, THREES = 5, 4, 3
"""How many hexes of a Hive have the value 1, 2 and 3."""


class Shape(Struct, frozen=True):
    """Three connected hexes, and what one learns by placing them."""

    cells: str
    kind: Kind
    looks: str
    """The hexes whose initial values are summed up for the seat that places it."""


def _shape(mask: int) -> Shape | None:
    """The shape of three hexes; None where they are not connected."""
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
    """What a line looks at: the border's hexes that touch those of its ends that lie on the border (R1)."""
    beside = 0
    for end in ends:
        if end & BORDER:
            beside |= BOARD.neighbours(end) & BORDER
    return beside & ~mask


def _ray(start: int, way: str) -> int:
    """A hex and all that lie straight on from it, to the edge."""
    ray = 0
    while start:
        ray |= start
        start = BOARD.step(start, way)
    return ray


SHAPES: dict[str, Shape] = {
    shape.cells: shape for three in combinations(CELLS, 3) if (shape := _shape(BOARD.mask(three))) is not None
}
"""Every shape by its letters."""
THREES_ALLOWED = tuple(
    cells for cells in map("".join, combinations(CELLS, THREES)) if cells not in SHAPES
)  # Three hexes that are all connected are a shape.
"""Every way in which the three 3s may lie."""


def shape_named(name: str) -> Shape | None:
    """The shape of that name, its letters in any order and case (R5); None where there is none."""
    # Some letters beyond ASCII become one of A to L in upper case.
    return SHAPES.get("".join(sorted(name.upper()))) if len(name) == 3 and name.isascii() else None  # noqa: PLR2004


def total(values: str, cells: str) -> int:
    """The sum of some hexes' values."""
    return sum(int(values[CELLS.index(cell)]) for cell in cells)


def where(values: str, value: str) -> str:
    """The hexes of one value."""
    return "".join(cell for cell, digit in zip(CELLS, values, strict=True) if digit == value)


def draw_values(dice: Random) -> str:
    """Values of a Hive, all allowed layouts equally likely."""
    threes = dice.choice(THREES_ALLOWED)
    twos = dice.sample([cell for cell in CELLS if cell not in threes], TWOS)
    return "".join("3" if cell in threes else "2" if cell in twos else "1" for cell in CELLS)


def check_values(values: str, place: str) -> None:
    """Raises BadSetupError where no Hive may have these values; it names `place`, and what is off."""
    if len(values) != len(CELLS):
        raise BadSetupError(f"{place}: {len(values)} values; a Hive has {len(CELLS)}")
    for cell, digit in zip(CELLS, values, strict=True):
        if digit not in "123":
            raise BadSetupError(f"{place}: the value of {cell} is {digit!r}; it must be 1, 2 or 3")
    for digit, wanted in (("1", ONES), ("2", TWOS), ("3", THREES)):
        if values.count(digit) != wanted:
            raise BadSetupError(f"{place}: {values.count(digit)} hexes of value {digit}; there must be {wanted}")
    threes = where(values, "3")
    if threes in SHAPES:
        raise BadSetupError(f"{place}: the three 3s, on {threes}, are all connected")
