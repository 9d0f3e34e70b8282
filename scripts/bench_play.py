"""Benchmark of `arena.play`: matches of Mist a second in one process, by two functions, against the rules alone.

The baseline plays the same matches on the rules' table, with the same choices, without bots, messages and results.
Both are measured several times, in turn; processor time counts, and the best of each. Exit code 1: slower than
promised.
"""

import sys
import time
from collections.abc import Callable
from random import Random

from arena import play
from bots.kit import Window
from protocol.games.mist import ChooseFirst, MistView, Turn
from protocol.games.mist.board import BOARD
from referee.games import GAMES
from referee.rules import Deal, Table, Taken, choice, shown

ROUNDS, SECONDS = 5, 2.0
VARIANT = "contractual-obligation"
PROMISED = 400
"""Matches a second."""
SHARE = 0.45
"""Of the rules' own rate."""
NOT_WITH = {name: set(BOARD.cells(BOARD.ball(bit, 1))) for name, bit in BOARD.bit.items()}
"""Cell to those that no turn names beside it."""


def chosen(name: str, view: MistView, luck: Random) -> ChooseFirst | Turn:
    """One, two or three cells, anywhere that the turn allows."""
    return ChooseFirst(first=0) if name == "first" else Turn(cells=tuple(random_cells(view, luck)))


def random_cells(view: MistView, luck: Random) -> list[str]:
    """The cells of a turn."""
    cells: list[str] = []
    number, names, forbidden = min(choice(luck, (1, 1, 2, 3)), view.pieces[1]), BOARD.names, view.forbidden
    while len(cells) < number:
        cell = choice(luck, names)
        if cell in forbidden:
            continue
        for other in cells:
            if cell in NOT_WITH[other]:
                break
        else:
            cells.append(cell)
    return cells


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
