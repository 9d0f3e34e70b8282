"""The list of formats, and the checks of a spec and of changes that all formats share. Pure.

A new format needs its file, its test, its part of `docs/tournament.md` and a place in `_ALL`, whether it is for
two seats or for tables of more; no other code names a format. A new field of tournament files belongs in
`ScheduleSpec` and `TournamentFile`.
"""

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from arena.schedule.contract import Complaint, Format
from arena.schedule.fields import (
    BadChangeError,
    Deadline,
    EntriesClosed,
    Extended,
    FieldChange,
    ScheduleSpec,
    fields_of,
)
from arena.schedule.knockout import KnockoutFormat
from arena.schedule.ladder import EndlessFormat, LadderFormat
from arena.schedule.round_robin import GauntletFormat, RoundRobinFormat
from arena.schedule.swiss import SwissFormat
from arena.schedule.tables import TablesFormat

TWO = 2
"""Number of seats in games for pairs, and the minimum number of bots in a tournament."""
_ALL: tuple[Format, ...] = (
    RoundRobinFormat(),
    GauntletFormat(),
    SwissFormat(),
    KnockoutFormat(),
    LadderFormat(),
    TablesFormat(),
)
FORMATS: dict[str, Format] = {each.name: each for each in _ALL if not each.for_tables}
"""Formats for two seats, by name."""
TABLE_FORMATS: dict[str, Format] = {each.name: each for each in _ALL if each.for_tables}
"""Formats for more than two seats that have an end, by name."""
ENDLESS = EndlessFormat()
"""The ladder with `endless = true`, for any number of seats."""
OF_ENDLESS = ("period", "accuracy", "old_versions", "budget_s")
"""Fields that only the ladder without an end accepts."""

if TYPE_CHECKING:
    FormatName = str
else:
    FormatName = Literal[tuple(FORMATS | TABLE_FORMATS)]
    """Names that a tournament's file may use; parsing refuses all others without a second list."""


def format_of(spec: ScheduleSpec) -> Format:
    """Return the format of a spec."""
    if spec.endless:
        return ENDLESS
    if spec.seats > TWO:
        return TABLE_FORMATS[spec.format]
    return FORMATS[spec.format]


def complaint(spec: ScheduleSpec, game: str) -> Complaint | None:
    """Return the first fault in a spec; None if it is valid."""
    if spec.entrants < TWO:
        return "bots", f"a tournament needs at least two bots; it would have {'one' if spec.entrants else 'none'}"
    if spec.endless and spec.format != ENDLESS.name:
        return "endless", f"is for format = {ENDLESS.name!r}, not {spec.format!r}"
    for field in OF_ENDLESS:
        if not spec.endless and getattr(spec, field) is not None:
            return field, "is for a ladder without an end: endless = true"
    for field in ("rounds", "heads"):
        if getattr(spec, field) is not None and field not in _named(spec).uses:
            return field, f"is for format = {_users(field)}, not {spec.format!r}"
    wrong_with_seats = _wrong_with_two if spec.seats == TWO else _wrong_with_many
    return wrong_with_seats(spec, game) or format_of(spec).complaint(spec, game)


def refusal(spec: ScheduleSpec, event: FieldChange, game: str) -> str | None:
    """Return the reason to refuse a change after those of the spec; None if it is acceptable."""
    for each in spec.changes:
        if isinstance(each.what, EntriesClosed):
            return f"no further change is accepted: {each.what.reason}"
    format_ = format_of(spec)
    changed = replace(spec, changes=(*spec.changes, event))
    try:
        after = fields_of(changed)[-1]
    except BadChangeError as error:
        return str(error)
    if isinstance(event.what, EntriesClosed | Deadline):
        return None
    if isinstance(event.what, Extended):
        is_more = format_.schedule(changed).matches > format_.schedule(spec).matches
        refused = _refused_total(format_, event, event.what, is_more=is_more)
        return refused or _in_words(complaint(after.spec(spec), game))
    if "heads" in format_.uses and after.heads < 1:
        return "no head would be left"
    # After withdrawals a Swiss may have more rounds than new opponents; some bots then meet again.
    rounds = 1 if "rounds" in format_.uses else None
    fits = complaint(replace(after.spec(spec), rounds=rounds), game)
    return _in_words(fits) or format_.refusal(event)


def _refused_total(format_: Format, event: FieldChange, what: Extended, *, is_more: bool) -> str | None:
    if format_.grows is None:
        return format_.refusal(event) or f"the rounds of format = {format_.name!r} follow from its bots"
    totals = {"blocks": what.blocks, "rounds": what.rounds}
    if [name for name, total in totals.items() if total is not None] != [format_.grows]:
        return f"format = {format_.name!r} is extended by its {format_.grows}"
    if not is_more:
        return f"{format_.grows}: {totals[format_.grows]} is not more than the present total"
    return None


def _in_words(wrong: Complaint | None) -> str | None:
    return None if wrong is None else f"{wrong[0]}: {wrong[1]}"


def _wrong_with_two(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.format not in FORMATS:
        return "format", f"{spec.format!r} is for games of more than two seats; {game} has two"
    if spec.rotations is not None:
        return "rotations", f"is for games of more than two seats; {game} has two"
    if spec.filled and "fill" not in FORMATS[spec.format].uses:
        return "fill", f"is for games of more than two seats; {game} has two (and for format = {_users('fill')})"
    return None


def _wrong_with_many(spec: ScheduleSpec, game: str) -> Complaint | None:
    if spec.format in TABLE_FORMATS or spec.endless:
        return None
    others = " or ".join(TABLE_FORMATS)
    return "format", f"{spec.format!r} is for games of two seats; {game} has {spec.seats}: {others}"


def _users(field: str) -> str:
    """Return the names of the formats that accept a field, joined by "or"."""
    users = [each.name for each in _ALL if field in each.uses]
    return " or ".join(f'"{name}"' for name in users)


def _named(spec: ScheduleSpec) -> Format:
    """Return the format of this name, for games of two seats if there is none for the game's number of seats."""
    named = FORMATS | TABLE_FORMATS
    if spec.seats > TWO:
        return named[spec.format]
    return FORMATS.get(spec.format, named[spec.format])
