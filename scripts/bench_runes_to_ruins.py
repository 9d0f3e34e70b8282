"""Benchmark of the rules of Runes to Ruins: full random matches a second in one process.

Rules, events and views: everyone's view at each window, as it is sent, and at the end. Run with the project's own
Python. Exit code 1: slower than promised.
"""

import sys
import time
from random import Random

from protocol.codec import encode
from referee.games import RunesToRuins
from referee.rules import Deal, Illegal, Table, Taken, opened, shown

SECONDS, ROUNDS = 2.0, 5
MATCHES_A_SECOND = 10
"""What is promised."""


def main() -> int:
    """Measures, prints, judges by the best of several: what else the machine does can only slow it down."""
    rates = [measure(SECONDS, seed) for seed in range(ROUNDS)]
    matches, windows = max(rates)
    print(f"Runes to Ruins, rules, events and views: {matches:,.0f} full matches/s, {windows:,.0f} windows/s")
    return 0 if matches >= MATCHES_A_SECOND else 1


def measure(seconds: float, seed: int) -> tuple[float, float]:
    """Random matches for so long: matches and windows a second."""
    luck, matches, windows = Random(seed), 0, 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        windows += match(Table(RunesToRuins(), Deal("guardians", matches)), luck)
        matches += 1
    elapsed = time.perf_counter() - start
    return matches / elapsed, windows / elapsed


def match(table: Table, luck: Random) -> int:
    """One match of random actions, read as JSON."""
    game = table.game
    while table.window:
        taken: list[Taken | None] = []
        for owed in table.owed:
            encode(opened(game, table.state, table.window, owed, number=table.number, main_ms=0, reserve_ms=0))
            submitted = encode(game.plausible(table.state, owed.seat, luck))
            try:
                taken.append(Taken(table.read(owed.seat, submitted)))
            except Illegal:
                taken.append(Taken(table.default(owed.seat), by_default=True))
        for told in table.close(tuple(taken)):
            encode(told.event)
    for observer in (*range(table.seats), None):
        encode(shown(game, table.state, observer))
    return table.number


if __name__ == "__main__":
    sys.exit(main())
