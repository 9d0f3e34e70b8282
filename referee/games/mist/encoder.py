"""Observations of Mist: planes of the board, 9 x 9.

The rows of hexes are sheared, so that all hexes have their neighbours at the same steps: (0, -1), (0, 1), (-1,
-1), (-1, 0), (1, 0) and (1, 1) in rows and columns. One 3 x 3 kernel fits all.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from protocol.games.mist import MistView
from protocol.games.mist.board import BOARD, first_pieces
from referee.encoding import Encoder

_FROM_TURN = (2, 4, 8, 16, 32, 64)
PLANES = (
    "the board's 61 hexes",
    "own pieces, visible",
    "the opponent's pieces, visible",
    "empty hexes, visible",
    "own pieces, known from any turn",
    "the opponent's pieces, known from any turn",
    "hexes seen empty in any turn, and not known to be taken since",
    "`spotted`: the opponent's pieces of its last turn that were spotted",
    "`destroyed`: the opponent's pieces of its last turn that were seen destroyed",
    "`placed`: the hexes of the seat's own last turn",
    "`lost`: the seat's own pieces of its last turn that were destroyed",
    "`first_move`: the hexes of the first turn",
    "`forbidden`: hexes that this turn may not name",
    "all 1 if this turn may be a swap",
    "all 1 if it is this seat's turn",
    "all 1 if there was a swap",
    *(f"all 1 from turn {turn} on" for turn in _FROM_TURN),
    "hexes that are chosen for this turn so far",
)
SIDE = 9
_STRIDE = 10  # the board's masks have an empty column between rows
_BYTES = 12
_ALL = BOARD.all.to_bytes(_BYTES, "little")
_NONE = bytes(_BYTES)
_CHOSEN = tuple(bit for bit in BOARD.name)


def _late(turn: int) -> bytes:
    """Return the planes that represent a turn."""
    return b"".join(_ALL if turn >= first else _NONE for first in _FROM_TURN)


_LATE = list(map(_late, range(65)))
"""The planes that represent a turn, as bytes; by turn, up to 64."""

Remembered = tuple[int, int, int, bool]
"""Masks of the known own pieces, the opponent's, and the hexes seen empty; True after a swap."""


class MistEncoder(Encoder):
    """Planes of 0 and 1, which `PLANES` describes."""

    shape = (len(PLANES), SIDE, SIDE)
    dtype = np.int8
    bounds = (0, 1)

    def remember(self, memory: Remembered | None, view: MistView) -> Remembered:
        """Return the updated masks: pieces never leave the board, and a swap changes their owners."""
        own, others, empty, swapped = memory or (0, 0, 0, False)
        if view.swapped and not swapped:
            own, others = others, own
        first_own, first_others = first_pieces(view)
        seen_own, seen_others, seen_empty = _seen(view)
        own |= first_own | seen_own
        others |= first_others | seen_others
        return own, others, (empty | seen_empty) & ~(own | others), view.swapped

    def frame(self, memory: Remembered, view: MistView) -> bytes:
        """Return all planes but the last, as bits."""
        mask = BOARD.mask
        masks = (
            *_seen(view),
            *memory[:3],
            mask(view.spotted),
            mask(view.destroyed),
            mask(view.placed),
            mask(view.lost),
            mask(view.first_move or ()),
            mask(view.forbidden),
        )
        return b"".join(
            (
                _ALL,
                *[each.to_bytes(_BYTES, "little") for each in masks],
                _ALL if view.may_swap else _NONE,
                _ALL if view.mover is not None and view.mover == view.seat else _NONE,
                _ALL if view.swapped else _NONE,
                _LATE[min(view.turn, 64)],
            )
        )

    def encode(self, frame: bytes, choices: Sequence[int] = ()) -> npt.NDArray[np.int8]:
        """See `Encoder.encode`."""
        chosen = 0
        for choice in choices:
            if choice < len(_CHOSEN):
                chosen |= _CHOSEN[choice]
        bits = np.frombuffer(frame + chosen.to_bytes(_BYTES, "little"), np.uint8)
        planes = np.unpackbits(bits, bitorder="little").reshape(len(PLANES), 8 * _BYTES)
        return planes[:, : SIDE * _STRIDE].reshape(len(PLANES), SIDE, _STRIDE)[:, :, :SIDE].copy().view(np.int8)


def _seen(view: MistView) -> tuple[int, int, int]:
    """Return the masks of visible hexes: those with own pieces, with the opponent's, and empty ones."""
    bit = BOARD.bit
    own = others = empty = 0
    for name, held in view.visible.items():
        if held == "empty":
            empty |= bit[name]
        elif held == "own":
            own |= bit[name]
        elif held == "opponent":
            others |= bit[name]
    return own, others, empty
