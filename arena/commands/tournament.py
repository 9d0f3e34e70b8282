"""`arena tournament`: play the rest of a tournament, then print its table."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import click
import trio
from msgspec import Struct
from msgspec.structs import replace

from arena.commands.options import (
    SessionOptions,
    StartOptions,
    feed_asked,
)
from arena.commands.tournament_session import Listening, open_session, play_to_its_end
from arena.config import Tournament, read_form, read_tournament, results_of
from arena.errors import WrongUse
from arena.feed import open_feed
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
from arena.terminal import print_json, results_console, show
from arena.tournament import PAGE, TRANSCRIPTS, FinalResults, copies_of_file


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
        kept = _kept(file, asked.results)
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


def _kept(file: Path, results: Path | None) -> dict[str, str]:
    """Return the copies of bots that have withdrawn, whose folders may have changed since."""
    folder = results or results_of(file, read_form(file))
    return copies_of_file(folder, withdrawn_only=True)


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
