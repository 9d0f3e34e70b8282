"""The results of a tournament or a regression test, as its ledger has them."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from arena.checks import read_refusal
from arena.config import is_season, read_form, read_season, results_of
from arena.errors import WrongUse
from arena.schedule import (
    KEY_CONTENT,
    TWO,
    BadChangeError,
    Block,
    Contest,
    Deadline,
    Entered,
    FieldChange,
    Fixed,
    ScheduleSpec,
    blocks_so_far,
    entered,
    format_of,
    labels_now,
)
from arena.statistics import BotReport, CountedMatch, Digest, RunningRating, digest_of, reports_of
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


ResultsT = TypeVar("ResultsT", bound="TournamentResults")


class TournamentResults(Struct, frozen=True, kw_only=True):
    """The results so far."""

    terms: Terms
    digest: Digest
    reports: tuple[BotReport, ...]
    """Faults and resource use of each bot, indexed by entrant."""
    played: list[CountedMatch]
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
    """Block, seating and cause of attempts whose referee process ended before them; no bot is at fault."""
    asides: Asides = Asides()
    """Blocks that were void repeatedly because of one bot, and the decisions about them."""
    events: tuple[FieldChange, ...] = ()
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
        self.refused = None
        self.text, see = "not begun", ""
        if is_held(folder):
            self.text = "not begun: its bots are being checked"
        elif (refused := read_refusal(folder / CHECKS)) is not None:
            self.refused = refused
            self.text = f"not begun: {refused.text}"
            see = f" (see {self.logs})"
        super().__init__(f"{folder}: {self.text}{see}")

    @property
    def logs(self) -> Path | None:
        """The folder of the check that refused a bot; None: no bot was refused."""
        if self.refused is None:
            return None
        return self.folder / CHECKS / self.refused.logs


class StartTerms(Struct, frozen=True, kw_only=True):
    """The terms at the start of a tournament, as its ledger has them."""

    game: str
    labels: tuple[str, ...]
    """Labels of the file's bots, and last of the house."""
    contents: tuple[str | None, ...]
    """Content hashes of these bots."""
    isolation: Isolation
    spec: ScheduleSpec
    terms: Terms
    """All terms, as plain values."""


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
    contents: list[str | None] = []
    for label in labels:
        content = terms.get(f"{CONTENT}{label}")
        contents.append(content if isinstance(content, str) else None)
    return StartTerms(
        game=terms["game"],
        labels=labels,
        contents=tuple(contents),
        isolation=isolation,
        spec=spec,
        terms=terms,
    )


def entries_until(terms: Terms, events: Sequence[FieldChange]) -> str | None:
    """Return the time until which bots may enter, by the latest event or the terms; None: to the end."""
    found = terms.get(UNTIL)
    for event in events:
        if isinstance(event.what, Deadline):
            found = event.what.entries_until
    return found if isinstance(found, str) else None


def load_results(path: Path) -> TournamentResults:
    """Return the results in a ledger, which an arena may be writing.

    Raises:
        WrongUse: the file is no ledger.
        MachineCannot: it cannot be read.
    """
    with closing(Ledger(path)) as ledger:
        terms = ledger.terms()
        of_file = _labels(ledger, terms)
        house = len(of_file) - 1 if terms.get("house") else None
        endless, end = terms.get("endless") is True, ledger.begun()
        counting = CountingMatches()
        if not endless:
            counting = CountingMatches(played=ledger.results())
        # Read after the results and the number of begun blocks, as bots enter before their first match.
        events = tuple(ledger.events())
        changes = tuple(event for event in events if event.block is not None)
        labels = (*of_file, *(event.what.label for event in changes if isinstance(event.what, Entered)))
        _check_count(path, len(labels))
        contest = total = None
        try:
            spec = _spec(terms, of_file, house, counting.played)
            if spec is not None:
                spec = replace(spec, changes=changes)
                if endless:
                    counting = matches_that_count(ledger, spec, _seed(terms), end)
            _check_fit(path, counting.played, len(labels))
            if spec is not None:
                labels = labels_now(spec, of_file)
                if counting.played:
                    contest = counting.contest(spec, labels, house, _seed(terms))
        except (msgspec.ValidationError, KeyError, BadSetupError, BadChangeError) as error:
            raise WrongUse(f"{path}: is not the ledger of a tournament: {error}") from None
        if spec is not None:
            total = _total(spec, contest, ledger.asides())
        digest = digest_of(labels, counting.played, house) if contest is None else digest_in_order(contest)
        return collect_results(
            TournamentResults,
            ledger,
            counting,
            digest,
            spec=spec,
            contest=contest,
            events=events,
            pending=counting.pending,
            total=total,
        )


def _check_fit(path: Path, played: Sequence[CountedMatch], bots: int) -> None:
    for match in played:
        if not match.fits(bots) or len(match.entrants) != len(played[0].entrants):
            raise WrongUse(f"{path}: holds a result that does not fit a match among its {bots} bots")


def _seed(terms: Terms) -> int:
    return msgspec.convert(terms["seed"], int, strict=False)


class CountingMatches(Struct, frozen=True, kw_only=True):
    """The matches that count for the table: for an endless ladder, those of the period."""

    first: int = 0
    """Number of the first block."""
    played: list[CountedMatch] = []
    """The matches, in schedule order."""
    running: tuple[RunningRating, ...] = ()
    """Ratings of an endless ladder; empty for other formats."""
    pending: tuple[Block, ...] = ()
    """The chosen blocks of an endless ladder that are not in these ratings yet."""

    def contest(self, spec: ScheduleSpec, labels: tuple[str, ...], house: int | None, seed: int) -> Contest:
        """Return these matches as a format counts them."""
        return Contest(spec=spec, labels=labels, house=house, seed=seed, played=self.played, running=self.running)


def matches_that_count(ledger: Ledger, spec: ScheduleSpec, seed: int, end: int = LAST) -> CountingMatches:
    """Return the matches of a ledger that count, in blocks before `end`."""
    if not spec.endless:
        return CountingMatches(played=ledger.results())
    waves = ladder_so_far(ledger, spec, seed, end=end)
    first = waves.period_first
    played = ledger.results(first, end)
    if not played and first:
        # A period has begun, and no match of it has ended yet.
        first -= waves.period_blocks
        played = ledger.results(first, end)
    return CountingMatches(first=first, played=played, running=waves.ratings(), pending=tuple(waves.pending()))


def digest_in_order(contest: Contest) -> Digest:
    """Return the numbers of a contest, with the standings in the format's order."""
    order = partial(format_of(contest.spec).in_order, contest)
    return digest_of(contest.labels, contest.played, contest.house, order)


def collect_results(
    kind: type[ResultsT], ledger: Ledger, counting: CountingMatches, digest: Digest, **more: Any
) -> ResultsT:
    """Return results of this kind: these matches, everything else that the ledger has, and fields in `more`."""
    # Another block may count since the results were read, while the tournament is played.
    counted = {(each.block, each.seating) for each in counting.played}
    rows = (row for row in ledger.reports(first=counting.first) if (row[0].block, row[0].seating) in counted)
    return kind(
        terms=ledger.terms(),
        digest=digest,
        reports=reports_of(len(digest.labels), rows),
        played=counting.played,
        voids=ledger.voids(),
        set_aside=ledger.set_aside(),
        lost=ledger.lost_with_workers(),
        asides=ledger.asides(),
        **more,
    )


def _total(spec: ScheduleSpec, contest: Contest | None, asides: Asides) -> int:
    """Return the number of matches in all, as far as it is known, without those that the host left out."""
    schedule, played = format_of(spec).schedule(spec), [] if contest is None else contest.played
    if spec.endless:
        return len(played)
    if spec.changes and contest is not None and not isinstance(schedule, Fixed):
        blocks = blocks_so_far(schedule.rounds(contest.seed), played)
        if len(played) == sum(len(block.shifts) for block in blocks):
            return len(played)  # A bot that withdrew from a knock-out made matches unnecessary.
    left_out = len(asides.left_out) * (spec.rotations or spec.seats)
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


def _spec(
    terms: Terms, labels: Sequence[str], house: int | None, played: list[CountedMatch]
) -> ScheduleSpec | None:
    """Return the schedule in a tournament's terms; None for a regression test, which has none."""
    if "format" not in terms or not (played or GAMES.get(terms["game"]) is not None):
        return None
    seats = len(played[0].entrants) if played else _seats(terms)
    filled, remote = house is not None, []
    for number, label in enumerate(labels):
        if str(terms.get(f"{CONTENT}{label}", "")).startswith(KEY_CONTENT):
            remote.append(number)
    known: dict[str, Any] = {"entrants": len(labels) - filled, "seats": seats, "filled": filled, "remote": remote}
    if seats == TWO:
        known["rotations"] = None  # Terms have it for all games, files only for games of more than two seats.
    spec = msgspec.convert(terms | known, ScheduleSpec, strict=False)
    try:
        format_of(spec)
    except KeyError:
        raise msgspec.ValidationError(f"there is no format {spec.format!r}") from None
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
