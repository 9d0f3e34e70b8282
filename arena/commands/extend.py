"""`arena extend` and `arena decide`: the host's decisions about a tournament that has started."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import click
from msgspec import Meta, Struct

from arena.errors import WrongUse
from arena.options import option, options
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

Total = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]


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


class ExtendOptions(Struct, frozen=True, kw_only=True):
    """Options of an extension; one of them is given."""

    blocks: Annotated[
        Total | None,
        option("New total of blocks for each pair; with more than two seats, of rounds."),
    ] = None
    rounds: Annotated[Total | None, option("New total of rounds of a Swiss tournament or a ladder.")] = None
    entries_until: Annotated[
        datetime | None,
        option(
            "A later deadline for new bots and new versions, for example 2026-12-01T12:00:00Z.",
            callback=_time,
            metavar="TIME",
            type=str,
        ),
    ] = None


@click.command("extend")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@options(ExtendOptions)
def command(cup: Path, *, asked: ExtendOptions) -> None:
    """Give a tournament that has begun a new total of blocks or rounds, or a later deadline for entries.

    It may be running or stopped.
    """
    blocks, rounds, until = asked.blocks, asked.rounds, asked.entries_until
    if sum(given is not None for given in (blocks, rounds, until)) != 1:
        raise WrongUse("give a new total or a later time: --blocks, --rounds or --entries-until")
    with closing(Ledger(find_ledger(cup))) as ledger:
        begun = load_start_terms(ledger)
        if until is not None:
            say(change_to_come_text(extend_entries(ledger, begun, until), ()))
        else:
            event = extend(ledger, begun, blocks=blocks, rounds=rounds)
            say(f"{change_to_come_text(event, ())}, from its next block or round on")


class DecideOptions(Struct, frozen=True, kw_only=True):
    """Options of a decision; one of them is given."""

    again: Annotated[bool, option("Play it again, from another deal, when the tournament goes on.")] = False
    no_excuse: Annotated[
        str | None,
        option("Play it again, and do not excuse this bot if the machine holds it up.", metavar="BOT"),
    ] = None
    leave_out: Annotated[bool, option("Do not play it; it counts for no bot.")] = False


@click.command("decide")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("block", type=click.IntRange(min=1))
@options(DecideOptions)
def decide_command(cup: Path, block: int, *, asked: DecideOptions) -> None:
    """Decide what becomes of BLOCK, which was set aside; it counts from 1, as in the names of matches.

    A block is set aside if one bot alone was held up, and so made it void, three times. The decision counts from
    the tournament's next run on: run `arena tournament` again. Until the block has been played, it can be changed.
    """
    if asked.again + (asked.no_excuse is not None) + asked.leave_out != 1:
        raise WrongUse("give one of --again, --no-excuse BOT and --leave-out")
    with closing(Ledger(find_ledger(cup))) as ledger:
        standing = field_state_of(ledger, load_start_terms(ledger))
        bots: tuple[int, ...] = ()
        if asked.no_excuse is not None:
            bots = (standing.entrant(asked.no_excuse),)
        found = decide(ledger, block - 1, unexcused=bots, leave_out=asked.leave_out)
    say(aside_text(found, standing.labels))
