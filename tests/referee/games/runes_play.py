"""Plays Runes to Ruins in tests: actions written as JSON, what was told read as JSON."""

import json
from typing import Any

from msgspec import Raw, Struct
from msgspec.structs import replace

from protocol.codec import encode
from referee.games.runes_to_ruins import RunesToRuins
from referee.games.runes_to_ruins.state import RunesState, Standing
from referee.rules.contract import Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.as_json import plain

Json = dict[str, Any]
GAME = RunesToRuins()
SYMBOLS = (
    ("Slash Box", "Cross Enclosure", "Slash Slope", "Straight Divider", "Slash Zig-Zag", "Angled Splitter"),
    ("Origin Slope", "Origin Zig-Zag", "Torn Box", "Slash Divider", "Torn Splitter", "Origin Enclosure"),
    ("Cross Box", "Angled Splitter", "Angled Divider", "Angled Enclosure", "Slash Zig-Zag", "Cross Slope"),
    ("Torn Splitter", "Slash Splitter", "Straight Splitter", "Angled Zig-Zag", "Origin Zig-Zag", "Cross Box"),
    ("Torn Slope", "Cross Enclosure", "Angled Zig-Zag", "Slash Divider", "Origin Splitter", "Straight Box"),
)
"""By seat. 0 and 2 share two runes, 1 and 3 two; 0 and 4, 1 and 4, 2 and 3, 3 and 4 one; other pairs none."""
UNUSED = ("Torn Divider", "Origin Divider", "Cross Divider", "Straight Slope", "Angled Slope", "Cross Zig-Zag")
"""Six runes of nobody's symbol."""


class Heard(Struct):
    """What was told when a window closed."""

    public: list[Json]
    seats: dict[int, list[Json]]

    def of(self, seat: int | None, type_: str) -> list[Json]:
        """The events of that type that a seat (None: everyone) was told, without their type."""
        told = self.public if seat is None else self.seats[seat]
        return [{key: event[key] for key in event if key != "type"} for event in told if event["type"] == type_]

    def one(self, seat: int | None, type_: str) -> Json:
        """The only event of that type."""
        (event,) = self.of(seat, type_)
        return event


def opening(**options: Any) -> Table:
    """A match whose symbols are not yet submitted."""
    return Table(GAME, Deal("guardians", 0, Raw(encode(options))))


def start(symbols: Any = SYMBOLS, **options: Any) -> Table:
    """A match at the start of round 2."""
    table = opening(**options)
    play(table, {seat: {"symbol": symbol} for seat, symbol in enumerate(symbols)})
    return table


def play(table: Table, actions: dict[int, Any] | None = None, **by_seat: Any) -> Heard:
    """Closes the open window; seats are keys or given as `s0`. Illegal passes through."""
    submitted = (actions or {}) | {int(seat[1:]): action for seat, action in by_seat.items()}
    taken: list[ResolvedAction | None] = []
    for seat in range(5):
        if seat in submitted:
            taken.append(ResolvedAction(table.read(seat, json.dumps(submitted[seat]).encode())))
        else:
            taken.append(ResolvedAction(table.default(seat), by_default=True))
    told = table.close(tuple(taken))
    return Heard(
        public=[plain(one.event) for one in told if one.seat is None],
        seats={seat: [plain(one.event) for one in told if one.seat == seat] for seat in range(5)},
    )


def to_round(table: Table, round_: int) -> Table:
    """Lets rounds go by in which nobody does anything."""
    while table.state.round < round_:
        play(table)
    return table


def holding(table: Table, seat: int) -> Standing:
    """A seat's affairs."""
    state: RunesState = table.state
    return state.standings[seat]


def put(table: Table, seat: int, **affairs: Any) -> None:
    """Changes a seat's affairs."""
    standings = list(table.state.standings)
    standings[seat] = replace(standings[seat], **affairs)
    table.state = replace(table.state, standings=tuple(standings))


def taken_as(table: Table, seat: int, action: Any) -> Any:
    """An action's canonical spelling."""
    return plain(table.read(seat, json.dumps(action).encode()))


def rejected(table: Table, seat: int, action: Any) -> str:
    """Why an action is rejected; fails where it is not."""
    try:
        table.read(seat, json.dumps(action).encode())
    except Illegal as illegal:
        return illegal.reason
    raise AssertionError(f"accepted: {action}")


def shown(table: Table, seat: int | None) -> Json:
    """The seat's view."""
    view: Json = plain(GAME.view(table.state, seat))
    return view
