"""Another yardstick of `bench_matches.py` and `bench_peers.py`: two random bots at kaggle-environments' connectx.

Prints games a second, moves a second, and the number of moves. Runs in an environment of yours that has
kaggle-environments: it brings more than a gigabyte with it.
"""

import logging
import sys
import time

logging.disable(logging.CRITICAL)
from kaggle_environments import make  # noqa: E402 - it logs as it is imported

start = time.perf_counter()
games = moves = 0
while time.perf_counter() - start < float(sys.argv[1]):
    moves += len(make("connectx").run(["random", "random"])) - 1
    games += 1
seconds = time.perf_counter() - start
print(games / seconds, moves / seconds, moves)
