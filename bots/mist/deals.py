"""Worlds of Mist drawn by the rules, and thousands of random ends of them, which value all turns at once.

The rules assume nothing about the opponent's skill. Skilled opponents join their pieces, so such worlds have a
higher weight.

The empty cells of each world are dealt out between the two seats, and the better groups win. One batch of such
ends values all turns: the value of a turn is the share of won ends among those in which this seat was dealt its
cells. A cell that the turn would lose in a world counts there as it was dealt.

In arrays of boards the first axis is the bit of a cell (`BOARD`), the second the board: every step from cells to
their neighbours is then one shifted slice.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations, product
from os import environ
from random import Random
from typing import NamedTuple, cast

import msgspec

from protocol.games.mist import MistEvent, MistOptions, MistView
from protocol.games.mist.board import BOARD, PLAYABLE
from protocol.messages import Welcome
from referee.games import GAMES

environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Idle threads of the library would occupy a second core.

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
BITS = tuple(BOARD.name)
AT = tuple(bit.bit_length() - 1 for bit in BITS)
"""Row of each cell in arrays of boards; cells are in row order."""
HEIGHT = AT[-1] + 1
STEPS = (1, 10, 11)
"""Differences of rows from a cell to its neighbours to the right, below to the left and below to the right."""
LABELS = np.zeros((HEIGHT, 1), np.uint8)
LABELS[AT, 0] = range(1, len(AT) + 1)
BEST_CELLS = 14
"""Number of the best cells from which triples are made."""
SPREADS = 3
"""Number of spreading steps between two checks whether labels still change."""


def boards(masks: Sequence[int]) -> Bytes:
    """Return masks as an array of boards: 1 where the cell is in the mask."""
    size = HEIGHT // 8 + 1
    packed = np.frombuffer(b"".join(mask.to_bytes(size, "little") for mask in masks), np.uint8)
    return np.unpackbits(packed.reshape(len(masks), size), axis=1, bitorder="little").T[:HEIGHT].copy()


def spread(cells: Bytes) -> Bytes:
    """Convert an array of cells, in row order on the first axis, to an array of boards."""
    board = np.zeros((HEIGHT, cells.shape[1]), np.uint8)
    board[list(AT)] = cells
    return board


def largest(owners: Bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sizes of the largest groups of owners 1 and 2, by board; 0 means no owner."""
    count = owners.shape[1]
    joined = [
        ((owners[step:] == owners[:-step]) & (owners[step:] != 0)).view(np.uint8) * np.uint8(255) for step in STEPS
    ]
    labels = LABELS * (owners != 0)
    # Every cell gets the highest label of its neighbours in the group, until each group has one label.
    while True:
        before = labels.copy()
        for _ in range(SPREADS):
            for step, mask in zip(STEPS, joined, strict=True):
                np.maximum(labels[step:], labels[:-step] & mask, out=labels[step:])
            for step, mask in zip(STEPS, joined, strict=True):
                np.maximum(labels[:-step], labels[step:] & mask, out=labels[:-step])
        if np.array_equal(before, labels):
            break
    rows = list(AT)
    second = (owners[rows] == 2).astype(np.int64)  # noqa: PLR2004
    slots = cast("NDArray[np.int64]", labels[rows] + second * 62 + np.arange(count) * 124)
    sizes = np.bincount(slots.ravel(), minlength=124 * count).reshape(count, 2, 62)
    sizes[:, :, 0] = 0
    most = sizes.max(axis=2)
    return most[:, 0], most[:, 1]


class Deals:
    """Random ends, and the values of cells and turns that they yield."""

    def __init__(self, own: int, opponent: Bytes, spotting: Bytes, seed: int) -> None:
        """Start with this seat's pieces as a mask, and the opponent's pieces and spotting cells by world."""
        self._rng = np.random.default_rng(seed)
        self._own = boards([own])
        self._opponent = opponent
        self._spotting = spotting
        self._playable = boards([PLAYABLE])
        self._won: list[Floats] = []
        self._fell: list[tuple[Bytes, Bytes]] = []
        """Weights of each end for a turn with a cell: as a single piece, and as one of several."""

    def deal(self, count: int) -> None:
        """Play `count` more random ends in randomly chosen worlds."""
        rng = self._rng
        which = rng.integers(self._opponent.shape[1], size=count)
        opponent, spotting = self._opponent[:, which], self._spotting[:, which]
        dealt = rng.integers(2, size=(HEIGHT, count), dtype=np.uint8)
        mine: Bytes = (dealt | self._own) & (1 - opponent)
        owners = (2 - mine) * self._playable
        one, other = largest(owners)
        self._won.append(((one > other) + 0.5 * (one == other)).astype(np.float32))
        rows = list(AT)
        fell, taken = 2 * mine[rows], opponent[rows]
        lost = taken | spotting[rows]
        self._fell.append((fell + taken, fell * (1 - lost) + lost))

    def cells(self, free: int) -> dict[int, float]:
        """Return the increase of this seat's share of wins by each free cell, from 0 to 1."""
        won = np.concatenate(self._won)
        alone = np.concatenate([part for part, _ in self._fell], axis=1).astype(np.float32)
        share = alone @ won / np.maximum(alone.sum(axis=1), 1)
        usual = float(won.mean())
        return {bit: max(0.0, float(share[i]) - usual) for i, bit in enumerate(BITS) if bit & free}

    def turns(self, free: int, most: int, best_turns: int) -> list[tuple[float, int]]:
        """Return the best turns with the share of ends that they win, the best first.

        Args:
            free: mask of the allowed cells.
            most: maximum number of cells in a turn.
            best_turns: maximum number of turns to return.
        """
        won = np.concatenate(self._won)
        alone, among = (
            np.concatenate(parts, axis=1).astype(np.float32) for parts in zip(*self._fell, strict=True)
        )
        cells = [i for i, bit in enumerate(BITS) if bit & free]
        single = alone @ won / np.maximum(alone.sum(axis=1), 1)
        found = [(float(single[i]), BITS[i]) for i in cells]
        weighted = among * won
        if most > 1:
            share = (weighted @ among.T) / np.maximum(among @ among.T, 1)
            pairs = [(i, k) for i, k in combinations(cells, 2) if BOARD.apart((BITS[i], BITS[k]))]
            found += [(float(share[i, k]), BITS[i] | BITS[k]) for i, k in pairs]
        if most > 2:  # noqa: PLR2004 - triples
            value = weighted.sum(axis=1) / among.sum(axis=1)
            best = sorted(cells, key=lambda i: -value[i])[:BEST_CELLS]
            near = [(i, k) for i, k in combinations(sorted(best), 2) if BOARD.apart((BITS[i], BITS[k]))]
            if near:
                both = among[[i for i, _ in near]] * among[[k for _, k in near]]
                third = among[best]
                share = ((both * won) @ third.T) / np.maximum(both @ third.T, 1)
                for (at, (i, k)), (number, m) in product(enumerate(near), enumerate(best)):
                    if m > k and BOARD.apart((BITS[i], BITS[k], BITS[m])):
                        found.append((float(share[at, number]), BITS[i] | BITS[k] | BITS[m]))
        return sorted(found, reverse=True)[:best_turns]


JOINED, MORE = 1.45, 1.2
"""Factors of a world's weight for each touching pair of the opponent's pieces, and for each of its pieces."""
TRIPLE_SEES, PAIR_SEES = 3, 14
"""Maximum number of cells seen by three pieces and by two; a single one sees more."""


class FittingWorld(NamedTuple):
    """A possible board as masks: the opponent's pieces, and the cells that those of its last turn see and spot."""

    opponent: int
    vision: int
    spotting: int


def fitting(  # noqa: PLR0917 - the rules need all of them
    match: Welcome,
    view: MistView,
    events: Sequence[MistEvent],
    habits: Sequence[float],
    rng: Random,
    steps: Iterator[int],
) -> list[FittingWorld]:
    """Draw a world for each step, then resample them by their weights.

    Args:
        match: the seat's welcome.
        view: the seat's view.
        events: all events of the seat.
        habits: weights of the opponent's turns with one, two and three pieces.
        rng: random number generator.
        steps: yields once per world to draw; it may stop by the clock.

    Returns:
        The worlds; an empty list if the rules find none.
    """
    drawn: list[FittingWorld] = []
    weights: list[float] = []
    options = msgspec.convert(match.options, MistOptions)
    with suppress(ValueError):
        states = GAMES["mist"].worlds(view, tuple(events), match.seat, rng, variant=match.variant, options=options)
        for _, state in zip(steps, states, strict=False):
            pieces, sight = state.pieces[1 - match.seat], state.sight[1 - match.seat]
            drawn.append(FittingWorld(pieces, sight.vision, sight.spotting))
            seen = sight.vision.bit_count()
            count = 3 if seen <= TRIPLE_SEES else 2 if seen <= PAIR_SEES else 1
            weights.append(JOINED ** touching(pieces) * MORE ** pieces.bit_count() * habits[count - 1])
    return rng.choices(drawn, weights, k=len(drawn)) if drawn else []


def touching(pieces: int) -> int:
    """Return the number of touching pairs of these pieces."""
    return sum((BOARD.grow(cell) & pieces).bit_count() - 1 for cell in BOARD.each(pieces)) // 2
