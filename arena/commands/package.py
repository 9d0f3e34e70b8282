"""`arena package`: what of a tournament belongs to a bot's author, in one archive."""

from contextlib import ExitStack, closing
from pathlib import Path

import click

from arena.errors import WrongUse
from arena.quantities import counted
from arena.reports import MOST_MATCHES, Share, archive_name, entrant_called, field_of, write_package
from arena.season import parts_in, read_book, season_folder
from arena.terminal import print_json, results_console, say
from arena.tournament import LEDGER, Ledger, ledger_of

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
    other bots but who they were, and how they did. Of a season, by its file or folder, all stages in which the bot
    has this label.
    """
    with ExitStack() as stack:
        season = season_folder(cup)
        if season is None:
            ledger = stack.enter_context(closing(Ledger(ledger_of(cup))))
            labels = (standing := field_of(ledger)).labels
            shares = [Share(ledger=ledger, labels=labels, entrant=entrant_called(standing, bot))]
        else:
            shares = _shares(season, bot, stack)
        top = archive_name(bot, shares[0].entrant)
        packed = write_package(Path(f"{top}.zip") if out is None else out, shares, top, last)
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


def _shares(season: Path, bot: str, stack: ExitStack) -> list[Share]:
    """The stages and groups of a season in which a bot of this label plays; their ledgers close with the stack.

    Raises:
        WrongUse: there are none; or two groups of a stage have a bot of this label, which are two authors'.
    """
    shares: list[Share] = []
    for folder in parts_in(season):
        ledger = stack.enter_context(closing(Ledger(folder / LEDGER)))
        labels = field_of(ledger).labels
        if bot in labels:
            shares.append(Share(ledger=ledger, labels=labels, entrant=labels.index(bot), folder=folder.name))
    if not shares:
        raise WrongUse(
            f"{bot}: no bot has entered under this name; `arena report` of the season names those that have"
        )
    book = read_book(season)
    for stage in () if book is None else book.stages:
        both = [share.folder for share in shares if share.folder in stage.parts]
        if len(both) > 1:
            raise WrongUse(
                f"{bot}: {' and '.join(both)} have different bots of this name; give a stage's folder: "
                f"{season / both[0]}"
            )
    return shares
