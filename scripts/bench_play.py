"""Benchmark of `arena.play`: matches of Mist a second in one process, by two functions, against the rules alone.

The baseline plays the same matches on the rules' table, with the same choices, without bots, messages and results.
Both are measured several times, in turn; processor time counts, and the best of each. Exit code 1: slower than
promised.
"""

import sys
import time
from collections.abc import Callable
from random import Random

from bench_rules import random_cells

from arena import play
from bots.kit import Window
from protocol.games.mist import ChooseFirst, MistView, Turn
from referee.games import GAMES
from referee.rules import Deal, Table, Taken, shown

ROUNDS, SECONDS = 5, 2.0
VARIANT = "contractual-obligation"
PROMISED = 400
"""Matches a second."""
SHARE = 0.45
"""Of the rules' own rate."""


def chosen(name: str, view: MistView, luck: Random) -> ChooseFirst | Turn:
    """As the random seats of `scripts/bench rules`."""
    return ChooseFirst(first=0) if name == "first" else Turn(cells=tuple(random_cells(view, luck)))


def decide(window: Window[MistView]) -> ChooseFirst | Turn:
    """The same as a bot."""
    return chosen(window.name, window.view, window.luck)


def by_play(seed: int) -> None:
    """A match by `play`."""
    play("mist", [decide, decide], variant=VARIANT, seed=seed)


def by_rules(seed: int) -> None:
    """A match on the table."""
    table, luck = Table(GAMES["mist"], Deal(VARIANT, seed)), Random(seed)
    while table.window is not None:
        (owed,) = table.owed
        action = chosen(table.window.name, shown(table.game, table.state, owed.seat), luck)  # type: ignore[arg-type]
        taken = Taken(table.game.check(table.state, owed.seat, action))
        table.close((taken, None) if owed.seat == 0 else (None, taken))


def rate(play_one: Callable[[int], None]) -> float:
    """Matches a second of processor time."""
    began, matches = time.process_time(), 0
    while time.process_time() - began < SECONDS:
        play_one(matches)
        matches += 1
    return matches / (time.process_time() - began)


def main() -> int:
    """Measures, prints, judges."""
    rounds = 1 if "--quick" in sys.argv else ROUNDS
    found = [(rate(by_rules), rate(by_play)) for _ in range(rounds)]
    rules, played = (max(column) for column in zip(*found, strict=True))
    print(f"rules alone: {rules:,.0f} matches of Mist a second")
    print(
        f"play:        {played:,.0f} (at least {PROMISED}); to the rules {played / rules:.2f} (at least {SHARE})"
    )
    return 0 if played >= PROMISED and played / rules >= SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
