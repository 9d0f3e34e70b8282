"""Playouts of thousands of Mist matches by the rules, on all boards at once, with NumPy.

Both seats place like skilled players: where their pieces touch others, where they saw nothing, and early near the
centre. Each uses only its own knowledge. Pieces are lost on occupied cells and where they are spotted, as in the
rules. So the result of a playout includes the value of what a turn sees and spots.

In arrays of cells the first axis is the cell in row order, the second the board.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bots.mist_deals import AT, BITS, Bytes, Floats, boards, largest, spread
from protocol.games.mist_board import BOARD, CENTRE, PLAYABLE, RADIUS

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


WITHIN = tuple(np.hstack([cells(BOARD.ball(bit, radius)) for bit in BITS]) for radius in range(max(RADIUS) + 1))
"""Matrices of the pairs of cells that are at most this far apart, indexed by radius."""
BESIDES = (WITHIN[1] - WITHIN[0]).astype(np.float32)
WIDE = {count: WITHIN[radius].astype(np.float32) for count, radius in enumerate(RADIUS) if count and radius}
MAY_STAY = cells(PLAYABLE)
STEPS = [next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & bit) for bit in BITS]
CENTRAL, FADES = (np.array([by[steps] for steps in STEPS], np.float32)[:, None] for by in (MIDDLE, FADING))


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
        self._luck = np.random.default_rng(seed)

    def luck(self, count: int) -> Luck:
        """Return the random numbers of `count` playouts."""
        luck, size = self._luck, (len(AT), count)
        return Luck(
            [luck.gumbel(size=size).astype(np.float32) for _ in range(TURNS - 1)],
            [
                np.full(count, MOST) if turn % 2 else 1 + luck.choice(MOST, size=count, p=self._habits)
                for turn in range(TURNS - 1)
            ],
            luck.integers(2, size=size, dtype=np.uint8),
        )

    def won(self, turn: int, which: slice, luck: Luck) -> float:
        """Return the number of playouts that a turn wins in these worlds; an equal end is half a win."""
        theirs, they_know, their_vision, their_spotting = self._worlds.take(which)
        count = theirs.shape[1]
        mine, i_know = (np.repeat(each, count, axis=1) for each in (self._own, self._seen))
        named, counts = np.repeat(cells(turn), count, axis=1), np.full(count, turn.bit_count())
        # The two seats exchange their variables after every turn: "mine" belongs to the seat that moves.
        for at in range(TURNS):
            if at:
                named = name(appeal(mine, i_know) + luck.noise[at - 1], luck.counts[at - 1])
                counts = luck.counts[at - 1]
            stayed, vision, spotting = outcome(named, counts, mine | theirs, their_spotting)
            mine = mine | stayed
            # New arrays are needed because the next turn is tried in the same ones.
            i_know = i_know | theirs & vision
            they_know = they_know | stayed & their_vision
            mine, theirs, i_know, they_know = theirs, mine, they_know, i_know
            their_vision, their_spotting = vision, spotting
        return self._ends(mine, theirs, luck.deal)

    @staticmethod
    def _ends(mine: Bytes, theirs: Bytes, deal: Bytes) -> float:
        one, other = largest(spread((2 - (mine | deal & ~theirs)) * MAY_STAY))
        return float(((one > other) + 0.5 * (one == other)).sum())
