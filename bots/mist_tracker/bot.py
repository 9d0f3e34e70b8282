"""Plays Mist by keeping track and searching.

It remembers all it was told, draws worlds that agree with it (`mist_belief`), and learns from random ends of these
worlds what each cell is worth (`mist_worth`). Of the best cells it makes singles, pairs and triples, counting each
piece as far as it is likely to survive, and tries the best of these turns in the worlds themselves. Its work is
bounded by counts, not by the clock, so that the same seed plays the same match.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from bots.kit import Window, run
from bots.mist_belief import Belief, World
from bots.mist_memory import Rememberer
from bots.mist_worth import deal_out, wins, worth
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist_board import BOARD

WORLDS = 100
"""How many worlds a turn is thought about in."""
DEALS = 4_000
"""How many random ends are played to value the cells."""
BEST_CELLS = 14
"""Pairs and triples are made from so many of the best cells."""
BEST_TURNS = 12
"""So many of the best turns are tried in the worlds."""
TRIALS = 400
"""How many random ends each of them is tried in, the same for all."""
FULL_MS = 2_000
"""With less main time than this, the numbers above shrink in proportion. In full, a turn takes about 0.1 s."""


class Tracker(Rememberer):
    """Memory, belief, search."""

    def decide(self, window: Window[MistView]) -> Any:
        """The best turn that the search finds. It never swaps: the second player's three pieces are worth more."""
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == 0 else 0)
        free = self.memory.unknown & ~BOARD.mask(window.view.forbidden)
        if not free:
            return window.default
        effort = min(1.0, max(0.05, window.main_ms / FULL_MS))
        belief = Belief(self.memory, self.luck)
        worlds = [belief.draw() for _ in range(int(WORLDS * effort))]
        turns = self._promising(free, window.view.pieces[1], worlds, int(DEALS * effort))
        return Turn(cells=BOARD.cells(self._best(turns, worlds, int(TRIALS * effort))))

    def _promising(self, free: int, most: int, worlds: list[World], deals: int) -> list[int]:
        """The turns whose pieces are worth most, each counted as far as it is likely to survive."""
        value = worth(self.memory.own, [world.opponent for world in worlds], deals, self.luck)
        alone: dict[int, float] = {}
        among: dict[int, float] = {}
        for cell in BOARD.each(free):
            # A single piece is lost only on a taken cell; one of several also where it is spotted.
            alone[cell] = value.get(cell, 0.0) * _share(not world.opponent & cell for world in worlds)
            among[cell] = value.get(cell, 0.0) * _share(
                not (world.opponent | world.spotting) & cell for world in worlds
            )
        turns = dict(alone)
        best = sorted(among, key=among.__getitem__, reverse=True)[:BEST_CELLS]
        for pieces in range(2, most + 1):
            for cells in combinations(best, pieces):
                if BOARD.apart(cells):
                    turns[sum(cells)] = sum(among[cell] for cell in cells)
        return sorted(turns, key=turns.__getitem__, reverse=True)[:BEST_TURNS]

    def _best(self, turns: list[int], worlds: list[World], trials: int) -> int:
        """The turn that wins most often. All are tried in the same worlds and deals, so that luck favours none."""
        deals = [(worlds[i % len(worlds)], deal_out(self.luck)) for i in range(trials)]
        return max(turns, key=lambda cells: sum(self._wins(cells, world, deal) for world, deal in deals))

    def _wins(self, cells: int, world: World, deal: int) -> bool:
        """Whether this turn wins in that world, if the empty cells are dealt out like that after it."""
        lost = world.opponent if cells.bit_count() == 1 else world.opponent | world.spotting
        own = self.memory.own | cells & ~lost
        return wins(own, world.opponent, deal)


def _share(truths: Iterator[bool]) -> float:
    """How many of them are true, from 0 to 1."""
    answers = list(truths)
    return sum(answers) / len(answers)


if __name__ == "__main__":
    run(Tracker())
