"""`arena decide`: the host decides what becomes of a block that was set aside."""

from contextlib import closing
from pathlib import Path

import click

from arena.errors import WrongUse
from arena.reports import aside_text
from arena.terminal import say
from arena.tournament import Ledger, decide, field_state_of, find_ledger, load_start_terms


@click.command("decide")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.argument("block", type=click.IntRange(min=1))
@click.option("--again", is_flag=True, help="Play it again, from another deal, when the tournament goes on.")
@click.option(
    "--no-excuse", metavar="BOT", help="Play it again, and do not excuse this bot if the machine holds it up."
)
@click.option("--leave-out", is_flag=True, help="Do not play it; it counts for no bot.")
def command(cup: Path, block: int, *, again: bool, no_excuse: str | None, leave_out: bool) -> None:
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
