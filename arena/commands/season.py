"""`arena season`: play the rest of a season's stages, then print the result of each."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import click
from msgspec import Struct
from msgspec.structs import replace

from arena.checks import check_asked, exclude_broken_bots
from arena.commands.options import (
    SessionOptions,
    StartOptions,
    feed_asked,
)
from arena.commands.tournament import Listening, open_session, play_to_its_end
from arena.config import Season, Tournament, affinity_place, read_season
from arena.errors import WrongUse
from arena.feed import open_feed
from arena.options import option, options, refuse_in_bot
from arena.pages import write_season_beside
from arena.reports import print_season, season_json
from arena.season import begin_anew, play_season, remote_bots, season_in
from arena.terminal import print_json, results_console
from arena.tournament import checks_folder, try_out
from arena.workers import Placement, PoolSetup
from referee.host import RemoteBot

NEW = "new"
"""Value of a stage's `versions` if its bots may have new versions, which are not checked yet."""


class SeasonOptions(Struct, frozen=True, kw_only=True):
    """Options of a season."""

    stop_after: Annotated[
        str | None,
        option("Play up to the end of this stage, which stays open for changes.", metavar="STAGE"),
    ] = None
    fresh: Annotated[bool, option("Begin anew; move earlier results into folders within theirs.")] = False
    fresh_from: Annotated[str | None, option("Begin this stage and those after it anew.", metavar="STAGE")] = None
    start: StartOptions = StartOptions()
    results: Annotated[Path | None, option("Folder for the stages' results folders.")] = None
    session: SessionOptions = SessionOptions()


@click.command("season")
@click.argument("file", type=click.Path(path_type=Path))
@options(SeasonOptions)
def command(file: Path, *, asked: SeasonOptions) -> None:
    """Play the season that FILE describes, stage by stage. After a stop, the same command goes on."""
    season = read_season(file)
    field = f"{file}: results"
    if asked.results is not None:
        season = replace(season, results=asked.results)
        field = "--results"
    refuse_in_bot(season.results, field)
    given = asked.start.fields()
    stages = [replace(each, form=replace(each.form, **given)) for each in season.stages]
    season = replace(season, stages=tuple(stages))
    session, where, checks = asked.session, asked.session.where, asked.start.checks
    if asked.fresh and asked.fresh_from is not None:
        raise WrongUse("--fresh-from: --fresh begins all stages anew")
    with open_session(session, season.form) as opened:
        if asked.fresh or asked.fresh_from is not None:
            # This machine must be able to play before earlier results are moved.
            for isolation in {stage.form.isolation for stage in season.stages}:
                try_out(PoolSetup(where=where, isolation=isolation).pool_for((), fresh=True)[1])
            begin_anew(season, asked.fresh_from)

        known: dict[str, RemoteBot] = {bot.key: bot for bot in remote_bots(season)}
        last = season.folder(season.stages[-1].parts[-1])

        def play(tournament: Tournament) -> None:
            guests = tuple(known.values())
            with open_feed(feed_asked(session.feed, tournament.results)) as line:
                # Bots of earlier versions were checked before the first stage.
                is_new = tournament.stage.get("stage.versions") == NEW
                final = play_to_its_end(
                    tournament,
                    opened,
                    line=line,
                    listening=Listening(session.listen, session.key, guests, tournament.results != last),
                    time_is_up=_is_over(tournament),
                    checks=checks and is_new,
                )
                known.update((bot.key, bot) for bot in final.tournament.remote)

        def check(tournament: Tournament) -> Mapping[str, str]:
            return _left_out(season, tournament, where, plays=checks)

        play_season(season, play, check=check, last=asked.stop_after)
    found = season_in(season.results)
    write_season_beside(found)
    if session.as_json:
        print_json(season_json(found))
    else:
        print_season(results_console(), found, usage=session.usage)


def _is_over(tournament: Tournament) -> Callable[[], bool] | None:
    """Return a predicate that is True once an endless ladder's time is up; None for other tournaments."""
    ends = tournament.ends
    if ends is None:
        return None
    return lambda: datetime.now(UTC) >= ends


def _left_out(season: Season, everybody: Tournament, where: Placement, *, plays: bool) -> Mapping[str, str]:
    """Start every bot of the file once, and return those to be left out, with the reasons."""
    failed: dict[int, str] = {}
    form = everybody.form
    setup = PoolSetup(
        where=where,
        isolation=form.isolation,
        seats=everybody.seats,
        at_once=form.concurrency,
        affinity=affinity_place(everybody),
    )
    players, _ = setup.pool_for(everybody.bots, failed=failed)
    check = check_asked(where, everybody, failed, plays=plays)
    rest, _ = exclude_broken_bots(everybody, players, check, folder=checks_folder(season.results), begun=None)
    return rest.left_out
