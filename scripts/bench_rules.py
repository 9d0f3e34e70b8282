"""Benchmark of the rules alone: random turns of Mist a second in one process, against PettingZoo's connect_four.

Run with the project's own Python. Both are measured in turn, several times, and the best of each compared: what
else the machine does can only slow them down. PettingZoo lives in an environment of its own, .venv-bench, which is
made when it is missing or its lock has changed. Exit code 1: slower than promised; 3: nothing to compare with.
"""

import sys
import time
from random import Random

import bench_yardsticks
from msgspec import Raw

from protocol.codec import encode
from protocol.games.mist import MistView, Turn
from referee.games import BOARD, Mist
from referee.rules import Deal, Table, Taken, shown

ROUNDS, SECONDS = 5, 2.0
TURNS_A_SECOND, MATCHES_A_SECOND = 15_000, 150
"""What is promised on a machine like the one where connect_four makes 15,000 steps a second."""
NOT_WITH = {name: set(BOARD.cells(BOARD.ball(bit, 1))) for name, bit in BOARD.bit.items()}


def main() -> int:
    """Measures, prints, judges."""
    python = bench_yardsticks.python()
    ours, matches, theirs = [], [], []
    for number in range(ROUNDS):
        turns_a_second, matches_a_second = mist(SECONDS, number)
        ours.append(turns_a_second)
        matches.append(matches_a_second)
        if python:
            theirs += bench_yardsticks.numbers(python, "bench_connect_four.py", SECONDS)
    print(f"Mist, rules, events and views: {max(ours):8,.0f} turns/s, {max(matches):,.0f} full matches/s")
    good = max(ours) >= TURNS_A_SECOND and max(matches) >= MATCHES_A_SECOND
    if theirs:
        ratio = max(ours) / max(theirs)
        print(f"PettingZoo connect_four:       {max(theirs):8,.0f} steps/s")
        print(f"ratio (at least 1 is wanted):  {ratio:8.2f}")
        return 0 if good and ratio >= 1 else 1
    return 3 if good else 1


def mist(seconds: float, seed: int) -> tuple[float, float]:
    """Random matches of both variants for so long: turns and full matches a second."""
    game, luck, turns, matches = Mist(), Random(seed), 0, 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        variant = game.variants[matches % len(game.variants)].name
        turns += match(Table(game, Deal(variant, matches, Raw(b'{"first":0}'))), luck)
        matches += 1
    elapsed = time.perf_counter() - start
    return turns / elapsed, matches / elapsed


def match(table: Table, luck: Random) -> int:
    """One match of random turns, read as JSON, with the mover's view before each and both seats' after it."""
    while table.window:
        seat = table.window.owed[0].seat
        cells = random_cells(shown(table.game, table.state, seat), luck)
        taken: list[Taken | None] = [None, None]
        taken[seat] = Taken(table.read(seat, encode(Turn(cells=cells))))
        table.close(tuple(taken))
        shown(table.game, table.state, 0)
        shown(table.game, table.state, 1)
    return len(table.journal)


def random_cells(view: MistView, luck: Random) -> tuple[str, ...]:
    """One, two or three cells anywhere that the turn allows."""
    cells: list[str] = []
    number = min(luck.choice((1, 1, 2, 3)), view.pieces[1])
    while len(cells) < number:
        cell = luck.choice(BOARD.names)
        if cell not in view.forbidden and not any(cell in NOT_WITH[other] for other in cells):
            cells.append(cell)
    return tuple(cells)


if __name__ == "__main__":
    sys.exit(main())
