"""A particle filter for Mist: worlds drawn by the opponent's likely play, all at once, with NumPy.

The opponent's turns are replayed in every world by the model of skilled play in `mist_playouts`, together with the
pieces that were seen. After each turn the worlds are resampled by the probability of that turn. So seen pieces
give information about unseen ones. The filter also estimates the opponent's knowledge of this seat's pieces.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bots.mist_belief import Belief, may_hold
from bots.mist_deals import BITS, Bytes
from bots.mist_memory import OpponentTurn
from bots.mist_playouts import MOST, NEVER, WITHIN, Counts, Worlds, appeal, cells, name, outcome
from protocol.games.mist_board import PLAYABLE

UNLIKELY = -6.0
"""Logarithm of the factor for a world that does not explain the losses of this seat's pieces."""
LEAST = 1e-4
"""Minimum probability of anything seen, because the opponent may play differently from the model."""


class OwnPieces(NamedTuple):
    """This seat's pieces at one of the opponent's turns, as masks."""

    before: int
    answer: int
    """Remaining pieces of this seat's next turn."""


class Filter:
    """Draws worlds for one moment of a match."""

    def __init__(self, belief: Belief, own: Sequence[OwnPieces], public: int, count: int, seed: int) -> None:
        """Prepare the filter.

        Args:
            belief: belief from this seat's memory.
            own: this seat's pieces, by turn of the opponent.
            public: mask of this seat's pieces from the first turn of the match, which the opponent knows.
            count: number of worlds.
            seed: seed of all random numbers.
        """
        self._belief, self._own = belief, own
        self._count = count
        self._luck = np.random.default_rng(seed)
        nothing = np.zeros((len(BITS), count), np.uint8)
        everything = np.full_like(nothing, not belief.memory.turns)  # Both seats see the first turn of the match.
        self._worlds = Worlds(nothing, nothing | cells(public), everything, nothing)
        self._dates = [self._date(cell) for cell in belief.found]
        """The turn that placed each piece that was seen later, indexed by piece, then by world."""

    def worlds(self) -> Worlds:
        """Return the worlds in random order."""
        for at, turn in enumerate(self._belief.memory.turns):
            self._play(at, turn)
        memory = self._belief.memory
        opponent = (self._worlds.opponent | cells(memory.opponent)) & ~cells(memory.own)
        return self._worlds._replace(opponent=opponent).take(self._luck.permutation(self._count))

    def _date(self, cell: int) -> Counts:
        return self._luck.choice(self._belief.may_date(cell) or [0], size=self._count)

    def _play(self, at: int, turn: OpponentTurn) -> None:
        """Play one of the opponent's turns in all worlds, and resample them by probability."""
        worlds, own = self._worlds, self._own[at]
        seen = np.repeat(cells(turn.stayed | turn.destroyed), self._count, axis=1)
        for cell, dates in zip(self._belief.found, self._dates, strict=True):
            seen[BITS.index(cell)] |= dates == at
        fits = np.zeros(self._count)
        counts = np.full(self._count, turn.seen)
        named = seen
        if not turn.public:
            named, counts, fits = self._named(at, turn, seen)
        taken = worlds.opponent | cells(own.before | turn.destroyed)
        stayed, vision, spotting = outcome(named, counts, taken, cells(0))
        opponent = worlds.opponent | stayed
        hit, missed = cells(turn.hit), cells(turn.missed)
        fits += UNLIKELY * ((hit & ~spotting & ~opponent) | (missed & spotting)).any(axis=0)
        knows = worlds.knows | cells(own.before | own.answer) & vision
        self._worlds = Worlds(opponent, knows, vision, spotting)
        if not turn.public:
            self._keep(fits)

    def _named(self, at: int, turn: OpponentTurn, seen: Bytes) -> tuple[Bytes, Counts, NDArray[np.float64]]:
        """Return the turn's cells, their number, and the log-probability of the observation, by world."""
        luck, own = self._luck, self._own[at].before
        count_seen = seen.sum(axis=0, dtype=np.int64)
        weights = np.where(
            np.arange(1, MOST + 1)[:, None] >= count_seen, np.array(self._belief.counts[at])[:, None] + 1e-9, 0
        )
        shares = np.cumsum(weights / np.maximum(weights.sum(axis=0), 1e-12), axis=0)
        counts = np.minimum(MOST, 1 + (luck.random(self._count) > shares).sum(axis=0))
        unseen = np.maximum(counts - count_seen, 0)
        dark = (self._belief.open[at] | own) & ~turn.watched & PLAYABLE
        appeals = appeal(self._worlds.opponent, self._worlds.knows)
        likely = np.exp(appeals - appeals.max(axis=0))
        likely /= likely.sum(axis=0)
        fits = (seen * np.log(np.maximum(likely, LEAST))).sum(axis=0, dtype=np.float64)
        fits += unseen * np.log(np.maximum((likely * cells(dark)).sum(axis=0), LEAST))
        may = np.hstack([cells(may_hold(dark, turn, count)) for count in range(1, MOST + 1)])[:, counts - 1]
        appeals += luck.gumbel(size=appeals.shape).astype(np.float32)
        appeals[(may == 0) | (WITHIN[1].astype(np.float32) @ seen.astype(np.float32) > 0)] = -NEVER
        return seen | name(appeals, unseen), counts, fits

    def _keep(self, fits: NDArray[np.float64]) -> None:
        """Resample the worlds by their weights, at evenly spaced points (systematic resampling)."""
        shares = np.cumsum(np.exp(fits - fits.max()))
        places = (self._luck.random() + np.arange(self._count)) / self._count * shares[-1]
        found = cast("NDArray[np.int64]", np.searchsorted(shares, places))
        which = np.minimum(found, self._count - 1)
        self._worlds = self._worlds.take(which)
        self._dates = [dates[which] for dates in self._dates]
