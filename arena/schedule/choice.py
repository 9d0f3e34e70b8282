"""Choice of the next tables of a ladder without an end. Pure.

The bot whose rating is least certain is next. It meets the bots with whom a result tells most about both sides:
near in rating, uncertain, and not met recently. Information about a bot weighs more where many others are near,
because pairs there are more often in the wrong order. Pending matches count as played: they reduce the
uncertainty of their bots.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from arena.arrays import Numbers, Whole, np
from arena.schedule.fields import ScheduleSpec
from arena.schedule.ladder_state import LadderState
from arena.statistics import ELO

ACCURACY = 10
"""Default standard error, in Elo, from which on a bot needs no more matches."""
AGAIN = 1e-3
"""Weight of the information from an opponent met recently; it is so low that any other is preferred."""
SHARE, AT_FIRST = 2, 10
"""Limits of a bot's blocks: it is not next in turn from `SHARE` times the average plus `AT_FIRST` blocks on."""
STIR = 0.5
"""Maximum share of the information that is discounted at random.

If only neighbours met, distances between neighbours would be known, and distances to all others would not.
"""
NEAR = 0.5
"""Radius of a bot's neighbourhood, in log-strength: the more bots in it, the more pairs may be misordered."""
LEAST, MOST = 0.5, 2.0
"""Limits of the weight of a bot: the lowest for a bot without neighbours, the highest for one among many."""
TIES = 1e-6
"""Maximum relative effect of a bot's lot on its turn; lots only decide between equally uncertain bots."""


class Choice:
    """Chooses tables by the information that both sides would gain. Arrays are indexed by place in the pool."""

    def __init__(
        self,
        spec: ScheduleSpec,
        state: LadderState,
        pool: Sequence[int],
        competing: frozenset[int],
        rotations: int,
    ) -> None:
        """Estimate what will be known of the bots in the pool after all pending matches."""
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
        # Information about each bot from a block at a table of equals, in the model of Plackett and Luce.
        self._most = rotations * (seats - sum(1 / place for place in range(1, seats + 1))) / seats
        self._lots: Numbers = np.ones(len(pool))
        self._crowd = _crowded(self._means)
        for table in (table for wave in state.pending for table in wave):
            self._count(np.array([self._place[bot] for bot in dict.fromkeys(table) if bot in self._place]))

    def draw_lots(self, luck: Random) -> None:
        """Draw the lots that break ties."""
        self._lots = np.array([luck.random() for _ in range(len(self._pool))])

    def tables(self, most: int) -> Iterator[tuple[int, ...]]:
        """Yield the entrants of each table, until no bot needs more matches; seat no bot at more than `most`."""
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
        """Return the value of meeting each bot: the weighted decrease of competing bots' variances."""
        told = self._told(first, slice(None))
        falls = _fall(self._variances, told) * self._competes * self._crowd
        stirred = 1 - STIR * ((self._lots + self._lots[first]) % 1)
        found: Numbers = (falls + _fall(self._variances[first], told) * self._crowd[first]) * stirred
        lately = [self._place[bot] for bot in self._met[int(self._pool[first])] if bot in self._place]
        found[lately] *= AGAIN
        found[first] = -1
        return found

    def _told(self, one: int, others: Any) -> Numbers:
        """Return the information that a block of one bot gives about its own and the others' strengths.

        It follows the logistic curve, flattened by the uncertainty of both strengths. The series to the fourth
        power is accurate enough for a choice, and gives the same numbers on every machine.
        """
        flat = 1 + (self._variances[others] + self._variances[one]) * 0.3
        gap = (self._means[others] - self._means[one]) ** 2 / flat
        found: Numbers = self._most / (np.sqrt(flat) * (1 + gap / 4 + gap * gap / 48))
        return found

    def _count(self, table: Whole) -> None:
        """Reduce the variances of the bots at a table."""
        if len(table) > 1:
            told = [self._told(one, table[table != one]).mean() for one in table]
            self._variances[table] -= _fall(self._variances[table], np.array(told))


def _crowded(means: Numbers) -> Numbers:
    """Return the weight of each bot, proportional to the number of bots near it."""
    order = np.sort(means)
    near = np.searchsorted(order, means + NEAR) - np.searchsorted(order, means - NEAR)
    found: Numbers = np.clip(near / near.mean(), LEAST, MOST)
    return found


def _best(scores: Numbers, number: int) -> list[int]:
    """Return the places of the highest scores, and mark them as used."""
    found = []
    for _ in range(number):
        place = int(np.argmax(scores))
        scores[place] = -2
        found.append(place)
    return found


def _fall(variances: Any, told: Numbers) -> Numbers:
    """Return the decrease of variances from this information."""
    found: Numbers = variances * variances * told / (1 + variances * told)
    return found
