"""What a ledger says of a tournament, or of a regression test: what was played, and what came of it so far."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from arena.config import TournamentFile, results_of
from arena.errors import WrongUse
from arena.schedule import FORMATS, Contest, ScheduleSpec, format_of
from arena.statistics import BotReport, Digest, Played, digest_of, reports_of
from arena.tournament.ledger import Ledger
from arena.tournament.provenance import Terms
from arena.tournament.results_folder import LEDGER
from referee.bot_folder import TomlError, read_toml
from referee.games import GAMES
from referee.rules import BadSetupError


class Results(Struct, frozen=True, kw_only=True):
    """What was played, and what came of it so far."""

    terms: Terms
    digest: Digest
    reports: tuple[BotReport, ...]
    """By entrant: what went wrong, and what its bot used."""
    played: list[Played]
    """Every match that counts, in schedule order."""
    spec: ScheduleSpec | None
    """None of results that are no tournament's."""
    contest: Contest | None
    """The same; and None where nothing is played yet."""
    voids: list[tuple[int, int, str]]
    """Block, seating and reason of every void attempt, interrupted ones left out."""
    set_aside: list[tuple[int, int, str]]
    """The same of matches that had been played, and were played again with their block."""
    lost: list[tuple[int, int, str]]
    """The same of attempts whose referee process ended before them: it is nobody's fault."""
    total: int | None
    """Matches that it has in all, tie-breaks that may come left out; None of results that are no tournament's."""


def results_in(path: Path) -> Results:
    """What a ledger says.

    Raises:
        WrongUse: it is no ledger.
        MachineCannot: it cannot be read.
    """
    ledger = Ledger(path)
    try:
        terms = ledger.terms()
        labels = _labels(path, terms)
        played = ledger.results()
        voids, set_aside, lost = ledger.voids(), ledger.set_aside(), ledger.lost_with_workers()
        if not all(each.fits(len(labels)) and len(each.entrants) == len(played[0].entrants) for each in played):
            raise WrongUse(f"{path}: holds a result that is none of a match among its {len(labels)} bots")
        # A block may have come to count since the results were read, while the tournament is played.
        counted = {(each.block, each.seating) for each in played}
        rows = (row for row in ledger.reports() if (row[0].block, row[0].seating) in counted)
        reports = reports_of(len(labels), rows)
    finally:
        ledger.close()
    house = len(labels) - 1 if terms.get("house") else None
    try:
        spec = _spec(terms, labels, house, played)
        contest = None
        if spec is not None and played:
            seed = msgspec.convert(terms["seed"], int, strict=False)
            contest = Contest(spec=spec, labels=labels, house=house, seed=seed, played=played)
    except (msgspec.ValidationError, KeyError, BadSetupError) as error:
        raise WrongUse(f"{path}: holds terms of no tournament: {error}") from None
    order = tuple if contest is None else partial(format_of(contest.spec).in_order, contest)
    return Results(
        terms=terms,
        digest=digest_of(labels, played, house, order),
        reports=reports,
        played=played,
        spec=spec,
        contest=contest,
        voids=voids,
        set_aside=set_aside,
        lost=lost,
        total=None if spec is None else max(format_of(spec).schedule(spec).matches, len(played)),
    )


MOST_BOTS = 5_000
"""Of a competition: what is computed of each pair of them has to fit into memory."""


def _labels(path: Path, terms: Terms) -> tuple[str, ...]:
    labels = terms.get("bots")
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise WrongUse(f"{path}: holds no tournament: its terms name no bots")
    if len(labels) > MOST_BOTS:
        raise WrongUse(f"{path}: names {len(labels):,} bots; {MOST_BOTS:,} can be ranked")
    return tuple(labels)


def _spec(terms: Terms, labels: Sequence[str], house: int | None, played: list[Played]) -> ScheduleSpec | None:
    """What a tournament's terms say of its schedule; None of a regression test, which has none."""
    if "format" not in terms or not (played or terms["game"] in GAMES):
        return None
    seats = len(played[0].entrants) if played else _seats(terms)
    known = {"entrants": len(labels) - (house is not None), "seats": seats, "filled": house is not None}
    spec = msgspec.convert(terms | known, ScheduleSpec, strict=False)
    if spec.format not in FORMATS:
        raise msgspec.ValidationError(f"there is no format {spec.format!r}")
    return spec


def _seats(terms: Terms) -> int:
    """How many the game has, as it is played."""
    game = GAMES[terms["game"]]
    options = {key.removeprefix("options."): value for key, value in terms.items() if key.startswith("options.")}
    return game.seats(game.read_options(terms["variant"], Raw(msgspec.json.encode(options))))


def ledger_of(place: Path) -> Path:
    """The ledger that a tournament's file, its results folder, or its own path names.

    Raises:
        WrongUse: there is none.
    """
    if place.suffix == ".toml":
        try:
            place = results_of(place, read_toml(place, TournamentFile))
        except TomlError as error:
            raise WrongUse(str(error)) from None
    try:
        path = place / LEDGER if place.is_dir() or not place.exists() else place
        is_there = path.exists()
    except OSError as error:  # A name that is too long, for one.
        raise WrongUse(f"{place}: cannot be read: {error.strerror}") from None
    if not is_there:
        raise WrongUse(f"{path}: there is no such ledger; give a tournament's results folder, or its file")
    return path
