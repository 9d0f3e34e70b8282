"""Programs that benchmarks compare with: `yardsticks.py NAME ARGUMENT…` prints numbers.

Most need libraries that only .venv-bench has, so each imports its own. `engine` is a program for fastchess.
"""

import logging
import sys
import time
from itertools import pairwise
from math import exp, log
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ROOK = ["a1", "a2", "b2", "c2", "d2", "e2", "f2", "g2", "g3", "f3", "e3", "d3", "c3", "b3", "a3"]
MIRROR = str.maketrans("12345678", "87654321")
ANSWERS = {"uci": "id name still\nuciok", "isready": "readyok"}
ELO = 400 / log(10)
GOAL = 0.9
"""Share of pairs of players that must be in the right order."""
MOST = 400
"""Matches per bot after which a simulation gives up."""
NEAREST = 8
"""Number of bots among which the library openskill chooses an opponent."""


def strengths(bots: int, spread: float, seed: int) -> "NDArray[np.float64]":
    """Return log-strengths of bots whose Elo has this standard deviation."""
    from numpy.random import default_rng  # noqa: PLC0415 - the engine must start without NumPy

    return default_rng(seed).normal(0, spread / ELO, bots)


def first_wins(rng: "np.random.Generator", strength: "NDArray[np.float64]", one: int, other: int) -> bool:
    """Return whether the first bot wins a match, by the model of Bradley and Terry."""
    return bool(rng.random() < 1 / (1 + exp(strength[other] - strength[one])))


def rightly_ranked(strength: "NDArray[np.float64]", found: "NDArray[np.float64]") -> float:
    """Return the share of pairs whose ratings are in the order of their strengths."""
    by_strength = found[strength.argsort()]
    bots, right = len(strength), 0
    for place in range(bots - 1):
        right += int((by_strength[place + 1 :] > by_strength[place]).sum())
    return right / (bots * (bots - 1) / 2)


def connect_four(seconds: str) -> None:
    """Print the steps per second of random games of PettingZoo's connect_four.

    A step includes what a turn of ours includes: the mover's observation, the move, and the result.
    """
    from pettingzoo.classic import connect_four_v3  # noqa: PLC0415 - in .venv-bench alone

    env, rng, steps, seed = connect_four_v3.env(), Random(1), 0, 0
    start = time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            mask = observation["action_mask"]
            env.step(rng.choice([column for column in range(7) if mask[column]]))
            steps += 1
    print(steps / (time.perf_counter() - start))


def reconchess(seconds: str) -> None:
    """Print games and turns per second of reconchess between two random bots.

    They play in one process, without isolation and transcript, as `play_local_game` plays them.
    """
    from reconchess import LocalGame, play_local_game  # noqa: PLC0415 - in .venv-bench alone
    from reconchess.bots.random_bot import RandomBot  # noqa: PLC0415 - as above

    start = time.perf_counter()
    games = turns = 0
    while time.perf_counter() - start < float(seconds):
        game = LocalGame()
        play_local_game(RandomBot(), RandomBot(), game=game)
        games += 1
        turns += game.get_game_history().num_turns()
    took = time.perf_counter() - start
    print(games / took, turns / took)


def kaggle(seconds: str) -> None:
    """Print games and moves per second, and the number of moves, of two random bots at Kaggle's connectx.

    It runs in an environment of yours that has kaggle-environments, which is larger than a gigabyte.
    """
    logging.disable(logging.CRITICAL)
    from kaggle_environments import make  # noqa: PLC0415 - it logs when it is imported

    start = time.perf_counter()
    games = moves = 0
    while time.perf_counter() - start < float(seconds):
        moves += len(make("connectx").run(["random", "random"])) - 1
        games += 1
    took = time.perf_counter() - start
    print(games / took, moves / took, moves)


def openskill(bots: str, spread: str, seed: str) -> None:
    """Print the matches per bot until the library openskill has ranked bots of known strength rightly.

    In each round every bot meets the one with whom the library finds a draw most likely, of those nearest in
    rating that remain.
    """
    import numpy as np  # noqa: PLC0415 - the engine must start without NumPy
    from openskill.models import BradleyTerryFull  # noqa: PLC0415 - in .venv-bench alone

    model, number = BradleyTerryFull(), int(bots)
    strength, rng = strengths(number, float(spread), int(seed)), np.random.default_rng(int(seed) + 1)
    ratings = [model.rating() for _ in range(number)]
    matches = 0
    while matches * 2 < MOST * number:
        left = list(range(number))
        while len(left) > 1:
            one = left.pop(int(rng.integers(len(left))))
            near = sorted(left, key=lambda bot: abs(ratings[bot].mu - ratings[one].mu))[:NEAREST]
            other = max(near, key=lambda bot: model.predict_draw([[ratings[one]], [ratings[bot]]]))
            left.remove(other)
            for _ in range(2):
                won = first_wins(rng, strength, one, other)
                order = [[ratings[one]], [ratings[other]]] if won else [[ratings[other]], [ratings[one]]]
                (better,), (worse,) = model.rate(order)
                ratings[one], ratings[other] = (better, worse) if won else (worse, better)
                matches += 1
        if rightly_ranked(strength, np.array([rating.mu for rating in ratings])) >= GOAL:
            break
    print(2 * matches / number)


def engine() -> None:
    """Play 60 plies of one fixed game as a chess engine that does not think, by the UCI protocol.

    Both sides move each pawn one step and then another, and then take a rook through the empty second and third
    ranks (Black: the same in the mirror). No position repeats, nothing is captured, and nobody is in check.
    """
    white = [f"{file}{rank}{file}{rank + 1}" for rank in (2, 3) for file in "abcdefgh"]
    white += [start + end for start, end in pairwise(ROOK)]
    game: list[str] = []
    for move in white:
        game += [move, move.translate(MIRROR)]
    ply = 0
    for line in sys.stdin:
        word = line.split(maxsplit=1)[0]
        if word == "position":
            ply = max(0, line.count(" ") - 2)  # position startpos moves e2e4 ...
        elif word == "go":
            print(f"bestmove {game[ply]}", flush=True)
        elif word in ANSWERS:
            print(ANSWERS[word], flush=True)
        elif word == "quit":
            break


if __name__ == "__main__":
    name, *arguments = sys.argv[1:]
    {each.__name__: each for each in (connect_four, reconchess, kaggle, openskill, engine)}[name](*arguments)
