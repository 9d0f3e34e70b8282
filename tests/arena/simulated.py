"""Tournaments of simulated players whose strength is known: what intervals and tests are held against.

Each match by itself is drawn by Plackett and Luce's model. Yet a block's matches are alike: with some chance a
player has the same luck in a match as in others of its block. Ties are made so that, broken by lot, they leave
the model as it is: two neighbours that might as well stand the other way round are tied.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.schedule.blocks import Block
from arena.schedule.round_robin import round_robin
from arena.schedule.tables import Tables
from arena.statistics.standings import CountedMatch
from protocol.refusals import Conduct
from tests.arena.stand_in import outcome

Strengths = NDArray[np.float64]


def tournament(
    rng: np.random.Generator, strengths: Strengths, seats: int, blocks: int, *, alike: float, ties: float
) -> list[CountedMatch]:
    """Results of all matches of a schedule of so many blocks for each pair, or rounds of more seats.

    Args:
        rng: where chance comes from.
        strengths: logarithms, by entrant.
        seats: of each match.
        blocks: for each pair, or rounds.
        alike: how probable it is that a player has its block's luck in a match, not the match's own.
        ties: how probable a tie is of two who are equally strong.
    """
    players = len(strengths)
    worth = np.exp(strengths)
    played = []
    for block in _schedule(players, seats, blocks):
        shared = rng.gumbel(size=players)
        for match in block.matches:
            same = rng.random(players) < alike
            form = strengths + np.where(same, shared, rng.gumbel(size=players))
            who = list(match.entrants)
            order = np.argsort(-form[who], kind="stable").tolist()
            ranking = _tied(rng, order, worth[who].tolist(), ties)
            played.append(result(block.number, match.seating, match.entrants, ranking))
    return played


@cache
def _schedule(players: int, seats: int, blocks: int) -> list[Block]:
    """Return the schedule of a tournament of this size. It is cached, because many seats take long."""
    if seats == 2:
        return list(round_robin(players, blocks, 1))
    return list(Tables(entrants=players, seats=seats, rounds=blocks, rotations=seats, filled=False).blocks(1))


def result(
    block: int, seating: int, entrants: tuple[int, ...], ranking: Sequence[Sequence[int]], **other: Any
) -> CountedMatch:
    """Return a match with this result."""
    seats = len(entrants)
    facts: dict[str, Any] = {
        "conduct": (Conduct.OK,) * seats,
        "charged_us": (1000,) * seats,
        "windows": (10,) * seats,
        "defaults": (0,) * seats,
        "refused": (0,) * seats,
    }
    groups = outcome(*(tuple(sorted(group)) for group in ranking))
    return CountedMatch(block=block, seating=seating, entrants=entrants, outcome=groups, **(facts | other))


def _tied(rng: np.random.Generator, order: list[int], worth: list[float], ties: float) -> list[list[int]]:
    """Return the order, in which two neighbours may be tied."""
    place = int(rng.integers(len(order) - 1))
    first, second = order[place], order[place + 1]
    left = sum(worth[seat] for seat in order[place:])
    # How probable the order is with the two exchanged, over how probable it is as it stands.
    exchanged = (left - worth[first]) / (left - worth[second])
    if rng.random() >= ties * min(1, exchanged):
        return [[seat] for seat in order]
    return [[seat] for seat in order[:place]] + [[first, second]] + [[seat] for seat in order[place + 2 :]]
