"""`arena serve`: a website of competitions, which follows what is being played."""

from functools import partial
from pathlib import Path

import click

from arena import event_loop
from arena.commands.options import log_option, open_log
from arena.errors import WrongUse
from arena.feed import is_endpoint
from arena.web import MOST_CLIENTS, MOST_OF_ADDRESS, Serving, serve

MAX_PORT = 65_535
MAX_CLIENTS = 50_000
AFTER = "after"
DELAY = click.FloatRange(0, 86_400)


def _delay(context: click.Context, option: click.Parameter, given: str) -> float | None:
    """Seconds, or None for `after`."""
    return None if given == AFTER else float(DELAY(given, option, context))


@click.command("serve")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 for all networks."
)
@click.option(
    "--port", type=click.IntRange(0, MAX_PORT), default=8000, show_default=True, help="Port; 0 for any free one."
)
@click.option(
    "--feed",
    "feeds",
    multiple=True,
    metavar="ENDPOINT",
    help="Also show this live feed, ipc://PATH or tcp://ADDRESS:PORT; repeatable.",
)
@click.option(
    "--delay",
    callback=_delay,
    metavar="SECONDS|after",
    default=AFTER,
    show_default=True,
    help="Show all views of a match this many seconds late while it is played, or (after) once its deal is over.",
)
@click.option(
    "--streams",
    type=click.IntRange(1, MAX_CLIENTS),
    default=MOST_CLIENTS,
    show_default=True,
    help="Limit on open pages with live updates.",
)
@click.option(
    "--streams-per-address",
    "streams_of_address",
    type=click.IntRange(1, MAX_CLIENTS),
    default=MOST_OF_ADDRESS,
    show_default=True,
    help="Limit on such pages per address; this machine's own addresses have none.",
)
@log_option
def command(
    folders: tuple[Path, ...],
    *,
    host: str,
    port: int,
    feeds: tuple[str, ...],
    delay: float | None,
    streams: int,
    streams_of_address: int,
    log: str | None,
) -> None:
    """Serve the competitions in each FOLDER as a website, until Ctrl-C. Nothing is written.

    A FOLDER is a results folder, a folder that holds some, or a tournament's file.  [default: runs]
    """
    for feed in feeds:
        if not is_endpoint(feed):
            raise WrongUse(f"--feed {feed}: is neither ipc://PATH nor tcp://ADDRESS:PORT")
    asked = Serving(
        places=folders,
        host=host,
        port=port,
        feeds=feeds,
        delay=delay,
        streams=streams,
        streams_of_address=streams_of_address,
    )
    with open_log(log) as events:
        event_loop.run(partial(serve, asked, events.logger))
