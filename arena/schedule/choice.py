"""Who is to meet whom next on a ladder without an end. Pure.

Next in turn is the bot of which least is known; it meets those with whom both sides learn most: near in rating,
little known, and not met lately. What is learnt of a bot counts for more where many others are near: there pairs
are in the wrong order. Matches that are not over count as if they had been: they make their bots better known.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from arena.arrays import Numbers, Whole, np
from arena.schedule.fields import ScheduleSpec
from arena.schedule.ladder_state import LadderState
from arena.statistics import ELO

ACCURACY = 10
"""In Elo: a bot whose rating has so small a standard error needs no more, unless the file says otherwise."""
AGAIN = 1e-3
"""What is learnt from a bot that was met lately counts for so much: any other is better."""
SHARE, AT_FIRST = 2, 10
"""No bot is next in turn that has played so many times as many blocks as they do on average, and some more."""
STIR = 0.5
"""Up to this share of what would be learnt is given up by lot: if only neighbours met, all would know how far they
are from their neighbours, and nobody how far from the others."""
NEAR = 0.5
"""In log-strength: where more bots than on average are so near, more pairs can be in the wrong order."""
LEAST, MOST = 0.5, 2.0
"""What is learnt of a bot counts for this at least, where it stands alone, and for this at most, in a crowd."""
TIES = 1e-6
"""Lots move a bot's turn by up to this share: they decide between bots of which equally much is known."""


class Choice:
    """Who is to meet whom, by what both would learn. Arrays are by place in the pool."""

    def __init__(
        self,
        spec: ScheduleSpec,
        state: LadderState,
        pool: Sequence[int],
        competing: frozenset[int],
        rotations: int,
    ) -> None:
        """Looks at those who can play, after all that is being played."""
        self._pool = np.array(pool)
        self._place = {bot: place for place, bot in enumerate(pool)}
        self._means: Numbers = np.array(state.means)[self._pool]
        self._variances: Numbers = np.array(state.variances)[self._pool]
        self._blocks = np.array(state.blocks)[self._pool].astype(float)
        self._met = state.met
        self._seats = min(spec.seats, len(pool))
        self._competes = np.array([bot in competing for bot in pool])
        self._known = ((spec.accuracy or ACCURACY) / ELO) ** 2
        self._sat = np.zeros(len(pool))
        seats = spec.seats
        # What one match at a table of equals tells of each, in Plackett and Luce's model.
        self._most = rotations * (seats - sum(1 / place for place in range(1, seats + 1))) / seats
        self._lots: Numbers = np.ones(len(pool))
        self._crowd = _crowded(self._means)
        for table in (table for wave in state.pending for table in wave):
            self._count(np.array([self._place[bot] for bot in dict.fromkeys(table) if bot in self._place]))

    def draw_lots(self, luck: Random) -> None:
        """Breaks ties."""
        self._lots = np.array([luck.random() for _ in range(len(self._pool))])

    def tables(self, most: int) -> Iterator[tuple[int, ...]]:
        """Entrants of table after table, until nothing is to be learnt; nobody sits at more than `most`."""
        mean = self._blocks[self._competes].mean() if self._competes.any() else 0.0
        while True:
            limit = SHARE * mean + AT_FIRST
            in_turn = (
                self._competes & (self._variances > self._known) & (self._sat < most) & (self._blocks < limit)
            )
            if not in_turn.any():
                return
            first = int(np.argmax(np.where(in_turn, self._variances * self._crowd * (1 + TIES * self._lots), 0)))
            scores = self._scores(first)
            scores[self._sat >= most] *= AGAIN * AGAIN
            table = np.array([first, *_best(scores, self._seats - 1)])
            self._sat[table] += 1
            self._blocks[table] += 1
            mean += self._competes[table].sum() / self._competes.sum()
            self._count(table)
            yield tuple(self._pool[table].tolist())

    def _scores(self, first: int) -> Numbers:
        """What is learnt from a meeting of each with one: how much smaller variances of those who compete get."""
        told = self._told(first, slice(None))
        falls = _fall(self._variances, told) * self._competes * self._crowd
        stirred = 1 - STIR * ((self._lots + self._lots[first]) % 1)
        found: Numbers = (falls + _fall(self._variances[first], told) * self._crowd[first]) * stirred
        lately = [self._place[bot] for bot in self._met[int(self._pool[first])] if bot in self._place]
        found[lately] *= AGAIN
        found[first] = -1
        return found

    def _told(self, one: int, others: Any) -> Numbers:
        """What a block with one tells of the strengths of others, given by place, and of that one's.

        The odds' curve, flattened by what is not known of either; its series to the fourth power is close enough
        to choose by, and the same on every machine.
        """
        flat = 1 + (self._variances[others] + self._variances[one]) * 0.3
        gap = (self._means[others] - self._means[one]) ** 2 / flat
        found: Numbers = self._most / (np.sqrt(flat) * (1 + gap / 4 + gap * gap / 48))
        return found

    def _count(self, table: Whole) -> None:
        """Those at a table will be better known."""
        if len(table) > 1:
            told = [self._told(one, table[table != one]).mean() for one in table]
            self._variances[table] -= _fall(self._variances[table], np.array(told))


def _crowded(means: Numbers) -> Numbers:
    """What is learnt of each counts for so much: in proportion to how many are near."""
    order = np.sort(means)
    near = np.searchsorted(order, means + NEAR) - np.searchsorted(order, means - NEAR)
    found: Numbers = np.clip(near / near.mean(), LEAST, MOST)
    return found


def _best(scores: Numbers, number: int) -> list[int]:
    """The places of the highest scores."""
    found = []
    for _ in range(number):
        place = int(np.argmax(scores))
        scores[place] = -2
        found.append(place)
    return found


def _fall(variances: Any, told: Numbers) -> Numbers:
    """How much smaller variances get by so much information."""
    found: Numbers = variances * variances * told / (1 + variances * told)
    return found
