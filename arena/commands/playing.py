"""Plays a tournament for a command, as its options ask for it."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from arena.commands.options import NOTIFY, check_asked, host_keys
from arena.config import Tournament, TournamentFile, affinity_place
from arena.errors import CannotGoOn, Stopped, WrongUse
from arena.feed import FeedLine
from arena.terminal import command_line, say
from arena.tournament import FinalResults, Notify, Results, TournamentRun
from arena.workers import LOCAL, Hosting, RemoteSeats, Venue, Where, matches_at_once, venue_for
from referee.host import Player, Publish, RemoteBot
from referee.log import Logger, OperatorLog
from referee.sandbox import ends_with_login
from referee.wire import BadAddressError, read_address

FRESH, FRESH_FROM = "--fresh", "--fresh-from"
"""Options that a command has which is given again."""
NO_LISTENER = "--listen ADDRESS:PORT is needed for bots on other machines"
NOT_THERE = "--on: remote bots play on the arena's own machine: go on without --on, with --listen ADDRESS:PORT"


class Listening(Struct, frozen=True):
    """Where a command listens for bots on other machines, as it was told."""

    address: str | None = None
    """None: nowhere."""
    key: Path | None = None
    guests: tuple[RemoteBot, ...] = ()
    """See `RemoteSeats`."""
    goes_on: bool = False
    """See `RemoteSeats`."""


def play_to_its_end(
    tournament: Tournament,
    where: Where,
    *,
    line: FeedLine | None,
    log: OperatorLog,
    notify: Notify,
    listening: Listening,
    time_is_up: Callable[[], bool] | None = None,
    fresh: bool = False,
    checks: bool = True,
) -> FinalResults:
    """Plays what is left of a tournament; bots that enter meanwhile are built where they play.

    Args:
        tournament: what is to be played.
        where: as the command was told.
        line: where matches are published; None: nowhere.
        log: the operator's.
        notify: takes notices to the host.
        listening: where remote bots come in.
        time_is_up: whether a ladder without an end is to stop; None: it goes on until a signal comes.
        fresh: begin anew.
        checks: start every bot once before the first match of a new tournament.

    Raises:
        WrongUse, MachineCannot, Stopped: see `TournamentRun` and `venue_for`.
    """
    form = tournament.form
    failed: dict[int, str] = {}
    publish = None if line is None else line.publish
    remote = _remote(tournament, where, listening, publish=publish, log=log.logger)
    players, venue = venue_for(
        where,
        tournament.bots,
        form.isolation,
        seats=tournament.seats,
        at_once=form.concurrency,
        affinity=affinity_place(tournament),
        # Before earlier results are moved, the check of bots shows whether there is a sandbox.
        fresh=fresh and not checks,
        failed=failed,
        feed=line,
        log=log,
        remote=remote,
    )

    def enlist(changed: Tournament) -> tuple[tuple[Player, ...], Venue[Any]]:
        if changed.remote and remote is None:
            raise WrongUse(f"{_lack(where)}: {changed.remote[0].name} has entered")
        return venue_for(
            where,
            changed.bots,
            form.isolation,
            seats=changed.seats,
            at_once=form.concurrency,
            affinity=affinity_place(tournament),
            feed=line,
            log=log,
            remote=remote,
        )

    if where.on == LOCAL and ends_with_login(form.isolation):
        say("systemd ends this arena when you log out; loginctl enable-linger, typed once, keeps it running")
    found = TournamentRun(
        tournament,
        players,
        venue,
        write_reports=_write_reports,
        time_is_up=time_is_up,
        enlist=enlist,
        check=check_asked(where, tournament, failed, plays=checks),
        publish=publish,
        notify=notify,
        remote=remote,
        log=log.logger,
    ).play(fresh=fresh)
    for text in () if remote is None else remote.lines():
        say(text)
    return found


def _write_reports(folder: Path, found: Results) -> None:
    """See `arena.pages.write_beside`."""
    from arena.pages import write_beside  # noqa: PLC0415 - bots are checked, and matches begin, before it is needed

    write_beside(folder, found)


def notices_url(form: TournamentFile, asked: str | None) -> str | None:
    """Where notices go: as the command was told, or the file says; None: nowhere."""
    return asked or (None if form.notices is None else form.notices.url)


def _remote(
    tournament: Tournament, where: Where, listening: Listening, *, publish: Publish | None, log: Logger
) -> RemoteSeats | None:
    """The seats of remote bots; None: no port is to be opened.

    Raises:
        WrongUse: there are remote bots, and no address; or the address or the key cannot be used.
    """
    if listening.address is None:
        if tournament.remote:
            raise WrongUse(f"{_lack(where)}: {tournament.file} names {tournament.remote[0].given}")
        if listening.key is not None:
            raise WrongUse("--key: has no effect without --listen")
        return None
    form = tournament.form
    try:
        hosting = Hosting(read_address(listening.address), host_keys(listening.key), form.remote.wait)
    except BadAddressError as error:
        raise WrongUse(f"--listen: {error}") from None
    slots = where.concurrency or form.concurrency or matches_at_once()
    return RemoteSeats(
        hosting, slots=slots, guests=listening.guests, goes_on=listening.goes_on, publish=publish, log=log
    )


def _lack(where: Where) -> str:
    """What remote bots need that a command was not told."""
    return NO_LISTENER if where.on == LOCAL else NOT_THERE


@contextmanager
def told_how_to_go_on() -> Iterator[None]:
    """Add to an error that ends a command which command goes on: the same, without what begins anew."""
    try:
        yield
    except Stopped as stopped:
        raise Stopped(stopped.signal, f"stopped; to go on where it was: {_command_again()}") from None
    except CannotGoOn as error:
        raise CannotGoOn(error.why, error.kept, _command_again()) from None


def _command_again() -> str:
    """Return this process's command as it is given again to go on."""
    words = sys.argv[1:]
    if FRESH_FROM in words:  # With its value.
        at = words.index(FRESH_FROM)
        words = [*words[:at], *words[at + 2 :]]
    kept = (word for word in words if word != FRESH and not word.startswith(f"{FRESH_FROM}="))
    return command_line(*_without_secret(kept))


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
