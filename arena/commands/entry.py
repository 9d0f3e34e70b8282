"""`arena entry`: add bots to a tournament that has started, update them, or withdraw them."""

import stat
from collections.abc import Sequence
from contextlib import closing
from itertools import filterfalse, islice
from pathlib import Path
from typing import Annotated, Literal, get_args

import click
from msgspec import Struct
from msgspec.structs import replace

from arena.config import (
    Entry,
    Tournament,
    bot_name_of,
    find_entrant,
    label_of,
    other_name,
    say_link,
)
from arena.errors import AnswerIsNo, WrongUse, as_wrong_use
from arena.options import JsonOption, complete_bots, option, options
from arena.reports import entries_json, entries_table
from arena.schedule import Entered, competing
from arena.submissions import OpenField, bot_in, open_field, tournament_to_change
from arena.terminal import Grid, print_json, progress_bar, progress_console, results_console, say, show
from arena.tournament import (
    FieldState,
    Ledger,
    change_to_come_text,
    field_state_of,
    find_ledger,
    keep_begun,
    load_start_terms,
    unchanged_text,
    withdraw,
)
from arena.workers import LOCAL, Placement
from referee.bot_folder import (
    BotFolder,
    BotFolderError,
    BotName,
    is_upload,
    label_of_upload,
    read_bot_name,
)
from referee.display_text import printable_name

HERE = Placement(on=LOCAL, transcripts=None, concurrency=None, workers=None)

cup_argument = click.argument("cup", metavar="FILE.toml", type=click.Path(path_type=Path))
any_cup_argument = click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))


class EntryOptions(Struct, frozen=True, kw_only=True):
    """Options of a change that brings in bots."""

    results: Annotated[Path | None, option("Results folder, in place of the file's.")] = None
    checks: Annotated[
        bool,
        option(
            "First start the bot once, in a match that does not count.  [default: check]", "--check/--no-check"
        ),
    ] = True


class AddOptions(Struct, frozen=True, kw_only=True):
    """Options of the entry of a bot."""

    label: Annotated[str | None, option("The bot's label.  [default: the last part of its path]")] = None
    entry: EntryOptions = EntryOptions()


class SyncOptions(Struct, frozen=True, kw_only=True):
    """Options of the synchronization of a folder of bots."""

    entry: EntryOptions = EntryOptions()
    dry_run: Annotated[bool, option("Show what would be done; start no bot and write nothing.")] = False
    as_json: JsonOption = False


@click.group("entry")
def command() -> None:
    """Change the bots of a tournament that has begun, while it is running or stopped.

    Results stay. An arena that plays the tournament takes a change in before the next block, or the next round;
    otherwise the next `arena tournament` does.
    """


@command.command("add", short_help="Enter a bot.")
@cup_argument
@click.argument("bot", metavar="BOT", shell_complete=complete_bots)
@options(AddOptions)
def add(cup: Path, bot: str, *, asked: AddOptions) -> None:
    """Enter a BOT.

    It is a folder, FOLDER@REVISION, an archive of a folder (ZIP, tar), a sample bot's name, or remote:NAME.key for
    a bot with that key.
    """
    tournament = tournament_to_change(cup, asked.entry.results)
    name = read_bot_name(bot)
    found = _found(tournament, name, bot)
    label = asked.label
    if label is None:
        label = label_of(bot)
        if is_upload(name.path):
            label = label_of_upload(label) or label
    with open_field(tournament, checks=asked.entry.checks) as field:
        field.take_in(found, label, name.resolved().given)
        _say_other_name(found, label)
        _tell(field.standing, ())


@command.command("update", short_help="Let a new version of a bot take its place.")
@cup_argument
@click.argument("label")
@click.argument("bot", metavar="[BOT]", required=False, shell_complete=complete_bots)
@options(EntryOptions)
def update_command(cup: Path, label: str, bot: str | None, *, asked: EntryOptions) -> None:
    """Let a new version take the place of the bot called LABEL: what is in its folder now, or BOT."""
    tournament = tournament_to_change(cup, asked.results)
    with open_field(tournament, checks=asked.checks) as field:
        standing = field.standing
        before = standing.entrant(label)
        name = read_bot_name(bot) if bot else _former_name(tournament, standing, before)
        given = name.resolved().given
        found = _found(tournament, name, bot or given)
        if standing.content(before) == found.content:
            raise WrongUse(unchanged_text(given, standing.labels[before]))
        field.take_in(found, label, given, before)
        _say_other_name(found, standing.labels[standing.teams[before]])
        _tell(field.standing, standing.labels)


@command.command("sync", short_help="Enter all new and changed bots of a folder.")
@cup_argument
@click.argument("folder", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False))
@options(SyncOptions)
def sync_command(cup: Path, folder: Path, *, asked: SyncOptions) -> None:
    """Enter all bots of FOLDER that are new, and new versions of those that have changed.

    FOLDER holds a folder or an archive (ZIP, tar) for each bot; its name is the bot's label. A bot that is refused
    does not stop the others. No bot is withdrawn: competitors that are not in FOLDER are reported as missing.
    After a stop, run the same command again: what has entered is unchanged then.
    """
    tournament = tournament_to_change(cup, asked.entry.results)
    with open_field(tournament, checks=asked.entry.checks) as field:
        found = Sync(field, dry_run=asked.dry_run).run(folder)
    if asked.as_json:
        print_json({"dry_run": asked.dry_run, "entries": found})
    else:
        _print_sync(found, dry_run=asked.dry_run)
    if refused := sum(each.result == "refused" for each in found):
        total = sum(each.result != "missing" for each in found)
        raise AnswerIsNo(f"{refused} of {total} in {folder} refused; the list says why")


@command.command("withdraw", short_help="Withdraw a bot; its results stay.")
@any_cup_argument
@click.argument("label")
def withdraw_command(cup: Path, label: str) -> None:
    """Withdraw the bot called LABEL. Its results stay."""
    with closing(Ledger(find_ledger(cup))) as ledger:
        begun = load_start_terms(ledger)
        keep_begun(ledger.path.parent, begun)
        withdraw(ledger, begun, label)
        standing = field_state_of(ledger, begun)
        _tell(standing, standing.labels)


@command.command("list", short_help="List a tournament's bots and the changes to come.")
@any_cup_argument
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_command(cup: Path, *, as_json: bool) -> None:
    """List the bots of a tournament: versions, since when they play, and the changes to come."""
    with closing(Ledger(find_ledger(cup))) as ledger:
        begun, events = load_start_terms(ledger), ledger.events()
        standing = FieldState.of(begun, events, ledger.begun())
    if as_json:
        print_json(entries_json(standing, events))
    else:
        screen = results_console()
        show(screen, entries_table(standing, events))
        if standing.entries_until is not None:
            screen.say(f"entries until {standing.entries_until}")


SyncResult = Literal["added", "updated", "unchanged", "refused", "ignored", "missing"]
MOST_IN_FOLDER = 2_000
"""Entries of a folder that is synchronized."""


class Synced(Struct, frozen=True, kw_only=True):
    """Result for one entry of a synchronized folder, or for a competitor that is missing in it."""

    entry: str
    """Name of the entry in the folder, or the label of a missing competitor."""
    label: str | None
    """Label of the bot; None if the entry is not a bot."""
    result: SyncResult
    note: str = ""
    """Reason of a refusal, or the first block in which the bot plays."""


class Sync:
    """Synchronization of a folder of bots with a tournament."""

    def __init__(self, field: OpenField, *, dry_run: bool) -> None:
        """Start no bots and record nothing if `dry_run` is set."""
        self._field = field
        self._dry_run = dry_run

    def run(self, folder: Path) -> list[Synced]:
        """Enter new and changed bots of the folder, in order of names. Each change is recorded at once.

        Raises:
            WrongUse: the folder cannot be read, or holds too much.
            MachineCannot: a bot could not be started or kept; those before it have been taken in.
        """
        try:
            names = sorted(each.name for each in islice(folder.iterdir(), MOST_IN_FOLDER + 1))
        except OSError as error:
            raise WrongUse(f"{folder}: cannot be read: {error.strerror}") from None
        if len(names) > MOST_IN_FOLDER:
            raise WrongUse(f"{folder}: holds more than {MOST_IN_FOLDER} entries")
        shown = [name for name in names if not name.startswith(".")]
        found: list[Synced] = []
        labels = set[str | None]()
        with progress_bar(progress_console(), transient=True) as bar:
            for name in bar.track(shown, description="entries"):
                found.append(self._take(folder / name, labels))
                labels.add(found[-1].label)
        return found + self._missing(labels)

    def _take(self, path: Path, before: set[str | None]) -> Synced:
        """Enter the bot of one entry of the folder, unless it is refused."""
        shown, label = printable_name(path.name), None
        try:
            label = _label_in(path, before)
            if label is None:
                note = "neither a folder nor an archive"
                return Synced(entry=shown, label=None, result="ignored", note=note)
            result, note = self._change(_found_in(self._field.tournament, path), label)
        except WrongUse as error:
            return Synced(entry=shown, label=label, result="refused", note=error.format_message())
        return Synced(entry=shown, label=label, result=result, note=note)

    def _change(self, bot: Entry, label: str) -> tuple[SyncResult, str]:
        """Enter a bot, or replace its last version. Return the result and a note.

        Raises:
            WrongUse: it cannot enter.
        """
        standing = self._field.standing
        before = self._field.predecessor(label)
        version = label
        if before is not None:
            if standing.content(before) == bot.content:
                return "unchanged", ""
            version = standing.next_version(before)
        entered = Entered(
            label=version, folder=bot.given, content=bot.content, version=bot.version, predecessor=before
        )
        standing.checked(entered)  # Before the bot is started, which takes long.
        result: SyncResult = "added"
        if before is not None:
            result = "updated"
        if self._dry_run:
            return result, ""
        self._field.take_in(bot, label, bot.given, before)
        block = (self._field.standing.events[-1].block or 0) + 1
        notes = [f"{version} will play from block {block} or later"]
        if isinstance(bot, BotFolder) and (text := other_name(bot, label)):
            notes.append(text)
        return result, "; ".join(notes)

    def _missing(self, there: set[str | None]) -> list[Synced]:
        """Return the competitors on this machine that are missing in the folder."""
        standing, found = self._field.standing, []
        elsewhere = {*standing.spec.remote, standing.spec.house}
        here = filterfalse(elsewhere.__contains__, competing(standing.spec))
        for team in dict.fromkeys(map(standing.teams.__getitem__, here)):
            label = standing.labels[team]
            if label not in there:
                found.append(Synced(entry=label, label=label, result="missing"))
        return found


def _label_in(path: Path, before: set[str | None]) -> str | None:
    """Return the label of a folder's entry; None if it is neither a folder nor an archive.

    Args:
        path: the entry.
        before: labels of the entries before it.

    Raises:
        WrongUse: the name cannot be a label, or the entry is a link.
    """
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        raise WrongUse(f"cannot be read: {error.strerror}") from None
    if stat.S_ISLNK(mode):
        raise WrongUse("is a symbolic link")
    label: str | None = path.name
    if not stat.S_ISDIR(mode):
        label = label_of_upload(path.name)
    if label is not None and printable_name(label) != label:
        raise WrongUse("its name has characters that cannot be shown")
    if label is not None and label in before:
        raise WrongUse("the folder holds a bot of this name already")
    return label


def _print_sync(found: list[Synced], *, dry_run: bool) -> None:
    """Print the result for each entry, and the totals."""
    table = Grid({"entry": False, "result": False, "note": False})
    counts = dict.fromkeys(get_args(SyncResult), 0)
    for each in found:
        table.add_row(each.entry, each.result, each.note)
        counts[each.result] += 1
    screen = results_console()
    show(screen, table)
    said = ", ".join(f"{count} {result}" for result, count in counts.items() if count) or "the folder is empty"
    if dry_run:
        said = f"would be: {said}"
    screen.say(said)


def _former_name(tournament: Tournament, standing: FieldState, entrant: int) -> BotName:
    """Return the name by which an entrant's bot was found.

    Raises:
        WrongUse: the file does not name it, or its folder has become a symbolic link. Its author, who may write
            there, could choose any file of this machine.
    """
    if entrant >= len(standing.begun.labels):
        # A ledger has absolute paths and names of sample bots, never names relative to the current folder.
        name = read_bot_name(standing.folder(entrant), Path("/"))
    else:
        label = standing.begun.labels[entrant]
        if label not in tournament.labels:
            raise WrongUse(f"{tournament.file}: names no {label}")
        number = tournament.labels.index(label)
        name = bot_name_of(tournament, number)
    if link := name.first_link():
        raise WrongUse(f"{name.given}: {link} has become a symbolic link; name what it leads to as BOT")
    return name


def _found(tournament: Tournament, name: BotName, called: str) -> Entry:
    """Return the bot of a name, which may name an archive.

    Raises:
        WrongUse: it may not play in this tournament.
    """
    say_link(name)
    resolved = name.resolved()
    if not name.is_remote and not name.is_folder and name.revision is None and is_upload(resolved.path):
        return _found_in(tournament, resolved.path)
    with as_wrong_use(BotFolderError):
        return find_entrant(tournament, resolved, called)


def _found_in(tournament: Tournament, path: Path) -> Entry:
    """Return the bot of a folder or an archive. Raises as `bot_in`."""
    return replace(bot_in(tournament, path, str(path)), given=str(path.absolute()))


def _say_other_name(bot: Entry, label: str) -> None:
    """Print a warning if the name in a bot's manifest differs from its label."""
    if isinstance(bot, BotFolder) and (text := other_name(bot, label)):
        say(f"check: {label}: {text}")


def _tell(standing: FieldState, labels: Sequence[str]) -> None:
    """Print the recorded change, and its earliest block."""
    event = standing.events[-1]
    say(f"{change_to_come_text(event, labels)} at block {(event.block or 0) + 1} or later")
