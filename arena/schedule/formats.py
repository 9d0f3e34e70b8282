"""Which formats there are, and what is wrong with a schedule's spec whatever its format. Pure.

To add a format, write its file, its test and its part of `docs/tournament.md`, and add it to `FORMATS`: nothing
else names a format. A field that tournament files do not have yet goes into `ScheduleSpec` and `TournamentFile`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from arena.schedule.changes import Closed, Deadline, Event, Extended
from arena.schedule.contract import Complaint, Format
from arena.schedule.endless import EndlessFormat
from arena.schedule.fields import BadChangeError, ScheduleSpec, fields_of
from arena.schedule.gauntlet import GauntletFormat
from arena.schedule.knockout import KnockoutFormat
from arena.schedule.ladder import LadderFormat
from arena.schedule.multi_seat import TablesFormat
from arena.schedule.round_robin import RoundRobinFormat
from arena.schedule.rounds import Schedule
from arena.schedule.swiss import SwissFormat

TWO = 2
"""Seats of games in which each pair plays by itself; and the fewest bots that make a tournament."""
_ALL = (RoundRobinFormat(), GauntletFormat(), SwissFormat(), KnockoutFormat(), LadderFormat())
FORMATS: dict[str, Format] = {each.name: each for each in _ALL}
"""Those of two seats, by name."""
TABLES = TablesFormat()
"""The one format of more seats that has an end."""
ENDLESS = EndlessFormat()
"""A ladder with `endless = true`, for any number of seats."""
OF_ENDLESS = ("period", "accuracy", "old_versions", "budget_s")
"""The fields that it alone takes."""

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS)]
    """What a file may say: who reads one refuses other words, and no list of names is kept twice."""


def format_of(spec: ScheduleSpec) -> Format:
    """The format that is played."""
    if spec.endless:
        return ENDLESS
    return TABLES if spec.seats > TWO else FORMATS[spec.format]


def complaint(spec: ScheduleSpec, game: str) -> Complaint | None:
    """What is wrong with a spec; None if nothing is."""
    if spec.entrants < TWO:
        return "bots", f"a tournament needs at least two bots; it would have {'one' if spec.entrants else 'none'}"
    if spec.endless and spec.format != ENDLESS.name:
        return "endless", f"is for format = {ENDLESS.name!r}, not {spec.format!r}"
    for field in () if spec.endless else OF_ENDLESS:
        if getattr(spec, field) is not None:
            return field, "is for a ladder without an end: endless = true"
    for field in ("rounds", "heads"):
        if getattr(spec, field) is not None and field not in FORMATS[spec.format].uses:
            return field, f"is for format = {_users(field)}, not {spec.format!r}"
    wrong = _wrong_with_two(spec, game) if spec.seats == TWO else _wrong_with_many(spec, game)
    return wrong or format_of(spec).complaint(spec, game)


def refusal(spec: ScheduleSpec, event: Event, game: str) -> str | None:
    """Why a change cannot be taken in at its block, after those of the spec; None: it can."""
    closed = next((each.what.reason for each in spec.changes if isinstance(each.what, Closed)), None)
    if closed is not None:
        return f"no further change is accepted: {closed}"
    format_ = format_of(spec)
    changed = replace(spec, changes=(*spec.changes, event))
    try:
        after = fields_of(changed)[-1]
    except BadChangeError as error:
        return str(error)
    if isinstance(event.what, Closed | Deadline):
        return None
    if isinstance(event.what, Extended):
        schedules = (format_.schedule(spec), format_.schedule(changed))
        return _refused_total(format_, event, event.what, schedules) or _in_words(
            complaint(after.spec(spec), game)
        )
    if "heads" in format_.uses and after.heads < 1:
        return "no head would be left"
    # A Swiss may come to have more rounds than bots that have not met: then some meet again.
    fits = complaint(replace(after.spec(spec), rounds=1 if "rounds" in format_.uses else None), game)
    return _in_words(fits) or format_.refusal(event)


def _refused_total(format_: Format, event: Event, what: Extended, schedules: Sequence[Schedule]) -> str | None:
    if format_.grows is None:
        return format_.refusal(event) or f"the rounds of format = {format_.name!r} follow from its bots"
    totals = {"blocks": what.blocks, "rounds": what.rounds}
    if [name for name, total in totals.items() if total is not None] != [format_.grows]:
        return f"format = {format_.name!r} is extended by its {format_.grows}"
    now, later = (schedule.matches for schedule in schedules)
    return None if later > now else f"{format_.grows}: {totals[format_.grows]} is not more than the present total"


def _in_words(wrong: Complaint | None) -> str | None:
    return None if wrong is None else f"{wrong[0]}: {wrong[1]}"


def _wrong_with_two(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.rotations is not None:
        return "rotations", f"is for games of more than two seats; {game} has two"
    if spec.filled and "fill" not in FORMATS[spec.format].uses:
        return "fill", f"is for games of more than two seats; {game} has two (and for format = {_users('fill')})"
    return None


def _wrong_with_many(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.format == TABLES.name or spec.endless:
        return None
    return "format", f"{spec.format!r} is for games of two seats; {game} has {spec.seats}: {TABLES.name}"


def _users(field: str) -> str:
    """The formats that take a field."""
    return " or ".join(f'"{name}"' for name, each in FORMATS.items() if field in each.uses)
