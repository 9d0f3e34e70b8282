"""The yardstick of `bench_matches.py`: games and turns a second of reconchess between two random bots.

One process, no isolation, no transcript, as `play_local_game` plays them. Runs in .venv-bench.
"""

import sys
import time

from reconchess import LocalGame, play_local_game
from reconchess.bots.random_bot import RandomBot

start = time.perf_counter()
games = turns = 0
while time.perf_counter() - start < float(sys.argv[1]):
    game = LocalGame()
    play_local_game(RandomBot(), RandomBot(), game=game)
    games += 1
    turns += game.get_game_history().num_turns()
seconds = time.perf_counter() - start
print(games / seconds, turns / seconds)
