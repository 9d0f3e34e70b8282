"""`arena package`: what of a tournament belongs to a bot's author, in one archive."""

from contextlib import closing
from pathlib import Path

import click

from arena.quantities import counted
from arena.reports import MOST_MATCHES, archive_name, entrant_called, field_of, write_package
from arena.terminal import print_json, results_console, say
from arena.tournament import Ledger, ledger_of

MOST_SAID = 10
"""Lines of what could not go in."""


@click.command("package")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("bot", metavar="BOT")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The archive's path.  [default: the bot's name with .zip, here]",
)
@click.option(
    "--last", type=click.IntRange(min=1), default=MOST_MATCHES, show_default=True, help="Only the last N matches."
)
@click.option("--json", "as_json", is_flag=True, help="Print what went in as JSON.")
def command(cup: Path, bot: str, *, out: Path | None, last: int, as_json: bool) -> None:
    """Pack what the author of BOT (its label) may have into a ZIP archive.

    In it: the transcripts of the bot's own seats, its logs, results and faults, of matches that count. Nothing of
    other bots but who they were, and how they did.
    """
    with closing(Ledger(ledger_of(cup))) as ledger:
        standing = field_of(ledger)
        entrant = entrant_called(standing, bot)
        path = Path(f"{archive_name(bot, entrant)}.zip") if out is None else out
        packed = write_package(path, ledger, standing.labels, entrant, last)
    if as_json:
        print_json(
            {
                "archive": str(packed.path),
                "matches": packed.matches,
                "in_all": packed.in_all,
                "seat_files": packed.seat_files,
                "logs": packed.logs,
                "missing": packed.missing,
            }
        )
        return
    of_all = "" if packed.matches == packed.in_all else f" of {packed.in_all:,}: --last has more"
    results_console().say(
        f"{packed.path}: {counted(packed.matches, 'match', ',')}{of_all},"
        f" {counted(packed.seat_files, 'transcript', ',')} of its seats, {counted(packed.logs, 'log', ',')}"
    )
    for line in packed.missing[:MOST_SAID]:
        say(f"not in it: {line}")
    if len(packed.missing) > MOST_SAID:
        say(f"not in it: {len(packed.missing) - MOST_SAID:,} more; README.txt in the archive names them")
