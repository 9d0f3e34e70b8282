"""Worlds of Mist drawn by the rules: boards that fit all events of a seat, weighted for use in a search.

The rules assume nothing about the opponent's skill. Skilled opponents join their pieces, so such worlds have a
higher weight.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

import msgspec

from protocol.games.mist import MistEvent, MistOptions, MistView
from protocol.games.mist.board import BOARD
from protocol.messages import Welcome
from referee.games import GAMES

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
