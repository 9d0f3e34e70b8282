"""Worlds of Mist by the rules: boards that fit all that a seat was told, the likelier ones more often. For search.

The rules assume nothing of the opponent's skill. Skilled opponents join their pieces: such worlds count
more.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import NamedTuple

import msgspec

from protocol.games.mist import MistEvent, MistOptions, MistView
from protocol.games.mist_board import BOARD
from protocol.messages import Welcome
from referee.games import GAMES

JOINED, MORE = 1.45, 1.2
"""So much likelier is a world for each pair of the opponent's pieces that touch, and for each of its pieces."""
TRIPLE_SEES, PAIR_SEES = 3, 14
"""At most so many cells are seen by three pieces and by two; a single one sees more."""


class FittingWorld(NamedTuple):
    """One way the board may be, as masks: the opponent's pieces, and what those of its last turn see and spot."""

    opponent: int
    vision: int
    spotting: int


def fitting(  # noqa: PLR0917 - as many as the rules ask for
    match: Welcome,
    view: MistView,
    events: Sequence[MistEvent],
    habits: Sequence[float],
    luck: Random,
    steps: Iterator[int],
) -> list[FittingWorld]:
    """Draws a world for each step, then draws as many among them by their weights.

    Args:
        match: what the seat was told of the match.
        view: what it sees.
        events: all events that it was told.
        habits: how often the opponent places one, two, three pieces, as weights.
        luck: draws them.
        steps: as many worlds are drawn; it may end by the clock.

    Returns:
        The worlds; none where the rules find none.
    """
    drawn: list[FittingWorld] = []
    weights: list[float] = []
    options = msgspec.convert(match.options, MistOptions)
    with suppress(ValueError):
        states = GAMES["mist"].worlds(
            view, tuple(events), match.seat, luck, variant=match.variant, options=options
        )
        for _, state in zip(steps, states, strict=False):
            pieces, sight = state.pieces[1 - match.seat], state.sight[1 - match.seat]
            drawn.append(FittingWorld(pieces, sight.vision, sight.spotting))
            seen = sight.vision.bit_count()
            count = 3 if seen <= TRIPLE_SEES else 2 if seen <= PAIR_SEES else 1
            weights.append(JOINED ** touching(pieces) * MORE ** pieces.bit_count() * habits[count - 1])
    return luck.choices(drawn, weights, k=len(drawn)) if drawn else []


def touching(pieces: int) -> int:
    """How many pairs of these pieces touch."""
    return sum((BOARD.grow(cell) & pieces).bit_count() - 1 for cell in BOARD.each(pieces)) // 2
