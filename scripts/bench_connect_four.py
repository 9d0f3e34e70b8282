"""The yardstick of `bench_rules.py`: random steps of PettingZoo's connect_four. Runs in .venv-bench.

Prints the steps a second over as many seconds as the one argument says. A step gives what a turn of ours gives:
the mover's observation, the move, and the result.
"""

import sys
import time
from random import Random

from pettingzoo.classic import connect_four_v3


def main(seconds: float) -> None:
    """Plays random games for so long, and prints steps a second."""
    env, luck, steps, seed = connect_four_v3.env(), Random(1), 0, 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            mask = observation["action_mask"]
            env.step(luck.choice([column for column in range(7) if mask[column]]))
            steps += 1
    print(steps / (time.perf_counter() - start))


if __name__ == "__main__":
    main(float(sys.argv[1]))
