"""Benchmark of the rules alone: random matches of each game a second in one process; Mist against PettingZoo.

Counted are rules, the reading of submissions as JSON, the view of each seat that owes, events, and everyone's view
at the end; not how the random seats find their actions. All are measured several times, in turn, and the best of
each counts: what else the machine does can only slow them down. What games were once is kept in passes of a
yardstick that the same run measures, because rates alone say more about the machine. PettingZoo lives in an
environment of its own, .venv-bench, which is made when it is missing or its lock has changed. Exit code 1: slower
than promised; 3: nothing to compare with.
"""

import sys
import time
from random import Random
from typing import Any

import bench_yardsticks
from msgspec import Raw

from protocol.codec import encode
from protocol.games.mist_board import BOARD
from referee.games import GAMES
from referee.rules import Deal, Illegal, Table, Taken, choice, shown

ROUNDS, SECONDS = 5, 2.0
MATCHES_A_SECOND = {
    ("mist", "contractual-obligation"): 150,
    ("mist", "heaven-and-hell"): 150,
    ("hive-mind", "recharged"): 150,
    ("hive-mind", "tempo-up"): 150,
    ("hive-mind", "gauntlet"): 150,
    ("pointing", "tempo-up"): 300,
    ("fight-for-a-name", "guardians"): 20,
    ("runes-to-ruins", "guardians"): 10,
}
"""What is promised, by game and variant."""
YARDSTICK_SECONDS = 0.2
BEFORE = {
    ("mist", "contractual-obligation"): 0.00484,
    ("mist", "heaven-and-hell"): 0.00487,
    ("fight-for-a-name", "guardians"): 0.00195,
    ("runes-to-ruins", "guardians"): 0.00174,
}
"""Matches to one pass of the yardstick, before the seats shared views and luck was seeded only where drawn."""
TURNS_A_SECOND = 15_000
"""The same of Mist's turns, on a machine like the one where connect_four makes 15,000 steps a second."""
NOT_WITH = {name: set(BOARD.cells(BOARD.ball(bit, 1))) for name, bit in BOARD.bit.items()}
IDLE = 1 / 8
"""How often a seat of Pointing points at nobody."""


def main() -> int:
    """Measures, prints, judges."""
    python = bench_yardsticks.python()
    rates: dict[tuple[str, str], list[tuple[float, float]]] = {each: [] for each in MATCHES_A_SECOND}
    steps, passes = [], []
    for number in range(ROUNDS):
        for (game, variant), found in rates.items():
            found.append(measure(game, variant, number))
            passes.append(yardstick())
        if python:
            steps += bench_yardsticks.numbers(python, "bench_connect_four.py", SECONDS)
    good = True
    for each, promised in MATCHES_A_SECOND.items():
        matches, windows = max(rates[each])
        good = good and matches >= promised
        name = " ".join(each)
        print(f"{name:30} {windows:8,.0f} windows/s {matches:8,.0f} matches/s (at least {promised})", end="")
        print(f", {matches / max(passes) / BEFORE[each]:.2f} times what it was" if each in BEFORE else "")
    print(f"yardstick of plain Python: {max(passes):,.0f} passes/s")
    turns = max(windows for (game, _), found in rates.items() if game == "mist" for _, windows in found)
    good = good and turns >= TURNS_A_SECOND
    if not steps:
        return 3 if good else 1
    ratio = turns / max(steps)
    print(f"PettingZoo connect_four: {max(steps):,.0f} steps/s; Mist's turns to them: {ratio:.2f} (at least 1)")
    return 0 if good and ratio >= 1 else 1


def measure(name: str, variant: str, seed: int) -> tuple[float, float]:
    """Random matches until they have taken `SECONDS`: matches and windows a second."""
    luck, matches, windows, busy = Random(seed), 0, 0, 0.0
    options = Raw(b'{"first":0}') if name == "mist" else None
    while busy < SECONDS:
        began = time.perf_counter()
        table = Table(GAMES[name], Deal(variant, seed * 1_000_000 + matches, options))
        busy += time.perf_counter() - began
        while table.window is not None:
            submitted = {owed.seat: submission(table, owed.seat, luck) for owed in table.window.owed}
            began = time.perf_counter()
            play_window(table, submitted)
            busy += time.perf_counter() - began
            windows += 1
        began = time.perf_counter()
        for seat in (*range(table.seats), None):
            shown(table.game, table.state, seat)
        busy += time.perf_counter() - began
        matches += 1
    return matches / busy, windows / busy


def yardstick() -> float:
    """Passes a second of work that does not change: what the rules do most, in plain Python."""
    luck, passes, began = Random(1), 0, time.perf_counter()
    while (busy := time.perf_counter() - began) < YARDSTICK_SECONDS:
        cells = dict.fromkeys(BOARD.names, "empty")
        for _ in range(20):
            cells[BOARD.names[int(luck.random() * len(BOARD.names))]] = "own"
        own = tuple(name for name, held in cells.items() if held == "own")
        sorted(own, key=lambda name: name[::-1])
        passes += 1
    return passes / busy


def play_window(table: Table, submitted: dict[int, bytes | None]) -> None:
    """One window: it is told, what is legal of the submissions is taken, and it closes."""
    assert table.window is not None  # noqa: S101 - the caller has looked
    taken: list[Taken | None] = [None] * table.seats
    for owed in table.window.owed:
        shown(table.game, table.state, owed.seat)
        taken[owed.seat] = Taken(table.default(owed.seat), by_default=True)
        if (said := submitted[owed.seat]) is not None:
            try:
                taken[owed.seat] = Taken(table.read(owed.seat, said), elapsed_ms=owed.seat)
            except Illegal:
                continue
    for seat, each in enumerate(taken if table.window.asap else ()):
        if each is not None and each.action is not None and not each.by_default:
            table.answer(seat, each.action)
    for told in table.close(tuple(taken)):
        encode(told.event)


def submission(table: Table, seat: int, luck: Random) -> bytes | None:
    """A random one, mostly legal; None: the default is to be taken."""
    action: Any
    match table.game.name:
        case "mist":
            action = {"cells": random_cells(shown(table.game, table.state, seat), luck)}
        case "pointing":
            action = random_target(table, seat, luck)
        case _:
            action = table.game.plausible(table.state, seat, luck)
    return None if action is None else encode(action)


def random_target(table: Table, seat: int, luck: Random) -> dict[str, int | None]:
    """Whom a seat of Pointing points at, or votes for."""
    if table.state.standing:
        return {"seat": luck.choice(table.state.standing.last)}
    other = (seat + luck.randrange(1, table.seats)) % table.seats
    return {"target": None if luck.random() < IDLE else other}


def random_cells(view: Any, luck: Random) -> list[str]:
    """One, two or three cells of Mist, anywhere that the turn allows."""
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


if __name__ == "__main__":
    sys.exit(main())
