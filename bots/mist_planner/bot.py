"""Plays Mist by playing the best turns on, by the rules, in worlds drawn for it.

Half of the worlds are those that the rules draw (`mist_fitting`), half follow the opponent's likely play
(`mist_particles`). Random ends of them find the turns that are worth a thought (`mist_deals`). Each of these is
played on in the same worlds with the same luck (`mist_playouts`). In each round the better ones stay and meet
more worlds.

Its work is bounded by counts, so that the same seed plays the same match, unless time runs short.
"""

import argparse
from collections.abc import Sequence
from time import monotonic
from typing import Any

from bots.kit import Window, run
from bots.mist.deals import AT, Deals, boards, fitting, spread
from bots.mist.knowledge import Belief, Rememberer
from bots.mist.playouts import Filter, OwnPieces, Playouts, Worlds
from protocol.games.mist import ChooseFirst, MistEvent, MistView, Placed, Turn
from protocol.games.mist.board import BOARD

WORLDS = 1_000
"""Number of worlds for a turn."""
FEWEST = 40
"""Minimum number of worlds, however little time is left."""
FULL_MS = 2_000
"""Main time in milliseconds below which the number of worlds shrinks in proportion."""
MOST_OF_THE_WINDOW = 1 / 4
"""Share of the remaining time after which it starts no further playouts."""
FITTING = 0.3
"""Number of worlds drawn by the rules, per world; the worlds are resampled from these."""
DEALS, BATCH = 3_000, 500
"""Number of random ends, and number of them played at once."""
BEST, SINGLES, PAIRS = 8, 3, 2
"""Number of the best turns that are played on, and of the best singles and pairs added to them."""
ROUNDS = ((1 / 4, 5), (1 / 2, 2), (1, 1))
"""Share of the worlds in which each turn is played on, and number of turns that remain, per round."""


class Planner(Rememberer):
    """A bot with a memory, worlds and playouts."""

    def __init__(self, worlds: int = WORLDS, ms: float = float("inf")) -> None:
        """Use `worlds` worlds per turn; start no playouts later than `ms` milliseconds after the turn's start."""
        self.worlds = worlds
        self.ms = ms

    def welcome(self) -> None:
        """Start the match with an empty memory."""
        super().welcome()
        self._events: list[MistEvent] = []
        self._own: list[OwnPieces] = []
        self._public = 0

    def event(self, event: MistEvent) -> None:
        """Record an event for the rules and in the memory, with this seat's pieces at the time."""
        super().event(event)
        self._events.append(event)
        memory = self.memory
        while len(self._own) < len(memory.turns):
            self._own.append(OwnPieces(memory.own, 0))
        if isinstance(event, Placed):
            if self._own:
                self._own[-1] = self._own[-1]._replace(answer=memory.last_cells & ~memory.last_lost)
            else:
                self._public = memory.own

    def decide(self, window: Window[MistView]) -> Any:
        """Return the turn that wins most playouts; never swap, since the second player's pieces are worth more."""
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == 0 else 0)
        end = monotonic() + min(self.ms, window.left_ms() * MOST_OF_THE_WINDOW) / 1000
        view, memory = window.view, self.memory
        free = memory.unknown & ~BOARD.mask(view.forbidden)
        if not free:
            return window.default
        effort = min(1.0, window.main_ms / FULL_MS)
        count = max(FEWEST, int(self.worlds * effort))
        belief = Belief(memory, self.rng)
        worlds = self._worlds(view, belief, count)
        turns = self._promising(free, view.pieces[1], worlds, int(DEALS * effort))
        playouts = Playouts(memory.own, memory.opponent, worlds, belief.habits, self.rng.getrandbits(64))
        return Turn(cells=BOARD.cells(best(playouts, turns, count, end)))

    def _worlds(self, view: MistView, belief: Belief, count: int) -> Worlds:
        """Draw `count` worlds, half of them by the rules; these have the opponent's knowledge of other worlds."""
        rng, known = self.rng, self._public & self.memory.own
        likely = Filter(belief, self._own, known, count, rng.getrandbits(64)).worlds()
        steps = iter(range(max(1, int(count * FITTING))))
        fits = fitting(self.match, view, self._events, belief.habits, rng, steps)
        if not fits:
            return likely
        half = count // 2
        drawn = (boards(masks)[list(AT)] for masks in zip(*rng.choices(fits, k=half), strict=True))
        for part, by_rules in zip((likely.opponent, likely.vision, likely.spotting), drawn, strict=True):
            part[:, :half] = by_rules
        return likely.shuffled(rng.getrandbits(64))

    def _promising(self, free: int, most: int, worlds: Worlds, deals: int) -> list[int]:
        """Return the turns that win most random ends, with some singles and pairs."""
        ends = Deals(self.memory.own, spread(worlds.opponent), spread(worlds.spotting), self.rng.getrandbits(64))
        for _ in range(max(1, deals // BATCH)):
            ends.deal(BATCH)
        found = [turn for _, turn in ends.turns(free, most, BOARD.all)]
        turns = found[:BEST]
        for pieces, some in ((1, SINGLES), (2, PAIRS)):
            turns += [turn for turn in found if turn.bit_count() == pieces][:some]
        return list(dict.fromkeys(turns))


def best(playouts: Playouts, turns: Sequence[int], count: int, end: float) -> int:
    """Return the turn that wins most playouts; fewer turns remain after each round.

    Args:
        playouts: playouts in `count` worlds.
        turns: the turns to try, the probable best first.
        count: number of worlds.
        end: time on the monotonic clock after which no further playouts start.
    """
    won: dict[int, float] = {}
    played: dict[int, int] = {}
    left, begin = list(turns), 0
    for share, stay in ROUNDS:
        size = max(1, int(count * share))
        # When all worlds have been used, they are used again with other random numbers.
        which = slice(begin, begin + size) if begin + size <= count else slice(size)
        begin = which.stop
        rng = playouts.rng(size)
        for number, turn in enumerate(left):
            if played and monotonic() >= end:
                left = left[:number] if len(won) < len(turns) else left
                return max(left, key=lambda turn: won[turn] / played[turn])
            won[turn] = won.get(turn, 0.0) + playouts.won(turn, which, rng)
            played[turn] = played.get(turn, 0) + size
        left = sorted(left, key=lambda turn: won[turn] / played[turn], reverse=True)[:stay]
    return left[0]


def main() -> None:
    """Play within the limits of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=WORLDS, help="worlds of a turn")
    parser.add_argument("--ms", type=float, default=float("inf"), help="a turn's time, in milliseconds")
    given = parser.parse_args()
    run(Planner(given.worlds, given.ms))


if __name__ == "__main__":
    main()
