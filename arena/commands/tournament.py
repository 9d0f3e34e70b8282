"""`arena tournament`: play the rest of a tournament, then print its table."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import click
import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.checks import check_asked
from arena.commands.options import (
    NOTIFY,
    SessionOptions,
    StartOptions,
    feed_asked,
    host_keys,
    open_log,
)
from arena.config import Tournament, TournamentFile, affinity_place, read_form, read_tournament, results_of
from arena.errors import CannotGoOn, Stopped, WrongUse, as_wrong_use
from arena.feed import FeedLine, open_feed
from arena.options import option, options, refuse_in_bot
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
from arena.terminal import command_line, print_json, results_console, say, show
from arena.tournament import (
    PAGE,
    TRANSCRIPTS,
    FinalResults,
    Notify,
    TournamentResults,
    TournamentRun,
    copies_of_file,
    open_notices,
)
from arena.workers import (
    LOCAL,
    Hosting,
    Placement,
    PoolSetup,
    RemoteSeats,
    WorkerPool,
    matches_at_once,
    workers_kept,
)
from referee.host import Player, Publish, RemoteBot
from referee.log import Logger, OperatorLog
from referee.sandbox import ends_with_login
from referee.wire import BadAddressError, read_address


class TournamentOptions(Struct, frozen=True, kw_only=True):
    """Options of a tournament."""

    fresh: Annotated[bool, option("Begin anew; move earlier results into a folder within theirs.")] = False
    start: StartOptions = StartOptions()
    results: Annotated[Path | None, option("Folder for ledger and transcripts.")] = None
    how_long: Annotated[
        str | None,
        option("Play a ladder without an end for this long, for example 90s, 30m or 2h.", "--for", metavar="TIME"),
    ] = None
    until: Annotated[
        str | None,
        option(
            "Play a ladder without an end until this time: 2026-12-24T18:00 (local, unless it has an offset).",
            metavar="WHEN",
        ),
    ] = None
    session: SessionOptions = SessionOptions()


@click.command("tournament")
@click.argument("file", type=click.Path(path_type=Path))
@options(TournamentOptions)
def command(file: Path, *, asked: TournamentOptions) -> None:
    """Play the tournament that FILE describes. After a stop, the same command goes on."""
    kept: dict[str, str] = {}
    if not asked.fresh:
        # Bots that have withdrawn play as copies, because their folders may have changed since.
        kept = copies_of_file(asked.results or results_of(file, read_form(file)), withdrawn_only=True)
    tournament = read_tournament(file, kept)
    tournament = replace(tournament, form=replace(tournament.form, **asked.start.fields()))
    field = f"{file}: results"
    if asked.results is not None:
        tournament = replace(tournament, results=asked.results)
        field = "--results"
    refuse_in_bot(tournament.results, field)
    time_is_up = _time_limit(asked.how_long, asked.until)
    if time_is_up is not None and not tournament.form.endless:
        raise WrongUse("--for, --until: are for a ladder without an end; other tournaments have one")
    session = asked.session
    with (
        open_session(session, tournament.form) as opened,
        open_feed(feed_asked(session.feed, tournament.results)) as line,
    ):
        final = play_to_its_end(
            tournament,
            opened,
            line=line,
            listening=Listening(session.listen, session.key),
            time_is_up=time_is_up,
            fresh=asked.fresh,
            checks=asked.start.checks,
        )
    if session.as_json:
        print_json(results_json(final.tournament, final))
    else:
        _print(final.tournament, final, session.where.transcripts, usage=session.usage)


class PlayingTime:
    """The remaining playing time, which starts at the first call of `is_up` in an event loop.

    A ladder is played in several event loops, each with its own clock. A loop's clock stops while the arena is
    stopped, and time between two loops does not count.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._clock: trio.abc.Clock | None = None
        self._looked = 0.0
        """Time of the last call of `is_up`, on that clock."""

    def is_up(self) -> bool:
        """Return True if no time is left; outside of a loop, as of the last call inside one."""
        if trio.lowlevel.in_trio_run():
            clock = trio.lowlevel.current_clock()
            now = clock.current_time()
            if clock is self._clock:
                self._left -= now - self._looked
            self._clock, self._looked = clock, now
        return self._left <= 0


def _time_limit(how_long: str | None, until: str | None) -> Callable[[], bool] | None:
    """Return a predicate that is True once the time is up, or None without a limit."""
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
        # A time without an offset is local.
        when = datetime.fromisoformat(until).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise WrongUse(f"--until: {until!r} is not a time; give one such as 2026-12-24T18:00") from None
    if when <= datetime.now(UTC):
        raise WrongUse(f"--until: {until} is in the past: it is {datetime.now().astimezone():%Y-%m-%dT%H:%M} now")
    return lambda: datetime.now(UTC) >= when


def _print(tournament: Tournament, final: FinalResults, elsewhere: str | None, *, usage: bool) -> None:
    """Print the final table."""
    screen = results_console()
    print_result(screen, final.contest, final.standings, tournament.seats)
    for line in attempts_text(final):
        screen.say(line)
    for line in notes(tournament.shown, final.reports, tournament.results / TRANSCRIPTS):
        screen.say(line)
    screen.print()
    show(screen, ratings_table(final.digest))
    if said := prior_text(final.digest):
        screen.say(said)
    if usage:
        screen.print()
        show(screen, usage_table(*field_usage(final.digest, final.reports)))
    transcripts = elsewhere or tournament.results / TRANSCRIPTS
    screen.say(f"transcripts: {transcripts}")
    screen.say(f"report: {tournament.results / PAGE}")


FRESH, FRESH_FROM = "--fresh", "--fresh-from"
"""Options that are left out of the command that continues."""
NO_LISTENER = "--listen ADDRESS:PORT is needed for bots on other machines"
NOT_THERE = "--on: remote bots play on the arena's own machine: go on without --on, with --listen ADDRESS:PORT"


class Listening(Struct, frozen=True):
    """Options for bots on other machines."""

    address: str | None = None
    """Address to listen at; None: no remote bots."""
    key: Path | None = None
    guests: tuple[RemoteBot, ...] = ()
    """See `RemoteSeats`."""
    goes_on: bool = False
    """See `RemoteSeats`."""


class OpenSession(Struct, frozen=True):
    """Resources that a command has opened to play its tournaments."""

    where: Placement
    log: OperatorLog
    notify: Notify
    """Sends notices to the host."""


@contextmanager
def open_session(asked: SessionOptions, form: TournamentFile) -> Iterator[OpenSession]:
    """Open the operator's log and the notices; keep workers for all tournaments of the session.

    Errors that stop the session name the command that continues.
    """
    url = asked.notify
    if url is None and form.notices is not None:
        url = form.notices.url
    with workers_kept(), open_log(asked.log) as log, open_notices(url, log.logger) as notify, _told_how_to_go_on():
        yield OpenSession(asked.where, log, notify)


def play_to_its_end(
    tournament: Tournament,
    session: OpenSession,
    *,
    line: FeedLine | None,
    listening: Listening,
    time_is_up: Callable[[], bool] | None,
    fresh: bool = False,
    checks: bool,
) -> FinalResults:
    """Play the rest of a tournament. Bots that enter during play are built where they play.

    Args:
        tournament: the tournament.
        session: opened for the command.
        line: publishes matches; None: no feed.
        listening: options for remote bots.
        time_is_up: returns True if an endless ladder must stop; None: it continues until a signal arrives.
        fresh: starts anew.
        checks: starts every bot once before the first match of a new tournament.

    Raises:
        WrongUse, MachineCannot, Stopped: see `TournamentRun` and `PoolSetup`.
    """
    form, where, log = tournament.form, session.where, session.log
    failed: dict[int, str] = {}
    publish = None if line is None else line.publish
    remote = _remote(tournament, where, listening, publish=publish, log=log.logger)
    setup = PoolSetup(
        where=where,
        isolation=form.isolation,
        seats=tournament.seats,
        at_once=form.concurrency,
        affinity=affinity_place(tournament),
        feed=line,
        log=log,
        remote=remote,
    )
    # The check of bots also tests the sandbox before earlier results are moved.
    fresh_sandbox = fresh and not checks
    players, pool = setup.pool_for(tournament.bots, fresh=fresh_sandbox, failed=failed)

    def enlist(changed: Tournament) -> tuple[tuple[Player, ...], WorkerPool[Any]]:
        if changed.remote and remote is None:
            raise WrongUse(f"{_lack(where)}: {changed.remote[0].name} has entered")
        return setup.pool_for(changed.bots)

    if where.on == LOCAL and ends_with_login(form.isolation):
        say("systemd ends this arena when you log out; loginctl enable-linger, typed once, keeps it running")
    found = TournamentRun(
        tournament,
        players,
        pool,
        write_reports=_write_reports,
        time_is_up=time_is_up,
        enlist=enlist,
        check=check_asked(where, tournament, failed, plays=checks),
        publish=publish,
        notify=session.notify,
        remote=remote,
        log=log.logger,
    ).play(fresh=fresh)
    if remote is not None:
        for text in remote.lines():
            say(text)
    return found


def _write_reports(folder: Path, found: TournamentResults) -> None:
    """See `arena.pages.write_beside`."""
    from arena.pages import write_beside  # noqa: PLC0415 - slow, and not needed before the first match

    write_beside(folder, found)


def _remote(
    tournament: Tournament, where: Placement, listening: Listening, *, publish: Publish | None, log: Logger
) -> RemoteSeats | None:
    """Return the seats of remote bots, or None without `--listen`.

    Raises:
        WrongUse: remote bots have no address to connect to, or the address or the key is invalid.
    """
    if listening.address is None:
        if tournament.remote:
            raise WrongUse(f"{_lack(where)}: {tournament.file} names {tournament.remote[0].given}")
        if listening.key is not None:
            raise WrongUse("--key: has no effect without --listen")
        return None
    form = tournament.form
    with as_wrong_use(BadAddressError, about="--listen"):
        hosting = Hosting(read_address(listening.address), host_keys(listening.key), form.remote.wait)
    slots = where.concurrency or form.concurrency or matches_at_once()
    return RemoteSeats(
        hosting, slots=slots, guests=listening.guests, goes_on=listening.goes_on, publish=publish, log=log
    )


def _lack(where: Placement) -> str:
    """Return which option is missing, or wrong, for remote bots."""
    if where.on == LOCAL:
        return NO_LISTENER
    return NOT_THERE


@contextmanager
def _told_how_to_go_on() -> Iterator[None]:
    """Add the command that continues to an error that ends a command."""
    try:
        yield
    except Stopped as stopped:
        raise Stopped(stopped.signal, f"stopped; to go on where it was: {_command_again()}") from None
    except CannotGoOn as error:
        raise CannotGoOn(error.why, error.kept, _command_again()) from None


def _command_again() -> str:
    """Return this process's command without the options that start anew."""
    words = sys.argv[1:]
    if FRESH_FROM in words:  # The next word is its value.
        at = words.index(FRESH_FROM)
        words = [*words[:at], *words[at + 2 :]]
    kept = (word for word in words if word != FRESH and not word.startswith(f"{FRESH_FROM}="))
    return command_line(*_without_secret(kept))


def _without_secret(words: Iterable[str]) -> list[str]:
    """Return a command's words without the URL of notices, because errors end up in logs."""
    found: list[str] = []
    for word in words:
        option, equals, _ = word.partition("=")
        if found and found[-1] == NOTIFY:
            found.append("URL")
        elif option == NOTIFY and equals:
            found.append(f"{NOTIFY}=URL")
        else:
            found.append(word)
    return found
