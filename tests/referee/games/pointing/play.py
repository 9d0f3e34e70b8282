"""Plays Pointing in tests: a round is written as the rules write it, `"A>B>C E>B"`, seats by letter."""

from itertools import pairwise
from typing import Any

from msgspec import Raw

from protocol.codec import encode
from referee.games.pointing.game import Pointing
from referee.rules.table import Deal, Table
from tests.referee.games.playing import close, host_view

POINTING = Pointing()
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def start(seed: int = 0, **options: int) -> Table:
    """Begin a match."""
    return Table(POINTING, Deal("tempo-up", seed, Raw(encode(options))))


def after(*rounds: str, seed: int = 0, **options: int) -> Table:
    """Play these rounds of a match."""
    table = start(seed, **options)
    for arrows in rounds:
        point(table, arrows)
    return table


def point(table: Table, arrows: str) -> list[dict[str, Any]]:
    """Plays a round; seats that are not named on the left of an arrow submit nothing. Gives what all are told."""
    pairs = (pair for path in arrows.split() for pair in pairwise(path.split(">")))
    return close(table, {seat(one): {"target": seat(other)} for one, other in pairs}).public


def vote(table: Table, votes: dict[str, str]) -> list[dict[str, Any]]:
    """Plays the vote: voter to whom it names, by letters; the others do not vote."""
    return close(table, {seat(voter): {"seat": seat(named)} for voter, named in votes.items()}).public


def seat(letter: str) -> int:
    return LETTERS.index(letter)


def seats(letters: str) -> list[int]:
    """Those letters' seats, ascending."""
    return sorted(map(seat, letters))


def by_letter(values: dict[str, Any]) -> dict[str, Any]:
    """Write letters for seats in an object's keys."""
    return {LETTERS[int(number)]: value for number, value in values.items()}


def sections(arrows: str, seats: int = 13) -> list[dict[str, Any]]:
    """Return the map of a round."""
    (event,) = point(start(seats=seats), arrows)
    assert "map" == event["type"]
    told: list[dict[str, Any]] = event["sections"]
    return told


def scored(*rounds: str, seats: int = 13) -> dict[str, int]:
    """By letter: the points of the last of these rounds, without those for all three."""
    return by_letter(host_view(after(*rounds, seats=seats))["rounds"][-1]["points"])
