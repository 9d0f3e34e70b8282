"""Plays Pointing in tests: a round is written as the rules write it, `"A>B>C E>B"`, seats by letter."""

import json
from itertools import pairwise
from typing import Any

from msgspec import Raw

from protocol.codec import encode
from referee.games.pointing.game import Pointing
from referee.rules.contract import ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.as_json import plain

POINTING = Pointing()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def start(seed: int = 0, **options: int) -> Table:
    """A match before its first round."""
    return Table(POINTING, Deal("tempo-up", seed, Raw(encode(options))))


def after(*rounds: str, seed: int = 0, **options: int) -> Table:
    """A match after these rounds."""
    table = start(seed, **options)
    for arrows in rounds:
        point(table, arrows)
    return table


def point(table: Table, arrows: str) -> list[dict[str, Any]]:
    """Plays a round; seats that are not named on the left of an arrow submit nothing. Gives what all are told."""
    pairs = (pair for path in arrows.split() for pair in pairwise(path.split(">")))
    return close(table, {seat(one): {"target": seat(other)} for one, other in pairs})


def vote(table: Table, votes: dict[str, str]) -> list[dict[str, Any]]:
    """Plays the vote: voter to whom it names, by letters; the others do not vote."""
    return close(table, {seat(voter): {"seat": seat(named)} for voter, named in votes.items()})


def close(table: Table, actions: dict[int, Any]) -> list[dict[str, Any]]:
    """Closes the window with these submissions, and the default where there is none; Illegal passes through."""
    taken: list[ResolvedAction | None] = [None] * table.seats
    for owed in table.owed:
        taken[owed.seat] = ResolvedAction(table.default(owed.seat), by_default=True)
    for number, action in actions.items():
        taken[number] = ResolvedAction(table.read(number, json.dumps(action).encode()))
    told = table.close(tuple(taken))
    assert all(each.seat is None for each in told), "in Pointing everything is told to all"
    return [plain(each.event) for each in told]


def seat(letter: str) -> int:
    return LETTERS.index(letter)


def seats(letters: str) -> list[int]:
    """Those letters' seats, ascending."""
    return sorted(map(seat, letters))


def by_letter(values: dict[str, Any]) -> dict[str, Any]:
    """An object whose keys are seats, with letters for them."""
    return {LETTERS[int(number)]: value for number, value in values.items()}


def sections(arrows: str, seats: int = 13) -> list[dict[str, Any]]:
    """The map of a round."""
    (event,) = point(start(seats=seats), arrows)
    assert "map" == event["type"]
    told: list[dict[str, Any]] = event["sections"]
    return told


def scored(*rounds: str, seats: int = 13) -> dict[str, int]:
    """By letter: the points of the last of these rounds, without those for all three."""
    return by_letter(host(after(*rounds, seats=seats))["rounds"][-1]["points"])


def host(table: Table) -> dict[str, Any]:
    view: dict[str, Any] = plain(POINTING.host_view(table.state))
    return view


def shown(table: Table, number: int | None) -> dict[str, Any]:
    """The seat's view."""
    view: dict[str, Any] = plain(POINTING.view(table.state, number))
    return view


def outcome(table: Table) -> dict[str, Any]:
    assert table.outcome is not None
    came: dict[str, Any] = plain(table.outcome)
    return came


def window(table: Table) -> tuple[str, list[int]] | None:
    return (table.window.name, [owed.seat for owed in table.owed]) if table.window else None
