"""Plays Mist fast: up to three pieces per turn, outside the vision of the opponent's last seen pieces.

After hidden pieces have spotted some of its own, it looks around with a single piece first.
"""

from typing import Any

from bots.kit import Window, run
from bots.mist.knowledge import Rememberer
from protocol.games.mist import MistView, Turn
from protocol.games.mist.board import BOARD, CENTRE, PLAYABLE, vision


class Hunter(Rememberer):
    """A bot that places pairs and triples where the opponent was not seen to look."""

    def decide(self, window: Window[MistView]) -> Any:
        """Return as many pieces as allowed outside the known vision of the opponent, or a single piece."""
        view, memory = window.view, self.memory
        if window.name == "first":
            return window.default  # The default lets this seat go first.
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
        """Return the cells in the vision of the opponent's last placed pieces, as far as they were seen."""
        if not self.memory.turns:
            return 0
        last = self.memory.turns[-1]
        return vision(last.stayed, last.seen)

    def _was_spotted(self) -> bool:
        """Return True if pieces of the last turn were destroyed on cells where no piece is known."""
        return bool(self.memory.last_lost & PLAYABLE & ~self.memory.own & ~self.memory.opponent)

    def _worth(self, cell: int) -> tuple[int, float]:
        """Return a sort key: the size of the joined group, then nearness to the centre with a random part."""
        joined = BOARD.group(cell, self.memory.own | cell).bit_count()
        steps = next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & cell)
        return joined, self.rng.random() - steps


if __name__ == "__main__":
    run(Hunter())
