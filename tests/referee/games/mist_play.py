"""Plays Mist in tests: turns written as the rules write them, what was told read as JSON."""

import json
from typing import Any

from msgspec import Raw, Struct

from protocol.codec import encode
from protocol.games.mist import MistOptions
from protocol.games.mist.board import BOARD
from referee.games.mist import Mist, MistState
from referee.rules.contract import Addressed, ResolvedAction, Transition
from referee.rules.rng import MatchRandom
from referee.rules.table import Deal, Table
from tests.referee.games.as_json import plain

HEAVEN = "heaven-and-hell"
CONTRACT = "contractual-obligation"

MIST = Mist()


class Heard(Struct):
    """What was told when a window closed."""

    public: list[dict[str, Any]]
    seats: tuple[list[dict[str, Any]], list[dict[str, Any]]]

    def event(self, seat: int | None, type_: str) -> dict[str, Any]:
        """The one event of that type that the seat (None: everyone) was told."""
        (found,) = [one for one in (self.public if seat is None else self.seats[seat]) if one["type"] == type_]
        return found


def start(variant: str, **options: Any) -> Table:
    """A match; seat 0 goes first unless `first` says otherwise."""
    return Table(MIST, Deal(variant, 0, Raw(encode({"first": 0} | options))))


def turn(table: Table, cells: str) -> Heard:
    """The mover places on cells given as in `"C3 F7"`."""
    return act(table, {"cells": cells.split()})


def swap(table: Table) -> Heard:
    return act(table, {"swap": True})


def time_out(table: Table) -> Heard:
    """Nobody has submitted anything when the window closes."""
    return close(table, None)


def act(table: Table, action: Any) -> Heard:
    """The open window's seat submits this; Illegal passes through."""
    return close(table, json.dumps(action).encode())


def close(table: Table, raw: bytes | None) -> Heard:
    seat = seat_due(table)
    taken: list[ResolvedAction | None] = [None, None]
    taken[seat] = (
        ResolvedAction(table.default(seat), by_default=True)
        if raw is None
        else ResolvedAction(table.read(seat, raw))
    )
    return hear(table.close(tuple(taken)))


def seat_due(table: Table) -> int:
    assert table.window is not None
    (owed,) = table.window.owed
    return owed.seat


def hear(told: tuple[Addressed, ...]) -> Heard:
    return Heard(
        public=[plain(one.event) for one in told if one.seat is None],
        seats=(
            [plain(one.event) for one in told if one.seat == 0],
            [plain(one.event) for one in told if one.seat == 1],
        ),
    )


def shown(table: Table, seat: int | None) -> dict[str, Any]:
    """The seat's view."""
    view: dict[str, Any] = plain(MIST.view(table.state, seat))
    return view


def position(own: str, other: str, *, variant: str = CONTRACT, turns: int = 10, **options: Any) -> MistState:
    """A position with these pieces, seat 0 to move, nobody seeing anything."""
    return MistState(
        variant=variant,
        options=MistOptions(first=0, **options),
        first=0,
        turns=turns,
        pieces=(BOARD.mask(own.split()), BOARD.mask(other.split())),
    )


def place(state: MistState, cells: str) -> Transition[MistState]:
    """The step that a turn of placing leads to."""
    taken = ResolvedAction(MIST.read_action(state, 0, encode({"cells": cells.split()})))
    return MIST.close(state, (taken, None), MatchRandom(0, 0))
