"""Plays random matches of a game, and prints matches and windows per second of processor time.

    PYTHONPATH=TREE python random_matches.py GAME VARIANT SEED SECONDS

It is a program of its own, so that the benchmark `rules` can run it with the rules of today and with those of the
baseline. There modules had other names, and turns were not listed. Rules, the reading of submissions as JSON, the
view of each seat that owes, events, and all views at the end are counted. In Mist, seats draw from all legal
turns, which is counted, too; the choice of actions in other games is not.
"""

import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Any

from msgspec import Raw

from protocol.codec import encode
from protocol.games.mist import Turn

try:
    from protocol.games.mist.board import BOARD
    from referee.games import GAMES
    from referee.rules import Deal, Illegal, ResolvedAction, Table, shown
except ImportError:  # the baseline
    from referee.games import GAMES
    from referee.games.mist import BOARD  # type: ignore[attr-defined,no-redef]
    from referee.reveal import shown  # type: ignore[import-not-found,no-redef]
    from referee.rules import Illegal, ResolvedAction
    from referee.table import Deal, Table  # type: ignore[import-not-found,no-redef]

IDLE = 1 / 8
"""Probability that a seat of Pointing points at no seat."""


def measure(game: str, variant: str, seed: int, seconds: float) -> tuple[float, float]:
    """Play random matches for some time. Return matches and windows per second."""
    rng, matches, windows, busy = Random(seed), 0, 0, 0.0
    options = Raw(b'{"first":0}') if game == "mist" else None
    while busy < seconds:
        began, not_counted = time.process_time(), 0.0
        table = Table(GAMES[game], Deal(variant, seed * 1_000_000 + matches, options))
        while table.window is not None:
            before = time.process_time() if game != "mist" else 0.0
            submitted = {owed.seat: submission(table, owed.seat, rng) for owed in table.window.owed}
            not_counted += time.process_time() - before if game != "mist" else 0.0
            play_window(table, submitted)
            windows += 1
        for seat in (*range(table.seats), None):
            shown(table.game, table.state, seat)
        busy += time.process_time() - began - not_counted
        matches += 1
    return matches / busy, windows / busy


def play_window(table: Table, submitted: dict[int, bytes | None]) -> None:
    """Play one window with random submissions, of which the legal ones count."""
    assert table.window is not None  # noqa: S101 - the caller has looked
    taken: list[ResolvedAction | None] = [None] * table.seats
    for owed in table.window.owed:
        shown(table.game, table.state, owed.seat)
        taken[owed.seat] = ResolvedAction(table.default(owed.seat), by_default=True)
        if (said := submitted[owed.seat]) is not None:
            try:
                taken[owed.seat] = ResolvedAction(table.read(owed.seat, said), elapsed_ms=owed.seat)
            except Illegal:
                continue
    for seat, each in enumerate(taken if table.window.asap else ()):
        if each is not None and each.action is not None and not each.by_default:
            table.answer(seat, each.action)
    for told in table.close(tuple(taken)):
        encode(told.event)


def submission(table: Table, seat: int, rng: Random) -> bytes | None:
    """Return a random action, mostly legal; None for the default."""
    action: Any
    match table.game.name:
        case "mist":
            action = random_turn(table, seat, rng)
        case "pointing":
            action = random_target(table, seat, rng)
        case _:
            action = table.game.plausible(table.state, seat, rng)
    return None if action is None else encode(action)


def random_turn(table: Table, seat: int, rng: Random) -> Any:
    """Return one of all legal turns of Mist, uniformly."""
    view: Any = shown(table.game, table.state, seat)
    if hasattr(table.game, "legal_actions"):
        return table.game.legal_actions(view, seat).sample(rng)
    turns = _turns(*view.pieces, view.forbidden, view.may_swap)
    return turns[int(rng.random() * len(turns))]


@lru_cache(maxsize=8)
def _turns(least: int, most: int, forbidden: tuple[str, ...], may_swap: bool) -> list[Turn]:
    """Return the same list in the baseline, in the same order."""
    free = BOARD.all & ~BOARD.mask(forbidden)
    turns = [Turn(cells=BOARD.cells(mask)) for count in range(least, most + 1) for mask in _apart(free, count)]
    return [*turns, Turn(swap=True)] if may_swap else turns


def _apart(free: int, count: int) -> Iterator[int]:
    """Yield every choice of `number` of these cells, no two of which touch."""
    if count == 0:
        yield 0
        return
    for bit in BOARD.name:
        if bit & free:
            yield from (bit | rest for rest in _apart(free & ~BOARD.ball(bit, 1) & -bit, count - 1))


def random_target(table: Table, seat: int, rng: Random) -> dict[str, int | None]:
    """Return the seat that a seat of Pointing points at or votes for."""
    if table.state.standing:
        return {"seat": rng.choice(table.state.standing.last)}
    other = (seat + rng.randrange(1, table.seats)) % table.seats
    return {"target": None if rng.random() < IDLE else other}


if __name__ == "__main__":
    print(*measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
