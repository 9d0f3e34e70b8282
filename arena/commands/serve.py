"""`arena serve`: serve competitions as a website, with matches as they are played."""

from functools import partial
from pathlib import Path
from typing import Annotated

import click
from msgspec import Meta
from msgspec.structs import replace

from arena import event_loop
from arena.commands.options import LogOption, open_log
from arena.errors import WrongUse
from arena.feed import is_endpoint
from arena.options import option, options
from arena.web import MOST_CLIENTS, MOST_OF_ADDRESS, Serving, serve

MAX_PORT = 65_535
Clients = Annotated[int, Meta(ge=1, le=50_000)]
AFTER = "after"
DELAY = click.FloatRange(0, 86_400)


def _delay(context: click.Context, option: click.Parameter, given: str) -> float | None:
    """Return seconds, or None for `after`."""
    if given == AFTER:
        return None
    return float(DELAY(given, option, context))


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
            "Show all views of a match this many seconds late while it is played, or (after) once its deal is"
            " over.",
            callback=_delay,
            type=str,
            metavar="SECONDS|after",
            default=AFTER,
            show_default=True,
        ),
    ] = None
    streams: Annotated[Clients, option("Limit on open pages with live updates.", show_default=True)] = MOST_CLIENTS
    streams_of_address: Annotated[
        Clients,
        option(
            "Limit on such pages per address; this machine's own addresses have none.",
            "--streams-per-address",
            show_default=True,
        ),
    ] = MOST_OF_ADDRESS
    log: LogOption = None


@click.command("serve")
@click.argument("folders", nargs=-1, metavar="[FOLDER]...", type=click.Path(path_type=Path))
@options(ServeOptions)
def command(folders: tuple[Path, ...], *, asked: ServeOptions) -> None:
    """Serve the competitions in each FOLDER as a website, until Ctrl-C. Nothing is written.

    A FOLDER is a results folder, a folder that holds some, or a tournament's file.  [default: runs]
    """
    for feed in asked.feeds:
        if not is_endpoint(feed):
            raise WrongUse(f"--feed {feed}: is neither ipc://PATH nor tcp://ADDRESS:PORT")
    with open_log(asked.log) as events:
        event_loop.run(partial(serve, replace(asked, places=folders), events.logger))
