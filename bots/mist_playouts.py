"""Matches of Mist played on by the thousand, all boards at once, by the rules. With NumPy.

Both seats place as skilled players do: where their pieces touch others, where they saw nothing, and early near the
centre. Each knows what it was told and no more. Pieces meet the rules: they are lost on taken cells and where they
are spotted. So a playout shows what a turn is worth for what it sees and spots, too.

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
"""Pieces of a turn at most."""
TURNS = 6
"""So many turns are played, this seat's first; then the empty cells are dealt out at random."""
TOUCHES, TOUCHES_MORE, BESIDE = 1.7, -0.35, -0.5
"""What a cell gains by touching a piece of one's own, two, and a known one of the other's: logarithms of weights.

These and the next two were fitted to turns of `mist_tracker` against itself.
"""
MIDDLE = (0.0, 2.7, 2.1, 1.35, 0.0)
"""By steps from the centre: what a cell gains on an empty board."""
FADING, FADED = (0.0, 4.0, 3.1, 1.55, 0.0), 20
"""What it has lost of that once the seat has so many pieces."""
NEVER = np.float32(1e9)


def cells(mask: int) -> Bytes:
    """A mask as an array of cells, of one board."""
    return boards([mask])[list(AT)]


WITHIN = tuple(np.hstack([cells(BOARD.ball(bit, radius)) for bit in BITS]) for radius in range(max(RADIUS) + 1))
"""By radius: cell by cell, which are no further apart."""
BESIDES = (WITHIN[1] - WITHIN[0]).astype(np.float32)
WIDE = {count: WITHIN[radius].astype(np.float32) for count, radius in enumerate(RADIUS) if count and radius}
MAY_STAY = cells(PLAYABLE)
STEPS = [next(radius for radius in range(5) if BOARD.ball(CENTRE, radius) & bit) for bit in BITS]
CENTRAL, FADES = (np.array([by[steps] for steps in STEPS], np.float32)[:, None] for by in (MIDDLE, FADING))


class Worlds(NamedTuple):
    """Ways the board may be, as arrays of cells."""

    opponent: Bytes
    """The opponent's pieces."""
    knows: Bytes
    """This seat's pieces that the opponent knows of."""
    vision: Bytes
    """What the pieces of its last turn see."""
    spotting: Bytes
    """What those of them that stayed see."""

    def take(self, which: Counts | slice) -> "Worlds":
        """Some of them, in that order."""
        return Worlds(*(np.ascontiguousarray(part[:, which]) for part in self))

    def shuffled(self, seed: int) -> "Worlds":
        """All of them, in no order."""
        return self.take(np.random.default_rng(seed).permutation(self.opponent.shape[1]))


def appeal(own: Bytes, seen: Bytes) -> Floats:
    """How gladly a seat with these pieces names each cell, knowing these of the other's: logarithms of weights."""
    pieces = np.minimum(own.sum(axis=0, dtype=np.int64), FADED).astype(np.float32)
    touching, beside = BESIDES @ own.astype(np.float32), BESIDES @ seen.astype(np.float32)
    found: Floats = CENTRAL - FADES * (pieces / np.float32(FADED))
    found += (touching > 0) * np.float32(TOUCHES) + (touching > 1) * np.float32(TOUCHES_MORE)
    found += (beside > 0) * np.float32(BESIDE)
    found[(own | seen | (1 - MAY_STAY)) > 0] = -NEVER
    return found


def name(appeals: Floats, counts: Counts) -> Bytes:
    """The cells that turns of so many pieces name: the best, no two neighbours. Uses up `appeals`."""
    each = cast("Counts", np.arange(appeals.shape[1]))
    named = np.zeros(appeals.shape, np.uint8)
    for piece in range(MOST):
        best = appeals.argmax(axis=0)
        named[best, each] |= (counts > piece) & (appeals[best, each] > -NEVER / 2)
        if piece < MOST - 1:
            appeals[WITHIN[1][:, best] > 0] = -NEVER
    return named


def sight(named: Bytes, counts: Counts) -> Bytes:
    """What is seen from these cells, of turns of so many pieces."""
    seen = named.copy()
    for count, within in WIDE.items():
        each = np.flatnonzero(counts == count)
        if len(each):
            seen[:, each] = (within @ named[:, each].astype(np.float32)) > 0
    return seen


def outcome(named: Bytes, counts: Counts, taken: Bytes, spotting: Bytes) -> tuple[Bytes, Bytes, Bytes]:
    """What turns do: which pieces stay, what they see, and what those that stayed see.

    Args:
        named: the cells that they name.
        counts: how many.
        taken: both seats' pieces.
        spotting: where the other seat spots pairs and triples.
    """
    stayed = named & ~(taken | spotting & (counts > 1)) & MAY_STAY
    return stayed, sight(named, counts), sight(stayed, counts)


class Luck(NamedTuple):
    """The luck of some playouts, the same for every turn that is tried in them."""

    noise: list[Floats]
    """Turn by turn: what makes each seat choose now this, now that."""
    counts: list[Counts]
    """Turn by turn: how many pieces are placed."""
    deal: Bytes
    """This seat's share of the cells that are empty at the end."""


class Playouts:
    """Tries turns of a seat in worlds."""

    def __init__(self, own: int, seen: int, worlds: Worlds, habits: Sequence[float], seed: int) -> None:
        """Takes this seat's pieces, those it knows of the other's, worlds, and the other's habits.

        Args:
            own: a mask.
            seen: a mask.
            worlds: in no order.
            habits: how often the opponent places one, two, three pieces, as weights.
            seed: of all luck.
        """
        self._own, self._seen, self._worlds = cells(own), cells(seen), worlds
        self._habits = np.array(habits) / sum(habits)
        self._luck = np.random.default_rng(seed)

    def luck(self, count: int) -> Luck:
        """The luck of so many playouts."""
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
        """How many playouts of these worlds that turn wins; an equal end is half a win."""
        theirs, they_know, their_vision, their_spotting = self._worlds.take(which)
        count = theirs.shape[1]
        mine, i_know = (np.repeat(each, count, axis=1) for each in (self._own, self._seen))
        named, counts = np.repeat(cells(turn), count, axis=1), np.full(count, turn.bit_count())
        # The names of both change with every turn: "mine" are the mover's.
        for at in range(TURNS):
            if at:
                named = name(appeal(mine, i_know) + luck.noise[at - 1], luck.counts[at - 1])
                counts = luck.counts[at - 1]
            stayed, vision, spotting = outcome(named, counts, mine | theirs, their_spotting)
            mine = mine | stayed
            # Made anew: these may be the arrays that the next turn is tried in.
            i_know = i_know | theirs & vision
            they_know = they_know | stayed & their_vision
            mine, theirs, i_know, they_know = theirs, mine, they_know, i_know
            their_vision, their_spotting = vision, spotting
        return self._ends(mine, theirs, luck.deal)

    @staticmethod
    def _ends(mine: Bytes, theirs: Bytes, deal: Bytes) -> float:
        one, other = largest(spread((2 - (mine | deal & ~theirs)) * MAY_STAY))
        return float(((one > other) + 0.5 * (one == other)).sum())
