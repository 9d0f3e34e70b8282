"""Plays Runes to Ruins in tests: actions written as JSON, what was told read as JSON."""

from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from protocol.codec import encode
from referee.games.runes_to_ruins import RunesToRuins
from referee.games.runes_to_ruins.state import RunesSeatState, RunesState
from referee.rules.table import Deal, Table
from tests.referee.games.playing import close

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


def opening(**options: Any) -> Table:
    """Begin a match whose symbols are not yet submitted."""
    return Table(GAME, Deal("guardians", 0, Raw(encode(options))))


def start(symbols: Any = SYMBOLS, **options: Any) -> Table:
    """Begin a match and play round 1."""
    table = opening(**options)
    close(table, {seat: {"symbol": symbol} for seat, symbol in enumerate(symbols)})
    return table


def to_round(table: Table, round_: int) -> Table:
    """Lets rounds go by in which nobody does anything."""
    while table.state.round < round_:
        close(table)
    return table


def holding(table: Table, seat: int) -> RunesSeatState:
    state: RunesState = table.state
    return state.standings[seat]


def put(table: Table, seat: int, **affairs: Any) -> None:
    """Change a seat's affairs."""
    standings = list(table.state.standings)
    standings[seat] = replace(standings[seat], **affairs)
    table.state = replace(table.state, standings=tuple(standings))
