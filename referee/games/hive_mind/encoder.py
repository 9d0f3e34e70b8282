"""Observations of Hive Mind. The two or three Hives of a variant are in the order of their names."""

from collections.abc import Iterator
from typing import assert_never

from protocol.games.hive_mind import (
    Blocks,
    Doubles,
    Hint,
    HiveMindEvent,
    HiveMindView,
    HiveRound,
    Reveal,
    Round,
    RoundResult,
    ScoreGuesses,
    TokenGiven,
)
from protocol.games.hive_mind.board import CELLS, KINDS
from referee.encoding import Filling, VectorEncoder

SEATS, HIVES, ROUNDS = 5, 3, 3
PLACE = {"1": 0, "2": 1, "3": 2, "Charge": 0, "Marcer": 1, "Zero": 2}
WINDOWS = ("round", "scores", "give_token", "break_tie")
PAID = 16
"""Divisor of garnets and prices."""
DIGITS = 3


def _parts_of_hives() -> Iterator[tuple[str, int]]:
    each = len(CELLS)
    for hive in range(1, HIVES + 1):
        yield f"Hive {hive}: in play", 1
        yield f"Hive {hive}: kinds of shapes left (tri, arc, line)", len(KINDS)
        yield f"Hive {hive}: own use of double and block", 2
        yield f"Hive {hive}: who doubles", SEATS
        yield f"Hive {hive}: who blocks", SEATS
        yield f"Hive {hive}: own guess, values / 3", each
        for number in range(1, ROUNDS + 1):
            yield f"Hive {hive}, round {number}: own shape", each
            yield f"Hive {hive}, round {number}: what it looked at", each
            yield f"Hive {hive}, round {number}: the sum there / 36", 1
            yield f"Hive {hive}, round {number}: shapes placed by kind, each / 5", len(KINDS)
            yield f"Hive {hive}, round {number}: shapes over each hex, each / 5", each


class HiveMindEncoder(VectorEncoder):
    """Everything in a view except the reveal, after which no seat chooses."""

    choices = 124
    parts = (
        ("own seat", SEATS),
        ("window (round, scores, give_token, break_tie)", len(WINDOWS)),
        ("round", ROUNDS),
        ("garnets left / 16", 1),
        ("free doubles and blocks left, each / 3", 2),
        ("whether double and block are for sale", 2),
        ("prices of double and block, each / 16", 2),
        ("seats that may be named to break a tie", SEATS),
        ("own guesses of scores / 40", SEATS),
        ("scores guessed right, and by how many the own was, each / 4", 2),
        ("who gave the token", SEATS),
        ("who was given it", SEATS),
        *_parts_of_hives(),
    )

    def fill(self, row: Filling, view: HiveMindView) -> None:
        """See `VectorEncoder.fill`."""
        if view.seat is not None:
            row.put("own seat", view.seat)
        if view.window is not None:
            row.put("window (round, scores, give_token, break_tie)", WINDOWS.index(view.window))
        if view.round:
            row.put("round", view.round - 1)
        _fill_wallet(row, view)
        row.mark("seats that may be named to break a tie", view.tied)
        for seat, guess in (view.scores or {}).items():
            row.scaled("own guesses of scores / 40", guess, 40, int(seat))
        for hive in view.hives:
            row.put(f"Hive {PLACE[hive] + 1}: in play", 0)
            for kind in view.unused.get(hive, ()):
                row.put(f"Hive {PLACE[hive] + 1}: kinds of shapes left (tri, arc, line)", KINDS.index(kind))
        for action in view.submitted:
            _fill_submitted(row, action)
        for event in view.told:
            _fill_event(row, event)


def _fill_wallet(row: Filling, view: HiveMindView) -> None:
    wallet = view.wallet
    if wallet is None:
        return
    row.scaled("garnets left / 16", wallet.garnets, PAID)
    free, prices = (wallet.free_doubles, wallet.free_blocks), (wallet.double_price, wallet.block_price)
    for index in range(2):
        row.scaled("free doubles and blocks left, each / 3", free[index], HIVES, index)
        price = prices[index]
        if price is not None:
            row.put("whether double and block are for sale", index)
            row.scaled("prices of double and block, each / 16", price, PAID, index)


def _fill_submitted(row: Filling, action: Round) -> None:
    for index, hives in enumerate((action.double, action.block)):
        for hive in hives:
            row.put(f"Hive {PLACE[hive] + 1}: own use of double and block", index)
    for hive, values in action.guess.items():
        for index, value in enumerate(values):
            row.scaled(f"Hive {PLACE[hive] + 1}: own guess, values / 3", int(value), DIGITS, index)


def _fill_event(row: Filling, event: HiveMindEvent) -> None:  # noqa: C901 - one case an event
    match event:
        case Hint():
            where = f"Hive {PLACE[event.hive] + 1}, round {event.round}"
            row.mark(f"{where}: own shape", map(CELLS.index, event.cells))
            row.mark(f"{where}: what it looked at", map(CELLS.index, event.looks))
            row.scaled(f"{where}: the sum there / 36", event.total, len(CELLS) * DIGITS)
        case RoundResult():
            for hive, result in event.hives.items():
                _fill_result(row, f"Hive {PLACE[hive] + 1}, round {result.round}", result)
        case Doubles():
            for hive, seats in event.hives.items():
                row.mark(f"Hive {PLACE[hive] + 1}: who doubles", seats)
        case Blocks():
            for hive, seats in event.hives.items():
                row.mark(f"Hive {PLACE[hive] + 1}: who blocks", seats)
        case ScoreGuesses():
            part = "scores guessed right, and by how many the own was, each / 4"
            row.scaled(part, event.right, SEATS - 1, 0)
            row.scaled(part, event.guessed_by, SEATS - 1, 1)
        case TokenGiven():
            row.put("who gave the token", event.giver)
            row.put("who was given it", event.to)
        case Reveal():
            pass
        case _ as unreachable:
            assert_never(unreachable)


def _fill_result(row: Filling, where: str, result: HiveRound) -> None:
    for kind, count in result.shapes.items():
        row.scaled(f"{where}: shapes placed by kind, each / 5", count, SEATS, KINDS.index(kind))
    for cell, count in result.counts.items():
        row.scaled(f"{where}: shapes over each hex, each / 5", count, SEATS, CELLS.index(cell))
