"""Plays Mist by a small network, trained by self-play, which scores every cell.

The weights are in this folder. `scripts/train_mist` makes them, as docs/learning.md explains.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from bots.kit import Bot, Window, run
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD, CENTRE, SEEN, first_pieces

Floats = npt.NDArray[np.float32]
Remembered = tuple[int, int, int, int, bool, tuple[int, ...]]
"""The turn; masks of own pieces, of the opponent's, and of those found last; True after a swap; masks of cells
seen empty, by their age in views."""

CELLS = len(BOARD.names)
STOP, SWAP, FIRST, CHOICES = CELLS, CELLS + 1, CELLS + 2, CELLS + 4
"""Numbers of the choices after the cells; `FIRST` and the next one choose the seat that goes first."""
BITS = tuple(BOARD.name)
AGES = 6
_PLACES = np.array([bit.bit_length() - 1 for bit in BITS])
_BYTES = 24
MASKS = 13 + AGES
"""Number of planes of 0 and 1; after them are two of group sizes, and one per fact that all cells share."""
BY_CELL = MASKS + 2
FACTS = 10
PLANES = BY_CELL + FACTS


class Features:
    """Input of the network: for each cell a row of numbers from 0 to 60.

    It has the interface of an `Encoder` of `arena.learning`, but imports none: bots do not depend on the arena.
    """

    shape: ClassVar[tuple[int, ...]] = (CELLS, PLANES)
    dtype: ClassVar[type[np.generic]] = np.uint8
    bounds: ClassVar[tuple[int, int]] = (0, 60)

    def remember(self, memory: Remembered | None, view: MistView) -> Remembered:
        """Return the memory updated by this view."""
        turn, own, others, found, swapped, empty = memory or (-1, 0, 0, 0, False, (0,) * AGES)
        if turn == view.turn:
            return turn, own, others, found, swapped, empty
        if view.swapped and not swapped:
            own, others = others, own
        before = others
        first_own, first_others = first_pieces(view)
        own, others = own | first_own, others | first_others
        seen = 0
        for name, holds in view.visible.items():
            cell = BOARD.bit[name]
            if holds == "own":
                own |= cell
            elif holds == "opponent":
                others |= cell
            elif holds == "empty":
                seen |= cell
        older = (seen, *empty[:-2], empty[-2] | empty[-1])
        aged = (seen, *[cells & ~seen for cells in older[1:]])
        return view.turn, own, others, others & ~before, view.swapped, aged

    def frame(self, memory: Remembered, view: MistView) -> tuple[Any, ...]:
        """Return the part of an observation that does not depend on the choices."""
        _, own, others, found, _, empty = memory
        placed, lost = BOARD.mask(view.placed), BOARD.mask(view.lost)
        spotted, destroyed = BOARD.mask(view.spotted), BOARD.mask(view.destroyed)
        known = spotted | destroyed
        watched = 0
        for cell in BOARD.each(spotted & ~destroyed):
            watched |= SEEN[known.bit_count()][cell]
        unseen = 0
        for cell in BOARD.each(placed & ~lost):
            unseen |= SEEN[len(view.placed)][cell]
        masks = (
            CENTRE,
            others,
            found,
            spotted,
            destroyed,
            watched,
            unseen,
            placed,
            lost,
            lost & ~own & ~others & ~CENTRE,
            BOARD.all & ~own & ~others & ~CENTRE,
            *[cells & ~own & ~others for cells in empty],
        )
        facts = (
            view.turn,
            own.bit_count(),
            others.bit_count(),
            view.turn == 1,
            *view.pieces,
            known.bit_count(),
        )
        return own, others, _bytes(masks), facts, _sizes(others)

    def encode(self, frame: tuple[Any, ...], choices: Sequence[int] = ()) -> npt.NDArray[np.uint8]:
        """Return the observation after these choices of the turn: an array of `shape`."""
        own, _, masks, facts, sizes = frame
        chosen = 0
        for choice in choices:
            if choice < CELLS:
                chosen |= BITS[choice]
        observation = np.empty(self.shape, np.uint8)
        observation[:, :MASKS] = _planes(masks + _bytes((own, chosen))).T
        observation[:, MASKS] = _sizes(own | chosen)
        observation[:, MASKS + 1] = sizes
        count = chosen.bit_count()
        observation[:, MASKS + 2 :] = (*[min(fact, 60) for fact in facts], count == 0, count == 1, count > 1)
        return observation


def _bytes(masks: Sequence[int]) -> bytes:
    return b"".join([mask.to_bytes(_BYTES, "little") for mask in masks])


def _planes(masks: bytes) -> npt.NDArray[np.uint8]:
    """Return the masks as planes of 0 and 1, indexed by mask and cell."""
    bits = np.unpackbits(np.frombuffer(masks, np.uint8), bitorder="little")
    return bits.reshape(-1, 8 * _BYTES)[:, _PLACES]


def _sizes(pieces: int) -> npt.NDArray[np.uint8]:
    """Return the total size of the groups that a piece would join, by cell."""
    groups = list(BOARD.groups(pieces))
    if not groups:
        return np.zeros(CELLS, np.uint8)
    sizes = np.array([group.bit_count() for group in groups], np.uint8)
    return sizes @ _planes(_bytes([BOARD.neighbours(group) for group in groups]))


RINGS = 5
"""Number of parts of a cell's surroundings: itself, the rings at one, two and three steps, the mean of all."""


def _around() -> Floats:
    """Return the weight of each cell in each ring around each cell; rows are cells and rings."""
    balls: list[npt.NDArray[Any]] = []
    for steps in range(4):
        ball = _bytes([BOARD.ball(bit, steps) for bit in BITS])
        balls.append(_planes(ball).astype(np.float32))
    rings = [(far - near) / 6 for near, far in pairwise(balls)]
    return (
        np.stack([balls[0], *rings, np.full((CELLS, CELLS), 1 / CELLS)], axis=1)
        .reshape(CELLS * RINGS, CELLS)
        .astype(np.float32)
    )


AROUND = _around()
SCALE = np.ones(PLANES, np.float32)
SCALE[[MASKS, MASKS + 1, BY_CELL, BY_CELL + 1, BY_CELL + 2]] = 1 / 10
Weights = Mapping[str, Floats]


class NetworkOutput(NamedTuple):
    """Values that the network computes for a batch of observations."""

    around: Floats
    """Surroundings, indexed by row, cell, and ring with plane."""
    facts: Floats
    """Facts, indexed by row and fact."""
    one: Floats
    """First layer, indexed by row, cell and unit."""
    one_mean: Floats
    two: Floats
    """Second layer, indexed by row, cell and unit."""
    last: Floats
    """The second layer's mean over all cells, then the facts, indexed by row."""
    scores: Floats
    """Scores, indexed by row and choice."""
    values: Floats
    """Expected results from -1 (lost) to 1 (won), indexed by row."""


class Network:
    """A network with two layers, shared by all cells, that scores each choice and predicts the result.

    The first layer reads a cell's surroundings and the facts; the second also the first's mean over all cells.
    """

    def __init__(self, weights: Weights) -> None:
        self.weights = dict(weights)

    @classmethod
    def untrained(cls, rng: np.random.Generator, units: int = 32) -> "Network":
        """Return a network with random weights that scores all choices equally."""
        inputs = {"around": RINGS * BY_CELL, "facts": FACTS, "own": units, "all": units}
        weights = {name: rng.normal(0, count**-0.5, (count, units)) for name, count in inputs.items()}
        weights |= {name: np.zeros(units) for name in ("one", "two", "cell")}
        weights |= {"other": np.zeros((units + FACTS, CHOICES - CELLS)), "value": np.zeros(units + FACTS)}
        return cls({name: value.astype(np.float32) for name, value in weights.items()})

    @classmethod
    def read(cls, path: Path) -> "Network":
        """Read the weights from a file made by `write`."""
        with np.load(path, allow_pickle=False) as file:
            return cls({name: file[name].astype(np.float32) for name in file.files})

    def write(self, path: Path) -> None:
        """Write the weights in half precision, so that the file is small."""
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **{name: w.astype(np.float16) for name, w in self.weights.items()})

    def layers(self, observations: npt.NDArray[Any]) -> NetworkOutput:
        """Return all layers for a batch of observations, an array of (rows, CELLS, PLANES)."""
        w = self.weights
        scaled = observations * SCALE
        facts = scaled[:, 0, BY_CELL:]
        around = (AROUND @ scaled[:, :, :BY_CELL]).reshape(-1, CELLS, RINGS * BY_CELL)
        one = np.maximum(around @ w["around"] + (facts @ w["facts"] + w["one"])[:, None], 0)
        one_mean = one.mean(1)
        two = np.maximum(one @ w["own"] + (one_mean @ w["all"] + w["two"])[:, None], 0)
        last = np.concatenate([two.mean(1), facts], axis=1)
        scores = np.concatenate([two @ w["cell"], last @ w["other"]], axis=1)
        return NetworkOutput(around, facts, one, one_mean, two, last, scores, np.tanh(last @ w["value"]))

    def scores(self, observations: npt.NDArray[Any], masks: npt.NDArray[np.int8]) -> Floats:
        """Return the scores by row and choice; choices outside the masks have minus infinity."""
        scores = self.layers(observations).scores
        return np.where(masks[:, :CHOICES], scores, np.float32(-np.inf))


class MistLearned(Bot[MistView, Any]):
    """A bot that makes the choice with the best score until the turn is complete."""

    def __init__(self, network: Network | None = None) -> None:
        """Play by this network, by default by the one in this folder."""
        self.network = network or Network.read(Path(__file__).with_name("weights.npz"))
        self.features = Features()

    def welcome(self) -> None:
        """Start the match with an empty memory."""
        self.memory: Remembered | None = None

    def decide(self, window: Window[MistView]) -> Any:
        """Choose cells one by one, as in training."""
        view = window.view
        self.memory = self.features.remember(self.memory, view)
        frame = self.features.frame(self.memory, view)
        if view.turn == 0:
            scores = self._scores(frame, ())
            return ChooseFirst(first=int(scores[FIRST + 1] > scores[FIRST]))
        least, most = view.pieces
        free = BOARD.all & ~BOARD.mask(view.forbidden)
        chosen: list[int] = []
        while len(chosen) < most:
            legal = _planes(_bytes((free,)))[0]
            allowed = np.concatenate([legal, [len(chosen) >= least, view.may_swap and not chosen, 0, 0]])
            choice = int(np.where(allowed, self._scores(frame, chosen), -np.inf).argmax())
            if choice == SWAP:
                return Turn(swap=True)
            if choice == STOP:
                break
            chosen.append(choice)
            free &= ~BOARD.grow(BITS[choice])
        return Turn(cells=tuple(BOARD.names[choice] for choice in sorted(chosen)))

    def _scores(self, frame: Any, chosen: Sequence[int]) -> Floats:
        scores: Floats = self.network.layers(self.features.encode(frame, chosen)[None]).scores[0]
        return scores


if __name__ == "__main__":
    run(MistLearned())
