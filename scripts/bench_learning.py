"""Benchmark of the environments for learning: steps a second, with observation and mask; Mist against PettingZoo.

A step is a random choice of the selected agent, with `last()` before it, as PettingZoo's loop does it. All are
measured several times, in turn, and the best of each counts: what else the machine does can only slow them down.
PettingZoo's connect_four runs in .venv-bench. Exit code 1: slower than promised; 3: nothing to compare with.
"""

import sys
import time
from random import Random

import bench_yardsticks
import numpy as np

from arena.learning import aec_env
from referee.games import GAMES

ROUNDS, SECONDS = 5, 2.0


def main() -> int:
    """Measures, prints, judges."""
    python = bench_yardsticks.python()
    rates: dict[str, list[float]] = {game: [] for game in GAMES}
    steps: list[float] = []
    for number in range(ROUNDS):
        for game, found in rates.items():
            found.append(measure(game, number))
        if python:
            steps += bench_yardsticks.numbers(python, "bench_connect_four.py", SECONDS)
    for game, found in rates.items():
        print(f"{game:20} {max(found):8,.0f} steps/s")
    if not steps:
        return 3
    ratio = max(rates["mist"]) / max(steps)
    print(f"PettingZoo connect_four: {max(steps):,.0f} steps/s; Mist's steps to them: {ratio:.2f} (at least 1)")
    return 0 if ratio >= 1 else 1


def measure(game: str, seed: int) -> float:
    """Steps a second in random matches of the default variant."""
    env, luck, steps = aec_env(game), Random(seed), 0
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(luck.choice(np.flatnonzero(observation["action_mask"])))
            steps += 1
    return steps / (time.perf_counter() - start)


if __name__ == "__main__":
    sys.exit(main())
