"""Worlds of Mist by the opponent's likely play, all at once: a particle filter. With NumPy.

Its turns are played again in every world, as `mist_playouts` thinks skilled players play, with what was seen of
them. After each turn, worlds in which that turn was likely are kept more often. So pieces that were seen tell of
those that were not. Besides its pieces this finds out what the opponent knows of this seat's.
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
"""The logarithm by which a world counts less that does not explain what became of this seat's pieces."""
LEAST = 1e-4
"""Nothing that was seen was less likely than that: the opponent may play otherwise than was thought."""


class OwnPieces(NamedTuple):
    """This seat's pieces at one of the opponent's turns, as masks."""

    before: int
    answer: int
    """What stayed of its next turn."""


class Filter:
    """Draws worlds for one moment of a match."""

    def __init__(self, belief: Belief, own: Sequence[OwnPieces], public: int, count: int, seed: int) -> None:
        """Takes all that is known.

        Args:
            belief: made of what this seat learned.
            own: by turn of the opponent.
            public: this seat's pieces of the first turn of the match, a mask: the opponent knows them.
            count: how many worlds are asked for.
            seed: of all luck.
        """
        self._belief, self._own = belief, own
        self._count = count
        self._luck = np.random.default_rng(seed)
        nothing = np.zeros((len(BITS), count), np.uint8)
        everything = np.full_like(nothing, not belief.memory.turns)  # All see the first turn of the match.
        self._worlds = Worlds(nothing, nothing | cells(public), everything, nothing)
        self._dates = [self._date(cell) for cell in belief.found]
        """By piece that was found later, and by world: the turn that placed it."""

    def worlds(self) -> Worlds:
        """The worlds, in no order."""
        for at, turn in enumerate(self._belief.memory.turns):
            self._play(at, turn)
        memory = self._belief.memory
        opponent = (self._worlds.opponent | cells(memory.opponent)) & ~cells(memory.own)
        return self._worlds._replace(opponent=opponent).take(self._luck.permutation(self._count))

    def _date(self, cell: int) -> Counts:
        return self._luck.choice(self._belief.may_date(cell) or [0], size=self._count)

    def _play(self, at: int, turn: OpponentTurn) -> None:
        """Plays one of the opponent's turns in all worlds, and keeps the likelier ones."""
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
        """By world: the cells named, how many, and the logarithm of how likely what was seen and not seen is."""
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
        """Draws as many worlds anew, by how well they fit: evenly spread over their weights."""
        shares = np.cumsum(np.exp(fits - fits.max()))
        places = (self._luck.random() + np.arange(self._count)) / self._count * shares[-1]
        found = cast("NDArray[np.int64]", np.searchsorted(shares, places))
        which = np.minimum(found, self._count - 1)
        self._worlds = self._worlds.take(which)
        self._dates = [dates[which] for dates in self._dates]
