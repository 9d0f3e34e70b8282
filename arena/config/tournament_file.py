"""Tournament files, and the tournaments that they describe."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress
from operator import attrgetter
from os.path import normpath
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from arena.config.entries import (
    BotCaps,
    Caps,
    Entry,
    EntryCaps,
    difference,
    find_entry,
    find_remote,
    first_alike,
    label_of,
    labels_of,
)
from arena.config.face import BadFaceError, Face, image_of, url_complaint
from arena.config.server_terms import ServerTerms
from arena.errors import WrongUse
from arena.options import default_folder
from arena.schedule import (
    FILE_FIELDS,
    FieldChange,
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
from referee.display_text import did_you_mean, with_known_options
from referee.games import GAMES
from referee.host import Plan, RemoteBot, can_stay, cannot_play
from referee.match import BadClockError, ClockTable, Policy, Positive, clock_terms
from referee.rules import AnyGame, BadSetupError
from referee.sandbox import Isolation

THE_ARENA = "the arena"
"""Reserved label: a tournament's terms list content hashes by label, and the arena's own under this one."""
HOUSE_MARK = " (house)"
"""Suffix of the label of the house's bot, which fills seats."""

Broken = Literal["stop", "leave-out"]
"""Consequence of a bot that cannot start: the tournament does not begin, or is played without the bot."""
NoticeEvent = Literal["stopped", "void", "failing", "over", "judging"]
"""The arena stopped early; consecutive blocks were void; a bot failed repeatedly; all matches are played; a team's
submission could not be judged."""
NOTICE_EVENTS: tuple[NoticeEvent, ...] = get_args(NoticeEvent)
MOST_WAIT_SECONDS = 30 * 86_400
MOST_CREDIT_MS = 10_000


class RemoteTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[remote]`: terms for remote bots."""

    wait: Annotated[float, Meta(ge=1, le=MOST_WAIT_SECONDS)] = 600
    """Maximum seconds to wait for a disconnected bot; its matches then begin without it."""
    credit_ms: Annotated[int, Meta(ge=0, le=MOST_CREDIT_MS)] = 0
    """Maximum network delay per window that is not charged to a bot, in milliseconds."""


class WorkerTerms(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[workers]`: terms for the referee processes of this machine."""

    affinity: bool = False
    """True if each worker and its bots have their own cores."""


class Notices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table `[notices]`. Results do not depend on it, and the ledger does not store it."""

    url: str | None = None
    """URL to which notices are posted, possibly with a secret in it; None: the URL of `--notify`."""
    events: tuple[NoticeEvent, ...] = NOTICE_EVENTS
    void_after: Positive = 3
    """Number of consecutive void blocks that causes a notice; each further doubling causes another."""
    failing_after: Positive = 5
    """Number of matches with a bot's faults that causes a notice; each further doubling causes another."""

    def __repr__(self) -> str:
        """Return a representation without the URL, which may be secret."""
        return f"Notices(events={self.events}, void_after={self.void_after}, failing_after={self.failing_after})"


class TournamentFile(Face, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a tournament file. Paths in it are relative to its folder."""

    game: str
    bots: tuple[str, ...]
    """Folders, `FOLDER@REVISION`, names of built-in bots, or `remote:FILE` for a bot with a key."""
    variant: str | None = None
    """Variant of the game; None: the default."""
    options: Mapping[str, Any] = {}
    format: FormatName = "round_robin"
    blocks: Positive = 1
    """Number of blocks for each pair that meets; with more than two seats, of rounds in which every bot plays one
    block. A block is one deal, played once in each seating."""
    rounds: Positive | None = None
    """Number of rounds, in formats with this field; the meaning of None depends on the format."""
    heads: Positive | None = None
    """Number of bots, from the first, that play all the others, in formats with this field; None: one."""
    rotations: Positive | None = None
    """Number of seatings that a block plays with more than two seats; None: the number of seats."""
    endless: bool = False
    """True if a ladder has no last round."""
    period: Positive | None = None
    """Number of blocks per period of an endless ladder; None: `arena.schedule.waves.PERIOD`."""
    accuracy: Positive | None = None
    """Standard error, in Elo, below which a bot needs no more matches; None: `arena.schedule.waves.ACCURACY`."""
    old_versions: Positive | None = None
    """Number of a bot's earlier versions that stay as opponents on an endless ladder; None: none."""
    budget_s: Positive | None = None
    """Maximum charged seconds per bot and period of an endless ladder; None: no limit."""
    fill: str | None = None
    """The house's bot, which takes left-over seats with more than two seats, and in formats of two seats with this
    field."""
    seed: int | None = None
    """Seed of the schedule; None: drawn when the tournament begins, and stored with its results."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """All times of a match; None: the rules' times, except those that the policy sets."""
    limits: Caps = Caps()
    """Caps on the table `[limits]` of a bot.toml."""
    build_limits: Caps = Caps()
    """Caps on the table `[build_limits]` of a bot.toml."""
    entry: EntryCaps = EntryCaps()
    """Caps on the contents of a bot's folder."""
    remote: RemoteTerms = RemoteTerms()
    """Terms for bots on their authors' own machines."""
    isolation: Isolation = "strict"
    warm: bool = True
    """True if Python bots are forked from a process that has imported the kit: equally confined, but faster."""
    broken: Broken = "stop"
    """Consequence of a bot that cannot start before the first match."""
    entries_until: Annotated[datetime, Meta(tz=True)] | None = None
    """Deadline for new bots and versions after the start; None: until the end."""
    concurrency: Positive | None = None
    """Number of matches at once; None: one per core."""
    workers: WorkerTerms = WorkerTerms()
    results: str | None = None
    """Folder for ledger and transcripts; None: `runs/NAME` in the file's folder."""
    notices: Notices | None = None
    """Notices to the host; None: the URL of `--notify`."""
    server: ServerTerms = ServerTerms()
    """Terms for teams that hand in their bots over the web. Results do not depend on it."""


class Tournament(Struct, frozen=True, kw_only=True):
    """A tournament with a valid file, and its bots."""

    file: Path
    form: TournamentFile
    variant: str
    options: Options
    """All options of the game, with defaults filled in."""
    seats: int
    bots: tuple[Entry, ...]
    """Competing bots and, last, the house's bot if there is one."""
    labels: tuple[str, ...]
    """Unique printable labels, indexed as `bots`."""
    results: Path
    left_out: Mapping[str, str] = {}
    """Bots of the file that do not play because they cannot start: reason by label."""
    changes: tuple[FieldChange, ...] = ()
    """Changes since the start. Bots that entered follow at the end of `bots` and `labels`."""
    fields: tuple[str, ...] = ()
    """Field of the file that names each bot, the house's last; empty: `bots` and `fill`."""
    stage: Mapping[str, Any] = {}
    """Further terms of a season's stage that its field and results depend on, as plain values by name."""
    ends: datetime | None = None
    """End of a season's stage that is an endless ladder; None for all others."""

    @property
    def house(self) -> int | None:
        """Index of the house's bot, or None."""
        if self.form.fill is None:
            return None
        return len(self.form.bots)

    @property
    def kept(self) -> tuple[str, ...]:
        """Labels of the bots whose processes stay from match to match."""
        if self.form.policy.processes != "kept":
            return ()
        named = zip(self.labels, self.bots, strict=True)
        return tuple(label for label, bot in named if isinstance(bot, BotFolder) and can_stay(bot))

    @property
    def folders(self) -> tuple[BotFolder, ...]:
        """Bots that play on this machine."""
        return tuple(bot for bot in self.bots if isinstance(bot, BotFolder))

    @property
    def remote(self) -> tuple[RemoteBot, ...]:
        """Bots that play on their authors' machines."""
        return tuple(bot for bot in self.bots if isinstance(bot, RemoteBot))

    @property
    def entries_until(self) -> str | None:
        """The file's deadline for entries in ISO format and UTC, or None."""
        until = self.form.entries_until
        if until is None:
            return None
        return until.astimezone(UTC).isoformat(timespec="seconds")

    @property
    def rotations(self) -> int:
        """Number of matches per block."""
        return self.form.rotations or self.seats

    @property
    def spec(self) -> ScheduleSpec:
        """Fields of the file that the schedule depends on, with the changes so far."""
        return replace(_spec(self.form, self.seats), changes=self.changes)

    @property
    def shown(self) -> tuple[str, ...]:
        """Labels for tables, which mark bots that have withdrawn."""
        return labels_now(self.spec, self.labels[: self.spec.entrants + self.spec.filled])

    @property
    def schedule(self) -> Schedule:
        """Schedule of the format."""
        return format_of(self.spec).schedule(self.spec)

    def plan(self) -> Plan:
        """Return the plan of all matches; the schedule fills in name and seed."""
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
    """Read a tournament's file and find its bots.

    Args:
        path: the file.
        kept: folders that replace bots of the file, by label.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    form, text = _read_form(path)
    place = FilePlace(path, text)
    labels = labels_of_file(form, place)
    return tournament_of(form, place, labels=labels, results=results_of(path, form), kept=kept or {})


def read_form(path: Path) -> TournamentFile:
    """Read the fields of a tournament's file.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    return _read_form(path)[0]


def _read_form(path: Path) -> tuple[TournamentFile, str]:
    """Read the fields and the text of a tournament's file. Raises as `read_form`."""
    try:
        return read_toml_with_text(path, TournamentFile)
    except TomlError as error:
        if error.unknown_field == "stages":
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
    """Return the tournament of a form: check its values and find its bots.

    Args:
        form: the fields.
        place: the file that errors name.
        labels: labels of the bots, the house's last.
        results: the results folder.
        kept: folders that replace bots of the form, by label.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    game = _game(form, place)
    variant = _variant(form, game, place)
    options = _options(form, game, variant, place)
    _check_clock(form, game, variant, place)
    _check_notices(form, place)
    check_face(form, place)
    seats = game.seats(options)
    if wrong := complaint(_spec(form, seats), form.game):
        raise place.wrong(*wrong)
    house = _bot("fill", form.fill, form, place) if form.fill is not None else None
    bots: list[Entry] = []
    for index, name in enumerate(form.bots):
        bots.append(_bot(f"bots[{index}]", name, form, place, kept.get(labels[index])))
    if house is not None:
        bots.append(house)
    tournament = Tournament(
        file=place.path,
        form=form,
        variant=variant,
        options=options,
        seats=seats,
        bots=tuple(bots),
        labels=tuple(labels),
        results=results,
    )
    _check_remote(tournament, place)
    return tournament


def without(tournament: Tournament, left_out: Mapping[str, str]) -> Tournament:
    """Return the tournament without the bots in `left_out`, which has the reason by label.

    Raises:
        WrongUse: the remaining bots do not make a valid tournament.
    """
    form = tournament.form
    if not left_out:
        return tournament
    stay = [label not in left_out for label in tournament.labels]
    # The first bots are the heads. Bots after them must not become heads.
    heads = form.heads and sum(stay[: form.heads])
    rest = replace(form, bots=tuple(compress(form.bots, stay)), heads=heads)
    names = ", ".join(left_out)
    if tournament.house is not None and not stay[tournament.house]:
        raise WrongUse(f"{entry_place(tournament, tournament.house)}: the house's bot cannot be left out: {names}")
    if heads == 0 or (form.format == "gauntlet" and not stay[0] and form.heads is None):
        raise WrongUse(f"{tournament.file}: heads: none is left without {names}")
    if wrong := complaint(_spec(rest, tournament.seats), form.game):
        raise WrongUse(f"{tournament.file}: without {names}: {wrong[0]}: {wrong[1]}")
    return replace(
        tournament,
        form=rest,
        bots=tuple(compress(tournament.bots, stay)),
        labels=tuple(compress(tournament.labels, stay)),
        fields=tuple(compress(tournament.fields, stay)),
        left_out=left_out,
    )


def with_changes(tournament: Tournament, bots: Sequence[Entry], changes: Sequence[FieldChange]) -> Tournament:
    """Return the tournament after these changes; `bots` are those that entered, in order."""
    after = replace(tournament, changes=tuple(changes))
    labels = map(attrgetter("label"), entered(after.spec))
    return replace(after, bots=(*tournament.bots, *bots), labels=(*tournament.labels, *labels))


def bot_name_of(tournament: Tournament, number: int) -> BotName:
    """Return the name of a bot of the file, relative to the current folder."""
    return read_bot_name(tournament.form.bots[number], tournament.file.parent)


def find_entrant(tournament: Tournament, name: BotName, called: str | None = None) -> Entry:
    """Find a bot and check that it may enter a tournament.

    Args:
        tournament: the tournament.
        name: the bot's name.
        called: name of the bot in errors, if not `name`.

    Raises:
        BotFolderError: one line with the reason why it may not.
    """
    if name.is_remote:
        bot = find_remote(name)
        if why := cannot_play(tournament.plan(), [bot], [bot.key]):
            raise BotFolderError(f"{name.given}: {why}")
        return bot
    return find_entry(name, tournament.form.game, _caps(tournament.form), called)


def _caps(form: TournamentFile) -> BotCaps:
    """Return the caps that a form has on its bots."""
    return BotCaps(limits=form.limits, build_limits=form.build_limits, entry=form.entry)


def entry_place(tournament: Tournament, entrant: int) -> str:
    """Return where a tournament's file names an entrant, such as `cup.toml:3: bots[1]`."""
    field = f"bots[{entrant}]"
    if tournament.fields:
        field = tournament.fields[entrant]
    elif entrant == tournament.house:
        field = "fill"
    return _field_place(tournament.file, field)


def _field_place(file: Path, field: str) -> str:
    try:
        line = line_of(read_text(file), field)
    except TomlError:  # The file has changed since the tournament was read.
        return f"{file}: {field}"
    return f"{file}:{line}: {field}"


def affinity_place(tournament: Tournament) -> str | None:
    """Return where a tournament's file gives workers their own cores, or None if it does not."""
    if not tournament.form.workers.affinity:
        return None
    return _field_place(tournament.file, "workers.affinity")


def results_of(path: Path, form: TournamentFile) -> Path:
    """Return the results folder of a tournament's file."""
    if form.results is None:
        return Path(normpath(default_folder(f"runs/{path.stem}", path.parent)))
    # Normalised, because this path is shown to people, and files in a folder of examples need `..`.
    return Path(normpath(path.parent / form.results))


class FilePlace(Struct, frozen=True):
    """A file whose lines and fields are named in errors."""

    path: Path
    text: str
    names: Mapping[str, str] = {}
    """Place of a form's field in the file, if it is not under its own name."""

    def wrong(self, field: str, what: str) -> WrongUse:
        """Return an error on one line about a field."""
        first = re.split(r"[.\[]", field, maxsplit=1)[0]
        if field in self.names or first in self.names:
            field = self.names.get(field) or f"{self.names[first]}{field.removeprefix(first)}"
        return WrongUse(f"{self.path}:{line_of(self.text, field)}: {field}: {what}")


def _game(form: TournamentFile, place: FilePlace) -> AnyGame:
    if form.game not in GAMES:
        raise place.wrong("game", f"there is no {form.game!r}; {did_you_mean(form.game, GAMES, 'games')}")
    return GAMES[form.game]


def _variant(form: TournamentFile, game: AnyGame, place: FilePlace) -> str:
    names = [variant.name for variant in game.variants]
    if form.variant is not None and form.variant not in names:
        near = did_you_mean(form.variant, names, "variants")
        raise place.wrong("variant", f"{game.name} has no {form.variant!r}; {near}")
    return form.variant or names[0]


def _options(form: TournamentFile, game: AnyGame, variant: str, place: FilePlace) -> Options:
    try:
        options: Options = game.read_options(variant, Raw(msgspec.json.encode(form.options)))
    except BadSetupError as error:
        what = str(error).removeprefix("options: ")
        key = re.search(r" - at `\$\.?(.*)`$| `(\w+)`$", what)
        field = f"options.{key[1] or key[2]}" if key else "options"
        what = with_known_options(re.sub(r" - at `.*`$", "", what), game.options)
        raise place.wrong(field, what) from None
    return options


def spec_of(form: TournamentFile, place: FilePlace) -> ScheduleSpec:
    """Return the fields of a form that the schedule depends on.

    Raises:
        WrongUse: the game, its variant or options do not exist.
    """
    game = _game(form, place)
    variant = _variant(form, game, place)
    return _spec(form, game.seats(_options(form, game, variant, place)))


def _spec(form: TournamentFile, seats: int) -> ScheduleSpec:
    """Return the fields of the file that the schedule depends on."""
    fields = {name: getattr(form, name) for name in FILE_FIELDS}
    remote = tuple(number for number, bot in enumerate(form.bots) if is_remote(bot))
    return ScheduleSpec(
        entrants=len(form.bots), seats=seats, filled=form.fill is not None, remote=remote, **fields
    )


def _check_clock(form: TournamentFile, game: AnyGame, variant: str, place: FilePlace) -> None:
    """Check that the table has a time for each window of the game, and that the policy sets no other times."""
    try:
        clock_terms(game, variant, form.policy, form.clock)
    except BadClockError as error:
        raise place.wrong(error.field, error.what) from None


def _check_notices(form: TournamentFile, place: FilePlace) -> None:
    if form.notices is None or form.notices.url is None:
        return
    if wrong := url_complaint(form.notices.url):
        raise place.wrong("notices.url", wrong)


def check_face(form: Face, place: FilePlace) -> None:
    """Check the links, the image and the teams of a form's face.

    Raises:
        WrongUse: one line with file, line and field of what is wrong.
    """
    links = {"link": form.link} | {f"teams[{number}].link": team.link for number, team in enumerate(form.teams)}
    for field, link in links.items():
        if link is not None and (wrong := url_complaint(link)):
            raise place.wrong(field, wrong)
    names = [team.name for team in form.teams]
    if alike := first_alike(names):
        before, number = alike
        raise place.wrong(f"teams[{number}].name", f"{names[number]!r} looks like the name of teams[{before}]")
    team_of: dict[str, int] = {}
    for number, team in enumerate(form.teams):
        for index, label in enumerate(team.bots):
            if label in team_of:
                what = f"{label!r} is a bot of teams[{team_of[label]}], too"
                raise place.wrong(f"teams[{number}].bots[{index}]", what)
            team_of[label] = number
    try:
        image_of(form, place.path.parent)
    except BadFaceError as error:
        raise place.wrong(error.field, error.what) from None


def _check_remote(tournament: Tournament, place: FilePlace) -> None:
    """Check that remote bots have different keys and can play under these terms."""
    keys = [bot.key for bot in tournament.remote]
    for number, bot in enumerate(tournament.bots):
        if isinstance(bot, RemoteBot) and keys.count(bot.key) > 1:
            raise place.wrong(f"bots[{number}]", "another bot has the same key")
    if why := cannot_play(tournament.plan(), tournament.remote, keys):
        field = why.field
        if field == "ponder":
            field = "policy.ponder"
        raise place.wrong(field, why.what)


def _bot(field: str, text: str, form: TournamentFile, place: FilePlace, kept: str | None = None) -> Entry:
    """Find the bot that a field names; the folder `kept`, if given, replaces it."""
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
        if kept is not None:
            name = folder_name(Path(kept))
        return find_entry(name, form.game, _caps(form), repr(text))
    except BotFolderError as error:
        raise place.wrong(field, str(error)) from None


def labels_of_file(form: TournamentFile, place: FilePlace) -> tuple[str, ...]:
    """Return the label of each bot, the house's last.

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
    """Return the field of the file that names a bot."""
    if number < len(form.bots):
        return f"bots[{number}]"
    return "fill"
