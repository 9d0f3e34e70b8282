"""A chess engine for `bench_peers.py` that does not think: it plays 60 plies of one fixed game.

Both sides move each pawn one step and then another, and then take a rook through the empty second and third ranks
(Black: the same in the mirror). No position repeats, nothing is captured, and nobody is in check.
"""

import sys
from itertools import pairwise

ROOK = ["a1", "a2", "b2", "c2", "d2", "e2", "f2", "g2", "g3", "f3", "e3", "d3", "c3", "b3", "a3"]
WHITE = [f"{file}{rank}{file}{rank + 1}" for rank in (2, 3) for file in "abcdefgh"]
WHITE += [start + end for start, end in pairwise(ROOK)]
MIRROR = str.maketrans("12345678", "87654321")
GAME = [move for white in WHITE for move in (white, white.translate(MIRROR))]
ANSWERS = {"uci": "id name still\nuciok", "isready": "readyok"}

ply = 0
for line in sys.stdin:
    word = line.split(maxsplit=1)[0]
    if word == "position":
        # position startpos moves e2e4 ...
        ply = max(0, line.count(" ") - 2)
    elif word == "go":
        print(f"bestmove {GAME[ply]}", flush=True)
    elif word in ANSWERS:
        print(ANSWERS[word], flush=True)
    elif word == "quit":
        break
