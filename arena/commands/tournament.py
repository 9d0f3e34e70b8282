"""`arena tournament`: plays what is left of a tournament, then prints its table."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import click
import trio
from msgspec.structs import replace

from arena.commands.options import (
    broken_option,
    check_option,
    feed_asked,
    feed_option,
    isolation_option,
    listen_options,
    log_option,
    notify_option,
    open_log,
    usage_option,
    where_options,
)
from arena.commands.playing import Listening, notices_url, play_to_its_end, told_how_to_go_on
from arena.config import Broken, Tournament, read_form, read_tournament, results_of
from arena.errors import WrongUse
from arena.feed import open_feed
from arena.output_folders import refuse_in_bot
from arena.quantities import seconds_in
from arena.reports import (
    attempts_text,
    field_usage,
    notes,
    print_result,
    prior_text,
    ratings_table,
    results_json,
    usage_table,
)
from arena.tables import show
from arena.terminal import print_json, results_console
from arena.tournament import PAGE, TRANSCRIPTS, FinalResults, copies_of_file, open_notices
from arena.workers import Where, workers_kept
from referee.sandbox import Isolation


@click.command("tournament")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fresh", is_flag=True, help="Begin anew; move earlier results into a folder within theirs.")
@isolation_option
@broken_option
@check_option
@click.option("--results", type=click.Path(path_type=Path), help="Folder for ledger and transcripts.")
@click.option(
    "--for",
    "how_long",
    metavar="TIME",
    help="Play a ladder without an end for this long, for example 90s, 30m or 2h.",
)
@click.option(
    "--until",
    metavar="WHEN",
    help="Play a ladder without an end until this time: 2026-12-24T18:00 (local, unless it has an offset).",
)
@where_options
@listen_options
@feed_option
@notify_option
@log_option
@usage_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    file: Path,
    *,
    fresh: bool,
    isolation: Isolation | None,
    broken: Broken | None,
    checks: bool,
    results: Path | None,
    how_long: str | None,
    until: str | None,
    concurrency: int | None,
    workers: int | None,
    on: str,
    patience: int,
    transcripts: str | None,
    listen: str | None,
    key: Path | None,
    feed: str | None,
    notify: str | None,
    log: str | None,
    usage: bool,
    as_json: bool,
) -> None:
    """Play the tournament that FILE describes. After a stop, the same command goes on."""
    tournament = read_tournament(file, {} if fresh else _kept(file, results))
    if isolation is not None:
        tournament = replace(tournament, form=replace(tournament.form, isolation=isolation))
    if broken is not None:
        tournament = replace(tournament, form=replace(tournament.form, broken=broken))
    if results is not None:
        tournament = replace(tournament, results=results)
    refuse_in_bot(tournament.results, f"{file}: results" if results is None else "--results")
    time_is_up = _time_limit(how_long, until)
    if time_is_up is not None and not tournament.form.endless:
        raise WrongUse("--for, --until: are for a ladder without an end; other tournaments have one")
    where = Where(on=on, transcripts=transcripts, concurrency=concurrency, workers=workers, patience=patience)
    with (
        workers_kept(),
        open_log(log) as events,
        open_feed(feed_asked(feed, tournament.results)) as line,
        open_notices(notices_url(tournament.form, notify), events.logger) as told,
        told_how_to_go_on(),
    ):
        came_out = play_to_its_end(
            tournament,
            where,
            line=line,
            log=events,
            notify=told,
            listening=Listening(listen, key),
            time_is_up=time_is_up,
            fresh=fresh,
            checks=checks,
        )
    tournament = came_out.tournament
    if as_json:
        print_json(results_json(tournament, came_out))
    else:
        _print(tournament, came_out, transcripts, usage=usage)


class PlayingTime:
    """The time that is left to play in, from when it is first asked for in a loop.

    A ladder is played in one loop after another, each with a clock of its own. A loop's clock leaves out time in
    which the arena was stopped; time between two loops, in which nothing is played, does not count either.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._clock: trio.abc.Clock | None = None
        self._looked = 0.0
        """When it was last asked for, on that clock."""

    def is_up(self) -> bool:
        """Return whether nothing is left; outside of a loop, as it was when that was last asked."""
        if trio.lowlevel.in_trio_run():
            clock = trio.lowlevel.current_clock()
            now = clock.current_time()
            if clock is self._clock:
                self._left -= now - self._looked
            self._clock, self._looked = clock, now
        return self._left <= 0


def _time_limit(how_long: str | None, until: str | None) -> Callable[[], bool] | None:
    """Whether the time is up; None: there is no limit."""
    if how_long is not None and until is not None:
        raise WrongUse("--for, --until: give one of them")
    if how_long is not None:
        seconds = seconds_in(how_long)
        if seconds is None:
            raise WrongUse(
                f"--for: {how_long!r} is not a time; give a whole number with s, m, h or d, for example 2h"
            )
        return PlayingTime(seconds).is_up
    if until is None:
        return None
    try:
        # What says nothing of its zone is this machine's.
        when = datetime.fromisoformat(until).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise WrongUse(f"--until: {until!r} is not a time; give one such as 2026-12-24T18:00") from None
    if when <= datetime.now(UTC):
        raise WrongUse(f"--until: {until} is in the past: it is {datetime.now().astimezone():%Y-%m-%dT%H:%M} now")
    return lambda: datetime.now(UTC) >= when


def _kept(file: Path, results: Path | None) -> dict[str, str]:
    """The copies of bots that have withdrawn: what their folders hold now does not matter."""
    folder = results or results_of(file, read_form(file))
    return copies_of_file(folder, withdrawn_only=True)


def _print(tournament: Tournament, came_out: FinalResults, elsewhere: str | None, *, usage: bool) -> None:
    """The final table."""
    screen = results_console()
    print_result(screen, came_out.contest, came_out.standings, tournament.seats)
    for line in attempts_text(came_out):
        screen.say(line)
    for line in notes(tournament.shown, came_out.reports, tournament.results / TRANSCRIPTS):
        screen.say(line)
    screen.print()
    show(screen, ratings_table(came_out.digest))
    if said := prior_text(came_out.digest):
        screen.say(said)
    if usage:
        screen.print()
        show(screen, usage_table(*field_usage(came_out.digest, came_out.reports)))
    transcripts = elsewhere or tournament.results / TRANSCRIPTS
    screen.say(f"transcripts: {transcripts}")
    screen.say(f"report: {tournament.results / PAGE}")
