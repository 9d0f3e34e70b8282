"""Plays Mist safely: one piece per turn, which no spotting can destroy, joined to its largest group.

A single piece also sees three steps far, and destroys every pair and triple placed in its sight.
"""

from typing import Any

from bots.kit import Window, run
from bots.mist.knowledge import Rememberer
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD, CENTRE


class Cautious(Rememberer):
    """A bot that places one piece per turn."""

    def decide(self, window: Window[MistView]) -> Any:
        """Return the cell that makes the largest group, and of several the one nearest to the centre."""
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == 0 else 0)
        free = self.memory.unknown & ~BOARD.mask(window.view.forbidden)
        if not free:
            return window.default
        return Turn(cells=BOARD.cells(max(BOARD.each(free), key=self._worth)))

    def _worth(self, cell: int) -> tuple[int, int, float]:
        joined = BOARD.group(cell, self.memory.own | cell).bit_count()
        steps = next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & cell)
        return joined, -steps, self.rng.random()


if __name__ == "__main__":
    run(Cautious())
