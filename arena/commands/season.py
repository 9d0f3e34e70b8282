"""`arena season`: plays what is left of a season's stages, then prints how each came out."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import click
from msgspec.structs import replace

from arena.checks import exclude_broken_bots
from arena.commands.options import (
    broken_option,
    check_asked,
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
from arena.config import Broken, Season, Tournament, affinity_place, read_season
from arena.errors import WrongUse
from arena.feed import open_feed
from arena.output_folders import refuse_in_bot
from arena.pages import write_season_beside
from arena.reports import print_season, season_json
from arena.season import begin_anew, play_season, remote_bots, season_in
from arena.terminal import print_json, results_console
from arena.tournament import checks_folder, open_notices, try_out
from arena.workers import Where, venue_for, workers_kept
from referee.host import RemoteBot
from referee.sandbox import Isolation

NEW = "new"
"""Value of a stage's `versions`: bots play that nobody has started yet."""


@click.command("season")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--stop-after", metavar="STAGE", help="Play up to the end of this stage, which stays open for changes."
)
@click.option("--fresh", is_flag=True, help="Begin anew; move earlier results into folders within theirs.")
@click.option("--fresh-from", metavar="STAGE", help="Begin this stage and those after it anew.")
@isolation_option
@broken_option
@check_option
@click.option("--results", type=click.Path(path_type=Path), help="Folder for the stages' results folders.")
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
    stop_after: str | None,
    fresh: bool,
    fresh_from: str | None,
    isolation: Isolation | None,
    broken: Broken | None,
    checks: bool,
    results: Path | None,
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
    """Play the season that FILE describes, stage by stage. After a stop, the same command goes on."""
    season = read_season(file)
    if results is not None:
        season = replace(season, results=results)
    refuse_in_bot(season.results, f"{file}: results" if results is None else "--results")
    season = _with(season, isolation=isolation, broken=broken)
    where = Where(on=on, transcripts=transcripts, concurrency=concurrency, workers=workers, patience=patience)
    if fresh and fresh_from is not None:
        raise WrongUse("--fresh-from: --fresh begins all stages anew")
    url = notices_url(season.form, notify)
    with (
        workers_kept(),
        open_log(log) as events,
        open_notices(url, events.logger) as told,
        told_how_to_go_on(),
    ):
        if fresh or fresh_from is not None:
            _try_first(season, where)
            begin_anew(season, fresh_from)

        known: dict[str, RemoteBot] = {bot.key: bot for bot in remote_bots(season)}
        last = season.folder(season.stages[-1].parts[-1])

        def play(tournament: Tournament) -> None:
            with open_feed(feed_asked(feed, tournament.results)) as line:
                # All bots were started before the first stage.
                new = checks and tournament.stage.get("stage.versions") == NEW
                came_out = play_to_its_end(
                    tournament,
                    where,
                    line=line,
                    log=events,
                    notify=told,
                    listening=Listening(listen, key, tuple(known.values()), tournament.results != last),
                    time_is_up=_is_over(tournament),
                    checks=new,
                )
                known.update((bot.key, bot) for bot in came_out.tournament.remote)

        def check(tournament: Tournament) -> Mapping[str, str]:
            return _left_out(season, tournament, where, plays=checks)

        play_season(season, play, check=check, last=stop_after)
    found = season_in(season.results)
    write_season_beside(found)
    if as_json:
        print_json(season_json(found))
    else:
        print_season(results_console(), found, usage=usage)


def _is_over(tournament: Tournament) -> Callable[[], bool] | None:
    """Return whether the time of a ladder without an end is up, as a function; None: its end is another."""
    ends = tournament.ends
    return None if ends is None else lambda: datetime.now(UTC) >= ends


def _with(season: Season, **given: Isolation | Broken | None) -> Season:
    """The season with these fields in place of the file's, in all stages; None: the file's."""
    asked = {name: value for name, value in given.items() if value is not None}
    stages = (replace(each, form=replace(each.form, **asked)) for each in season.stages)
    return replace(season, stages=tuple(stages))


def _try_first(season: Season, where: Where) -> None:
    """Raises what keeps this machine from playing, before earlier results are moved."""
    for isolation in {stage.form.isolation for stage in season.stages}:
        try_out(venue_for(where, (), isolation, fresh=True)[1])


def _left_out(season: Season, everybody: Tournament, where: Where, *, plays: bool) -> Mapping[str, str]:
    """Starts every bot of the file once; those that cannot start and are to be left out."""
    failed: dict[int, str] = {}
    form = everybody.form
    players, _ = venue_for(
        where,
        everybody.bots,
        form.isolation,
        seats=everybody.seats,
        at_once=form.concurrency,
        affinity=affinity_place(everybody),
        failed=failed,
    )
    check = check_asked(where, everybody, failed, plays=plays)
    rest, _ = exclude_broken_bots(everybody, players, check, folder=checks_folder(season.results), begun=None)
    return rest.left_out
