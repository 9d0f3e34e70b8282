"""Which formats there are, and what is wrong with a schedule's spec whatever its format. Pure.

To add a format, write its file, its test and its part of `docs/tournament.md`, and add it to `FORMATS`: nothing
else names a format. A field that tournament files do not have yet goes into `ScheduleSpec` and `TournamentFile`.
"""

from typing import TYPE_CHECKING, Literal

from arena.schedule.contract import Complaint, Format, ScheduleSpec
from arena.schedule.gauntlet import GauntletFormat
from arena.schedule.knockout import KnockoutFormat
from arena.schedule.ladder import LadderFormat
from arena.schedule.multi_seat import TablesFormat
from arena.schedule.round_robin import RoundRobinFormat
from arena.schedule.swiss import SwissFormat

TWO = 2
"""Seats of games in which each pair plays by itself; and the fewest bots that make a tournament."""
_ALL = (RoundRobinFormat(), GauntletFormat(), SwissFormat(), KnockoutFormat(), LadderFormat())
FORMATS: dict[str, Format] = {each.name: each for each in _ALL}
"""Those of two seats, by name."""
TABLES = TablesFormat()
"""The one format of more seats."""

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]
    """What a file may say: who reads one refuses other words, and no list of names is kept twice."""


def format_of(spec: ScheduleSpec) -> Format:
    """The format that is played."""
    return TABLES if spec.seats > TWO else FORMATS[spec.format]


def complaint(spec: ScheduleSpec, game: str) -> Complaint | None:
    """What is wrong with a spec; None if nothing is."""
    if spec.entrants < TWO:
        return "bots", f"{spec.entrants} are too few; two or more can play"
    for field in ("rounds", "heads"):
        if getattr(spec, field) is not None and field not in FORMATS[spec.format].uses:
            return field, f"is for format = {_users(field)}, not {spec.format!r}"
    wrong = _wrong_with_two(spec, game) if spec.seats == TWO else _wrong_with_many(spec, game)
    return wrong or format_of(spec).complaint(spec, game)


def _wrong_with_two(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.rotations is not None:
        return "rotations", f"is for games of more than two seats; {game} has two"
    if spec.filled and "fill" not in FORMATS[spec.format].uses:
        return "fill", f"is for games of more than two seats; {game} has two (and for format = {_users('fill')})"
    return None


def _wrong_with_many(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.format == TABLES.name:
        return None
    return "format", f"{spec.format!r} is for games of two seats; {game} has {spec.seats}: {TABLES.name}"


def _users(field: str) -> str:
    """The formats that take a field."""
    return " or ".join(f'"{name}"' for name, each in FORMATS.items() if field in each.uses)
