"""`arena extend`: a tournament that has begun is to have more blocks, or rounds."""

from contextlib import closing
from pathlib import Path

import click

from arena.errors import WrongUse
from arena.schedule import MOST_BLOCKS
from arena.terminal import say
from arena.tournament import Ledger, begun_in, change_text, extend, ledger_of

TOTAL = click.IntRange(1, MOST_BLOCKS)


@click.command("extend")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.option("--blocks", type=TOTAL, help="Blocks of each pair, or rounds of more than two seats, in all.")
@click.option("--rounds", type=TOTAL, help="Rounds of a Swiss tournament or a ladder, in all.")
def command(cup: Path, *, blocks: int | None, rounds: int | None) -> None:
    """Give a tournament that has begun a new total of blocks or rounds, while it is played or stands still."""
    if (blocks is None) == (rounds is None):
        raise WrongUse("give a new total: --blocks or --rounds")
    with closing(Ledger(ledger_of(cup))) as ledger:
        event = extend(ledger, begun_in(ledger), blocks=blocks, rounds=rounds)
    say(f"{change_text(event, ())}: waits to be taken in")
