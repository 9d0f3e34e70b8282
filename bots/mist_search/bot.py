"""Plays Mist by a tree search over worlds that the rules draw.

The rules draw boards that fit all that this seat was told; those where the opponent joined its pieces, as skilled
players do, count for more (`mist_fitting`). To them come boards that are likely by the opponent's habits
(`mist_belief`). Random ends of all these say which of some 29,000 turns are worth a thought (`mist_deals`). Then
an information-set Monte Carlo tree search decides (`mist_tree`).

`--ms` bounds a turn's time, `--simulations` its work in place of that: then the same seed plays the same match.
"""

import argparse
from collections.abc import Iterator
from time import monotonic
from typing import Any

from bots.kit import Window, run
from bots.mist.deals import Deals, boards, fitting
from bots.mist.knowledge import Belief, Rememberer
from bots.mist.search import Model, TurnSearch, World
from protocol.games.mist import ChooseFirst, MistEvent, MistView, Turn
from protocol.games.mist.board import BOARD

MS = 100.0
"""Default time for a turn, in milliseconds."""
MOST_OF_THE_WINDOW = 1 / 4
"""Maximum share of the remaining time that a turn uses."""
HURRY_MS = 2_000
"""Main time in milliseconds below which a first turn is submitted before the search, as a precaution."""
BATCH = 500
"""Number of random ends played at once."""
BEST_TURNS = 60
"""Number of the best turns that the tree search may try."""


class Phase:
    """A part of a turn's work: steps, limited by the clock or by the number of simulations."""

    def __init__(self, by_simulation: float, until: float, most: int, *, clock: int = 8) -> None:
        """Set the limits of the phase.

        Args:
            by_simulation: steps per simulation, if simulations limit the turn.
            until: share of the turn's time after which the phase ends, if time limits it.
            most: maximum number of steps in that case, so that memory is bounded.
            clock: steps between two checks of the clock.
        """
        self._by_simulation = by_simulation
        self._until = until
        self._most = most
        self._clock = clock

    def steps(self, started: float, ms: float, simulations: int | None) -> Iterator[int]:
        """Yield the numbers of the steps of one turn, at least one."""
        if simulations is not None:
            yield from range(max(1, round(simulations * self._by_simulation)))
            return
        end = started + ms / 1000 * self._until
        for step in range(self._most):
            if step and step % self._clock == 0 and monotonic() >= end:
                return
            yield step


FITTING = Phase(0.15, 0.2, 2_000)
LIKELY = Phase(0.15, 0.35, 2_000)
DEALING = Phase(4 / BATCH, 0.65, 60, clock=1)
TREE = Phase(1, 0.95, 50_000)


class Searcher(Rememberer):
    """A bot with a memory, worlds, random ends and a tree search."""

    def __init__(self, ms: float = MS, simulations: int | None = None) -> None:
        self.ms = ms
        self.simulations = simulations

    def welcome(self) -> None:
        """Start the match with an empty memory."""
        super().welcome()
        self._events: list[MistEvent] = []

    def event(self, event: MistEvent) -> None:
        """Record an event for the rules and in the memory."""
        super().event(event)
        self._events.append(event)

    def decide(self, window: Window[MistView]) -> Any:
        """Return the best turn found. It never swaps, because the second player's three pieces are worth more."""
        started, view = monotonic(), window.view
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == 0 else 0)
        free = self.memory.unknown & ~BOARD.mask(view.forbidden)
        if not free:
            return window.default
        if window.main_ms < HURRY_MS:
            window.submit(Turn(cells=BOARD.cells(free & -free)))
        work = started, min(self.ms, window.left_ms() * MOST_OF_THE_WINDOW), self.simulations
        belief = Belief(self.memory, self.rng)
        fits = fitting(self.match, view, self._events, belief.habits, self.rng, FITTING.steps(*work))
        worlds = [World(world.opponent, world.spotting) for world in fits]
        for _ in LIKELY.steps(*work):
            drawn = belief.draw()
            worlds.append(World(drawn.opponent, drawn.spotting))
        self.rng.shuffle(worlds)  # A rarely tried turn then meets both kinds of worlds.
        pieces, spotting = (boards(masks) for masks in zip(*worlds, strict=True))
        deals = Deals(self.memory.own, pieces, spotting, self.rng.getrandbits(64))
        for _ in DEALING.steps(*work):
            deals.deal(BATCH)
        turns = deals.turns(free, view.pieces[1], BEST_TURNS)
        model = Model(self.memory.own, worlds, deals.cells(self.memory.unknown), belief.habits)
        search = TurnSearch(model, turns, self.rng)
        for _ in TREE.steps(*work):
            search.simulate()
        return Turn(cells=BOARD.cells(search.best()))


def main() -> None:
    """Play within the limits of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ms", type=float, default=MS, help="time of a turn, in milliseconds")
    parser.add_argument("--simulations", type=int, help="simulations of a turn, in place of time")
    given = parser.parse_args()
    run(Searcher(given.ms, given.simulations))


if __name__ == "__main__":
    main()
