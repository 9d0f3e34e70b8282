"""`arena extend`: a tournament that has begun is to have more blocks, or rounds."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from arena.errors import WrongUse
from arena.schedule import MOST_BLOCKS
from arena.terminal import say
from arena.tournament import Ledger, change_to_come_text, extend, extend_entries, find_ledger, load_start_terms

OTHERS = 2
"""Options that are not given with the one that is."""
TOTAL = click.IntRange(1, MOST_BLOCKS)


def _time(context: click.Context, option: click.Parameter, given: str | None) -> datetime | None:
    """A time with its offset."""
    del context, option
    if given is None:
        return None
    try:
        found = datetime.fromisoformat(given)
        if found.tzinfo is not None:
            return found.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise WrongUse(
        f"--entries-until: {given!r} is not a time with an offset from UTC, such as 2026-12-01T12:00:00Z"
    )


@click.command("extend")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.option(
    "--blocks", type=TOTAL, help="New total of blocks for each pair; with more than two seats, of rounds."
)
@click.option("--rounds", type=TOTAL, help="New total of rounds of a Swiss tournament or a ladder.")
@click.option(
    "--entries-until",
    callback=_time,
    metavar="TIME",
    help="A later deadline for new bots and new versions, for example 2026-12-01T12:00:00Z.",
)
def command(cup: Path, *, blocks: int | None, rounds: int | None, entries_until: datetime | None) -> None:
    """Give a tournament that has begun a new total of blocks or rounds, or a later deadline for entries.

    It may be running or stopped.
    """
    if [blocks, rounds, entries_until].count(None) != OTHERS:
        raise WrongUse("give a new total or a later time: --blocks, --rounds or --entries-until")
    with closing(Ledger(find_ledger(cup))) as ledger:
        begun = load_start_terms(ledger)
        if entries_until is not None:
            event = extend_entries(ledger, begun, entries_until)
        else:
            event = extend(ledger, begun, blocks=blocks, rounds=rounds)
    when = "" if entries_until is not None else ", from its next block or round on"
    say(f"{change_to_come_text(event, ())}{when}")
