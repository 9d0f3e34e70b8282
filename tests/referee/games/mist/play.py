"""Plays Mist in tests: turns written as the rules write them, what was told read as JSON."""

from typing import Any

from msgspec import Raw

from protocol.codec import encode
from protocol.games.mist import MistOptions
from protocol.games.mist.board import BOARD
from referee.games.mist import Mist, MistState
from referee.rules.contract import ResolvedAction, Transition
from referee.rules.rng import MatchRandom
from referee.rules.table import Deal, Table
from tests.referee.games.playing import Heard, close

HEAVEN = "heaven-and-hell"
CONTRACT = "contractual-obligation"

MIST = Mist()


def start(variant: str, **options: Any) -> Table:
    """Begin a match; seat 0 goes first unless `first` says otherwise."""
    return Table(MIST, Deal(variant, 0, Raw(encode({"first": 0} | options))))


def turn(table: Table, cells: str) -> Heard:
    """Let the mover place on cells given as in `"C3 F7"`."""
    return act(table, {"cells": cells.split()})


def swap(table: Table) -> Heard:
    return act(table, {"swap": True})


def time_out(table: Table) -> Heard:
    """Nobody has submitted anything when the window closes."""
    return close(table)


def act(table: Table, action: Any) -> Heard:
    """Submit this for the open window's seat; Illegal passes through."""
    return close(table, {seat_due(table): action})


def seat_due(table: Table) -> int:
    assert table.window is not None
    (owed,) = table.window.owed
    return owed.seat


def position(own: str, other: str, *, variant: str = CONTRACT, turns: int = 10, **options: Any) -> MistState:
    """Make a position with these pieces, seat 0 to move, nobody seeing anything."""
    return MistState(
        variant=variant,
        options=MistOptions(first=0, **options),
        first=0,
        turns=turns,
        pieces=(BOARD.mask(own.split()), BOARD.mask(other.split())),
    )


def place(state: MistState, cells: str) -> Transition[MistState]:
    """Close a turn of placing."""
    taken = ResolvedAction(MIST.read_action(state, 0, encode({"cells": cells.split()})))
    return MIST.close(state, (taken, None), MatchRandom(0, 0))
