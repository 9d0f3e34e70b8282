"""The yardstick of `bench_ladder.py`: matching by the library openskill. Runs in .venv-bench.

In each round every bot meets the one with whom the library finds a draw most likely, of those nearest in rating
that are left. Run as `bench_openskill.py BOTS ELO SEED`; prints matches a bot.
"""

import sys

import numpy as np
from numpy.typing import NDArray

ELO = 400 / float(np.log(10))
GOAL = 0.9
MOST = 400
"""Matches a bot, after which a simulation gives up."""
NEAREST = 8
Array = NDArray[np.float64]


def strengths(bots: int, spread: float, seed: int) -> Array:
    """Log-strengths of bots whose Elo has this standard deviation."""
    return np.random.default_rng(seed).normal(0, spread / ELO, bots)


def first_wins(luck: np.random.Generator, strength: Array, one: int, other: int) -> bool:
    """A match, by Bradley and Terry's model."""
    return bool(luck.random() < 1 / (1 + np.exp(strength[other] - strength[one])))


def rightly_ranked(strength: Array, found: Array) -> float:
    """The share of pairs whose ratings are in the order of their strengths."""
    bots, by_strength = len(strength), found[np.argsort(strength)]
    right = sum(int((by_strength[place + 1 :] > by_strength[place]).sum()) for place in range(bots - 1))
    return right / (bots * (bots - 1) / 2)


def main(bots: int, spread: float, seed: int) -> float:
    """Matches a bot until the goal is reached."""
    from openskill.models import BradleyTerryFull  # noqa: PLC0415 - in .venv-bench alone

    model = BradleyTerryFull()
    strength, luck = strengths(bots, spread, seed), np.random.default_rng(seed + 1)
    ratings = [model.rating() for _ in range(bots)]
    matches = 0
    while matches * 2 < MOST * bots:
        left = list(range(bots))
        while len(left) > 1:
            one = left.pop(int(luck.integers(len(left))))
            near = sorted(left, key=lambda bot: abs(ratings[bot].mu - ratings[one].mu))[:NEAREST]
            other = max(near, key=lambda bot: model.predict_draw([[ratings[one]], [ratings[bot]]]))
            left.remove(other)
            for _ in range(2):
                won = first_wins(luck, strength, one, other)
                order = [[ratings[one]], [ratings[other]]] if won else [[ratings[other]], [ratings[one]]]
                (better,), (worse,) = model.rate(order)
                ratings[one], ratings[other] = (better, worse) if won else (worse, better)
                matches += 1
        if rightly_ranked(strength, np.array([rating.mu for rating in ratings])) >= GOAL:
            break
    return 2 * matches / bots


if __name__ == "__main__":
    print(main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))
