"""A season's results folder: the season's own file, the results of its stages, and its backups.

The file has the season's seed and the plan of its stages. It is created when the season begins, and is always
replaced as a whole. Results are in the stages' ledgers.

A backup has the layout of the folder, with one backup per stage or group that has started. The season's own file
is written last, so a stopped backup can be continued. The list of stages that have begun is read first. Their
source stages are closed by then, so no backed-up stage has a source with an older table.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.accounts import SERVER
from arena.checks import read_refusal
from arena.config import is_season, label_of, read_season
from arena.errors import WrongUse, cannot_write
from arena.schedule import Entered, EntriesClosed, Withdrawn, entered, format_of
from arena.season.qualification import Finish
from arena.tournament import (
    CHECKS,
    LEDGER,
    PAGE,
    Backup,
    Checked,
    Ledger,
    NotBegun,
    Terms,
    Told,
    TournamentResults,
    back_up,
    check_backup,
    load_results,
)
from referee.linux.files import FOLDER_MODE, for_owner, open_regular, read_regular

BOOK = "season.json"
MOST_BYTES = 1_000_000
MOST_STAGES, MOST_PARTS = 20, 26
SCHEMA = 1

Text = Annotated[str, Meta(max_length=1_000)]
Name = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,39}\Z")]
"""Name of a stage or folder; the pattern excludes paths that lead out of the folder."""


class PlannedStage(Struct, frozen=True, kw_only=True):
    """The plan of a stage."""

    name: Name
    rule: Text
    """Description of the rule that selects the stage's bots."""
    parts: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=MOST_PARTS)]
    """Folder names of the stage's tournaments."""


class SeasonBook(Struct, frozen=True, kw_only=True):
    """The data of a season that is not in its ledgers."""

    schema: int = SCHEMA
    seed: int
    """Seed of all random draws. It determines future deals, so no page shows it."""
    left_out: dict[str, Text] = {}
    """Reason by label, for the bots that could not start."""
    stages: Annotated[tuple[PlannedStage, ...], Meta(min_length=1, max_length=MOST_STAGES)]

    @property
    def parts(self) -> list[str]:
        """Folder names of all stages' tournaments, in order."""
        return parts_of(self.stages)


def parts_of(stages: Iterable[PlannedStage]) -> list[str]:
    """Return the folder names of the tournaments of stages, in order."""
    return list(chain.from_iterable(map(attrgetter("parts"), stages)))


def read_book(folder: Path) -> SeasonBook | None:
    """Return the book of a season's results folder; None if there is none.

    Raises:
        WrongUse: the file is not valid or cannot be read.
    """
    path = folder / BOOK
    try:
        content = read_regular(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WrongUse(f"{path}: cannot be read: {error.strerror}") from None
    try:
        book = msgspec.json.decode(content, type=SeasonBook)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WrongUse(f"{path}: not as an arena writes it: {error}") from None
    if len(set(book.parts)) < len(book.parts):
        raise WrongUse(f"{path}: not as an arena writes it: two stages have one folder")
    if book.schema != SCHEMA:
        raise WrongUse(f"{path}: a season of schema {book.schema}; this arena reads schema {SCHEMA}")
    return book


def is_of_season(folder: Path) -> bool:
    """Return whether a results folder belongs to a season's stage."""
    return (folder.resolve().parent / BOOK).is_file()


def title_of(folder: Path) -> str:
    """Return the title of the tournament in a results folder: `cup`, or in a season `league: final`."""
    place = folder.resolve()
    if is_of_season(folder):
        return f"{place.parent.name}: {place.name}"
    return place.name


def write_book(folder: Path, book: SeasonBook) -> None:
    """Write the book atomically and readable by its owner alone; a power cut leaves the old or the new file.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: there is no space.
    """
    path = folder / BOOK
    part = path.with_name(f"{BOOK}.part")
    try:
        with open(part, "w", encoding="utf-8", opener=for_owner) as file:
            json.dump(msgspec.to_builtins(book), file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None


FIELD = "stage.field"
"""Term with a stage's bots in order: each bot's previous tournament, its place there, and its label."""
CUT = "stage.cut"
"""Term with the sentences on how ties at the cut were decided."""


class Origin(Struct, frozen=True):
    """The origin of a bot's program in a tournament."""

    content: str | None
    """Content hash of the bot."""
    folder: str | None
    """Folder of a bot that entered later; None for a bot that was there from the start."""


class PartResults(Struct, frozen=True, kw_only=True):
    """A tournament of a stage that has started."""

    name: str
    folder: Path
    results: TournamentResults
    finishes: tuple[Finish, ...]
    origins: Mapping[str, Origin]
    """Origins of the bots, by label."""
    finished: bool
    """True if all known matches are played."""
    closed: str
    """Reason why the tournament accepts no more changes; empty while it accepts them."""

    def table_hash(self) -> str:
        """Return a hash of the table and the bots' contents, for provenance."""
        rows, contents = [], []
        for one in self.finishes:
            rows.append([one.label, one.seeding, one.place, one.mean, one.faults, one.played, one.withdrawn])
            contents.append(self.origins[one.label].content)
        return f"sha256:{sha256(msgspec.json.encode([rows, contents])).hexdigest()}"


class StageResults(Struct, frozen=True, kw_only=True):
    """A stage of a season, whether it has started or not."""

    plan: PlannedStage
    parts: tuple[PartResults, ...]
    """Results of the tournaments that have started."""
    waiting: Mapping[str, str] = {}
    """Reason by name, for tournaments that were started but have not begun."""

    @property
    def field(self) -> list[tuple[str, int, str]]:
        """Previous tournament, place and label of each bot, in order, for the tournaments that have started."""
        return list(chain.from_iterable(field_in(part.results.terms) for part in self.parts))

    @property
    def cut(self) -> list[str]:
        """Sentences on how ties at the cut were decided."""
        return list(dict.fromkeys(chain.from_iterable(cut_in(part.results.terms) for part in self.parts)))

    @property
    def finished(self) -> bool:
        """True if all matches of the stage are played."""
        return len(self.parts) == len(self.plan.parts) and all(part.finished for part in self.parts)


class SeasonResults(Struct, frozen=True, kw_only=True):
    """The results of a season."""

    folder: Path
    left_out: Mapping[str, str]
    """Reason by label, for the bots that could not start and have not entered since."""
    stages: tuple[StageResults, ...]

    @property
    def title(self) -> str:
        """Title of the season."""
        return self.folder.resolve().name

    def goes_on(self, part: str) -> dict[str, list[str]]:
        """Return the stages to which a part's bots have advanced, by label, among the stages that have started."""
        return goes_on([(stage.plan.name, stage.field) for stage in self.stages], part)


def goes_on(fields: Sequence[tuple[str, Sequence[tuple[str, int, str]]]], part: str) -> dict[str, list[str]]:
    """Return the stages to which a part's bots have advanced, by label; `fields` pairs stage names and fields."""
    found: dict[str, list[str]] = {}
    for name, field in fields:
        for source, _, label in field:
            if source == part:
                found.setdefault(label, []).append(name)
    return found


def field_in(terms: Terms) -> list[tuple[str, int, str]]:
    """Return the field in a stage's terms; empty if the terms hold no valid field, as in an untrusted ledger."""
    try:
        return msgspec.convert(terms.get(FIELD, []), list[tuple[str, int, str]])
    except msgspec.ValidationError:
        return []


def cut_in(terms: Terms) -> list[str]:
    """Return the sentences in a stage's terms on how ties at the cut were decided."""
    try:
        return msgspec.convert(terms.get(CUT, []), list[str])
    except msgspec.ValidationError:
        return []


def season_in(folder: Path) -> SeasonResults:
    """Return the results of the season in a results folder.

    Raises:
        NotBegun: the check of the season's bots failed.
        WrongUse: the folder holds no season, or a file is not valid.
        MachineCannot: a file cannot be read.
    """
    book = _book_in(folder)
    stages = tuple(_stage_in(folder, plan) for plan in book.stages)
    left_out = dict(book.left_out)
    for part in chain.from_iterable(stage.parts for stage in stages):
        for label, origin in part.origins.items():
            left_out.pop(label, None)
            if origin.folder:
                left_out.pop(label_of(origin.folder), None)
    return SeasonResults(folder=folder, left_out=left_out, stages=stages)


def _stage_in(folder: Path, plan: PlannedStage) -> StageResults:
    """Return the results of a stage; raises the same errors as `season_in`."""
    parts, waiting = [], {}
    for name in plan.parts:
        part = part_in(folder / name)
        if part is not None:
            parts.append(part)
        elif (folder / name / LEDGER).exists():
            waiting[name] = NotBegun(folder / name).text
    return StageResults(plan=plan, parts=tuple(parts), waiting=waiting)


def season_folder(place: Path) -> Path | None:
    """Return a season's results folder, from the season's file or the folder itself; None if it is no season's.

    Raises:
        WrongUse: the file is not valid.
    """
    if place.suffix == ".toml":
        if is_season(place):
            return read_season(place).results
        return None
    with suppress(OSError):  # For example, the name is too long.
        if (place / BOOK).is_file():
            return place
    return None


def parts_in(folder: Path) -> list[Path]:
    """Return the results folders of a season's stages and groups that have started, in order.

    Raises:
        NotBegun: the check of the season's bots failed.
        WrongUse: the folder holds no season, or its file is not valid.
    """
    return [folder / part for part in _book_in(folder).parts if (folder / part / LEDGER).exists()]


def _book_in(folder: Path) -> SeasonBook:
    book = read_book(folder)
    if book is None and read_refusal(folder / CHECKS) is not None:
        raise NotBegun(folder)
    if book is None:
        raise WrongUse(f"{folder}: holds no season: there is no {BOOK} in it")
    return book


def part_in(folder: Path) -> PartResults | None:
    """Return the results of a stage's tournament; None if it has not started.

    Raises:
        WrongUse: the ledger is not that of a tournament.
        MachineCannot: the ledger cannot be read.
    """
    path = folder / LEDGER
    if not path.exists():
        return None
    with closing(Ledger(path)) as ledger:
        if not ledger.terms():
            return None
        events = ledger.events()
    results = load_results(path)
    if results.spec is None:
        raise WrongUse(f"{path}: holds no tournament, but a regression test")
    came, closed = dict[str, str](), ""
    for event in events:
        if isinstance(event.what, Entered):
            came[event.what.label] = event.what.folder
        elif isinstance(event.what, EntriesClosed) and event.block is not None:
            closed = closed or event.what.reason
    origins = {}
    for number, label in enumerate(_labels(results)):
        origins[label] = Origin(results.content(number), came.get(label))
    return PartResults(
        name=folder.name,
        folder=folder,
        results=results,
        finishes=finishes_of(results),
        origins=origins,
        finished=len(results.played) >= (results.total or 0),
        closed=closed,
    )


def _labels(results: TournamentResults) -> tuple[str, ...]:
    """Return the labels of all entrants, by entrant number."""
    labels = list(results.terms["bots"])
    if results.spec is not None:
        labels += map(attrgetter("label"), entered(results.spec))
    return tuple(labels)


def finishes_of(results: TournamentResults) -> tuple[Finish, ...]:
    """Return the final results of a tournament's bots in the order of the table, without replaced versions."""
    contest, labels = results.contest, _labels(results)
    replaced, gone = set(), set()
    for event in () if results.spec is None else results.spec.changes:
        if isinstance(event.what, Entered):
            replaced.add(event.what.predecessor)
        elif isinstance(event.what, Withdrawn):
            gone.add(event.what.entrant)
    places: dict[int, float] = {}
    if contest is not None:
        places = format_of(contest.spec).places(contest)
    found = []
    for row in results.digest.standings:
        if row.house or row.entrant in replaced:
            continue
        finish = Finish(
            label=labels[row.entrant],
            seeding=row.entrant,
            place=places.get(row.entrant, 0.0),
            mean=row.mean or 0.0,
            faults=row.faults,
            played=row.played,
            withdrawn=row.entrant in gone,
            against={labels[other]: (score.played, score.points) for other, score in row.against.items()},
        )
        found.append(finish)
    return tuple(found)


def told_apart(parts: Sequence[PartResults]) -> list[PartResults]:
    """Return the parts with unique labels. A bot that entered later may have the label of one in another group."""
    taken = set[str]()
    for part in parts:
        taken.update(label for label, origin in part.origins.items() if origin.folder is None)
    found = []
    for part in parts:
        names = {}
        for label, origin in part.origins.items():
            names[label] = label
            if origin.folder is not None and label in taken:
                names[label] = f"{label} ({part.name})"
        taken |= set(names.values())
        finishes = []
        for one in part.finishes:
            against = dict(zip(map(names.__getitem__, one.against), one.against.values(), strict=True))
            finishes.append(replace(one, label=names[one.label], against=against))
        origins = dict(zip(names.values(), part.origins.values(), strict=True))
        found.append(replace(part, finishes=tuple(finishes), origins=origins))
    return found


def back_up_season(
    season: Path, book: SeasonBook | None, ledgers: Sequence[Ledger], to: Path, tell: Told
) -> Iterator[Backup]:
    """Create or update a backup of a season, which may be running; yield the result for each part.

    Args:
        season: the season's results folder.
        book: its own file, read before the ledgers were opened.
        ledgers: those of its parts, as of `parts_in`.
        to: the backup's folder.
        tell: see `Told`.

    Raises:
        WrongUse: `to` holds something else or is in use, or the folder holds no season.
        MachineCannot: there is no space, or a ledger cannot be read.
    """
    _check_place(season, to)
    for ledger in ledgers:
        yield back_up(ledger, to / ledger.path.parent.name, tell)
    if book is not None:
        write_book(to, book)
    if (season / PAGE).is_file():
        try:
            with open_regular(season / PAGE) as old, open(to / PAGE, "wb", opener=for_owner) as new:
                shutil.copyfileobj(old, new)
            os.sync()
        except OSError as error:
            raise cannot_write(to / PAGE, error) from None


def _check_place(season: Path, to: Path) -> None:
    """Create the folder if it does not exist, and check its content.

    Raises:
        WrongUse: the folder holds something other than a backup of this season.
        MachineCannot: there is no space.
    """
    if to.resolve() == season.resolve() or season.resolve() in to.resolve().parents:
        raise WrongUse(f"{to}: is where the results are; a backup goes to another folder")
    try:
        to.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        names = {path.name for path in to.iterdir()}
    except OSError as error:
        raise cannot_write(to, error) from None
    book, before = read_book(season), read_book(to)
    if before is not None and book is not None and before.seed != book.seed:
        raise WrongUse(f"{to}: holds a backup of another season, or of one before --fresh; give an empty folder")
    planned = set() if book is None else set(book.parts)
    if before is None and not names <= {*planned, SERVER, f"{BOOK}.part"}:
        raise WrongUse(f"{to}: is not empty and holds no backup; give an empty folder")


def check_season_backup(folder: Path, tell: Told) -> Checked:
    """Check all parts of a season's backup or of its results folder.

    Raises:
        WrongUse: there is no season, or a ledger is not valid.
        MachineCannot: a ledger cannot be read now.
    """
    whole = Checked(matches=0, transcripts=0, entries=0, elsewhere=0, wrong=())
    for part in parts_in(folder):
        found = check_backup(part, tell)
        whole = Checked(
            matches=whole.matches + found.matches,
            transcripts=whole.transcripts + found.transcripts,
            entries=whole.entries + found.entries,
            elsewhere=whole.elsewhere + found.elsewhere,
            wrong=(*whole.wrong, *(f"{part.name}/{line}" for line in found.wrong)),
        )
    return whole
