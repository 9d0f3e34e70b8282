"""`arena results`: list a tournament's matches, for people and programs."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct

from arena.options import NotNegative, Positive, option, options
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
from arena.tournament import FieldState, Ledger, NotBegun, find_ledger
from protocol.refusals import Conduct

IN_TABLE = 50
"""Default number of matches in the table."""


class ResultsOptions(Struct, frozen=True, kw_only=True):
    """Options of a list of matches."""

    bot: Annotated[
        str | None,
        option("Only matches of this bot; of a version by its own label: 'zoe v2'.", metavar="LABEL"),
    ] = None
    opponent: Annotated[str | None, option("Only matches with this bot in another seat.", metavar="LABEL")] = None
    seat: Annotated[NotNegative | None, option("Only matches in which the bot has this seat, from 0.")] = None
    conduct: Annotated[
        tuple[str, ...],
        option(
            "Only matches with this conduct of the bot, or without --bot of any bot; repeatable.",
            type=click.Choice([each.value for each in Conduct]),
        ),
    ] = ()
    last: Annotated[
        Positive | None,
        option(f"Only the last N of these.  [default: {IN_TABLE} in the table, otherwise all]"),
    ] = None
    as_csv: Annotated[bool, option("Print a row for each seat of each match as CSV.", "--csv")] = False
    as_json: Annotated[bool, option("Print the matches as a JSON array, a match a line.", "--json")] = False


@click.command("results")
@click.argument("cup", metavar="FOLDER_OR_FILE", type=click.Path(path_type=Path))
@options(ResultsOptions)
def command(cup: Path, *, asked: ResultsOptions) -> None:
    """List the matches that count of a tournament that has begun, in schedule order.

    A match counts once all matches of its block have ended.
    """
    if asked.as_csv and asked.as_json:
        raise click.UsageError("give --csv or --json, not both")
    with closing(Ledger(find_ledger(cup))) as ledger:
        try:
            standing = field_of(ledger)
        except NotBegun as waiting:
            _show_waiting(waiting, asked)
            return
        fits = _filter(standing, asked).fits

        def found() -> Iterator[MatchListed]:
            return filter(fits, matches_listed(ledger, standing.labels))

        if asked.as_csv:
            sys.stdout.writelines(matches_csv(_last(found, asked.last)))
        elif asked.as_json:
            print_json_list(_last(found, asked.last))
        else:
            _show(found, asked.last or IN_TABLE)
        for line in asides_text(ledger.asides(), standing.labels):
            say(line)


def _filter(standing: FieldState, asked: ResultsOptions) -> MatchFilter:
    """Return the filter for the matches that are asked for."""
    bot = opponent = None
    if asked.bot is not None:
        bot = entrant_called(standing, asked.bot)
    if asked.opponent is not None:
        opponent = entrant_called(standing, asked.opponent)
    conduct = frozenset(map(Conduct, asked.conduct))
    return MatchFilter(bot=bot, opponent=opponent, seat=asked.seat, conduct=conduct)


def _show_waiting(waiting: NotBegun, asked: ResultsOptions) -> None:
    """Print an empty list, and that the tournament has not started."""
    tell = say
    if asked.as_csv:
        sys.stdout.writelines(matches_csv(()))
    elif asked.as_json:
        print_json_list(())
    else:
        tell = results_console().say
    for line in not_begun_lines(waiting):
        tell(line)


def _last(found: Callable[[], Iterator[MatchListed]], last: int | None) -> Iterator[MatchListed]:
    """Yield the last matches. They are read twice, so that few are in memory at a time."""
    if last is None:
        yield from found()
        return
    count = sum(1 for _ in found())
    yield from islice(found(), max(0, count - last), None)


def _show(found: Callable[[], Iterator[MatchListed]], last: int) -> None:
    """Print a table of the last matches, and the number of all."""
    shown: deque[MatchListed] = deque(maxlen=last)
    count = 0
    for count, match in enumerate(found(), start=1):  # noqa: B007 - the last one is the number of all
        shown.append(match)
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
