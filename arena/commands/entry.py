"""`arena entry`: bots enter a tournament that is under way, come in a new version, or withdraw."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from arena.checks import check_field
from arena.commands.completion import complete_bots
from arena.commands.options import check_asked
from arena.config import (
    Entry,
    Tournament,
    bot_given,
    find_entrant,
    is_season,
    link_in,
    read_season,
    read_tournament,
    say_link,
    short_name,
)
from arena.errors import WrongUse
from arena.reports import entries_json, entries_table
from arena.season import tournament_as_begun
from arena.tables import show
from arena.terminal import print_json, results_console, say
from arena.tournament import (
    CHECKS,
    LEDGER,
    Begun,
    Ledger,
    Standing,
    begun_in,
    change_text,
    copies_of_file,
    enter,
    keep_begun,
    keep_entry,
    ledger_of,
    now,
    standing_of,
    update,
    withdraw,
)
from arena.workers import LOCAL, Where, venue_for
from referee.bot_folder import BotFolder, BotFolderError
from referee.host import REMOTE, RemoteBot
from referee.printable import printable_name

HERE = Where(on=LOCAL, transcripts=None, concurrency=None, workers=None)

cup_argument = click.argument("cup", metavar="FILE.toml", type=click.Path(path_type=Path))
any_cup_argument = click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
results_option = click.option(
    "--results", type=click.Path(path_type=Path), help="Results folder, in place of the file's."
)
check_option = click.option(
    "--check/--no-check",
    "checks",
    default=True,
    help="First start the bot once, in a match that does not count.  [default: check]",
)


@click.group("entry")
def command() -> None:
    """Change the field of a tournament that has begun, while it is played or stands still.

    Results stay. An arena that plays the tournament takes a change in before the next block, or the next round;
    otherwise the next `arena tournament` does.
    """


@command.command("add")
@cup_argument
@click.argument("bot", metavar="BOT", shell_complete=complete_bots)
@click.option("--label", help="What it is called.  [default: the last part of its path]")
@results_option
@check_option
def add(cup: Path, bot: str, *, label: str | None, results: Path | None, checks: bool) -> None:
    """Enter a BOT (a folder, FOLDER@REVISION, a sample bot's name, or remote:NAME.key for a bot with that key)."""
    tournament = _tournament(cup, results)
    given = _absolute(bot)
    found = _found(tournament, given, bot)
    label = printable_name(short_name(bot)) if label is None else label
    with closing(Ledger(tournament.results / LEDGER)) as ledger:
        begun = begun_in(ledger)
        standing_of(ledger, begun).check_deadline(now())
        _check(tournament, begun, found, label, plays=checks)
        if isinstance(found, BotFolder):
            keep_entry(tournament.results, found)
        event = enter(ledger, begun, found, label, given)
        _tell(standing_of(ledger, begun), change_text(event, ()))


@command.command("update")
@cup_argument
@click.argument("label")
@click.argument("bot", metavar="[BOT]", required=False, shell_complete=complete_bots)
@results_option
@check_option
def update_command(cup: Path, label: str, bot: str | None, *, results: Path | None, checks: bool) -> None:
    """Let a new version take the place of the bot called LABEL: what is in its folder now, or BOT."""
    tournament = _tournament(cup, results)
    with closing(Ledger(tournament.results / LEDGER)) as ledger:
        begun = begun_in(ledger)
        standing = standing_of(ledger, begun)
        standing.check_deadline(now())
        before = standing.entrant(label)
        given = _folder(tournament, standing, before) if bot is None else _absolute(bot)
        found = _found(tournament, given, bot or given)
        if standing.content(before) == found.content:
            raise WrongUse(f"{given}: is the version of {standing.labels[before]} that competes already")
        keep_begun(tournament.results, begun, before)
        _check(tournament, begun, found, standing.next_version(before), plays=checks)
        if isinstance(found, BotFolder):
            keep_entry(tournament.results, found)
        event = update(ledger, begun, found, label, given)
        _tell(standing_of(ledger, begun), change_text(event, standing.labels))


@command.command("withdraw")
@any_cup_argument
@click.argument("label")
def withdraw_command(cup: Path, label: str) -> None:
    """Let the bot called LABEL play no more. Its results stay."""
    with closing(Ledger(ledger_of(cup))) as ledger:
        begun = begun_in(ledger)
        keep_begun(ledger.path.parent, begun)
        event = withdraw(ledger, begun, label)
        standing = standing_of(ledger, begun)
        _tell(standing, change_text(event, standing.labels))


@command.command("list")
@any_cup_argument
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def list_command(cup: Path, *, as_json: bool) -> None:
    """List the bots of a tournament: versions, since when they play, and what waits to be taken in."""
    with closing(Ledger(ledger_of(cup))) as ledger:
        begun, events = begun_in(ledger), ledger.events()
        standing = Standing.of(begun, events, ledger.begun())
    if as_json:
        print_json(entries_json(standing, events))
    else:
        screen = results_console()
        show(screen, entries_table(standing, events))
        if standing.entries_until is not None:
            screen.say(f"entries until {standing.entries_until}")


def _tournament(cup: Path, results: Path | None) -> Tournament:
    """The tournament of a file, its bots as they were when it was begun, whatever their folders hold now."""
    if is_season(cup):
        return _of_stage(cup, results)
    place = ledger_of(results or cup).parent
    return replace(read_tournament(cup, copies_of_file(place, withdrawn_only=False)), results=place)


def _of_stage(cup: Path, results: Path | None) -> Tournament:
    """The tournament of a season's stage.

    Raises:
        WrongUse: it is not said which, or it has not begun.
    """
    season = read_season(cup)
    parts = {part: stage for stage in season.stages for part in stage.parts}
    if results is None or results.name not in parts:
        known = ", ".join(str(season.folder(part)) for part in parts)
        raise WrongUse(f"{cup}: is a season's: name a stage's folder with --results; there are {known}")
    season = replace(season, results=results.parent)
    return tournament_as_begun(season, parts[results.name], results.name)


def _absolute(bot: str) -> str:
    """A folder or key by its whole path without links: an update may be asked for from elsewhere, and later."""
    if bot.startswith(REMOTE):
        return f"{REMOTE}{Path(bot.removeprefix(REMOTE)).resolve()}"
    folder, at, revision = bot.partition("@")
    return f"{Path(folder).resolve()}{at}{revision}" if "/" in bot or Path(folder).is_dir() else bot


def _folder(tournament: Tournament, standing: Standing, entrant: int) -> str:
    """Where an entrant's bot was found.

    Raises:
        WrongUse: the file does not name it, or its folder has become a symbolic link: its author, who may write
            there, would choose what of this machine is taken in.
    """
    if entrant >= len(standing.begun.labels):
        given = standing.folder(entrant)
        path = given.removeprefix(REMOTE)
        link = link_in(path, Path("/")) if path.startswith("/") else None
    else:
        label = standing.begun.labels[entrant]
        if label not in tournament.labels:
            raise WrongUse(f"{tournament.file}: names no {label}")
        number = tournament.labels.index(label)
        given = bot_given(tournament, number)
        link = link_in(tournament.form.bots[number].removeprefix(REMOTE), tournament.file.parent)
    if link is not None:
        raise WrongUse(f"{given}: {link} has become a symbolic link; name what it leads to as BOT")
    return _absolute(given)


def _found(tournament: Tournament, given: str, called: str) -> Entry:
    say_link(given)
    try:
        return find_entrant(tournament, given, called)
    except BotFolderError as error:
        raise WrongUse(str(error)) from None


def _check(tournament: Tournament, begun: Begun, bot: Entry, label: str, *, plays: bool) -> None:
    """Builds the bot, and sees that it starts; of a remote one nothing can be seen.

    Raises:
        WrongUse: it cannot start.
    """
    if isinstance(bot, RemoteBot):
        return
    failed: dict[int, str] = {}
    form = replace(tournament.form, isolation=begun.isolation)
    players, _ = venue_for(HERE, (bot,), form.isolation, failed=failed)
    if failed:
        raise WrongUse(f"{bot.given}: {failed[0]}")
    if not plays:
        return
    alone = replace(tournament, form=form, bots=(bot,), labels=(label,))
    check = check_asked(HERE, alone, failed, plays=True)
    folder = tournament.results / CHECKS / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    (found,) = check_field(alone, players, check, folder)
    if found.broken:
        raise WrongUse(f"{bot.given}: {found.broken}; logs: {folder}")
    for text in () if found.tally.is_well else found.tally.said:
        say(f"check: {label}: {text}")


def _tell(standing: Standing, text: str) -> None:
    """What was written down, and when it is taken in at the earliest."""
    say(f"{text}: waits to be taken in, from block {(standing.events[-1].block or 0) + 1} on at the earliest")
