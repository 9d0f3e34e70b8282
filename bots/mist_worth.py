"""How much a cell of Mist is worth: the empty cells are dealt out at random many times, and the winner is found.

A cell that decides matches lies with the winner far more often than half of the time; a cell that does not matter
lies with either. So one count for each cell, over all deals, values all cells at once.
"""

from random import Random

from protocol.games.mist_board import BOARD, PLAYABLE


class Tally:
    """Counts how many masks each cell was in, for all cells at once.

    Plane i holds the i-th binary digit of every cell's count: adding a mask is adding with carry, for all cells in
    a few operations on whole numbers instead of a loop over cells.
    """

    def __init__(self) -> None:
        self._planes: list[int] = []

    def add(self, cells: int) -> None:
        """Counts these cells once more."""
        for i, plane in enumerate(self._planes):
            self._planes[i] = plane ^ cells
            cells &= plane
            if not cells:
                return
        self._planes.append(cells)

    def count(self, cell: int) -> int:
        """How often a cell was counted."""
        return sum(1 << i for i, plane in enumerate(self._planes) if plane & cell)


def deal_out(luck: Random) -> int:
    """One random half of all cells: those that a player will hold of the cells still empty."""
    return luck.getrandbits(BOARD.all.bit_length())


def wins(own: int, opponent: int, deal: int) -> bool:
    """Whether `own` has the better groups, once it gets the empty cells of `deal` and the other gets the rest."""
    empty = PLAYABLE & ~own & ~opponent
    mine, theirs = own | empty & deal, opponent | empty & ~deal
    one, other = BOARD.largest(mine), BOARD.largest(theirs)
    return BOARD.sizes(mine) > BOARD.sizes(theirs) if one == other else one > other


def worth(own: int, worlds: list[int], deals: int, luck: Random) -> dict[int, float]:
    """Empty cell to how much a piece there adds to the chance to win, against the opponent's having it.

    Args:
        own: this seat's pieces.
        worlds: the opponent's, as they may be.
        deals: how often the empty cells are dealt out, over all worlds.
        luck: deals them.
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
