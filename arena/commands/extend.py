"""`arena extend` and `arena decide`: the host's decisions about a tournament that has started."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import click

from arena.errors import WrongUse
from arena.reports import aside_text
from arena.schedule import MOST_BLOCKS
from arena.terminal import say
from arena.tournament import (
    Ledger,
    change_to_come_text,
    decide,
    extend,
    extend_entries,
    field_state_of,
    find_ledger,
    load_start_terms,
)

OTHERS = 2
"""Number of options that must not be given."""
TOTAL = click.IntRange(1, MOST_BLOCKS)


def _time(context: click.Context, option: click.Parameter, given: str | None) -> datetime | None:
    """Return a time in UTC from one with an offset."""
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


@click.command("decide")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("block", type=click.IntRange(min=1))
@click.option("--again", is_flag=True, help="Play it again, from another deal, when the tournament goes on.")
@click.option(
    "--no-excuse", metavar="BOT", help="Play it again, and do not excuse this bot if the machine holds it up."
)
@click.option("--leave-out", is_flag=True, help="Do not play it; it counts for no bot.")
def decide_command(cup: Path, block: int, *, again: bool, no_excuse: str | None, leave_out: bool) -> None:
    """Decide what becomes of BLOCK, which was set aside; it counts from 1, as in the names of matches.

    A block is set aside if one bot alone was held up, and so made it void, three times. The decision counts from
    the tournament's next run on: run `arena tournament` again. Until the block has been played, it can be changed.
    """
    if [again, no_excuse is not None, leave_out].count(True) != 1:
        raise WrongUse("give one of --again, --no-excuse BOT and --leave-out")
    with closing(Ledger(find_ledger(cup))) as ledger:
        standing = field_state_of(ledger, load_start_terms(ledger))
        bots = [] if no_excuse is None else [standing.entrant(no_excuse)]
        found = decide(ledger, block - 1, unexcused=tuple(bots), leave_out=leave_out)
    say(aside_text(found, standing.labels))
