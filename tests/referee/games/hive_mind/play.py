"""Plays Hive Mind in tests: what seats submit as the rules write it, what was told read as JSON."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.games.hive_mind import HiveMind
from referee.rules.table import Deal, Table
from tests.referee.games.playing import Heard, close, host_view

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


def start(
    variant: str = RECHARGED, values: str | dict[str, str] = VALUES, *, seed: int = 0, **options: Any
) -> Table:
    """Begin a match; all its Hives have the same values, or those given by name."""
    hives = {hive: values if isinstance(values, str) else values.get(hive, VALUES) for hive in NAMES[variant]}
    return Table(HIVE_MIND, Deal(variant, seed, Raw(encode(options)), Raw(encode({"hives": hives}))))


def place(table: Table, *shapes: str | None, **more: Any) -> Heard:
    """Close a round in which seats 0, 1, … place these on the first Hive in play; `s0=…` adds to an action."""
    hive = first_in_play(table)
    actions: dict[int, Any] = {seat: {"place": {hive: cells}} for seat, cells in enumerate(shapes) if cells}
    for key, extra in more.items():
        seat = int(key[1:])
        actions[seat] = actions.get(seat, {}) | extra
    return close(table, actions)


def first_in_play(table: Table) -> str:
    return HIVE_MIND.view(table.state, None).hives[0]


def finish(table: Table) -> Heard:
    """Close windows with nothing submitted until the match is over; return what the last one told."""
    heard = close(table)
    while table.window:
        heard = close(table)
    return heard


def points(table: Table) -> list[dict[str, int]]:
    """Each seat's points by the host's view: those it has so far."""
    found: list[dict[str, int]] = host_view(table)["points"]
    return found


def hexes(table: Table) -> list[int]:
    """Return the points on hexes so far, indexed by seat."""
    return [each["hexes"] for each in points(table)]
