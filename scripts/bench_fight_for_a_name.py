"""Benchmark of The Fight For a Name: full random matches a second in one process, rules, views and events.

Actions are read as JSON. Before each window every seat that owes gets its view, at the end everyone does. How the
random seats find their actions (they play to claim titles) is not counted. Exit code 1: slower than promised.
"""

import sys
import time
from random import Random

from protocol.codec import encode
from referee.games import FightForAName
from referee.rules import Deal, Table, Taken, shown

ROUNDS, SECONDS = 5, 2.0
MATCHES_A_SECOND = 20
"""What is promised."""


def main() -> int:
    """Measures, prints, judges."""
    best = max(matches_a_second(SECONDS, number) for number in range(ROUNDS))
    print(f"The Fight For a Name, rules, events and views: {best:,.0f} full matches/s")
    return 0 if best >= MATCHES_A_SECOND else 1


def matches_a_second(seconds: float, seed: int) -> float:
    """Random matches for so long, by the time that rules, views and events took."""
    game, luck, matches, busy = FightForAName(), Random(seed), 0, 0.0
    while busy < seconds:
        began = time.perf_counter()
        table = Table(game, Deal("guardians", seed * 1_000_000 + matches))
        busy += time.perf_counter() - began
        while table.window is not None:
            busy += play_window(table, luck)
        began = time.perf_counter()
        for seat in (*range(table.seats), None):
            shown(game, table.state, seat)
        busy += time.perf_counter() - began
        matches += 1
    return matches / busy


def play_window(table: Table, luck: Random) -> float:
    """One window; the time it took, but for the choosing."""
    assert table.window is not None  # noqa: S101 - the caller has looked
    game, seats = table.game, [owed.seat for owed in table.window.owed]
    suggested = {seat: game.plausible(table.state, seat, luck) for seat in seats}
    actions = {seat: encode(action) for seat, action in suggested.items() if action is not None}
    began = time.perf_counter()
    taken: list[Taken | None] = [None] * table.seats
    asap = table.window.asap
    for seat in seats:
        shown(game, table.state, seat)
        if seat in actions:
            taken[seat] = Taken(table.read(seat, actions[seat]), elapsed_ms=luck.randrange(60_000))
        else:
            taken[seat] = Taken(table.default(seat), by_default=True)
    for seat in actions if asap else ():
        part = taken[seat]
        if part is not None and part.action is not None:
            table.answer(seat, part.action)
    table.close(tuple(taken))
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
