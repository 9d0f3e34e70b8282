"""Value of the cells of Mist: the empty cells are dealt out at random many times, and the winner is determined.

A decisive cell belongs to the winner in far more than half of the deals, an unimportant one in about half. So one
count per cell, over all deals, values all cells at once.
"""

from random import Random

from protocol.games.mist_board import BOARD, PLAYABLE


class Tally:
    """Counts the masks that contain each cell, for all cells at once.

    Plane i is the i-th binary digit of every cell's count. Adding a mask is an addition with carry for all cells,
    in a few operations on whole numbers instead of a loop over cells.
    """

    def __init__(self) -> None:
        self._planes: list[int] = []

    def add(self, cells: int) -> None:
        """Add 1 to the counts of these cells."""
        for i, plane in enumerate(self._planes):
            self._planes[i] = plane ^ cells
            cells &= plane
            if not cells:
                return
        self._planes.append(cells)

    def count(self, cell: int) -> int:
        """Return the count of a cell."""
        return sum(1 << i for i, plane in enumerate(self._planes) if plane & cell)


def deal_out(luck: Random) -> int:
    """Return a random half of all cells: the empty ones among them will belong to this seat."""
    return luck.getrandbits(BOARD.all.bit_length())


def wins(own: int, opponent: int, deal: int) -> bool:
    """Return True if `own` with the empty cells of `deal` has better groups than `opponent` with the others."""
    empty = PLAYABLE & ~own & ~opponent
    mine, theirs = own | empty & deal, opponent | empty & ~deal
    one, other = BOARD.largest(mine), BOARD.largest(theirs)
    return BOARD.sizes(mine) > BOARD.sizes(theirs) if one == other else one > other


def worth(own: int, worlds: list[int], deals: int, luck: Random) -> dict[int, float]:
    """Return the value of each empty cell: the difference in winning chances between its two owners.

    Args:
        own: this seat's pieces.
        worlds: possible pieces of the opponent.
        deals: number of deals of the empty cells, over all worlds.
        luck: random number generator.
    """
    with_winner, dealt = Tally(), Tally()
    for i in range(deals):
        opponent = worlds[i % len(worlds)]
        empty = PLAYABLE & ~own & ~opponent
        deal = deal_out(luck)
        with_winner.add(empty & (deal if wins(own, opponent, deal) else ~deal))
        dealt.add(empty)
    counts = {cell: (with_winner.count(cell), dealt.count(cell)) for cell in BOARD.each(PLAYABLE & ~own)}
    return {cell: max(0.0, 2 * won / times - 1) for cell, (won, times) in counts.items() if times}
