"""`arena backup`: copy a tournament's results, even while it is played, and verify such copies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec

from arena.errors import AnswerIsNo
from arena.quantities import pluralise
from arena.season import back_up_season, check_season_backup, season_folder
from arena.terminal import print_json, progress_bar, progress_console, results_console, say
from arena.tournament import Backup, Checked, Told, back_up, backup_place, check_backup, results_folder_of

MOST_SAID = 20
"""Maximum lines about missing or changed files; `--json` has all."""


@click.command("backup")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("dest", metavar="[DEST]", type=click.Path(path_type=Path, file_okay=False), required=False)
@click.option(
    "--check", "checks", is_flag=True, help="Make no backup; verify that the one in FOLDER_OR_FILE is complete."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done or found as JSON.")
def command(cup: Path, dest: Path | None, *, checks: bool, as_json: bool) -> None:
    """Back up a tournament into the folder DEST, while an arena plays it or while it is stopped.

    Without DEST it goes to backups/NAME beside the folder that holds the results. A later backup into the same
    folder copies what is new. To restore one, copy it to where the results were. Of a season, by its file or
    folder, all stages that have begun.
    """
    season = season_folder(cup)
    results = results_folder_of(cup) if season is None else season
    if checks:
        if dest is not None:
            raise click.UsageError("--check takes only the backup's folder")
        _check(results, check_backup if season is None else check_season_backup, as_json=as_json)
        return
    to = backup_place(results) if dest is None else dest
    with _progress() as tell:
        all_made = [back_up(results, to, tell)] if season is None else list(back_up_season(season, to, tell))
    if as_json:
        found = [msgspec.to_builtins(made, builtin_types=(), enc_hook=str) for made in all_made]
        print_json(found[0] if season is None else {"folder": str(to), "stages": found})
        return
    for made in all_made:
        _say(made)


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
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        results_console().say(
            f"{folder}: {pluralise(found.matches, 'match', ',')} that count,"
            f" {pluralise(found.transcripts, 'transcript', ',')} and {pluralise(found.entries, 'bot')} verified"
        )
        _say_some(list(found.wrong))
    if found.wrong:
        raise AnswerIsNo(
            f"{folder}: {pluralise(len(found.wrong), 'thing')} missing or changed since it was written"
        )


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
