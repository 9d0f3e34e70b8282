"""What a season has come to: its stages, their tables, and who goes on."""

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
from arena.tournament import CHECKS, LEDGER, Ledger, NotBegun, Results, Terms, results_in

FIELD = "stage.field"
"""The term that has a stage's bots in order: the tournament that each comes from, its place there, its label."""
CUT = "stage.cut"
"""The term that says how ties at the cut were decided."""


class Origin(Struct, frozen=True):
    """What a bot of a tournament played."""

    content: str | None
    """The hash of it."""
    folder: str | None
    """Where a bot was found that entered; None: the tournament was begun with it."""


class PartResults(Struct, frozen=True, kw_only=True):
    """A tournament of a stage that has begun."""

    name: str
    folder: Path
    results: Results
    finishes: tuple[Finish, ...]
    origins: Mapping[str, Origin]
    """By label."""
    finished: bool
    """Whether all is played, as far as is known."""
    closed: str
    """Why no change is taken in any more; empty: changes are."""

    def table_hash(self) -> str:
        """What stands for its table, in provenance."""
        rows = [
            [one.label, one.seeding, one.place, one.mean, one.faults, one.played, one.withdrawn]
            for one in self.finishes
        ]
        contents = [self.origins[one.label].content for one in self.finishes]
        return f"sha256:{sha256(msgspec.json.encode([rows, contents])).hexdigest()}"


class StageResults(Struct, frozen=True, kw_only=True):
    """A stage, begun or not."""

    plan: PlannedStage
    parts: tuple[PartResults, ...]
    """Those that have begun."""
    waiting: Mapping[str, str] = {}
    """By name, in words: why tournaments have not begun that were started."""

    @property
    def field(self) -> list[tuple[str, int, str]]:
        """Its bots in order, as far as its tournaments have begun: the part it comes from, place and label."""
        return [each for part in self.parts for each in field_in(part.results.terms)]

    @property
    def cut(self) -> list[str]:
        """How ties at the cut were decided."""
        return list(dict.fromkeys(text for part in self.parts for text in cut_in(part.results.terms)))

    @property
    def finished(self) -> bool:
        """Whether all is played."""
        return len(self.parts) == len(self.plan.parts) and all(part.finished for part in self.parts)


class SeasonResults(Struct, frozen=True, kw_only=True):
    """A season."""

    folder: Path
    left_out: Mapping[str, str]
    """The bots that could not start and have not entered since, and why."""
    stages: tuple[StageResults, ...]

    @property
    def title(self) -> str:
        """What it is called."""
        return self.folder.resolve().name

    def goes_on(self, part: str) -> dict[str, list[str]]:
        """By label of a part's bots: the stages that it goes on to, as far as they have begun."""
        return goes_on([(stage.plan.name, stage.field) for stage in self.stages], part)


def goes_on(fields: Sequence[tuple[str, Sequence[tuple[str, int, str]]]], part: str) -> dict[str, list[str]]:
    """By label of a part's bots: the stages that it goes on to, from the fields of the stages, by their names."""
    found: dict[str, list[str]] = {}
    for name, field in fields:
        for source, _, label in field:
            if source == part:
                found.setdefault(label, []).append(name)
    return found


def field_in(terms: Terms) -> list[tuple[str, int, str]]:
    """The field that a stage's terms have; none where they are no such terms: a ledger may come from anybody."""
    try:
        return msgspec.convert(terms.get(FIELD, []), list[tuple[str, int, str]])
    except msgspec.ValidationError:
        return []


def cut_in(terms: Terms) -> list[str]:
    """How ties at the cut were decided, by a stage's terms."""
    try:
        return msgspec.convert(terms.get(CUT, []), list[str])
    except msgspec.ValidationError:
        return []


def season_in(folder: Path) -> SeasonResults:
    """The season of a results folder, as far as it has been played.

    Raises:
        WrongUse: the folder holds none, or files that no arena wrote.
        MachineCannot: they cannot be read.
    """
    book = _book_in(folder)
    stages = tuple(_stage_in(folder, plan) for plan in book.stages)
    origins = [part.origins for stage in stages for part in stage.parts]
    came = {label for each in origins for label in each}
    came |= {label_of(origin.folder) for each in origins for origin in each.values() if origin.folder}
    left_out = {label: why for label, why in book.left_out.items() if label not in came}
    return SeasonResults(folder=folder, left_out=left_out, stages=stages)


def _stage_in(folder: Path, plan: PlannedStage) -> StageResults:
    """Return a stage of a season's results folder. Raises as `season_in`."""
    parts = {name: part_in(folder / name) for name in plan.parts}
    waiting = {
        name: NotBegun(folder / name).text
        for name, part in parts.items()
        if part is None and (folder / name / LEDGER).exists()
    }
    return StageResults(plan=plan, parts=tuple(part for part in parts.values() if part), waiting=waiting)


def season_folder(place: Path) -> Path | None:
    """The results folder of a season that its file or the folder itself names; None: it is no season's.

    Raises:
        WrongUse: the file is wrong.
    """
    if place.suffix == ".toml":
        return read_season(place).results if is_season(place) else None
    try:
        return place if (place / BOOK).is_file() else None
    except OSError:  # A name that is too long, for one.
        return None


def parts_in(folder: Path) -> list[Path]:
    """The results folders of a season's stages and groups that have begun, in their order.

    Raises:
        WrongUse: the folder holds no season, or none that an arena wrote.
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
    """What a results folder says of a stage's tournament; None: it has not begun.

    Raises:
        WrongUse: it is no ledger of a tournament.
        MachineCannot: it cannot be read.
    """
    path = folder / LEDGER
    if not path.exists():
        return None
    with closing(Ledger(path)) as ledger:
        if not ledger.terms():
            return None
        events = ledger.events()
    results = results_in(path)
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
    """Of all entrants, by number, as they entered."""
    later = () if results.spec is None else entered(results.spec)
    return (*results.terms["bots"], *(bot.label for bot in later))


def finishes_of(results: Results) -> tuple[Finish, ...]:
    """How its bots came out, in the order of the table; versions that were replaced are left out."""
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
    """The same with labels that no two bots have: one that entered may be called as one of another group is."""
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
