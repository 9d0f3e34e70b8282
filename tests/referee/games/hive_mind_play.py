"""Plays Hive Mind in tests: what seats submit as the rules write it, what was told read as JSON."""

import json
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.games.hive_mind import HiveMind
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.as_json import plain

HIVE_MIND = HiveMind()
RECHARGED, TEMPO_UP, GAUNTLET = "recharged", "tempo-up", "gauntlet"
VARIANTS = pytest.mark.parametrize("variant", [RECHARGED, TEMPO_UP, GAUNTLET])
NAMES = {RECHARGED: ("Charge", "Marcer", "Zero"), TEMPO_UP: ("1", "2", "3"), GAUNTLET: ("1", "2")}
FIRST = {RECHARGED: "Charge", TEMPO_UP: "1", GAUNTLET: "1"}
"""Variant to a Hive that is in play from the start."""

#         A B C
#        D E F G          1 1 2
#         H I J          3 3 2 1
#          K L    as      1 2 2
#                          1 3
VALUES = "112332112213"
SEATS = range(5)


class Heard:
    """What was told when a window closed, and what was taken."""

    def __init__(self, taken: dict[int, Any], public: list[Any], seats: list[list[Any]]) -> None:
        self.taken = taken
        self.public = public
        self.seats = seats

    def event(self, seat: int | None, type_: str) -> dict[str, Any]:
        """The one event of that type that the seat (None: everyone) was told."""
        (found,) = [one for one in (self.public if seat is None else self.seats[seat]) if one["type"] == type_]
        return dict(found)

    def types(self) -> list[str]:
        """What all were told, in order."""
        return [event["type"] for event in self.public]


def start(
    variant: str = RECHARGED, values: str | dict[str, str] = VALUES, *, seed: int = 0, **options: Any
) -> Table:
    """A match; all its Hives have the same values, or those given by name."""
    hives = {hive: values if isinstance(values, str) else values.get(hive, VALUES) for hive in NAMES[variant]}
    return Table(HIVE_MIND, Deal(variant, seed, Raw(encode(options)), Raw(encode({"hives": hives}))))


def close(table: Table, actions: dict[int, Any] | None = None) -> Heard:
    """Closes the open window with these actions; who is left out submits nothing. Illegal passes through."""
    taken: list[ResolvedAction | None] = [None] * 5
    actions = actions or {}
    for seat in [owed.seat for owed in table.owed]:
        submitted = actions.get(seat)
        raw = json.dumps(submitted).encode()
        default = submitted is None
        taken[seat] = ResolvedAction(table.default(seat) if default else table.read(seat, raw), by_default=default)
    told = table.close(tuple(taken))
    return Heard(
        taken={seat: plain(part.action) for seat, part in enumerate(taken) if part},
        public=[plain(one.event) for one in told if one.seat is None],
        seats=[[plain(one.event) for one in told if one.seat == seat] for seat in SEATS],
    )


def place(table: Table, *shapes: str | None, **more: Any) -> Heard:
    """Closes a round in which seats 0, 1, … place these on the first Hive in play; `s0=…` adds to an action."""
    hive = first_in_play(table)
    actions: dict[int, Any] = {seat: {"place": {hive: cells}} for seat, cells in enumerate(shapes) if cells}
    for key, extra in more.items():
        seat = int(key[1:])
        actions[seat] = actions.get(seat, {}) | extra
    return close(table, actions)


def first_in_play(table: Table) -> str:
    return HIVE_MIND.view(table.state, None).hives[0]


def finish(table: Table) -> Heard:
    """Closes windows with nothing submitted until the match is over; what the last one told."""
    heard = close(table)
    while table.window:
        heard = close(table)
    return heard


def points(table: Table) -> list[dict[str, int]]:
    """Each seat's points by the host's view: those it has so far."""
    found: list[dict[str, int]] = plain(HIVE_MIND.host_view(table.state))["points"]
    return found


def hexes(table: Table) -> list[int]:
    """What each seat has scored on hexes so far."""
    return [each["hexes"] for each in points(table)]


def outcome(table: Table) -> dict[str, Any]:
    assert table.outcome is not None
    found: dict[str, Any] = plain(table.outcome)
    return found


def accepted(table: Table, seat: int, action: Any) -> Any:
    """The canonical spelling of the action."""
    return plain(table.read(seat, json.dumps(action).encode()))


def rejected(table: Table, seat: int, action: Any) -> str:
    """The reason why the action is rejected."""
    with pytest.raises(Illegal) as illegal:
        table.read(seat, json.dumps(action).encode())
    return illegal.value.reason


def shown(table: Table, seat: int | None) -> dict[str, Any]:
    view: dict[str, Any] = plain(HIVE_MIND.view(table.state, seat))
    return view
