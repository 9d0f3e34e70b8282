"""`arena tournament`: plays what is left of a tournament, then prints its table."""

import re
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, get_args

import click
from msgspec.structs import replace

from arena.commands.options import (
    NOTIFY,
    check_asked,
    check_option,
    feed_asked,
    feed_option,
    host_keys,
    listen_options,
    log_option,
    notify_option,
    open_log,
    usage_option,
    where_options,
)
from arena.config import Broken, Tournament, TournamentFile, read_tournament, results_of
from arena.errors import Stopped, WrongUse
from arena.feed import open_feed
from arena.pages import write_beside
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
from arena.terminal import command_line, print_json, results_console, say
from arena.tournament import PAGE, TRANSCRIPTS, FinalResults, copies_of_file, open_notices, play_tournament
from arena.workers import Hosting, RemoteSeats, Venue, Where, matches_at_once, venue_for
from referee.bot_folder import TomlError, read_toml
from referee.host import Player
from referee.sandbox import Isolation
from referee.wire import BadAddressError, read_address

NO_LISTENER = "--listen ADDRESS:PORT is wanted for bots on other machines"


@click.command("tournament")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--fresh", is_flag=True, help="Begin anew; move earlier results into a folder within theirs.")
@click.option(
    "--isolation",
    type=click.Choice(get_args(Isolation)),
    help="Level of isolation, in place of the file's.  [default: strict]",
)
@click.option(
    "--broken",
    type=click.Choice(get_args(Broken)),
    help="If a bot cannot start, begin nothing or leave it out, in place of the file's.  [default: stop]",
)
@check_option
@click.option("--results", type=click.Path(path_type=Path), help="Folder for ledger and transcripts.")
@click.option(
    "--for",
    "how_long",
    metavar="TIME",
    help="Play a ladder without an end for so long, for example 90s, 30m or 2h.",
)
@click.option(
    "--until",
    metavar="WHEN",
    help="Play a ladder without an end until then, for example 2026-12-24T18:00; a local time, unless it says.",
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
    time_is_up = _time_limit(how_long, until)
    if time_is_up is not None and not tournament.form.endless:
        raise WrongUse("--for, --until: are for a ladder without an end; other tournaments have one")
    where = Where(on=on, transcripts=transcripts, concurrency=concurrency, workers=workers)
    form = tournament.form
    url = notify or (None if form.notices is None else form.notices.url)
    with (
        open_log(log) as events,
        open_feed(feed_asked(feed, tournament.results)) as line,
        open_notices(url, events.logger) as told,
    ):
        failed: dict[int, str] = {}
        publish = None if line is None else line.publish
        remote = _remote(tournament, where, listen, key, publish=publish, log=events.logger)
        players, venue = venue_for(
            where,
            tournament.bots,
            form.isolation,
            at_once=form.concurrency,
            fresh=fresh,
            failed=failed,
            feed=line,
            log=events,
            remote=remote,
        )
        check = check_asked(where, tournament, failed, plays=checks)

        def enlist(changed: Tournament) -> tuple[tuple[Player, ...], Venue[Any]]:
            if changed.remote and remote is None:
                raise WrongUse(f"{NO_LISTENER}: {changed.remote[0].name} has entered")
            return venue_for(
                where,
                changed.bots,
                form.isolation,
                at_once=form.concurrency,
                feed=line,
                log=events,
                remote=remote,
            )

        try:
            came_out = play_tournament(
                tournament,
                players,
                venue,
                fresh=fresh,
                write_reports=write_beside,
                time_is_up=time_is_up,
                enlist=enlist,
                check=check,
                publish=publish,
                notify=told,
                remote=remote,
                log=events.logger,
            )
        except Stopped as stopped:
            again = command_line(*_without_secret(word for word in sys.argv[1:] if word != "--fresh"))
            raise Stopped(stopped.signal, f"stopped; to go on where it was: {again}") from None
    for text in () if remote is None else remote.lines():
        say(text)
    tournament = came_out.tournament
    if as_json:
        print_json(results_json(tournament, came_out))
    else:
        _print(tournament, came_out, transcripts, usage=usage)


def _without_secret(words: Iterable[str]) -> list[str]:
    """A command's words without the URL of notices: what is said ends up in logs."""
    found: list[str] = []
    for word in words:
        option, equals, _ = word.partition("=")
        if found and found[-1] == NOTIFY:
            found.append("URL")
        else:
            found.append(f"{NOTIFY}=URL" if option == NOTIFY and equals else word)
    return found


def _remote(
    tournament: Tournament, where: Where, listen: str | None, key: Path | None, **given: Any
) -> RemoteSeats | None:
    """The seats of remote bots; None: no port is to be opened.

    Raises:
        WrongUse: there are remote bots, and no address; or the address or the key cannot be used.
    """
    if listen is None:
        if tournament.remote:
            raise WrongUse(f"{NO_LISTENER}: {tournament.file} names {tournament.remote[0].given}")
        if key is not None:
            raise WrongUse("--key: goes with --listen")
        return None
    form = tournament.form
    try:
        hosting = Hosting(read_address(listen), host_keys(key), form.remote.wait)
    except BadAddressError as error:
        raise WrongUse(f"--listen: {error}") from None
    slots = where.concurrency or form.concurrency or matches_at_once()
    return RemoteSeats(hosting, slots=slots, **given)


def _time_limit(how_long: str | None, until: str | None) -> Callable[[], bool] | None:
    """Whether the time is up; None: there is no limit."""
    if how_long is not None and until is not None:
        raise WrongUse("--for, --until: give one of them")
    if how_long is not None:
        found = re.fullmatch(r"([0-9]{1,6})([smhd])", how_long)
        if found is None:
            raise WrongUse(f"--for: {how_long!r} is no time; a whole number and s, m, h or d, for example 2h")
        seconds = int(found[1]) * {"s": 1, "m": 60, "h": 3_600, "d": 86_400}[found[2]]
        begun: list[float] = []

        def is_up() -> bool:
            # Asked first when the first match can begin: a check before it is not counted.
            begun.append(monotonic())
            del begun[1:]
            return monotonic() >= begun[0] + seconds

        return is_up
    if until is None:
        return None
    try:
        # What says nothing of its zone is this machine's.
        when = datetime.fromisoformat(until).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise WrongUse(f"--until: {until!r} is no time; for example 2026-12-24T18:00") from None
    return lambda: datetime.now(UTC) >= when


def _kept(file: Path, results: Path | None) -> dict[str, str]:
    """The copies of bots that have withdrawn: what their folders hold now does not matter."""
    try:
        folder = results or results_of(file, read_toml(file, TournamentFile))
    except TomlError as error:
        raise WrongUse(str(error)) from None
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
