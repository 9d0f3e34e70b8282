"""Playouts of thousands of Mist matches by the rules, and a particle filter, on all boards at once, with NumPy.

Both seats place like skilled players: where their pieces touch others, where they saw nothing, and early near
the centre. Each uses only its own knowledge. Pieces are lost on occupied cells and where they are spotted, as in
the rules. So the result of a playout includes the value of what a turn sees and spots.

In arrays of cells the first axis is the cell in row order, the second the board.

The filter draws worlds by the opponent's likely play: its turns are replayed in every world by the same model of
skilled play, together with the pieces that were seen. After each turn the worlds are resampled by the
probability of that turn. So seen pieces give information about unseen ones. The filter also estimates the
opponent's knowledge of this seat's pieces.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bots.mist.deals import AT, BITS, Bytes, Floats, boards, largest, spread
from bots.mist.knowledge import Belief, OpponentTurn, may_hold
from protocol.games.mist.board import BOARD, CENTRE, PLAYABLE, RADIUS

Counts = NDArray[np.int64]
MOST = max(len(RADIUS) - 1, 1)
"""Maximum number of pieces in a turn."""
TURNS = 6
"""Number of turns played, this seat's first; then the empty cells are dealt out at random."""
TOUCHES, TOUCHES_MORE, BESIDE = 1.7, -0.35, -0.5
"""Logarithms of a cell's weight for touching an own piece, a second one, and a known piece of the other seat.

These and the next two were fitted to turns of `mist_tracker` against itself.
"""
MIDDLE = (0.0, 2.7, 2.1, 1.35, 0.0)
"""Logarithms of a cell's weight on an empty board, indexed by steps from the centre."""
FADING, FADED = (0.0, 4.0, 3.1, 1.55, 0.0), 20
"""Decrease of `MIDDLE`, which is complete when the seat has `FADED` pieces."""
NEVER = np.float32(1e9)


def cells(mask: int) -> Bytes:
    """Return a mask as an array of cells of one board."""
    return boards([mask])[list(AT)]


def _pairs_within(radius: int) -> Bytes:
    return np.hstack([cells(BOARD.ball(bit, radius)) for bit in BITS])


def _steps_from_centre(bit: int) -> int:
    return next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & bit)


def _by_steps(values: Sequence[float]) -> Floats:
    """Return the value of each cell by its distance from the centre, as a column."""
    return np.array([values[_steps_from_centre(bit)] for bit in BITS], np.float32)[:, None]


WITHIN = tuple(map(_pairs_within, range(max(RADIUS) + 1)))
"""Matrices of the pairs of cells that are at most this far apart, indexed by radius."""
BESIDES = (WITHIN[1] - WITHIN[0]).astype(np.float32)
WIDE = {count: WITHIN[radius].astype(np.float32) for count, radius in enumerate(RADIUS) if count and radius}
MAY_STAY = cells(PLAYABLE)
CENTRAL, FADES = _by_steps(MIDDLE), _by_steps(FADING)


class Worlds(NamedTuple):
    """Possible boards, as arrays of cells."""

    opponent: Bytes
    """The opponent's pieces."""
    knows: Bytes
    """This seat's pieces that the opponent knows of."""
    vision: Bytes
    """Cells that the pieces of its last turn see."""
    spotting: Bytes
    """Cells that the remaining pieces of its last turn see."""

    def take(self, which: Counts | slice) -> "Worlds":
        """Return the worlds at these places, in this order."""
        return Worlds(*(np.ascontiguousarray(part[:, which]) for part in self))

    def shuffled(self, seed: int) -> "Worlds":
        """Return all worlds in random order."""
        return self.take(np.random.default_rng(seed).permutation(self.opponent.shape[1]))


def appeal(own: Bytes, seen: Bytes) -> Floats:
    """Return the logarithm of each cell's weight for a seat with these pieces that knows `seen` of the other."""
    pieces = np.minimum(own.sum(axis=0, dtype=np.int64), FADED).astype(np.float32)
    touching, beside = BESIDES @ own.astype(np.float32), BESIDES @ seen.astype(np.float32)
    found: Floats = CENTRAL - FADES * (pieces / np.float32(FADED))
    found += (touching > 0) * np.float32(TOUCHES) + (touching > 1) * np.float32(TOUCHES_MORE)
    found += (beside > 0) * np.float32(BESIDE)
    found[(own | seen | (1 - MAY_STAY)) > 0] = -NEVER
    return found


def name(appeals: Floats, counts: Counts) -> Bytes:
    """Return the best cells for turns of `counts` pieces, no two of them neighbours. Overwrites `appeals`."""
    each = cast("Counts", np.arange(appeals.shape[1]))
    named = np.zeros(appeals.shape, np.uint8)
    for piece in range(MOST):
        best = appeals.argmax(axis=0)
        named[best, each] |= (counts > piece) & (appeals[best, each] > -NEVER / 2)
        if piece < MOST - 1:
            appeals[WITHIN[1][:, best] > 0] = -NEVER
    return named


def sight(named: Bytes, counts: Counts) -> Bytes:
    """Return the cells seen from these cells, in turns of `counts` pieces."""
    seen = named.copy()
    for count, within in WIDE.items():
        each = np.flatnonzero(counts == count)
        if len(each):
            seen[:, each] = (within @ named[:, each].astype(np.float32)) > 0
    return seen


def outcome(named: Bytes, counts: Counts, taken: Bytes, spotting: Bytes) -> tuple[Bytes, Bytes, Bytes]:
    """Return the pieces of turns that remain, the cells that all see, and the cells that the remaining ones see.

    Args:
        named: cells of the turns.
        counts: numbers of pieces of the turns.
        taken: both seats' pieces.
        spotting: cells in which the other seat spots pairs and triples.
    """
    stayed = named & ~(taken | spotting & (counts > 1)) & MAY_STAY
    return stayed, sight(named, counts), sight(stayed, counts)


class Luck(NamedTuple):
    """Random numbers of some playouts, the same for every turn that is tried in them."""

    noise: list[Floats]
    """Random parts of the cells' weights, by turn."""
    counts: list[Counts]
    """Numbers of pieces, by turn."""
    deal: Bytes
    """Cells that belong to this seat if they are empty at the end."""


class Playouts:
    """Tries turns of a seat in worlds."""

    def __init__(self, own: int, seen: int, worlds: Worlds, habits: Sequence[float], seed: int) -> None:
        """Prepare playouts.

        Args:
            own: mask of this seat's pieces.
            seen: mask of the opponent's known pieces.
            worlds: worlds in random order.
            habits: weights of the opponent's turns with one, two and three pieces.
            seed: seed of all random numbers.
        """
        self._own, self._seen, self._worlds = cells(own), cells(seen), worlds
        self._habits = np.array(habits) / sum(habits)
        self._rng = np.random.default_rng(seed)

    def rng(self, count: int) -> Luck:
        """Return the random numbers of `count` playouts."""
        rng, size = self._rng, (len(AT), count)
        return Luck(
            [rng.gumbel(size=size).astype(np.float32) for _ in range(TURNS - 1)],
            [
                np.full(count, MOST) if turn % 2 else 1 + rng.choice(MOST, size=count, p=self._habits)
                for turn in range(TURNS - 1)
            ],
            rng.integers(2, size=size, dtype=np.uint8),
        )

    def won(self, turn: int, which: slice, rng: Luck) -> float:
        """Return the number of playouts that a turn wins in these worlds; an equal end is half a win."""
        theirs, they_know, their_vision, their_spotting = self._worlds.take(which)
        count = theirs.shape[1]
        mine, i_know = (np.repeat(each, count, axis=1) for each in (self._own, self._seen))
        named, counts = np.repeat(cells(turn), count, axis=1), np.full(count, turn.bit_count())
        # The two seats exchange their variables after every turn: "mine" belongs to the seat that moves.
        for at in range(TURNS):
            if at:
                named = name(appeal(mine, i_know) + rng.noise[at - 1], rng.counts[at - 1])
                counts = rng.counts[at - 1]
            stayed, vision, spotting = outcome(named, counts, mine | theirs, their_spotting)
            mine = mine | stayed
            # New arrays are needed because the next turn is tried in the same ones.
            i_know = i_know | theirs & vision
            they_know = they_know | stayed & their_vision
            mine, theirs, i_know, they_know = theirs, mine, they_know, i_know
            their_vision, their_spotting = vision, spotting
        return self._ends(mine, theirs, rng.deal)

    @staticmethod
    def _ends(mine: Bytes, theirs: Bytes, deal: Bytes) -> float:
        one, other = largest(spread((2 - (mine | deal & ~theirs)) * MAY_STAY))
        return float(((one > other) + 0.5 * (one == other)).sum())


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
        self._rng = np.random.default_rng(seed)
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
        return self._worlds._replace(opponent=opponent).take(self._rng.permutation(self._count))

    def _date(self, cell: int) -> Counts:
        return self._rng.choice(self._belief.may_date(cell) or [0], size=self._count)

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
        rng, own = self._rng, self._own[at].before
        count_seen = seen.sum(axis=0, dtype=np.int64)
        weights = np.where(
            np.arange(1, MOST + 1)[:, None] >= count_seen, np.array(self._belief.counts[at])[:, None] + 1e-9, 0
        )
        shares = np.cumsum(weights / np.maximum(weights.sum(axis=0), 1e-12), axis=0)
        counts = np.minimum(MOST, 1 + (rng.random(self._count) > shares).sum(axis=0))
        unseen = np.maximum(counts - count_seen, 0)
        dark = (self._belief.open[at] | own) & ~turn.watched & PLAYABLE
        appeals = appeal(self._worlds.opponent, self._worlds.knows)
        likely = np.exp(appeals - appeals.max(axis=0))
        likely /= likely.sum(axis=0)
        fits = (seen * np.log(np.maximum(likely, LEAST))).sum(axis=0, dtype=np.float64)
        fits += unseen * np.log(np.maximum((likely * cells(dark)).sum(axis=0), LEAST))
        may = np.hstack([cells(may_hold(dark, turn, count)) for count in range(1, MOST + 1)])[:, counts - 1]
        appeals += rng.gumbel(size=appeals.shape).astype(np.float32)
        appeals[(may == 0) | (WITHIN[1].astype(np.float32) @ seen.astype(np.float32) > 0)] = -NEVER
        return seen | name(appeals, unseen), counts, fits

    def _keep(self, fits: NDArray[np.float64]) -> None:
        """Resample the worlds by their weights, at evenly spaced points (systematic resampling)."""
        shares = np.cumsum(np.exp(fits - fits.max()))
        places = (self._rng.random() + np.arange(self._count)) / self._count * shares[-1]
        found = cast("NDArray[np.int64]", np.searchsorted(shares, places))
        which = np.minimum(found, self._count - 1)
        self._worlds = self._worlds.take(which)
        self._dates = [dates[which] for dates in self._dates]
