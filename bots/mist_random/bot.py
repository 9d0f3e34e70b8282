"""Plays Mist at random: any number of pieces, on any cells that it does not see occupied."""

from bots.kit import Window, run
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD


def decide(window: Window[MistView]) -> ChooseFirst | Turn:
    """Return a random legal action."""
    view, rng = window.view, window.rng
    if window.name == "first":
        return ChooseFirst(first=rng.choice((0, 1)))
    if view.may_swap and rng.choice((True, False)):
        return Turn(swap=True)
    taken = BOARD.mask(name for name, holds in view.visible.items() if holds != "empty")
    free = BOARD.all & ~BOARD.mask(view.forbidden) & ~taken
    cells = 0
    for _ in range(rng.randint(max(1, view.pieces[0]), view.pieces[1])):
        if free:
            cell = rng.choice(list(BOARD.each(free)))
            cells |= cell
            free &= ~BOARD.grow(cell)
    return Turn(cells=BOARD.cells(cells))


if __name__ == "__main__":
    run(decide)
