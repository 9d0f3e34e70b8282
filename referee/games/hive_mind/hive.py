"""Values of a Hive: twelve digits for the hexes A to L, which `protocol.games.hive_mind.board` defines."""

from functools import lru_cache
from itertools import combinations
from random import Random

from protocol.games.hive_mind.board import CELLS, SHAPES
from referee.rules import BadSetupError, choice, sample

ONES, TWOS, THREES = 5, 4, 3
"""Number of hexes of a Hive with the value 1, 2 and 3."""
THREES_ALLOWED = tuple(
    cells for cells in map("".join, combinations(CELLS, THREES)) if cells not in SHAPES
)  # Three hexes that are all connected are a shape.
"""All legal positions of the three 3s."""


@lru_cache(maxsize=2**16)
def masks(values: str) -> tuple[int, int, int]:
    """Return masks of the hexes with the value 1, 2 and 3; A is the lowest bit."""
    ones = twos = threes = 0
    for at, digit in enumerate(values):
        if digit == "1":
            ones |= 1 << at
        elif digit == "2":
            twos |= 1 << at
        else:
            threes |= 1 << at
    return ones, twos, threes


def total(values: str, cells: int) -> int:
    """Return the sum of the values of the hexes in the mask `cells`."""
    _, twos, threes = masks(values)
    return cells.bit_count() + (cells & twos).bit_count() + 2 * (cells & threes).bit_count()


def where(values: str, value: str) -> str:
    """Return the hexes that have a value."""
    return "".join(cell for cell, digit in zip(CELLS, values, strict=True) if digit == value)


def draw_values(dice: Random) -> str:
    """Draw the values of a Hive; all legal layouts are equally likely."""
    threes = choice(dice, THREES_ALLOWED)
    twos = sample(dice, [cell for cell in CELLS if cell not in threes], TWOS)
    return "".join(["3" if cell in threes else "2" if cell in twos else "1" for cell in CELLS])


def check_values(values: str, place: str) -> None:
    """Raise BadSetupError with `place` and the reason if these values are illegal."""
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
