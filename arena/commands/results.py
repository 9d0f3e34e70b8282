"""`arena results`: list a tournament's matches, for people and programs."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import click

from arena.quantities import pluralise
from arena.reports import (
    MatchFilter,
    MatchListed,
    asides_text,
    causes_text,
    entrant_called,
    field_of,
    matches_csv,
    matches_listed,
    matches_table,
    not_begun_lines,
)
from arena.terminal import print_json_list, results_console, say, show
from arena.tournament import Ledger, NotBegun, find_ledger
from protocol.refusals import Conduct

IN_TABLE = 50
"""Default number of matches in the table."""


@click.command("results")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@click.option("--bot", metavar="LABEL", help="Only matches of this bot; of a version by its own label: 'zoe v2'.")
@click.option("--opponent", metavar="LABEL", help="Only matches with this bot in another seat.")
@click.option("--seat", type=click.IntRange(min=0), help="Only matches in which the bot has this seat, from 0.")
@click.option(
    "--conduct",
    multiple=True,
    type=click.Choice([each.value for each in Conduct]),
    help="Only matches with this conduct of the bot, or without --bot of any bot; repeatable.",
)
@click.option(
    "--last",
    type=click.IntRange(min=1),
    help=f"Only the last N of these.  [default: {IN_TABLE} in the table, otherwise all]",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print a row for each seat of each match as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print the matches as a JSON array, a match a line.")
def command(
    cup: Path,
    *,
    bot: str | None,
    opponent: str | None,
    seat: int | None,
    conduct: tuple[str, ...],
    last: int | None,
    as_csv: bool,
    as_json: bool,
) -> None:
    """List the matches that count of a tournament that has begun, in schedule order.

    A match counts once all matches of its block have ended.
    """
    if as_csv and as_json:
        raise click.UsageError("give --csv or --json, not both")
    with closing(Ledger(find_ledger(cup))) as ledger:
        try:
            standing = field_of(ledger)
        except NotBegun as waiting:
            _show_waiting(waiting, as_csv=as_csv, as_json=as_json)
            return
        asked = MatchFilter(
            bot=None if bot is None else entrant_called(standing, bot),
            opponent=None if opponent is None else entrant_called(standing, opponent),
            seat=seat,
            conduct=frozenset(map(Conduct, conduct)),
        )

        def found() -> Iterator[MatchListed]:
            return filter(asked.fits, matches_listed(ledger, standing.labels))

        if as_csv:
            for text in matches_csv(_last(found, last)):
                sys.stdout.write(text)
        elif as_json:
            print_json_list(_last(found, last))
        else:
            _show(found, last or IN_TABLE)
        for line in asides_text(ledger.asides(), standing.labels):
            say(line)


def _show_waiting(waiting: NotBegun, *, as_csv: bool, as_json: bool) -> None:
    """Print an empty list, and that the tournament has not started."""
    if as_csv:
        sys.stdout.write("".join(matches_csv(())))
    elif as_json:
        print_json_list(())
    tell = say if as_csv or as_json else results_console().say
    for line in not_begun_lines(waiting):
        tell(line)


def _last(found: Callable[[], Iterator[MatchListed]], last: int | None) -> Iterator[MatchListed]:
    """Yield the last matches. They are read twice, so that few are in memory at a time."""
    if last is None:
        yield from found()
        return
    before = sum(1 for _ in found()) - last
    for number, match in enumerate(found()):
        if number >= before:
            yield match


def _show(found: Callable[[], Iterator[MatchListed]], last: int) -> None:
    """Print a table of the last matches, and the number of all."""
    shown: deque[MatchListed] = deque(maxlen=last)
    count = 0
    for match in found():
        shown.append(match)
        count += 1
    screen = results_console()
    if not count:
        screen.say("no match that counts fits these options")
        return
    show(screen, matches_table(shown))
    for line in causes_text(shown):
        screen.say(line)
    if count > len(shown):
        screen.say(
            f"the last {len(shown)} of {pluralise(count, 'match', ',')}: --last, --csv and --json show more"
        )
