"""Which formats there are, what each needs of the file, and its schedule. Pure.

Two seats: round robin, gauntlet, Swiss, knock-out, ladder. More seats: tables, drawn so that all meet.
"""

from functools import partial
from typing import Literal

from msgspec import Struct

from arena.schedule.blocks import gauntlet, round_robin
from arena.schedule.knockout import Knockout
from arena.schedule.ladder import Ladder
from arena.schedule.multi_seat import Tables
from arena.schedule.rounds import Fixed, Schedule
from arena.schedule.swiss import Swiss
from arena.schedule.table_design import table_sizes

Format = Literal["round_robin", "gauntlet", "swiss", "knockout", "ladder"]
USES: dict[str, tuple[Format, ...]] = {"rounds": ("swiss", "ladder"), "heads": ("gauntlet",)}
"""Fields that some formats have."""
FILLS: tuple[Format, ...] = ("swiss", "ladder")
"""Of two seats: where one bot may be left over."""
TWO = 2


class Form(Struct, frozen=True, kw_only=True):
    """What of a tournament's file the schedule is made of."""

    format: Format
    entrants: int
    seats: int
    blocks: int
    rounds: int | None
    heads: int | None
    rotations: int | None
    filled: bool


def schedule_of(form: Form) -> Schedule:
    """The schedule of a form with which nothing is wrong."""
    if form.seats > TWO:
        tables = Tables(
            entrants=form.entrants,
            seats=form.seats,
            rounds=form.blocks,
            rotations=form.rotations or form.seats,
            filled=form.filled,
        )
        return Fixed(tables.blocks)
    match form.format:
        case "round_robin":
            return Fixed(partial(round_robin, form.entrants, form.blocks))
        case "gauntlet":
            return Fixed(partial(gauntlet, form.heads or 1, form.entrants, form.blocks))
        case "swiss":
            turns = form.rounds or swiss_rounds(form.entrants)
            return Swiss(entrants=form.entrants, turns=turns, blocks=form.blocks, filled=form.filled)
        case "knockout":
            return Knockout(entrants=form.entrants, blocks=form.blocks)
        case "ladder":
            return Ladder(entrants=form.entrants, turns=form.rounds or 0, blocks=form.blocks, filled=form.filled)


def matches_in_all(form: Form) -> int:
    """How many matches a form has, tie-breaks left out: they come on top."""
    if form.seats > TWO:
        tables = table_sizes(form.entrants, form.seats, filled=form.filled)
        return form.blocks * len(tables) * (form.rotations or form.seats)
    heads = form.heads or 1
    match form.format:
        case "round_robin":
            return form.blocks * form.entrants * (form.entrants - 1)
        case "gauntlet":
            return form.blocks * 2 * heads * (form.entrants - heads)
        case _:
            return schedule_of(form).matches or 0


def swiss_rounds(entrants: int) -> int:
    """As many rounds as leave one unbeaten, as a knock-out would have."""
    return (entrants - 1).bit_length()


def complaint(form: Form, game: str) -> tuple[str, str] | None:
    """Field of what is wrong, and why; None if nothing is."""
    if form.entrants < TWO:
        return "bots", f"{form.entrants} are too few; two or more can play"
    for field, formats in USES.items():
        if getattr(form, field) is not None and form.format not in formats:
            return field, f"is for format = {_either(formats)}, not {form.format!r}"
    return _wrong_with_two(form, game) if form.seats == TWO else _wrong_with_many(form, game)


def _wrong_with_two(form: Form, game: str) -> tuple[str, str] | None:
    if form.rotations is not None:
        return "rotations", f"is for games of more than two seats; {game} has two"
    if form.filled and form.format not in FILLS:
        return "fill", (f"is for games of more than two seats; {game} has two (and for format = {_either(FILLS)})")
    if form.format == "ladder" and form.rounds is None:
        return "rounds", "is missing: a ladder has no end of its own"
    most = form.entrants - 1 if form.entrants % 2 == 0 else form.entrants
    if form.format == "swiss" and (form.rounds or 0) > most:
        return "rounds", f"{form.rounds} are too many; {form.entrants} bots have all met after {most}"
    if form.format == "gauntlet" and (form.heads or 1) >= form.entrants:
        return "heads", f"{form.heads} are too many; of {form.entrants} bots at least one is the field"
    return None


def _wrong_with_many(form: Form, game: str) -> tuple[str, str] | None:
    if form.format != "round_robin":
        return "format", f"{form.format!r} is for games of two seats; {game} has {form.seats}: round_robin"
    if (form.rotations or 0) > form.seats:
        return "rotations", f"{form.rotations} are too many; {game} has {form.seats} seats"
    if not form.filled and form.entrants < form.seats:
        few = f"{form.entrants} are too few for {form.seats} seats"
        return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
    return None


def _either(formats: tuple[Format, ...]) -> str:
    return " or ".join(f'"{each}"' for each in formats)
