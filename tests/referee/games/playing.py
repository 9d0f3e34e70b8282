"""Play games in tests: actions are JSON values, and so is what was told, shown and decided."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from protocol.codec import encode
from referee.rules.contract import Addressed, Illegal, ResolvedAction
from referee.rules.table import Table

Json = dict[str, Any]


def plain(words: Any) -> Any:
    """Convert words of a game to JSON values, the order of keys included."""
    return json.loads(encode(words))


def same(expected: Any, got: Any) -> None:
    """Assert that two JSON values are equal byte for byte: values, and the order of keys."""
    assert json.dumps(expected) == json.dumps(got)


class Heard(Struct):
    """Events that were told when a window closed, and the actions that were taken, indexed by seat."""

    public: list[Json]
    seats: list[list[Json]]
    taken: dict[int, Any]

    def types(self, seat: int | None = None) -> list[str]:
        """Return the types of the events that a seat (None: everyone) was told, in order."""
        return [each["type"] for each in (self.public if seat is None else self.seats[seat])]

    def of(self, seat: int | None, type_: str) -> list[Json]:
        """Return the events of a type that a seat (None: everyone) was told."""
        return [each for each in (self.public if seat is None else self.seats[seat]) if each["type"] == type_]

    def event(self, seat: int | None, type_: str) -> Json:
        """Return the only event of a type that a seat (None: everyone) was told."""
        (found,) = self.of(seat, type_)
        return found


def close(
    table: Table, actions: Mapping[int, Any] | None = None, elapsed: Mapping[int, int] | None = None
) -> Heard:
    """Close the open window: seats act as given, the others take the default. Illegal passes through.

    `elapsed`: milliseconds that a seat took, 0 where it is left out.
    """
    assert table.window is not None
    actions, elapsed = actions or {}, elapsed or {}
    resolved: list[ResolvedAction | None] = [None] * table.seats
    told: list[Addressed] = []
    for pending in table.window.owed:
        if pending.seat not in actions:
            default, took = table.default(pending.seat), elapsed.get(pending.seat, 0)
            resolved[pending.seat] = ResolvedAction(default, by_default=True, elapsed_ms=took)
    for seat, action in actions.items():
        read = table.read(seat, json.dumps(action).encode())
        resolved[seat] = ResolvedAction(read, elapsed_ms=elapsed.get(seat, 0))
        if table.window.asap:
            told += table.answer(seat, read)
    told += table.close(tuple(resolved))
    return Heard(
        public=[plain(each.event) for each in told if each.seat is None],
        seats=[[plain(each.event) for each in told if each.seat == seat] for seat in range(table.seats)],
        taken={seat: plain(part.action) for seat, part in enumerate(resolved) if part},
    )


def accepted(table: Table, seat: int, action: Any) -> Any:
    """Return the canonical spelling of a legal action."""
    return plain(table.read(seat, json.dumps(action).encode()))


def rejected(table: Table, seat: int, action: Any) -> str:
    """Return why an action is rejected; "" where it is legal."""
    try:
        table.read(seat, json.dumps(action).encode())
    except Illegal as illegal:
        return illegal.reason
    return ""


def window(table: Table) -> tuple[str, list[int]] | None:
    """Return the open window's name and the seats that owe an action."""
    return (table.window.name, [pending.seat for pending in table.owed]) if table.window else None


def shown(table: Table, seat: int | None) -> Json:
    """Return a seat's view, or a spectator's."""
    view: Json = plain(table.game.view(table.state, seat))
    return view


def host_view(table: Table) -> Json:
    view: Json = plain(table.game.host_view(table.state))
    return view


def outcome(table: Table) -> Json:
    assert table.outcome is not None
    found: Json = plain(table.outcome)
    return found
