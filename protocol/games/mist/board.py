"""The board of Mist: 61 hexes, A1 to I5, and how far pieces see (docs/games/mist.md). Pure: for rules and bots.

A set of cells is a mask of `BOARD`: see `BOARD.mask(("C3",))`, `BOARD.cells(mask)` and `BOARD.grow(mask)`;
`BOARD.each(mask)` iterates over its cells.
"""

from protocol.games.hexes import POINTED, Hexes, centred_rows
from protocol.games.mist import MistView


def _row(letter: str, length: int) -> list[str]:
    return [f"{letter}{number}" for number in range(1, length + 1)]


PLACES = centred_rows(list(map(_row, "ABCDEFGHI", (5, 6, 7, 8, 9, 8, 7, 6, 5))))
"""Place of each cell on the page, by its name."""
BOARD = Hexes(PLACES, POINTED)
CENTRE = BOARD.bit["E5"]
PLAYABLE = BOARD.all & ~CENTRE
RADIUS = (0, 3, 1, 0)
"""Radius of vision in cells; indexed by the number of pieces placed ("What happens in a turn", 1)."""


def _balls(radius: int) -> dict[int, int]:
    return {bit: BOARD.ball(bit, radius) for bit in BOARD.name}


SEEN = tuple(map(_balls, RADIUS))
"""Number of pieces placed, then cell, to the cells that a piece there lets its owner see."""


def vision(cells: int, pieces: int) -> int:
    """Return the cells seen from `cells`, which are all or some of `pieces` pieces placed in one turn."""
    return BOARD.ball(cells, RADIUS[pieces])


def first_pieces(view: MistView) -> tuple[int, int]:
    """Return the pieces of the first turn, which all know, as masks of own and opponent's ones.

    One of them is 0.
    """
    if not view.first_move or view.mover is None:
        return 0, 0
    pieces = BOARD.mask(view.first_move) & ~CENTRE
    first = (view.mover + view.turn + 1) % 2
    return (pieces, 0) if (first == view.seat) != view.swapped else (0, pieces)
