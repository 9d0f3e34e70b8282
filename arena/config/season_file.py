"""Season files: stages, each with tournaments whose field comes from an earlier stage.

A season file has a tournament's fields, which apply to all stages, and a table for each stage, whose fields
override them. All stages are checked before the first match.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain, filterfalse
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import fields, replace

from arena.config.face import Face
from arena.config.tournament_file import (
    FilePlace,
    Tournament,
    TournamentFile,
    check_face,
    labels_of_file,
    results_of,
    spec_of,
    tournament_of,
)
from arena.errors import WrongUse
from arena.quantities import seconds_in
from arena.schedule import complaint
from arena.terminal import command_line
from referee.bot_folder import TomlError, line_of, parse, read_text, read_toml_with_text
from referee.display_text import did_you_mean
from referee.host import RemoteBot
from referee.match import Positive

MOST_STAGES, MOST_GROUPS = 20, 26
NAME = r"\A[a-z0-9][a-z0-9-]{0,29}\Z"
RESERVED = frozenset({"checks", "server"})
"""Names of folders in a season's results that no stage may have."""
FIRST_HAS_ALL = "the first stage has all bots of the file"


class StageRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields of a stage that a tournament does not have."""

    name: Annotated[str, Meta(pattern=NAME)]
    """Name of the stage and its folder: lower-case letters, digits and hyphens."""
    source: str | None = field(name="from", default=None)
    """Stage that the field comes from; None: the one before it in the file."""
    top: Positive | None = None
    """Number of best bots that advance to this stage."""
    each_group: Positive | None = None
    """Number of best bots of each group that advance to this stage."""
    rest: bool = False
    """True if all bots advance that no earlier stage takes from the same source."""
    groups: Annotated[int, Meta(ge=2, le=MOST_GROUPS)] | None = None
    """Number of groups, each with its own tournament; None: one tournament."""
    draw: Literal["snake", "lots"] = "snake"
    """The distribution of bots to groups: in snake order, or by lot within pots of one bot per group."""
    vacant: Literal["next", "empty"] = "next"
    """Replacement of a withdrawn bot: the next bot moves up, or the place stays empty."""
    until: Annotated[datetime, Meta(tz=True)] | None = None
    """End of an endless ladder."""
    how_long: str | None = field(name="for", default=None)
    """Duration of an endless ladder from its first match, for example `20h`."""
    versions: Literal["kept", "new"] = "kept"
    """Versions that play: those of earlier stages, or the contents of the bots' folders at the stage's start."""


SPELLED = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
OF_THE_SEASON = frozenset(
    {"game", "bots", "seed", "results", "limits", "build_limits", "entry", "broken", "concurrency", "workers"}
    | {"notices", "server", *Face.__struct_fields__}
)
"""Fields of a tournament's file that a stage cannot override."""
FIELDS = {each.name: each for each in fields(TournamentFile)}
OF_A_STAGE = tuple(filterfalse(OF_THE_SEASON.__contains__, FIELDS))

if TYPE_CHECKING:
    StageTable = StageRules
else:
    StageTable = msgspec.defstruct(
        "StageTable",
        [(each, FIELDS[each].type | UnsetType, UNSET) for each in OF_A_STAGE],
        bases=(StageRules,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )
    """A stage's table: its rules, and the fields of a tournament's file that it overrides."""


class SeasonFile(TournamentFile, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a season file; those of a tournament's file apply to all stages."""

    stages: tuple[StageTable, ...]


class StageBot(Struct, frozen=True):
    """A bot of a stage's field."""

    label: str
    given: str
    """Name of the bot in the file, or the folder that it entered from."""
    content: str | None = None
    """Content hash of the version that played in earlier stages; None: it has not played."""
    copy: str | None = None
    """Folder of the copy that plays; None: the bot plays from `given`."""
    field: str = ""
    """Field of the file that names the bot; empty: errors name its stage."""


class Stage(Struct, frozen=True, kw_only=True):
    """A stage with valid rules."""

    number: int
    """Index of the stage in the file."""
    rules: StageRules
    form: TournamentFile
    """Fields of the stage's tournaments; the bots are those of the file."""
    source: int | None
    """Index of the stage that the field comes from; None: the field is the file's bots."""
    before: tuple[int, ...] = ()
    """Indices of the earlier stages with the same source."""

    @property
    def name(self) -> str:
        """Name of the stage."""
        return self.rules.name

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the stage's tournaments and their folders: one, or one per group."""
        if self.rules.groups is None:
            return (self.name,)
        return tuple(f"{self.name}-{chr(ord('a') + number)}" for number in range(self.rules.groups))


class Season(Struct, frozen=True, kw_only=True):
    """A season with a valid file."""

    file: Path
    text: str
    form: SeasonFile
    labels: tuple[str, ...]
    """Labels of the file's bots."""
    stages: tuple[Stage, ...]
    results: Path

    def folder(self, part: str) -> Path:
        """Return the results folder of a stage's tournament."""
        return self.results / part

    def rule_text(self, stage: Stage) -> str:
        """Describe the field of a stage.

        The stage's ledger stores this text as a term, so that a stage cannot continue with another field.
        """
        rules = stage.rules
        if stage.source is None:
            return "all bots"
        source = self.stages[stage.source].name
        if rules.top is not None:
            return f"{_best(rules.top)} of {source}"
        if rules.each_group is not None:
            where = f" in {source}" if stage.source != stage.number - 1 else ""
            return f"{_best(rules.each_group)} of each group{where}"
        if rules.rest:
            return f"the others of {source}"
        return f"all bots of {source}"


def _best(number: int) -> str:
    """Return `the winner`, `the top two`, `the top 12`."""
    if number == 1:
        return "the winner"
    return f"the top {SPELLED.get(number, number)}"


def is_season(path: Path) -> bool:
    """Return True if a file is a season's; False if it cannot be read."""
    try:
        return "stages" in parse(read_text(path))
    except TomlError:
        return False


def read_season(path: Path) -> Season:
    """Read a season's file and check all stages, as far as this is possible before the first match.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    try:
        form, text = read_toml_with_text(path, SeasonFile)
    except TomlError as error:
        if error.missing_field == "stages":
            play = command_line("tournament", path)
            raise WrongUse(f"{path}: is the file of a tournament, not of a season; play it with: {play}") from None
        raise WrongUse(str(error)) from None
    place = FilePlace(path, text)
    if not 0 < len(form.stages) <= MOST_STAGES:
        raise place.wrong("stages", f"there are {len(form.stages)}; a season has 1 to {MOST_STAGES}")
    stages = tuple(map(partial(_stage, form, place), range(len(form.stages))))
    _check_names(stages, place)
    labels = labels_of_file(replace(form, fill=None), place)
    results = results_of(path, form)
    season = Season(file=path, text=text, form=form, labels=labels, stages=stages, results=results)
    check_face(form, place)
    _check_sizes(season, place)
    return season


def tournament_of_stage(
    season: Season,
    stage: Stage,
    part: str,
    bots: Sequence[StageBot],
    *,
    seed: int | None,
    kept: Mapping[str, str],
    depends_on: Mapping[str, Any],
) -> Tournament:
    """Return a tournament of a stage.

    Args:
        season: the season.
        stage: the stage.
        part: the tournament's name, one of the stage's `parts`.
        bots: the tournament's field, in order of seeding.
        seed: seed of the schedule.
        kept: folders that replace bots that have withdrawn, by label.
        depends_on: see `Tournament.stage`.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    here = f"stages[{stage.number}]"
    source = "bots" if stage.source is None else here
    place = _place_of(season.file, season.text, stage, source)
    named: dict[str, str] = {}
    copies: dict[str, str] = {}
    for index, bot in enumerate(bots):
        named[f"bots[{index}]"] = bot.field or here
        if bot.copy is not None:
            copies[bot.label] = bot.copy
    place = replace(place, names={**place.names, **named})
    form = replace(stage.form, bots=tuple(map(attrgetter("given"), bots)), seed=seed)
    houses = labels_of_file(replace(form, bots=()), place)
    labels = (*map(attrgetter("label"), bots), *houses)
    if houses and houses[0] in labels[:-1]:
        raise place.wrong("fill", f"another bot is called {houses[0]!r}, too")
    tournament = tournament_of(form, place, labels=labels, results=season.folder(part), kept={**copies, **kept})
    for bot, found in zip(bots, tournament.bots, strict=False):
        if bot.label in copies and bot.content != found.content:
            raise place.wrong("bots", f"{bot.copy}: the copy of {bot.label} is not as it was made")
        is_kept = stage.rules.versions == "kept" and bot.content is not None
        if isinstance(found, RemoteBot) and is_kept and bot.content != found.content:
            raise place.wrong("bots", f"{bot.given}: is another key than {bot.label} has played with")
    names = list(named.values())
    if houses:
        names.append(place.names.get("fill", "fill"))
    return replace(tournament, fields=tuple(names), stage=depends_on)


def _stage(form: SeasonFile, place: FilePlace, number: int) -> Stage:
    """Return a stage with the fields of its tournaments, after checking its rules."""
    rules = form.stages[number]
    names = [each.name for each in form.stages[:number]]
    here = f"stages[{number}]"
    selections = [name for name in ("top", "each_group", "rest") if getattr(rules, name)]
    if rules.name in names:
        raise place.wrong(f"{here}.name", f"{rules.name!r} is the name of stages[{names.index(rules.name)}], too")
    if len(selections) > 1:
        first, second, *_ = selections
        raise place.wrong(
            f"{here}.{second}", f"a stage takes one of top, each_group and rest; this one also has {first}"
        )
    if number == 0:
        for name in ("source", *selections, "versions"):
            if getattr(rules, name) not in {None, "kept"}:
                raise place.wrong(f"{here}.{'from' if name == 'source' else name}", FIRST_HAS_ALL)
    elif rules.source is not None and rules.source not in names:
        near = did_you_mean(rules.source, names, "stages before it")
        raise place.wrong(f"{here}.from", f"no stage before it is called {rules.source!r}; {near}")
    source = _source(form, number) if number > 0 else None
    if rules.each_group and source is not None and form.stages[source].groups is None:
        raise place.wrong(f"{here}.each_group", f"{names[source]} has no groups")
    known = {name: getattr(form, name) for name in FIELDS}
    own = {name: value for name in OF_A_STAGE if (value := getattr(rules, name)) is not UNSET}
    before = [
        other for other in range(1, number) if _source(form, other) == source and not form.stages[other].rest
    ]
    if rules.rest and not before:
        raise place.wrong(f"{here}.rest", f"no stage before it takes bots from {names[source or 0]}")
    stage_form = TournamentFile(**known | own)
    _check_end(rules, stage_form, here, place, f"{here}.endless" if "endless" in own else "endless")
    return Stage(number=number, rules=rules, form=stage_form, source=source, before=tuple(before))


def _check_end(rules: StageRules, form: TournamentFile, here: str, place: FilePlace, endless: str) -> None:
    """Check that a stage has an end; `endless` is the place of that field in the file.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    given: list[str] = []
    for name, value in (("until", rules.until), ("for", rules.how_long)):
        if value is not None:
            given.append(name)
    if not form.endless:
        if given:
            raise place.wrong(f"{here}.{given[0]}", 'is for format = "ladder" with endless = true')
        return
    if not given:
        raise place.wrong(endless, 'a stage has an end: give it until = 2026-12-24T18:00:00Z, or for = "20h"')
    if len(given) > 1:
        raise place.wrong(f"{here}.for", "a stage has one end, and this one has until, too")
    if rules.how_long is not None and not seconds_in(rules.how_long):
        raise place.wrong(f"{here}.for", f"{rules.how_long!r} is not a time, such as 90s, 30m, 20h or 7d")
    if rules.groups is not None:
        raise place.wrong(f"{here}.groups", "a ladder without an end is played in one group")


def _source(form: SeasonFile, number: int) -> int:
    """Return the index of the stage that a stage's field comes from; not for the first stage."""
    given = form.stages[number].source
    if given is None:
        return number - 1
    return [each.name for each in form.stages].index(given)


def _check_names(stages: Sequence[Stage], place: FilePlace) -> None:
    """Check that all tournaments have different folders."""
    used = set(RESERVED)
    for stage in stages:
        for part in stage.parts:
            if part in used:
                raise place.wrong(f"stages[{stage.number}].name", f"the folder {part} is another's")
            used.add(part)


def _check_sizes(season: Season, place: FilePlace) -> None:
    """Check that each stage gets a number of bots that its format accepts."""
    sizes: list[list[int]] = []
    for stage in season.stages:
        here = f"stages[{stage.number}]"
        rules, total = stage.rules, len(season.form.bots)
        if stage.source is not None:
            of = sizes[stage.source]
            total = sum(of)
            if rules.top is not None:
                if rules.top > total:
                    raise place.wrong(f"{here}.top", f"{season.stages[stage.source].name} has {total} bots")
                total = rules.top
            elif rules.each_group is not None:
                if rules.each_group > min(of):
                    raise place.wrong(f"{here}.each_group", f"a group has {min(of)} bots")
                total = rules.each_group * len(of)
            elif rules.rest:
                taken = chain.from_iterable(map(sizes.__getitem__, stage.before))
                total = max(0, total - sum(taken))
        count = rules.groups or 1
        sizes.append([total // count + (group < total % count) for group in range(count)])
        _check_field(season, stage, set(sizes[-1]))


def _check_field(season: Season, stage: Stage, sizes: set[int]) -> None:
    here = f"stages[{stage.number}]"
    source = here
    if stage.rules.groups:
        source = f"{here}.groups"
    elif stage.source is None:
        source = "bots"
    place = _place_of(season.file, season.text, stage, source)
    for size in sorted(sizes):
        spec = replace(spec_of(stage.form, place), entrants=size)
        if wrong := complaint(spec, stage.form.game):
            raise place.wrong(*wrong)


def _place_of(path: Path, text: str, stage: Stage, bots: str) -> FilePlace:
    """Return the places of a stage's fields in the file; `bots` is the field that names its bots."""
    here, common = f"stages[{stage.number}]", parse(text)
    names = {"bots": bots}
    for name in OF_A_STAGE:
        if getattr(stage.rules, name) is not UNSET or name not in common:
            names[name] = f"{here}.{name}"
    return FilePlace(path, text, names)


def stage_line(season: Season, stage: Stage) -> str:
    """Return where the file has a stage, such as `league.toml:7: stages[1]`."""
    here = f"stages[{stage.number}]"
    return f"{season.file}:{line_of(season.text, here)}: {here}"
