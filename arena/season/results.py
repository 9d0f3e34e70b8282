"""The results of a season: its stages, their tables, and the bots that advance."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.checks import read_refusal
from arena.config import is_season, label_of, read_season
from arena.errors import WrongUse
from arena.schedule import Closed, Entered, Withdrawn, entered, format_of
from arena.season.book import BOOK, PlannedStage, SeasonBook, read_book
from arena.season.qualification import Finish
from arena.tournament import CHECKS, LEDGER, Ledger, NotBegun, Results, Terms, load_results

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
    results: Results
    finishes: tuple[Finish, ...]
    origins: Mapping[str, Origin]
    """Origins of the bots, by label."""
    finished: bool
    """Whether all known matches are played."""
    closed: str
    """Reason why the tournament accepts no more changes; empty while it accepts them."""

    def table_hash(self) -> str:
        """Return a hash of the table and the bots' contents, for provenance."""
        rows = [
            [one.label, one.seeding, one.place, one.mean, one.faults, one.played, one.withdrawn]
            for one in self.finishes
        ]
        contents = [self.origins[one.label].content for one in self.finishes]
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
        return [each for part in self.parts for each in field_in(part.results.terms)]

    @property
    def cut(self) -> list[str]:
        """Sentences on how ties at the cut were decided."""
        return list(dict.fromkeys(text for part in self.parts for text in cut_in(part.results.terms)))

    @property
    def finished(self) -> bool:
        """Whether all matches of the stage are played."""
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
    origins = [part.origins for stage in stages for part in stage.parts]
    came = {label for each in origins for label in each}
    came |= {label_of(origin.folder) for each in origins for origin in each.values() if origin.folder}
    left_out = {label: why for label, why in book.left_out.items() if label not in came}
    return SeasonResults(folder=folder, left_out=left_out, stages=stages)


def _stage_in(folder: Path, plan: PlannedStage) -> StageResults:
    """Return the results of a stage; raises the same errors as `season_in`."""
    parts = {name: part_in(folder / name) for name in plan.parts}
    waiting = {
        name: NotBegun(folder / name).text
        for name, part in parts.items()
        if part is None and (folder / name / LEDGER).exists()
    }
    return StageResults(plan=plan, parts=tuple(part for part in parts.values() if part), waiting=waiting)


def season_folder(place: Path) -> Path | None:
    """Return a season's results folder, from the season's file or the folder itself; None if it is no season's.

    Raises:
        WrongUse: the file is not valid.
    """
    if place.suffix == ".toml":
        return read_season(place).results if is_season(place) else None
    try:
        return place if (place / BOOK).is_file() else None
    except OSError:  # For example, the name is too long.
        return None


def parts_in(folder: Path) -> list[Path]:
    """Return the results folders of a season's stages and groups that have started, in order.

    Raises:
        NotBegun: the check of the season's bots failed.
        WrongUse: the folder holds no season, or its file is not valid.
    """
    book = _book_in(folder)
    folders = [folder / part for stage in book.stages for part in stage.parts]
    return [each for each in folders if (each / LEDGER).exists()]


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
    labels = _labels(results)
    came = {event.what.label: event.what.folder for event in events if isinstance(event.what, Entered)}
    closed = (event.what.reason for event in events if isinstance(event.what, Closed) and event.block is not None)
    return PartResults(
        name=folder.name,
        folder=folder,
        results=results,
        finishes=finishes_of(results),
        origins={label: Origin(results.content(number), came.get(label)) for number, label in enumerate(labels)},
        finished=len(results.played) >= (results.total or 0),
        closed=next(closed, ""),
    )


def _labels(results: Results) -> tuple[str, ...]:
    """Return the labels of all entrants, by entrant number."""
    later = () if results.spec is None else entered(results.spec)
    return (*results.terms["bots"], *(bot.label for bot in later))


def finishes_of(results: Results) -> tuple[Finish, ...]:
    """Return the final results of a tournament's bots in the order of the table, without replaced versions."""
    spec, contest, labels = results.spec, results.contest, _labels(results)
    changes = () if spec is None else spec.changes
    replaced = {event.what.predecessor for event in changes if isinstance(event.what, Entered)}
    gone = {event.what.entrant for event in changes if isinstance(event.what, Withdrawn)}
    places = {} if contest is None else format_of(contest.spec).places(contest)
    return tuple(
        Finish(
            label=labels[row.entrant],
            seeding=row.entrant,
            place=places.get(row.entrant, 0.0),
            mean=row.mean or 0.0,
            faults=row.faults,
            played=row.played,
            withdrawn=row.entrant in gone,
            against={labels[other]: (score.played, score.points) for other, score in row.against.items()},
        )
        for row in results.digest.standings
        if not row.house and row.entrant not in replaced
    )


def told_apart(parts: Sequence[PartResults]) -> list[PartResults]:
    """Return the parts with unique labels. A bot that entered later may have the label of one in another group."""
    taken = {label for part in parts for label, origin in part.origins.items() if origin.folder is None}
    found = []
    for part in parts:
        names = {}
        for label, origin in part.origins.items():
            names[label] = f"{label} ({part.name})" if origin.folder is not None and label in taken else label
        taken |= set(names.values())
        found.append(
            replace(
                part,
                finishes=tuple(
                    replace(
                        one,
                        label=names[one.label],
                        against={names[other]: score for other, score in one.against.items()},
                    )
                    for one in part.finishes
                ),
                origins={names[label]: origin for label, origin in part.origins.items()},
            )
        )
    return found
