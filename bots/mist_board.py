"""The board of Mist for bots: names, neighbours, distances, groups.

A set of cells is one whole number, a mask with a bit for each cell, so that sets are joined with `|`, cut with `&`
and counted with `bit_count()`. Rows stand WIDTH bits apart, with a gap between them that is never a cell: shifting
a mask moves every cell one step in the same direction, and what is shifted off the board falls into the gap.
"""

from collections.abc import Iterable, Iterator
from functools import cache

ROWS = "ABCDEFGHI"
ROW_LENGTHS = (5, 6, 7, 8, 9, 8, 7, 6, 5)
WIDTH = 10
RADIUS = {0: -1, 1: 3, 2: 1, 3: 0}
"""Number of pieces placed in a turn to how far their vision reaches (docs/games/mist.md)."""
MAX_PIECES = 3


def _position(row: int, number: int) -> int:
    """The bit of a cell. Below the middle row, columns move one to the right a row, so that directions stay."""
    return row * WIDTH + number + max(0, row - 4)


BITS: dict[str, int] = {
    f"{letter}{number + 1}": 1 << _position(row, number)
    for row, (letter, length) in enumerate(zip(ROWS, ROW_LENGTHS, strict=True))
    for number in range(length)
}
"""Cell's name to its mask, in the order of rows and numbers."""
NAMES: dict[int, str] = {bit: name for name, bit in BITS.items()}
CELLS: tuple[int, ...] = tuple(NAMES)
ALL = sum(CELLS)
CENTRE = BITS["E5"]
PLAYABLE = ALL & ~CENTRE


def mask(names: Iterable[str]) -> int:
    """The cells of these names as one mask."""
    cells = 0
    for name in names:
        cells |= BITS[name]
    return cells


def each(cells: int) -> Iterator[int]:
    """The cells of a mask, one by one, in the order of rows and numbers."""
    while cells:
        bit = cells & -cells
        yield bit
        cells ^= bit


def names(cells: int) -> tuple[str, ...]:
    """The names of a mask's cells, in the order of rows and numbers."""
    return tuple(NAMES[bit] for bit in each(cells))


def grow(cells: int) -> int:
    """These cells and all their neighbours."""
    row = cells | cells << 1 | cells >> 1
    return (row | cells << WIDTH | cells >> WIDTH | cells << WIDTH + 1 | cells >> WIDTH + 1) & ALL


@cache
def ball(cell: int, radius: int) -> int:
    """All cells at most `radius` steps from a cell; none for a negative radius."""
    if radius < 0:
        return 0
    return grow(ball(cell, radius - 1)) if radius else cell


def vision(cells: int, pieces: int) -> int:
    """What `pieces` pieces placed in one turn see from these cells, which are all or some of theirs."""
    seen = 0
    for cell in each(cells):
        seen |= ball(cell, RADIUS[pieces])
    return seen


def group(cell: int, pieces: int) -> int:
    """The connected group of `pieces` that holds `cell`, which is one of them."""
    found = 0
    while cell != found:
        found = cell
        # Down and right first, then up and left from there as well: fewer rounds than `grow` would need.
        row = cell | cell << 1
        cell |= (row | row << WIDTH) & pieces
        row = cell | cell >> 1
        cell |= (row | row >> WIDTH) & pieces
    return found


def groups(pieces: int) -> list[int]:
    """The connected groups of a mask, in no particular order."""
    found: list[int] = []
    while pieces:
        one = group(pieces & -pieces, pieces)
        found.append(one)
        pieces ^= one
    return found


def largest(pieces: int) -> int:
    """The size of the largest connected group; 0 for no pieces."""
    most = 0
    while pieces.bit_count() > most:
        one = group(pieces & -pieces, pieces)
        most = max(most, one.bit_count())
        pieces ^= one
    return most


def sizes(pieces: int) -> list[int]:
    """The sizes of the connected groups, largest first: two such lists compare as Mist compares them."""
    return sorted((one.bit_count() for one in groups(pieces)), reverse=True)


def apart(cells: Iterable[int]) -> bool:
    """Whether all of these differ and no two are neighbours, as one turn's cells must."""
    taken = 0
    for cell in cells:
        if cell & taken:
            return False
        taken |= grow(cell)
    return True
