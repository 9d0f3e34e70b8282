"""The file that describes a tournament, read and checked before anything is played."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from arena.config.caps import BotCaps, Caps, EntryCaps
from arena.config.entries import Entry, find_entry, find_remote
from arena.config.labels import difference, first_alike, label_of, labels_of
from arena.config.notices import Notices, url_complaint
from arena.errors import WrongUse
from arena.output_folders import default_folder
from arena.schedule import (
    FILE_FIELDS,
    Event,
    FormatName,
    Schedule,
    ScheduleSpec,
    complaint,
    entered,
    format_of,
    labels_now,
)
from arena.terminal import command_line
from protocol.words import Options
from referee.bot_folder import (
    BotFolder,
    BotFolderError,
    BotName,
    TomlError,
    folder_name,
    is_remote,
    line_of,
    read_bot_name,
    read_text,
    read_toml_with_text,
)
from referee.games import GAMES
from referee.host import Plan, RemoteBot, can_stay, cannot_play
from referee.match import BadClockError, ClockTable, Policy, Positive, clock_terms
from referee.rules import BadSetupError, Game
from referee.sandbox import Isolation
from referee.suggestions import did_you_mean, with_known_options

THE_ARENA = "the arena"
"""No bot is called so: the terms of a tournament have the content of the arena and of each bot by its label."""
HOUSE_MARK = " (house)"
"""Ends the label of the bot that fills seats."""


Broken = Literal["stop", "leave-out"]
"""It does not begin, or it is played without that bot."""
MOST_WAIT_SECONDS = 30 * 86_400
MOST_CREDIT_MS = 10_000


class RemoteTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How remote bots are waited for: the table `[remote]`."""

    wait: Annotated[float, Meta(ge=1, le=MOST_WAIT_SECONDS)] = 600
    """A bot that is not connected for so many seconds is not waited for any more: its matches begin without it."""
    credit_ms: Annotated[int, Meta(ge=0, le=MOST_CREDIT_MS)] = 0
    """The most of a bot's network delay that is not charged to it, in each of its windows."""


class WorkerTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the referee processes of this machine play: the table `[workers]`."""

    affinity: bool = False
    """Whether each of them, with its bots, has cores of its own."""


class TournamentFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of the file. Paths in it are relative to its own folder."""

    game: str
    bots: tuple[str, ...]
    """Folders, `FOLDER@REVISION`, built-in bots' names, or `remote:FILE` for a bot that comes with a key."""
    variant: str | None = None
    """None: the game's default."""
    options: dict[str, Any] = {}
    format: FormatName = "round_robin"
    blocks: Positive = 1
    """How many blocks each pair plays when it meets; with more than two seats, how many rounds, in each of which
    every bot plays one block. A block is one deal, played once in each seating."""
    rounds: Positive | None = None
    """How many rounds, in formats that take this field; each format says what None means."""
    heads: Positive | None = None
    """How many bots, the first ones, play all the others, in formats that take this field; None: one."""
    rotations: Positive | None = None
    """With more than two seats: how many of its seatings a block plays; None: as many as there are seats."""
    endless: bool = False
    """Whether a ladder goes on while there is time."""
    period: Positive | None = None
    """How many blocks a period of such a ladder has; None: `arena.schedule.waves.PERIOD`."""
    accuracy: Positive | None = None
    """The standard error, in Elo, at which a bot needs no more matches; None: `arena.schedule.choice.ACCURACY`."""
    old_versions: Positive | None = None
    """How many versions before a bot's latest stay as opponents on such a ladder; None: none."""
    budget_s: Positive | None = None
    """How many seconds its clocks may charge a bot in a period of such a ladder; None: no limit."""
    fill: str | None = None
    """The house's bot, which takes the seats that are left over: with more than two seats, and in formats of two
    that take this field."""
    seed: int | None = None
    """None: drawn when the tournament begins, and kept with its results."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """All times of a match; None: as the rules give them, but for what the policy sets."""
    limits: Caps = Caps()
    """The most that a bot's bot.toml may ask for in its table of this name."""
    build_limits: Caps = Caps()
    """The same for those that are built."""
    entry: EntryCaps = EntryCaps()
    """The most that a bot's folder may hold."""
    remote: RemoteTerms = RemoteTerms()
    """Of bots on their authors' own machines."""
    isolation: Isolation = "strict"
    warm: bool = True
    """Whether Python bots are forked from a process that holds the kit: as well shut in, and sooner there."""
    broken: Broken = "stop"
    """What becomes of the tournament if a bot cannot start before its first match."""
    entries_until: Annotated[datetime, Meta(tz=True)] | None = None
    """Until when bots may enter once it has begun, or come in new versions; None: as long as it is played."""
    concurrency: Positive | None = None
    """Matches at once; None: one for each core."""
    workers: WorkerTerms = WorkerTerms()
    results: str | None = None
    """Folder for ledger and transcripts; None: `runs/NAME` beside the file."""
    notices: Notices | None = None
    """Whom to tell that something went wrong, or that all is played; None: `--notify` says."""


class Tournament(Struct, frozen=True, kw_only=True):
    """A tournament whose file has been found right."""

    file: Path
    form: TournamentFile
    variant: str
    options: Options
    """All options in force."""
    seats: int
    bots: tuple[Entry, ...]
    """Those who compete and, last, the house's, if it fills seats."""
    labels: tuple[str, ...]
    """What the bots are called: unique, and fit to be shown."""
    results: Path
    left_out: Mapping[str, str] = {}
    """The bots that the file names and that do not play, for they could not start: by label, why."""
    changes: tuple[Event, ...] = ()
    """What changed since it was begun. `bots` and `labels` go on with those that entered."""
    fields: tuple[str, ...] = ()
    """Where the file names each bot, the house's last; empty: in `bots` and `fill`."""
    stage: Mapping[str, Any] = {}
    """Of a season's stage: what its field and its results depend on beside the rest, as plain values by name."""

    ends: datetime | None = None
    """When a season's stage that is a ladder without an end is over; None: it has another end, or none."""

    @property
    def house(self) -> int | None:
        """The number of the bot that fills seats, if there is one."""
        return None if self.form.fill is None else len(self.form.bots)

    @property
    def kept(self) -> tuple[str, ...]:
        """The bots that stay in their processes from match to match."""
        if self.form.policy.processes != "kept":
            return ()
        named = zip(self.labels, self.bots, strict=True)
        return tuple(label for label, bot in named if isinstance(bot, BotFolder) and can_stay(bot))

    @property
    def folders(self) -> tuple[BotFolder, ...]:
        """The bots that play on this machine."""
        return tuple(bot for bot in self.bots if isinstance(bot, BotFolder))

    @property
    def remote(self) -> tuple[RemoteBot, ...]:
        """The bots that come with a key."""
        return tuple(bot for bot in self.bots if isinstance(bot, RemoteBot))

    @property
    def entries_until(self) -> str | None:
        """Until when bots may enter, in UTC, by the file."""
        until = self.form.entries_until
        return None if until is None else until.astimezone(UTC).isoformat(timespec="seconds")

    @property
    def rotations(self) -> int:
        """How many matches a block has."""
        return self.form.rotations or self.seats

    @property
    def spec(self) -> ScheduleSpec:
        """The fields of the file that the schedule depends on."""
        return replace(_spec(self.form, self.seats), changes=self.changes)

    @property
    def shown(self) -> tuple[str, ...]:
        """The labels as tables have them: they say who has withdrawn."""
        return labels_now(self.spec, self.labels[: self.spec.entrants + self.spec.filled])

    @property
    def schedule(self) -> Schedule:
        """Who plays whom."""
        return format_of(self.spec).schedule(self.spec)

    def plan(self) -> Plan:
        """What every match has in common. Name and seed are the schedule's to fill in."""
        return Plan(
            match="",
            game=self.form.game,
            variant=self.variant,
            seed=0,
            options=Raw(msgspec.json.encode(self.options)),
            policy=self.form.policy,
            clock=self.form.clock,
            isolation=self.form.isolation,
            credit_ms=self.form.remote.credit_ms,
            warm=self.form.warm,
        )


def read_tournament(path: Path, kept: Mapping[str, str] | None = None) -> Tournament:
    """Reads a tournament's file, and finds its bots.

    Args:
        path: the file's.
        kept: folders that stand for bots of the file, by label.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    form, text = _read_form(path)
    place = FilePlace(path, text)
    labels = labels_of_file(form, place)
    return tournament_of(form, place, labels=labels, results=results_of(path, form), kept=kept or {})


def read_form(path: Path) -> TournamentFile:
    """The fields of a tournament's file.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    return _read_form(path)[0]


def _read_form(path: Path) -> tuple[TournamentFile, str]:
    """Return the fields of a tournament's file, and its text. Raises as `read_form`."""
    try:
        return read_toml_with_text(path, TournamentFile)
    except TomlError as error:
        if ": stages: is not a known field" in str(error):
            play = command_line("season", path)
            raise WrongUse(f"{path}: is the file of a season, not of a tournament; play it with: {play}") from None
        raise WrongUse(str(error)) from None


def tournament_of(
    form: TournamentFile,
    place: "FilePlace",
    *,
    labels: Sequence[str],
    results: Path,
    kept: Mapping[str, str],
) -> Tournament:
    """The tournament of a form whose fields have the right types.

    Args:
        form: its fields.
        place: where errors are said to be.
        labels: what its bots and last the house's are called.
        results: its folder.
        kept: folders that stand for bots of the form, by label.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    game = _game(form, place)
    variant = _variant(form, game, place)
    options = _options(form, game, variant, place)
    _check_clock(form, game, variant, place)
    _check_notices(form, place)
    seats = game.seats(options)
    if wrong := complaint(_spec(form, seats), form.game):
        raise place.wrong(*wrong)
    house = () if form.fill is None else (_bot("fill", form.fill, form, place),)
    bots = (
        _bot(f"bots[{index}]", name, form, place, kept.get(labels[index])) for index, name in enumerate(form.bots)
    )
    tournament = Tournament(
        file=place.path,
        form=form,
        variant=variant,
        options=options,
        seats=seats,
        bots=(*bots, *house),
        labels=tuple(labels),
        results=results,
    )
    _check_remote(tournament, place)
    return tournament


def without(tournament: Tournament, left_out: Mapping[str, str]) -> Tournament:
    """The same tournament as if its file did not name these bots, of which it is known why they cannot start.

    Raises:
        WrongUse: without them there is no such tournament.
    """
    form = tournament.form
    if not left_out:
        return tournament
    stay = [index for index, label in enumerate(tournament.labels) if label not in left_out]
    of_file = [index for index in stay if index != tournament.house]
    # The first bots are the heads: who comes after them must not become one.
    heads = form.heads and sum(index < form.heads for index in of_file)
    rest = replace(form, bots=tuple(form.bots[index] for index in of_file), heads=heads)
    names = ", ".join(left_out)
    if tournament.house is not None and tournament.house not in stay:
        raise WrongUse(f"{entry_place(tournament, tournament.house)}: the house's bot cannot be left out: {names}")
    if heads == 0 or (form.format == "gauntlet" and 0 not in stay and form.heads is None):
        raise WrongUse(f"{tournament.file}: heads: none is left without {names}")
    if wrong := complaint(_spec(rest, tournament.seats), form.game):
        raise WrongUse(f"{tournament.file}: without {names}: {wrong[0]}: {wrong[1]}")
    return replace(
        tournament,
        form=rest,
        bots=tuple(tournament.bots[index] for index in stay),
        labels=tuple(tournament.labels[index] for index in stay),
        fields=tuple(tournament.fields[index] for index in stay) if tournament.fields else (),
        left_out=left_out,
    )


def with_changes(tournament: Tournament, bots: Sequence[Entry], changes: Sequence[Event]) -> Tournament:
    """The tournament after these changes; `bots`: those that entered, in order."""
    after = replace(tournament, changes=tuple(changes))
    return replace(
        after,
        bots=(*tournament.bots, *bots),
        labels=(*tournament.labels, *(bot.label for bot in entered(after.spec))),
    )


def bot_name_of(tournament: Tournament, number: int) -> BotName:
    """Return the name of a bot of the file, seen from the current folder."""
    return read_bot_name(tournament.form.bots[number], tournament.file.parent)


def find_entrant(tournament: Tournament, name: BotName, called: str | None = None) -> Entry:
    """Find a bot that may enter a tournament.

    Args:
        tournament: that it is to play.
        name: of the bot.
        called: what an error calls it, if not by its name.

    Raises:
        BotFolderError: it may not. One line says why.
    """
    if name.is_remote:
        bot = find_remote(name)
        if why := cannot_play(tournament.plan(), [bot], [bot.key]):
            raise BotFolderError(f"{name.given}: {why}")
        return bot
    return find_entry(name, tournament.form.game, _caps(tournament.form), called)


def _caps(form: TournamentFile) -> BotCaps:
    """The most that its bots may ask for."""
    return BotCaps(limits=form.limits, build_limits=form.build_limits, entry=form.entry)


def entry_place(tournament: Tournament, entrant: int) -> str:
    """Where a tournament's file names an entrant: `cup.toml:3: bots[1]`."""
    field = "fill" if entrant == tournament.house else f"bots[{entrant}]"
    field = tournament.fields[entrant] if tournament.fields else field
    return _field_place(tournament.file, field)


def _field_place(file: Path, field: str) -> str:
    try:
        line = line_of(read_text(file), field)
    except TomlError:  # It was there when the tournament was read.
        return f"{file}: {field}"
    return f"{file}:{line}: {field}"


def affinity_place(tournament: Tournament) -> str | None:
    """Return where a tournament's file gives workers cores of their own; None: it does not."""
    if not tournament.form.workers.affinity:
        return None
    return _field_place(tournament.file, "workers.affinity")


def results_of(path: Path, form: TournamentFile) -> Path:
    """The folder that a tournament's file puts its results in."""
    if form.results is None:
        return Path(normpath(default_folder(f"runs/{path.stem}", path.parent)))
    # Without the `..` that a file in a folder of examples needs: this path is shown to people.
    return Path(normpath(path.parent / form.results))


class FilePlace(Struct, frozen=True):
    """A file, for naming places in it."""

    path: Path
    text: str
    names: Mapping[str, str] = {}
    """Where the file has a field of a form, if that is elsewhere than under its own name."""

    def wrong(self, field: str, what: str) -> WrongUse:
        """What is wrong with a field, on one line."""
        first = re.split(r"[.\[]", field, maxsplit=1)[0]
        if field in self.names or first in self.names:
            field = self.names.get(field) or f"{self.names[first]}{field.removeprefix(first)}"
        return WrongUse(f"{self.path}:{line_of(self.text, field)}: {field}: {what}")


def _game(form: TournamentFile, place: FilePlace) -> Game[Any]:
    if form.game not in GAMES:
        raise place.wrong("game", f"there is no {form.game!r}; {did_you_mean(form.game, GAMES, 'games')}")
    return GAMES[form.game]


def _variant(form: TournamentFile, game: Game[Any], place: FilePlace) -> str:
    names = [variant.name for variant in game.variants]
    if form.variant is not None and form.variant not in names:
        near = did_you_mean(form.variant, names, "variants")
        raise place.wrong("variant", f"{game.name} has no {form.variant!r}; {near}")
    return form.variant or names[0]


def _options(form: TournamentFile, game: Game[Any], variant: str, place: FilePlace) -> Options:
    try:
        return game.read_options(variant, Raw(msgspec.json.encode(form.options)))
    except BadSetupError as error:
        what = str(error).removeprefix("options: ")
        key = re.search(r" - at `\$\.?(.*)`$| `(\w+)`$", what)
        field = f"options.{key[1] or key[2]}" if key else "options"
        what = with_known_options(re.sub(r" - at `.*`$", "", what), game.options)
        raise place.wrong(field, what) from None


def spec_of(form: TournamentFile, place: FilePlace) -> ScheduleSpec:
    """The fields of a form that the schedule depends on.

    Raises:
        WrongUse: the game, its variant or options are none.
    """
    game = _game(form, place)
    variant = _variant(form, game, place)
    return _spec(form, game.seats(_options(form, game, variant, place)))


def _spec(form: TournamentFile, seats: int) -> ScheduleSpec:
    """The fields of the file that the schedule depends on."""
    fields = {name: getattr(form, name) for name in FILE_FIELDS}
    remote = tuple(number for number, bot in enumerate(form.bots) if is_remote(bot))
    return ScheduleSpec(
        entrants=len(form.bots), seats=seats, filled=form.fill is not None, remote=remote, **fields
    )


def _check_clock(form: TournamentFile, game: Game[Any], variant: str, place: FilePlace) -> None:
    """That the table makes a clock of the game's windows, and that the policy leaves the times to it."""
    try:
        clock_terms(game, variant, form.policy, form.clock)
    except BadClockError as error:
        raise place.wrong(error.field, error.what) from None


def _check_notices(form: TournamentFile, place: FilePlace) -> None:
    url = None if form.notices is None else form.notices.url
    if url is not None and (wrong := url_complaint(url)):
        raise place.wrong("notices.url", wrong)


def _check_remote(tournament: Tournament, place: FilePlace) -> None:
    """That bots on other machines can play under these terms, each with a key of its own."""
    keys = [bot.key for bot in tournament.remote]
    for number, bot in enumerate(tournament.bots):
        if isinstance(bot, RemoteBot) and keys.count(bot.key) > 1:
            raise place.wrong(f"bots[{number}]", "another bot has the same key")
    if why := cannot_play(tournament.plan(), tournament.remote, keys):
        field, _, what = why.partition(": ")
        raise place.wrong("policy.ponder" if field == "ponder" else field, what)


def _bot(field: str, text: str, form: TournamentFile, place: FilePlace, kept: str | None = None) -> Entry:
    """The bot that a field names; `kept`: the folder that stands for it."""
    name = read_bot_name(text, place.path.parent)
    if name.is_remote and field == "fill":
        raise place.wrong(field, "the house's bot plays on this machine")
    if name.kind == "console":
        raise place.wrong(field, "a person plays single matches only: arena match")
    if kept is None and (link := name.first_link()):
        what = "file" if name.is_remote else "folder"
        raise place.wrong(field, f"{text!r}: {link} is a symbolic link; name the {what} that it leads to")
    try:
        if name.is_remote:
            return find_remote(name)
        found = name if kept is None else folder_name(Path(kept))
        return find_entry(found, form.game, _caps(form), repr(text))
    except BotFolderError as error:
        raise place.wrong(field, str(error)) from None


def labels_of_file(form: TournamentFile, place: FilePlace) -> tuple[str, ...]:
    """Return what each bot, and last the house's, is called.

    Raises:
        WrongUse: two labels look alike, or one is reserved.
    """
    for index, name in enumerate(form.bots):
        if name in form.bots[:index]:
            raise place.wrong(f"bots[{index}]", f"{name!r} is given twice")
    labels = labels_of(form.bots, place.path.parent)
    if form.fill is not None:
        labels.append(f"{label_of(form.fill, place.path.parent)}{HOUSE_MARK}")
    if THE_ARENA in labels:
        field = _field(form, labels.index(THE_ARENA))
        raise place.wrong(field, f"{THE_ARENA!r} is the name of the arena's own content")
    if alike := first_alike(labels):
        label, other, before = labels[alike[1]], labels[alike[0]], _field(form, alike[0])
        text = f"{label!r} looks like {other!r}, {before}: {difference(label, other)}"
        if label == other:
            text = f"{label!r} is the name of {before}, too"
        raise place.wrong(_field(form, alike[1]), f"{text}; give one of the two another name")
    return tuple(labels)


def _field(form: TournamentFile, number: int) -> str:
    """Return the field that names a bot of the file, or the house."""
    return f"bots[{number}]" if number < len(form.bots) else "fill"
