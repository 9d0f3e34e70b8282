"""The results of a tournament or a regression test, as its ledger has them."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from arena.checks import read_refusal
from arena.config import is_season, read_form, read_season, results_of
from arena.errors import WrongUse
from arena.schedule import (
    FORMATS,
    KEY_CONTENT,
    TWO,
    BadChangeError,
    Block,
    Contest,
    Deadline,
    Entered,
    Event,
    Fixed,
    ScheduleSpec,
    blocks_so_far,
    entered,
    format_of,
    labels_now,
)
from arena.statistics import BotReport, Digest, Played, RunningRating, digest_of, reports_of
from arena.tournament.aside import Asides
from arena.tournament.endless import ladder_so_far
from arena.tournament.ledger import LAST, Ledger
from arena.tournament.provenance import CONTENT, UNTIL, Terms
from arena.tournament.results_folder import CHECKS, LEDGER, is_held
from referee.games import GAMES
from referee.rules import BadSetupError
from referee.sandbox import Isolation

MOST_BOTS = 5_000
"""Most bots of a competition. The values for all pairs of them must fit into memory."""


class Results(Struct, frozen=True, kw_only=True):
    """The results so far."""

    terms: Terms
    digest: Digest
    reports: tuple[BotReport, ...]
    """Faults and resource use of each bot, indexed by entrant."""
    played: list[Played]
    """Every match that counts, in schedule order; for an endless ladder, those of the period."""
    spec: ScheduleSpec | None
    """The schedule; None for a regression test."""
    contest: Contest | None
    """The results as the format counts them; None for a regression test, or before the first match."""
    voids: list[tuple[int, int, str]]
    """Block, seating and reason of every void attempt, without interrupted ones."""
    set_aside: list[tuple[int, int, str]]
    """Block, seating and reason of matches that were played, and played again with their block."""
    lost: list[tuple[int, int, str]]
    """Block, seating and cause of attempts whose referee process ended before them, which is nobody's fault."""
    asides: Asides = Asides()
    """Blocks that were void repeatedly because of one bot, and the decisions about them."""
    events: tuple[Event, ...] = ()
    """All changes since the start, including those that wait and those that were refused."""
    pending: tuple[Block, ...] = ()
    """The chosen blocks of an endless ladder that are not in its ratings yet."""
    total: int | None
    """Number of matches in all, without possible tie-breaks; None for a regression test."""

    def content(self, entrant: int) -> str | None:
        """Return the hash of a bot's content; None if it is unknown."""
        begun = self.terms["bots"]
        if entrant < len(begun):
            content = self.terms.get(f"{CONTENT}{begun[entrant]}")
            return content if isinstance(content, str) else None
        return None if self.spec is None else entered(self.spec)[entrant - len(begun)].content


class NotBegun(WrongUse):
    """A competition has not begun: its bots are being checked, or one was refused, or it was not started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refused = None if is_held(folder) else read_refusal(folder / CHECKS)
        self.text = "not begun: its bots are being checked" if is_held(folder) else "not begun"
        see = ""
        if self.refused is not None:
            self.text = f"not begun: {self.refused.text}"
            see = f" (see {self.logs})"
        super().__init__(f"{folder}: {self.text}{see}")

    @property
    def logs(self) -> Path | None:
        """The folder of the check that refused a bot; None: no bot was refused."""
        return None if self.refused is None else self.folder / CHECKS / self.refused.logs


class StartTerms(Struct, frozen=True, kw_only=True):
    """The terms at the start of a tournament, as its ledger has them."""

    game: str
    labels: tuple[str, ...]
    """Labels of the file's bots, and last of the house."""
    contents: tuple[str | None, ...]
    """Content hashes of these bots."""
    isolation: Isolation
    spec: ScheduleSpec
    entries_until: str | None = None
    """Time until which bots may enter, before later changes."""


def load_start_terms(ledger: Ledger) -> StartTerms:
    """Return the terms at the start of a tournament.

    Raises:
        WrongUse: the ledger is not that of a tournament that has begun.
        MachineCannot: it cannot be read.
    """
    terms = ledger.terms()
    labels = _labels(ledger, terms)
    house = len(labels) - 1 if terms.get("house") else None
    try:
        spec = _spec(terms, labels, house, [])
        isolation: Isolation = msgspec.convert(terms["isolation"], Isolation)
    except (msgspec.ValidationError, KeyError, BadSetupError) as error:
        raise WrongUse(f"{ledger.path}: is not the ledger of a tournament: {error}") from None
    if spec is None:
        raise WrongUse(f"{ledger.path}: holds no tournament, but a regression test")
    contents = (terms.get(f"{CONTENT}{label}") for label in labels)
    texts = tuple(content if isinstance(content, str) else None for content in contents)
    return StartTerms(
        game=terms["game"],
        labels=labels,
        contents=texts,
        isolation=isolation,
        spec=spec,
        entries_until=entries_until(terms, []),
    )


def entries_until(terms: Terms, events: Sequence[Event]) -> str | None:
    """Return the time until which bots may enter, by the latest event or the terms; None: to the end."""
    later = [event.what.entries_until for event in events if isinstance(event.what, Deadline)]
    found = later[-1] if later else terms.get(UNTIL)
    return found if isinstance(found, str) else None


def load_results(path: Path) -> Results:
    """Return the results in a ledger.

    Raises:
        WrongUse: the file is no ledger.
        MachineCannot: it cannot be read.
    """
    ledger = Ledger(path)
    try:
        terms = ledger.terms()
        of_file = _labels(ledger, terms)
        house = len(of_file) - 1 if terms.get("house") else None
        endless, first, end = terms.get("endless") is True, 0, ledger.begun()
        played: list[Played] = [] if endless else ledger.results()
        running: tuple[RunningRating, ...] = ()
        pending: tuple[Block, ...] = ()
        # Read after the results and the number of begun blocks, as bots enter before their first match.
        events = tuple(ledger.events())
        changes = tuple(event for event in events if event.block is not None)
        labels = (*of_file, *(event.what.label for event in changes if isinstance(event.what, Entered)))
        _check_count(path, len(labels))
        if endless and (spec := _spec(terms, of_file, house, played)):
            seed = msgspec.convert(terms["seed"], int, strict=False)
            first, played, running, pending = results_that_count(ledger, replace(spec, changes=changes), seed, end)
        voids, set_aside, lost = ledger.voids(), ledger.set_aside(), ledger.lost_with_workers()
        asides = ledger.asides()
        if not all(each.fits(len(labels)) and len(each.entrants) == len(played[0].entrants) for each in played):
            raise WrongUse(f"{path}: holds a result that does not fit a match among its {len(labels)} bots")
        # Another block may count since the results were read, while the tournament is played.
        counted = {(each.block, each.seating) for each in played}
        rows = (row for row in ledger.reports(first=first) if (row[0].block, row[0].seating) in counted)
        reports = reports_of(len(labels), rows)
    except (msgspec.ValidationError, KeyError, BadSetupError, BadChangeError) as error:
        raise WrongUse(f"{path}: is not the ledger of a tournament: {error}") from None
    finally:
        ledger.close()
    try:
        spec = _spec(terms, of_file, house, played)
        contest = None
        if spec is not None:
            spec = replace(spec, changes=changes)
            labels = labels_now(spec, of_file)
        if spec is not None and played:
            seed = msgspec.convert(terms["seed"], int, strict=False)
            contest = Contest(spec=spec, labels=labels, house=house, seed=seed, played=played, running=running)
    except (msgspec.ValidationError, KeyError, BadSetupError, BadChangeError) as error:
        raise WrongUse(f"{path}: is not the ledger of a tournament: {error}") from None
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
        asides=asides,
        events=events,
        pending=pending,
        total=None if spec is None else _total(spec, contest, asides),
    )


def results_that_count(
    ledger: Ledger, spec: ScheduleSpec, seed: int, end: int = LAST
) -> tuple[int, list[Played], tuple[RunningRating, ...], tuple[Block, ...]]:
    """Return the results for the table: for an endless ladder, those of the period.

    Args:
        ledger: the tournament's ledger.
        spec: its schedule.
        seed: its seed.
        end: the number of the block from which on results are ignored.

    Returns:
        The number of the first block; the results; the ladder's ratings; and its chosen blocks that are not in
        these ratings yet. The last two are empty for other formats.
    """
    if not spec.endless:
        return 0, ledger.results(), (), ()
    waves = ladder_so_far(ledger, spec, seed, end=end)
    first = waves.period_first
    played = ledger.results(first, end)
    if not played and first:
        # A period has begun, and no match of it has ended yet.
        first -= waves.period_blocks
        played = ledger.results(first, end)
    return first, played, waves.ratings(), tuple(waves.pending())


def _total(spec: ScheduleSpec, contest: Contest | None, asides: Asides) -> int:
    """Return the number of matches in all, as far as it is known, without those that the host left out."""
    schedule, played = format_of(spec).schedule(spec), [] if contest is None else contest.played
    if spec.endless:
        return len(played)
    if spec.changes and contest is not None and not isinstance(schedule, Fixed):
        blocks = blocks_so_far(schedule.rounds(contest.seed), played)
        if len(played) == sum(len(block.shifts) for block in blocks):
            return len(played)  # A bot that withdrew from a knock-out made matches unnecessary.
    left_out = len(asides.left_out) * (TWO if spec.seats == TWO else spec.rotations or spec.seats)
    return max(schedule.matches - left_out, len(played))


def _labels(ledger: Ledger, terms: Terms) -> tuple[str, ...]:
    """Return the labels of the bots in the file.

    Raises:
        NotBegun: it is the ledger of a results folder in which no tournament has begun.
        WrongUse: it is no tournament's ledger.
        MachineCannot: it cannot be read.
    """
    path = ledger.path
    if not terms and path.name == LEDGER and not ledger.matches():
        raise NotBegun(path.parent)
    labels = terms.get("bots")
    if not isinstance(labels, list) or not labels or not all(isinstance(label, str) for label in labels):
        raise WrongUse(f"{path}: is not the ledger of a tournament: it names no bots")
    _check_count(path, len(labels))
    return tuple(labels)


def _check_count(path: Path, bots: int) -> None:
    if bots > MOST_BOTS:
        raise WrongUse(f"{path}: names {bots:,} bots; {MOST_BOTS:,} can be ranked")


def _spec(terms: Terms, labels: Sequence[str], house: int | None, played: list[Played]) -> ScheduleSpec | None:
    """Return the schedule in a tournament's terms; None for a regression test, which has none."""
    if "format" not in terms or not (played or GAMES.get(terms["game"]) is not None):
        return None
    seats = len(played[0].entrants) if played else _seats(terms)
    known: dict[str, Any] = {
        "entrants": len(labels) - (house is not None),
        "seats": seats,
        "filled": house is not None,
        "remote": tuple(
            number
            for number, label in enumerate(labels)
            if str(terms.get(f"content of {label}", "")).startswith(KEY_CONTENT)
        ),
    }
    if seats == TWO:
        known["rotations"] = None  # Terms have it for all games, files only for games of more than two seats.
    spec = msgspec.convert(terms | known, ScheduleSpec, strict=False)
    if spec.format not in FORMATS:
        raise msgspec.ValidationError(f"there is no format {spec.format!r}")
    return spec


def _seats(terms: Terms) -> int:
    """Return the number of seats of the game with its options."""
    game = GAMES[terms["game"]]
    options = {key.removeprefix("options."): value for key, value in terms.items() if key.startswith("options.")}
    return game.seats(game.read_options(terms["variant"], Raw(msgspec.json.encode(options))))


def find_ledger(place: Path) -> Path:
    """Return the ledger of a tournament, given its file, its results folder, or the ledger itself.

    Raises:
        NotBegun: there is no ledger yet, and a check refused a bot.
        WrongUse: there is no ledger.
    """
    if place.suffix == ".toml":
        if is_season(place):
            season = read_season(place)
            folder = season.folder(season.stages[0].parts[0])
            raise WrongUse(
                f"{place}: is a season's: give the results folder of one of its stages, such as {folder}"
            )
        place = results_of(place, read_form(place))
    try:
        path = place / LEDGER if place.is_dir() or not place.exists() else place
        is_there = path.exists()
    except OSError as error:  # For example, the name is too long.
        raise WrongUse(f"{place}: cannot be read: {error.strerror}") from None
    if not is_there:
        if read_refusal(path.parent / CHECKS) is not None:
            raise NotBegun(path.parent)
        raise WrongUse(f"{path}: there is no such ledger; give a tournament's results folder, or its file")
    return path


def results_folder_of(place: Path) -> Path:
    """Return the results folder of a tournament, given a path as of `find_ledger`.

    Raises:
        WrongUse: there is none, or the path is a file that is no ledger of a results folder.
    """
    ledger = find_ledger(place)
    if ledger.name != LEDGER:  # Else another ledger beside the file would be taken, or made.
        raise WrongUse(f"{place}: is neither a results folder nor the {LEDGER} in one")
    return ledger.parent
