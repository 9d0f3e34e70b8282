"""`arena serve` and `arena site`: competitions as a website, served or written as files."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace
from rich.progress import Progress as Bar
from rich.progress import TimeElapsedColumn, TimeRemainingColumn

from arena import event_loop
from arena.commands.options import LogOption, open_log
from arena.config import is_season, url_complaint
from arena.errors import AnswerIsNo, WrongUse
from arena.feed import is_endpoint
from arena.options import MAX_PORT, default_folder, option, options
from arena.pages import Announcement
from arena.quantities import pluralise
from arena.terminal import print_json, progress_bar, progress_console, results_console
from arena.web import (
    MOST_CLIENTS,
    MOST_OF_ADDRESS,
    NICENESS_OF_PORTAL,
    Builder,
    Extension,
    Serving,
    Written,
    authority,
    competitions_in,
    demand_port,
    open_output,
    play_of,
    serve,
)
from arena.workers import LOCAL, cores
from referee.bot_folder import MEGABYTE
from referee.log import Logger

if TYPE_CHECKING:
    from arena.portal import ServerProcess
    from arena.submissions import Competition

MOST_SHOWN = 100
"""Maximum characters of a wrong value that an error quotes."""
ORIGIN = re.compile(r"\*|https?://(?:\*\.)?[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?")
Clients = Annotated[int, Meta(ge=1, le=50_000)]
AFTER = "after"
LATE_SECONDS = 15.0
DELAY = click.FloatRange(0, 86_400)


def _delay(context: click.Context, option: click.Parameter, given: str) -> float | None:
    """Return seconds, or None for `after`."""
    if given == AFTER:
        return None
    return float(DELAY(given, option, context))


def _url(context: click.Context, option: click.Parameter, given: str) -> str:
    """Return a site's address with a slash at its end; "" stays as it is."""
    del context, option
    if not given:
        return ""
    wrong = url_complaint(given)
    if wrong is None and set(given) & set("?#<>\"'\\"):
        wrong = "is not the address of a folder"
    if wrong:
        raise WrongUse(f"--url {given[:MOST_SHOWN]}: {wrong}")
    return f"{given.rstrip('/')}/"


def _origins(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Return sites that may show replays, once they are checked: they become part of a header."""
    del context, option
    for each in given:
        if not ORIGIN.fullmatch(each):
            raise WrongUse(f"--embed {each[:MOST_SHOWN]}: is neither https://HOST nor '*'")
    return given


UrlOption = Annotated[
    str,
    option(
        "Address at which visitors find the site, such as https://example.org/cups/. With it, links to pages show"
        " a picture elsewhere.",
        callback=_url,
    ),
]


class ServeOptions(Serving, frozen=True, kw_only=True):
    """Options of the server, and its log."""

    host: Annotated[str, option("Address to listen at; 0.0.0.0 for all networks.", show_default=True)] = (
        "127.0.0.1"
    )
    port: Annotated[
        Annotated[int, Meta(ge=0, le=MAX_PORT)], option("Port; 0 for any free one.", show_default=True)
    ] = 8000
    feeds: Annotated[
        tuple[str, ...],
        option(
            "Also show this live feed, ipc://PATH or tcp://ADDRESS:PORT; repeatable.",
            "--feed",
            metavar="ENDPOINT",
        ),
    ] = ()
    delay: Annotated[
        float | None,
        option(
            "Show all views of a match this many seconds late while its deal is played for the last time, or"
            " (after) once its deal is over. Never shown late: matches of remote bots and of bots without a"
            " sandbox, unless the competition's file says so.",
            callback=_delay,
            type=str,
            metavar="SECONDS|after",
            default=f"{LATE_SECONDS:g}",
            show_default=True,
        ),
    ] = LATE_SECONDS
    url: UrlOption = ""
    embed: Annotated[
        tuple[str, ...],
        option(
            "Allow pages of this site, such as https://example.org, to show replays within them; repeatable. '*'"
            " allows all.",
            metavar="ORIGIN",
            callback=_origins,
        ),
    ] = ()
    streams: Annotated[Clients, option("Limit on open pages with live updates.", show_default=True)] = MOST_CLIENTS
    streams_of_address: Annotated[
        Clients,
        option(
            "Limit on such pages per address; this machine's own addresses have none.",
            "--streams-per-address",
            show_default=True,
        ),
    ] = MOST_OF_ADDRESS
    practice: Annotated[
        bool | None,
        option(
            "Let visitors play against sample bots and each other, or not.  [default: only if --host is this"
            " machine's own]",
            "--practice/--no-practice",
        ),
    ] = None
    log: LogOption = None
    teams: Annotated[
        bool,
        option(
            "Let teams sign in, hand in bots and see what became of them, in the competition of the one FILE"
            " given."
        ),
    ] = False
    play: Annotated[
        bool,
        option("Also play the competition and judge what teams hand in, in processes beside. Includes --teams."),
    ] = False
    on: Annotated[
        str,
        option(
            "With --play, play and judge here (local), or on an existing Dask cluster (dask://HOST:PORT).",
            show_default=True,
            metavar="PLACE",
        ),
    ] = LOCAL
    listen: Annotated[
        str | None,
        option("With --play, the address at which remote bots connect.", metavar="ADDRESS:PORT"),
    ] = None
    key: Annotated[Path | None, option("With --listen, the host's own key, NAME.key_secret.", metavar="FILE")] = (
        None
    )
    behind_proxy: Annotated[
        bool,
        option("All visitors come through a proxy of yours, which appends their addresses to X-Forwarded-For."),
    ] = False


@click.command("serve")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@options(ServeOptions)
def command(folders: tuple[Path, ...], *, asked: ServeOptions) -> None:
    """Serve the competitions in each FOLDER as a website, until Ctrl-C.

    People may play practice matches, which are kept in practice/ for a week. Nothing else is written.

    A FOLDER is a results folder, a folder that holds some, or a tournament's file.  [default: runs]

    With --play, FILE.toml is a tournament's or a season's file, which is played as well, and in which teams enter
    by themselves: the season's server.
    """
    for feed in asked.feeds:
        if not is_endpoint(feed):
            raise WrongUse(f"--feed {feed}: is neither ipc://PATH nor tcp://ADDRESS:PORT")
    asked = replace(asked, places=folders)
    with open_log(asked.log) as events:
        if asked.play:
            supervise(asked, events.logger)
        elif asked.teams:
            serve_teams(asked, events.logger)
        else:
            practice = _practice(asked, default_folder("practice"), events.logger)
            event_loop.run(partial(serve, asked, events.logger, practice))


def _practice(asked: ServeOptions, folder: Path, log: Logger) -> list[Extension]:
    """Return what lets people play on this server, with its files in a folder; nothing if they may not."""
    return [play_of(asked, folder, log)] if asked.has_practice else []


def serve_teams(asked: ServeOptions, log: Logger) -> None:
    """Serve pages, and the portal of the competition's teams."""
    from arena.portal import Portal  # noqa: PLC0415 - most servers have none

    competition = _competition(asked)
    asked = serving_of_teams(asked, competition)
    practice = _practice(asked, competition.server / "practice", log)
    links = [link for each in practice for link in each.links]
    portal = Portal(competition, asked.guard, log, url=asked.url, links=links, announcement=asked.announcement)
    extensions = [*practice, portal]
    event_loop.run(partial(serve, asked, log, extensions))


def serving_of_teams(asked: ServeOptions, competition: "Competition") -> ServeOptions:
    """Return the options of a server of teams. The command line comes before the competition's file."""
    practice = competition.terms.practice if asked.practice is None else asked.practice
    return replace(
        asked,
        places=(competition.results,),
        niceness=NICENESS_OF_PORTAL,
        practice=practice,
        announcement=Announcement(),
    )


def supervise(asked: ServeOptions, log: Logger) -> None:
    """Play, judge and serve in three processes, until Ctrl-C."""
    from arena.portal import supervisor_lock  # noqa: PLC0415 - most servers have none

    competition = _competition(asked)
    with supervisor_lock(competition.server):
        event_loop.run(partial(_supervise, competition, asked, log))


async def _supervise(competition: "Competition", asked: ServeOptions, log: Logger) -> None:
    from arena.portal import Supervisor, show_host_link  # noqa: PLC0415 - most servers have none

    await demand_port(asked.host, asked.port)
    address = asked.url or f"http://{authority(asked.host, asked.port)}/"
    show_host_link(competition, address)
    await Supervisor(server_processes(competition, asked), competition.server, log).run()


def server_processes(competition: "Competition", asked: ServeOptions) -> "tuple[ServerProcess, ...]":
    """Return the processes that play, judge and serve a competition."""
    from arena.portal import ServerProcess  # noqa: PLC0415 - most servers have none

    file = competition.file
    arena = (sys.executable, "-P", "-m", "arena")
    log = () if asked.log is None else ("--log", asked.log)
    serving = ["--host", asked.host, "--port", str(asked.port)]
    serving += ["--delay", AFTER if asked.delay is None else f"{asked.delay:g}"]
    serving += ["--streams", str(asked.streams), "--streams-per-address", str(asked.streams_of_address)]
    if asked.url:
        serving += ["--url", asked.url]
    if asked.behind_proxy:
        serving.append("--behind-proxy")
    if asked.practice is not None:
        serving.append("--practice" if asked.practice else "--no-practice")
    for origin in asked.embed:
        serving += ["--embed", origin]
    playing = ["--on", asked.on]
    if asked.on == LOCAL:  # Matches on a cluster have no feed.
        playing.append("--feed")
        if serving_of_teams(asked, competition).has_practice and competition.form.concurrency is None:
            # A core stays free for people who play, who else would never find room.
            playing += ["--concurrency", str(max(1, cores() - 1))]
    if asked.listen is not None:
        playing += ["--listen", asked.listen]
    if asked.key is not None:
        playing += ["--key", str(asked.key)]
    kind = "season" if is_season(file) else "tournament"
    return (
        ServerProcess("play", (*arena, kind, str(file), *playing, *log), ends=True, hangs_after=600),
        # The longest that it does without a sign of life is a build, which may take ten minutes.
        ServerProcess("judge", (*arena, "judge", str(file), "--on", asked.on), hangs_after=1_800),
        ServerProcess("serve", (*arena, "serve", str(file), "--teams", *serving, *log)),
    )


def _competition(asked: ServeOptions) -> "Competition":
    """Return the competition whose file was given.

    Raises:
        WrongUse: not exactly one file was given, or it is not valid.
    """
    from arena.submissions import Competition  # noqa: PLC0415 - most servers have no teams

    flag = "--play" if asked.play else "--teams"
    if len(asked.places) != 1 or asked.places[0].suffix != ".toml":
        raise WrongUse(f"{flag}: give one FILE.toml, of a tournament or a season")
    if not asked.port:
        raise WrongUse(f"{flag}: --port 0 would be another port after each restart: give one")
    return Competition.read(asked.places[0])


MOST_JOBS = 256
MOST_SAID = 10
"""Maximum transcripts listed that could not be shown; `--json` has more."""


class SiteOptions(Struct, frozen=True, kw_only=True):
    """Options of a site."""

    jobs: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_JOBS)] | None,
        option("Number of processes that make replays.  [default: one per core]"),
    ] = None
    replays: Annotated[bool, option("Write a replay page for each match, or none.", "--replays/--no-replays")] = (
        True
    )
    transcripts: Annotated[
        bool, option("Write the transcript of each match, or none.", "--transcripts/--no-transcripts")
    ] = True
    pictures: Annotated[
        bool,
        option(
            "Write a picture of each match that has a replay, or none. Needs the extra 'pictures'.",
            "--pictures/--no-pictures",
        ),
    ] = True
    url: UrlOption = ""
    as_json: Annotated[bool, option("Print what was done as JSON.", "--json")] = False


@click.command("site")
@click.argument("out", type=click.Path(path_type=Path, file_okay=False))
@click.argument("places", nargs=-1, metavar="[FOLDER_OR_FILE]...", type=click.Path(path_type=Path))
@options(SiteOptions)
def site_command(out: Path, places: tuple[Path, ...], *, asked: SiteOptions) -> None:
    """Write pages of tournaments into the folder OUT: standings, bots, and every match that counts.

    Give results folders, tournaments' files, or folders of results folders; runs/ is taken if none is given. What
    is in OUT already and has not changed is not written again. Everything in OUT is public.
    """
    competitions = competitions_in(places)
    for each in competitions:
        if each.folder.resolve().is_relative_to(out.resolve()):
            raise WrongUse(
                f"{out}: holds the results {each.folder}, which must not be published: give another folder"
            )
    with (
        open_output(out) as output,
        progress_bar(progress_console(), TimeElapsedColumn(), TimeRemainingColumn(), transient=True) as bar,
    ):
        builder = Builder(output, asked.jobs or cores(), _Shown(bar))
        done = builder.build(
            competitions,
            replays=asked.replays,
            transcripts=asked.transcripts,
            pictures=asked.pictures,
            url=asked.url,
        )
    if asked.as_json:
        print_json(
            {"site": str(out), "competitions": [each.slug for each in competitions]} | msgspec.to_builtins(done)
        )
    else:
        _say(out, done)
    if done.unread:
        raise WrongUse("; ".join(done.unread))
    if done.failures:
        raise AnswerIsNo(
            f"{pluralise(done.failures, 'file')} could not be made from transcripts; everything else was written"
        )


class _Shown:
    """Progress bar of a site's build."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task("pages", total=None)

    def begin(self, what: str, total: int | None) -> None:
        """See `Progress`."""
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(what, total=total)

    def advance(self) -> None:
        """See `Progress`."""
        self._bar.advance(self._task)


def _say(out: Path, done: Written) -> None:
    screen = results_console()
    screen.say(
        f"{out}: {pluralise(done.written, 'file', ',')} written ({done.size / MEGABYTE:,.1f} MB), "
        f"{done.kept:,} kept, {done.deleted:,} deleted"
    )
    if done.left:
        screen.say(
            f"{pluralise(done.left, 'file', ',')} no longer belongs to it, and was changed by somebody: left"
        )
    for transcript, why in done.failed[:MOST_SAID]:
        screen.say(f"{transcript}: {why}")
    if done.failures > MOST_SAID:
        screen.say(f"and {done.failures - MOST_SAID:,} more; --json lists some")
