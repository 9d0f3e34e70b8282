"""Plays Mist fast: three pieces a turn, out of the vision of what it last saw the opponent place.

When pieces of its were spotted by something that it cannot see, it looks around with a single piece first.
"""

from typing import Any

from bots.kit import Window, run
from bots.mist_memory import Rememberer
from protocol.games.mist import MistView, Turn
from protocol.games.mist_board import BOARD, CENTRE, PLAYABLE, vision


class Hunter(Rememberer):
    """Pairs and triples in the dark."""

    def decide(self, window: Window[MistView]) -> Any:
        """As many pieces as may be, where the opponent was not seen to look."""
        view, memory = window.view, self.memory
        if window.name == "first":
            return window.default  # oneself
        free = memory.unknown & ~BOARD.mask(view.forbidden)
        if not free:
            return window.default
        dark = free & ~self._watched()
        if not dark or self._was_spotted():
            return Turn(cells=BOARD.cells(max(BOARD.each(free), key=self._worth)))
        cells = 0
        for _ in range(view.pieces[1]):
            if dark:
                cell = max(BOARD.each(dark), key=self._worth)
                cells |= cell
                dark &= ~BOARD.grow(cell)
        return Turn(cells=BOARD.cells(cells))

    def _watched(self) -> int:
        """The cells in the vision of the pieces that the opponent was seen to place last."""
        if not self.memory.turns:
            return 0
        last = self.memory.turns[-1]
        return vision(last.stayed, last.seen)

    def _was_spotted(self) -> bool:
        """Whether pieces of this bot's last turn were destroyed on cells that turned out to be empty."""
        return bool(self.memory.last_lost & PLAYABLE & ~self.memory.own & ~self.memory.opponent)

    def _worth(self, cell: int) -> tuple[int, float]:
        """Joining groups first; then staying near the centre, with some luck so as not to be foreseen."""
        joined = BOARD.group(cell, self.memory.own | cell).bit_count()
        steps = next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & cell)
        return joined, self.luck.random() - steps


if __name__ == "__main__":
    run(Hunter())
