"""Plays Mist by keeping track and searching.

It remembers all it was told, draws worlds that agree with it (`mist_belief`), fills the empty cells of each at
random many times, and learns from who wins those how much each cell is worth. Then it weighs every single, pair
and triple of good cells: what its pieces gain where they survive, and what its vision takes from the opponent.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from bots.kit import Bot, Window, run
from bots.mist_belief import Belief, World
from bots.mist_board import CENTRE, PLAYABLE, RADIUS, apart, ball, each, group, mask, names, sizes, vision
from bots.mist_memory import Memory
from protocol.games.mist import ChooseFirst, MistEvent, MistView, Turn

WORLDS = 60
FILLS = 10
BEST = 14
"""From how many of the best cells pairs and triples are made."""
DENY = 0.3
FIRST = 0


class Tracker(Bot[MistView, MistEvent]):
    """Memory, belief, search."""

    view_type = MistView
    event_type = MistEvent

    def welcome(self) -> None:
        """A match begins with nothing known."""
        self.memory = Memory(self.match.seat)

    def event(self, event: MistEvent) -> None:
        """All that is told is remembered."""
        self.memory.hear(event)

    def decide(self, window: Window[MistView]) -> Any:
        """The best turn that the search finds."""
        if window.name == "first":
            return ChooseFirst(first=1 if self.match.seat == FIRST else 0)
        free = self.memory.unknown & ~mask(window.view.forbidden)
        if not free:
            return window.default
        belief = Belief(self.memory, self.luck)
        worlds = [belief.draw() for _ in range(WORLDS)]
        worth = self.worth(worlds)
        total = sum(belief.habits)
        multi = (2 * belief.habits[1] + 3 * belief.habits[2]) / total
        cells = self.choose(free, worlds, worth, window.view.pieces[1], multi)
        return Turn(cells=names(cells))

    def worth(self, worlds: list[World]) -> dict[int, float]:
        """For each cell: how much likelier this seat is to win with a piece of its own there than with the opponent's."""
        own = self.memory.own
        won = {cell: [0.0, 0.0, 0, 0] for cell in each(PLAYABLE)}
        getrandbits = self.luck.getrandbits
        for world in worlds:
            empty = PLAYABLE & ~own & ~world.opponent
            for _ in range(FILLS):
                mine = empty & getrandbits(90)
                theirs = empty ^ mine
                result = _result(own | mine, world.opponent | theirs)
                for cell in each(mine):
                    entry = won[cell]
                    entry[0] += result
                    entry[2] += 1
                for cell in each(theirs):
                    entry = won[cell]
                    entry[1] += result
                    entry[3] += 1
        return {
            cell: max(0.0, mine / nm - theirs / nt) if nm and nt else 0.0
            for cell, (mine, theirs, nm, nt) in won.items()
        }

    def choose(self, free: int, worlds: list[World], worth: dict[int, float], most: int, multi: float) -> int:
        count = len(worlds)
        empty = {c: sum(not w.opponent & c for w in worlds) / count for c in each(free)}
        safe = {c: sum(not (w.opponent | w.spotting) & c for w in worlds) / count for c in each(free)}
        unseen = {c: sum(not w.sees & c for w in worlds) / count for c in each(free)}
        one = {c: empty[c] * worth[c] for c in each(free)}
        many = {c: safe[c] * worth[c] for c in each(free)}
        mass = sum(one.values()) or 1.0
        target = {c: v * v / mass for c, v in one.items()}  # share * worth

        def score(cells: tuple[int, ...]) -> float:
            k = len(cells)
            gain = sum((one if k == 1 else many)[c] for c in cells)
            deny = 0.0
            if k < 3:
                covered = 0
                for c in cells:
                    covered |= ball(c, RADIUS[k]) & ~c
                deny = sum(target.get(c, 0.0) for c in each(covered))
            return gain + DENY * multi * deny

        options = [(c,) for c in each(free)]
        best = sorted(each(free), key=many.__getitem__, reverse=True)[:BEST]
        for k in range(2, most + 1):
            options += [cells for cells in combinations(best, k) if apart(cells)]
        cells = max(options, key=score)
        result = 0
        for c in cells:
            result |= c
        return result


def _result(mine: int, theirs: int) -> float:
    a, b = sizes(mine), sizes(theirs)
    return 1.0 if a > b else 0.0


if __name__ == "__main__":
    run(Tracker())
