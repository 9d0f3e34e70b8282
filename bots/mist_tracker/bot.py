"""Plays Mist by memory and search.

It remembers all events, draws worlds that agree with them (`mist_belief`), and values each cell by random ends of
these worlds (`mist_worth`). It combines the best cells into singles, pairs and triples, weights each piece by its
probability to survive, and tries the best of these turns in the worlds themselves. Its work is bounded by counts,
not by the clock, so that the same seed plays the same match.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from bots.kit import Window, run
from bots.mist.knowledge import Belief, PossibleBoard, Rememberer
from bots.mist.search import deal_out, wins, worth
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD

WORLDS = 100
"""Number of worlds for a turn."""
DEALS = 4_000
"""Number of random ends that value the cells."""
BEST_CELLS = 14
"""Number of the best cells from which pairs and triples are made."""
BEST_TURNS = 12
"""Number of the best turns that are tried in the worlds."""
TRIALS = 400
"""Number of random ends in which each turn is tried, the same for all."""
FULL_MS = 2_000
"""Main time in milliseconds below which the numbers above shrink in proportion. A full turn takes about 0.1 s."""


class Tracker(Rememberer):
    """A bot with a memory, a belief and a search."""

    def decide(self, window: Window[MistView]) -> Any:
        """Return the best turn found. It never swaps, because the second player's three pieces are worth more."""
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == 0 else 0)
        free = self.memory.unknown & ~BOARD.mask(window.view.forbidden)
        if not free:
            return window.default
        effort = min(1.0, max(0.05, window.main_ms / FULL_MS))
        belief = Belief(self.memory, self.rng)
        worlds = [belief.draw() for _ in range(int(WORLDS * effort))]
        turns = self._promising(free, window.view.pieces[1], worlds, int(DEALS * effort))
        return Turn(cells=BOARD.cells(self._best(turns, worlds, int(TRIALS * effort))))

    def _promising(self, free: int, most: int, worlds: list[PossibleBoard], deals: int) -> list[int]:
        """Return the turns of the highest value, with each piece weighted by its probability to survive."""
        value = worth(self.memory.own, [world.opponent for world in worlds], deals, self.rng)
        alone: dict[int, float] = {}
        among: dict[int, float] = {}
        for cell in BOARD.each(free):
            # A single piece is lost only on an occupied cell; one of several also where it is spotted.
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

    def _best(self, turns: list[int], worlds: list[PossibleBoard], trials: int) -> int:
        """Return the turn that wins most often; all are tried in the same worlds and deals."""
        deals = [(worlds[i % len(worlds)], deal_out(self.rng)) for i in range(trials)]
        return max(turns, key=lambda cells: sum(self._wins(cells, world, deal) for world, deal in deals))

    def _wins(self, cells: int, world: PossibleBoard, deal: int) -> bool:
        """Return True if a turn wins in this world, with the empty cells dealt out afterwards."""
        lost = world.opponent if cells.bit_count() == 1 else world.opponent | world.spotting
        own = self.memory.own | cells & ~lost
        return wins(own, world.opponent, deal)


def _share(truths: Iterator[bool]) -> float:
    """Return the share of true values, from 0 to 1."""
    answers = list(truths)
    return sum(answers) / len(answers)


if __name__ == "__main__":
    run(Tracker())
