"""`arena serve`: connects the server, its application, and the results and feeds that it follows."""

from pathlib import Path

import trio
from msgspec import Struct

from arena.terminal import say
from arena.web.application import Application, Site
from arena.web.catalog import missing_places
from arena.web.events import MOST_CLIENTS, MOST_OF_ADDRESS, Streams
from arena.web.following import Following
from arena.web.server import Server, authority, is_loopback, listeners
from referee.linux.processes import be_nice
from referee.log import Logger

NICENESS = 15
"""Niceness of the server, so that matches have priority. With all processors busy, its share is 1/30 of a
match's."""


class Serving(Struct, frozen=True, kw_only=True):
    """Options of the server."""

    places: tuple[Path, ...] = ()
    """Results folders, folders of them, or tournament files; if empty, `runs`."""
    host: str = "127.0.0.1"
    port: int = 8000
    """Port to listen on; 0 for any free one."""
    feeds: tuple[str, ...] = ()
    """Endpoints of feeds in addition to those in results folders."""
    delay: float | None = None
    """Seconds after which matches are shown from all viewpoints; None: as soon as their block counts."""
    streams: int = MOST_CLIENTS
    """Maximum event streams at once."""
    streams_of_address: int = MOST_OF_ADDRESS
    """Maximum event streams from one address other than this machine's own."""


async def serve(asked: Serving, log: Logger) -> None:
    """Serve until cancelled.

    Raises:
        WrongUse: a place holds no results, or the server cannot listen at the address.
        MachineCannot: the port is in use.
    """
    be_nice(NICENESS)  # Threads inherit the niceness, so it is set before any starts.
    async with trio.open_nursery() as nursery:
        site = Site({}, asked.delay, feed=bool(asked.feeds))
        following = Following(asked.places, asked.feeds, nursery, log)
        application = Application(site, Streams(asked.streams, asked.streams_of_address), following.stream_at, log)
        following.show = application.show
        await following.scan(first=True)
        listening = await listeners(asked.host, asked.port)
        port = listening[0].socket.getsockname()[1]
        for place in missing_places(asked.places):
            say(f"{place}: there is no such folder yet; its competitions will appear when there is")
        say(f"serving at http://{authority(asked.host, port)}/")
        if not is_loopback(asked.host):
            say(f"--host {asked.host}: all who reach this machine can read these pages, without encryption")
        log.info("serving", endpoint=authority(asked.host, port))
        nursery.start_soon(following.keep)
        await Server(application, asked.streams, application.failed).serve(listening)
