"""`arena backup` and `arena package`: copies of a tournament's results, for its host and for authors."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec
from msgspec import Struct

from arena.accounts import DATABASE, SERVER
from arena.config import is_season, read_form, read_season, results_of
from arena.errors import AnswerIsNo, MachineCannot, WrongUse, writing
from arena.options import Positive, option, options
from arena.quantities import pluralise
from arena.reports import MOST_MATCHES, Packed, Share, archive_name, entrant_called, field_of, write_package
from arena.season import back_up_season, check_season_backup, parts_in, read_book, season_folder
from arena.submissions import ServerBackup, at_one_moment, back_up_server, check_server
from arena.terminal import grid_of, print_json, progress_bar, progress_console, results_console, say, show
from arena.tournament import (
    LEDGER,
    Backup,
    Checked,
    FieldState,
    Ledger,
    Told,
    back_up,
    backup_place,
    check_backup,
    find_ledger,
    results_folder_of,
)
from referee.display_text import did_you_mean
from referee.linux.files import FOLDER_MODE

MOST_SAID = 20
"""Maximum lines about missing or changed files; `--json` has all."""


class BackupOptions(Struct, frozen=True, kw_only=True):
    """Options of a backup."""

    checks: Annotated[
        bool, option("Make no backup; verify that the one in FOLDER_OR_FILE is complete.", "--check")
    ] = False
    as_json: Annotated[bool, option("Print what was done or found as JSON.", "--json")] = False


@click.command("backup")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("dest", metavar="[DEST]", type=click.Path(path_type=Path, file_okay=False), required=False)
@options(BackupOptions)
def command(cup: Path, dest: Path | None, *, asked: BackupOptions) -> None:
    """Back up a tournament, running or stopped, into the folder DEST.

    Without DEST it goes to backups/NAME beside the folder that holds the results. A later backup into the same
    folder copies what is new. To restore one, copy it to where the results were. Of a season, by its file or
    folder, all stages that have begun. Of a season's server, also accounts, submissions and uploads.
    """
    season = season_folder(cup)
    alone = _server_alone(cup)
    results = alone or season or results_folder_of(cup)
    if asked.checks:
        if dest is not None:
            raise click.UsageError("--check takes only the backup's folder")
        look: Callable[[Path, Told], Checked] = check_backup if season is None else check_season_backup
        _check(results, _nothing_played if alone else look, as_json=asked.as_json)
        return
    to = dest or backup_place(results)
    all_made: list[Backup] = []
    server: ServerBackup | None = None
    book = None if season is None or alone else read_book(season)
    with _progress() as tell, ExitStack() as stack:
        folders = [] if alone else [results] if season is None else parts_in(season)
        ledgers = [stack.enter_context(closing(Ledger(folder / LEDGER))) for folder in folders]
        database = stack.enter_context(at_one_moment(results, ledgers))
        if alone:
            _check_place(results, to)
        elif season is None:
            all_made.append(back_up(ledgers[0], to, tell))
        else:
            all_made.extend(back_up_season(season, book, ledgers, to, tell))
        if database is not None:
            server = back_up_server(results, database, to, tell)
    if asked.as_json:
        _print_json(to, all_made, server, is_whole=season is None and not alone)
        return
    for made in all_made:
        _say(made)
    if server is not None:
        _say_server(server)


def _server_alone(cup: Path) -> Path | None:
    """Return the folder of a competition that has a server and has not begun; None for another one."""
    folder = cup
    if cup.suffix == ".toml":
        folder = read_season(cup).results if is_season(cup) else results_of(cup, read_form(cup))
    if (folder / LEDGER).exists() or not (folder / SERVER / DATABASE).is_file() or read_book(folder) is not None:
        return None
    return folder


def _check_place(results: Path, to: Path) -> None:
    """Check that a folder for a server's backup is empty, or has one.

    Raises:
        WrongUse: it has other content.
    """
    if to.resolve() == results.resolve():
        raise WrongUse(f"{to}: is where the results are; a backup goes to another folder")
    with writing(to):
        to.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
        if any(path.name != SERVER for path in to.iterdir()):
            raise WrongUse(f"{to}: is not empty and holds no backup; give an empty folder")


def _print_json(to: Path, made: list[Backup], server: ServerBackup | None, *, is_whole: bool) -> None:
    """Print what was done. `is_whole`: of a tournament, which is no stage."""
    found: dict[str, Any] = {"folder": to, "stages": made}
    if is_whole:
        found = msgspec.structs.asdict(made[0])
    if server is not None:
        found["server"] = server
    print_json(msgspec.to_builtins(found, builtin_types=(), enc_hook=str))


def _nothing_played(folder: Path, tell: Told) -> Checked:
    """Check the results of a competition that has not begun."""
    del folder, tell
    return Checked(matches=0, transcripts=0, entries=0, elsewhere=0, wrong=())


def _say_server(made: ServerBackup) -> None:
    results_console().say(
        f"{made.folder}: {pluralise(made.teams, 'team')} and {pluralise(made.submissions, 'submission', ',')};"
        f" {pluralise(made.copied, 'file', ',')} copied, {made.kept:,} there already"
    )
    _say_some([f"not in it: {name}: is not in the server's folder" for name in made.missing])


def _say(made: Backup) -> None:
    new = pluralise(made.copied, "file", ",")
    results_console().say(
        f"{made.folder}: {pluralise(made.matches, 'match', ',')} that count;"
        f" {new} copied, {made.kept:,} there already"
    )
    if made.elsewhere:
        are = "is" if made.elsewhere == 1 else "are"
        say(f"not in it: {pluralise(made.elsewhere, 'transcript', ',')} that {are} elsewhere (--transcripts)")
    _say_some([f"not in it: {name}: is not in the results folder" for name in made.missing])


def _check(folder: Path, look: Callable[[Path, Told], Checked], *, as_json: bool) -> None:
    with _progress() as tell:
        found = look(folder, tell)
        server = check_server(folder, tell)
    wrong = (*found.wrong, *(() if server is None else server.wrong))
    if as_json:
        of_server = {} if server is None else {"server": msgspec.to_builtins(server)}
        print_json(msgspec.to_builtins(found) | of_server)
    else:
        results_console().say(
            f"{folder}: {pluralise(found.matches, 'match', ',')} that count,"
            f" {pluralise(found.transcripts, 'transcript', ',')} and {pluralise(found.entries, 'bot')} verified"
        )
        if server is not None:
            uploads = (
                f"{pluralise(server.submissions, 'submission', ',')}, {pluralise(server.uploads, 'upload', ',')}"
            )
            results_console().say(f"{folder / SERVER}: {uploads} verified")
        _say_some(list(wrong))
    if wrong:
        raise AnswerIsNo(f"{folder}: {pluralise(len(wrong), 'thing')} missing or changed since it was written")


def _say_some(lines: list[str]) -> None:
    for line in lines[:MOST_SAID]:
        say(line)
    if len(lines) > MOST_SAID:
        say(f"{len(lines) - MOST_SAID:,} more; --json names them")


@contextmanager
def _progress() -> Iterator[Told]:
    """Show a progress bar at a terminal."""
    with progress_bar(progress_console(), transient=True) as bar:
        task = bar.add_task("")

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield tell


MOST_MISSING = 10
"""Maximum lines about missing files."""


class PackageOptions(Struct, frozen=True, kw_only=True):
    """Options of packages for authors."""

    folder: Annotated[
        Path | None,
        option(
            "Pack an archive for each bot into this folder, which is made if it does not exist.",
            "--all",
            metavar="FOLDER",
            type=click.Path(path_type=Path, file_okay=False),
        ),
    ] = None
    out: Annotated[
        Path | None,
        option(
            "The archive's path.  [default: the bot's name with .zip, here]",
            type=click.Path(path_type=Path, dir_okay=False),
        ),
    ] = None
    last: Annotated[Positive, option("Only the last N matches.", show_default=True)] = MOST_MATCHES
    as_json: Annotated[bool, option("Print what went in as JSON.", "--json")] = False


@click.command("package")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("bot", metavar="[BOT]", required=False)
@options(PackageOptions)
def package(cup: Path, bot: str | None, *, asked: PackageOptions) -> None:
    """Pack the transcripts, logs and results of BOT, a label, into a ZIP archive for its author.

    The archive holds the transcripts of the bot's own seats, its logs, results and faults, from matches that
    count. About other bots it says only who they were, and how they did. Of a season, given by its file or folder,
    it covers all stages in which the bot has this label. With --all, each bot gets its own archive.
    """
    if (bot is None) is (asked.folder is None):
        raise WrongUse("BOT, --all: give one of them")
    if asked.folder is not None and asked.out is not None:
        raise WrongUse("--out: applies to one bot; --all names the folder")
    with ExitStack() as stack:
        cups = _cups(cup, stack)
        if bot is not None:
            top = archive_name(bot)
            packed = write_package(asked.out or Path(f"{top}.zip"), _shares(cups, bot), top, asked.last)
            _print_one(packed, as_json=asked.as_json)
        elif asked.folder is not None:
            _pack_all(cups, asked.folder, asked.last, as_json=asked.as_json)


class _Cups:
    """The tournament, or the started stages and groups of a season, with their open ledgers."""

    def __init__(self, place: Path, season: Path | None, fields: dict[Ledger, FieldState]) -> None:
        """Take the season's folder, or None for a tournament."""
        self.place = place
        self.season = season
        self.fields = fields

    def labels(self) -> list[str]:
        """Return all labels of competitors, in the order in which they entered."""
        found: dict[str, None] = {}
        for standing in self.fields.values():
            labels = list(standing.labels)
            if standing.spec.house is not None:
                del labels[standing.spec.house]
            found |= dict.fromkeys(labels)
        return list(found)


def _cups(cup: Path, stack: ExitStack) -> _Cups:
    """Open the ledgers that a file or folder names; they close with the stack."""
    season, folders = season_folder(cup), [cup]
    if season is not None:
        folders = parts_in(season)
    fields = {}
    for file in map(find_ledger, folders):
        ledger = stack.enter_context(closing(Ledger(file)))
        fields[ledger] = field_of(ledger)
    return _Cups(cup, season, fields)


def _shares(cups: _Cups, bot: str) -> list[Share]:
    """Return a bot's share in the tournament, or in each stage or group of the season with this label.

    Raises:
        WrongUse: no bot has this label, or bots of two groups of a stage have it, so that it is ambiguous.
    """
    if cups.season is None:
        [(ledger, standing)] = cups.fields.items()
        return [Share(ledger=ledger, labels=standing.labels, entrant=entrant_called(standing, bot))]
    shares = []
    for ledger, standing in cups.fields.items():
        if bot in standing.labels:
            folder, entrant = ledger.path.parent.name, standing.labels.index(bot)
            shares.append(Share(ledger=ledger, labels=standing.labels, entrant=entrant, folder=folder))
    if not shares:
        raise WrongUse(f"no bot is called {bot}; {did_you_mean(bot, cups.labels(), 'bots')}")
    book = read_book(cups.season)
    if book is None:
        return shares
    for stage in book.stages:
        both = [share.folder for share in shares if share.folder in stage.parts]
        if len(both) > 1:
            raise WrongUse(
                f"{bot}: {' and '.join(both)} have different bots of this name; give a stage's folder: "
                f"{cups.season / both[0]}"
            )
    return shares


def _pack_all(cups: _Cups, folder: Path, last: int, *, as_json: bool) -> None:
    """Write an archive for each bot, and print which.

    Raises:
        AnswerIsNo: a bot's archive could not be made; those of the others are.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Packed] = {}
    refused: dict[str, str] = {}
    with progress_bar(progress_console(), transient=True) as bar:
        for bot in bar.track(cups.labels(), description="archives"):
            top = archive_name(bot)
            try:
                made[bot] = write_package(folder / f"{top}.zip", _shares(cups, bot), top, last)
            except (WrongUse, MachineCannot) as error:
                refused[bot] = error.format_message()
    if as_json:
        print_json({"packed": [{"bot": bot, **_values(each)} for bot, each in made.items()], "refused": refused})
    else:
        _print_all(made)
    for bot, why in refused.items():
        say(f"not packed: {bot}: {why}")
    if refused:
        raise AnswerIsNo(f"{pluralise(len(refused), 'bot')} of {len(made) + len(refused)} could not be packed")


def _values(packed: Packed) -> dict[str, Any]:
    """Return the contents of an archive as plain values."""
    values = {"archive": str(packed.path)}
    for name in ("matches", "in_all", "seat_files", "logs", "missing"):
        values[name] = getattr(packed, name)
    return values


def _print_one(packed: Packed, *, as_json: bool) -> None:
    """Print the contents of an archive, and missing files."""
    if as_json:
        print_json(_values(packed))
        return
    of_all = ""
    if packed.matches != packed.in_all:
        of_all = f" of {packed.in_all:,}: --last has more"
    results_console().say(
        f"{packed.path}: {pluralise(packed.matches, 'match', ',')}{of_all},"
        f" {pluralise(packed.seat_files, 'transcript', ',')} of its seats, {pluralise(packed.logs, 'log', ',')}"
    )
    for line in packed.missing[:MOST_MISSING]:
        say(f"not in it: {line}")
    if len(packed.missing) > MOST_MISSING:
        say(f"not in it: {len(packed.missing) - MOST_MISSING:,} more; README.txt in the archive names them")


def _print_all(made: dict[str, Packed]) -> None:
    """Print a row for each archive."""
    words, numbers = ("bot", "archive"), ("matches", "transcripts", "logs", "missing")
    rows = []
    for bot, packed in made.items():
        matches = f"{packed.matches:,}"
        if packed.matches != packed.in_all:
            matches = f"{packed.matches:,} of {packed.in_all:,}"
        counts = (packed.seat_files, packed.logs, len(packed.missing))
        rows.append((bot, str(packed.path), matches, *map("{:,}".format, counts)))
    show(results_console(), grid_of((*words, *numbers), rows, words))
    missing = sum(len(packed.missing) for packed in made.values())
    if missing:
        say(f"{pluralise(missing, 'file', ',')} could not go in; README.txt in each archive names them")
