"""Detection of changes in what is served: new competitions, changed ledgers, and feeds of live matches."""

import math
import stat
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import trio

from arena.errors import MachineCannot, WrongUse, tried_again
from arena.feed import Heard, Subscriber
from arena.pages import NO_ANNOUNCEMENT, Announcement, SeasonPages
from arena.terminal import say
from arena.tournament import FEED_SOCKET
from arena.web.cache import ServedCompetition
from arena.web.catalog import RESERVED, folders_in, seasons_in, slug_of
from arena.web.events import Stream
from arena.web.live import NO_MATCHES, LiveFeed
from referee.log import SILENT, Logger

LOOK_SECONDS = 1.0
SCAN_SECONDS = 2.0
SHARE = 20
"""Factor by which the pause between two checks exceeds their processor time, up to `MOST_SECONDS`."""
MOST_SECONDS = 5.0
"""Maximum seconds between two checks."""
INDEX = ""
"""The slug of the page of all competitions."""
LIVE = "live"
"""The slug of feeds that belong to no competition that is served."""
COMPLAINT_SECONDS = 60.0
"""Minimum seconds between two reports that a feed's live matches could not be shown."""

Answer = TypeVar("Answer")


class _WatchedCompetition:
    """Stream of changes and live matches of one slug."""

    def __init__(self, nursery: trio.Nursery, boot: str, failed: Callable[[Exception], None]) -> None:
        """`failed` is called with each unexpected error in the live matches."""
        self._nursery = nursery
        self._boot = boot
        self._failed = failed
        self._failed_at = -math.inf
        self._version = 0
        self.stamp: object = None
        self.looked_at: object = None
        """Stamp of the ledger when it was last read for matches that count."""
        self.changes = Stream(nursery, self._now)
        self.matches: dict[str, Stream] = {}
        self._live = LiveFeed(self._publish, self._publish_of, trio.current_time)
        self.stage = Stream(nursery, lambda: self._safely(self._live.snapshot, NO_MATCHES))

    def changed(self) -> None:
        """Notify clients that the pages have changed."""
        self._version += 1
        self.changes.publish(self._now())

    def hear(self, heard: Heard) -> None:
        """Process a possibly invalid message of a feed."""
        self._safely(lambda: self._live.hear(heard.topic, heard.message, heard.feed), None)

    def waiting(self) -> list[str]:
        """Return the heads of matches that are over and not yet known to count."""
        return self._safely(self._live.waiting, [])

    def count(self, counted: dict[str, tuple[int, int]]) -> None:
        """Publish the results of matches that count now. `counted` maps heads to block and seating."""
        self._safely(lambda: self._live.count(counted), None)

    def stream_of(self, id_: str) -> Stream | None:
        """Return the stream of one live match, or None if there is no such match."""
        if self._live.match(id_) is None:
            return None
        if id_ not in self.matches:
            self.matches[id_] = Stream(
                self._nursery, lambda: self._safely(lambda: self._live.snapshot_of(id_), NO_MATCHES)
            )
        return self.matches[id_]

    def tidy(self) -> None:
        """Remove old matches, and streams without clients or match."""
        self._safely(self._live.tidy, None)
        for id_, stream in tuple(self.matches.items()):
            if not stream and self._live.match(id_) is None:
                del self.matches[id_]

    def _safely(self, act: Callable[[], Answer], otherwise: Answer) -> Answer:
        """Run `act` on the live matches, which contain untrusted data. If it fails, drop them all."""
        try:
            return act()
        except Exception as error:  # noqa: BLE001 - what a feed says may end the showing of it, and nothing else
            self._live = LiveFeed(self._publish, self._publish_of, trio.current_time)
            for each in (self.stage, *self.matches.values()):
                each.publish(NO_MATCHES)
            if trio.current_time() > self._failed_at + COMPLAINT_SECONDS:
                self._failed_at = trio.current_time()
                self._failed(error)
            return otherwise

    def _now(self) -> Any:
        return {"type": "changed", "version": f"{self._boot}-{self._version}"}

    def _publish(self, message: Any) -> None:
        self.stage.publish(message)

    def _publish_of(self, id_: str, message: Any) -> None:
        if (stream := self.matches.get(id_)) is not None:
            stream.publish(message)


class CompetitionWatcher:
    """All competitions and feeds that are followed."""

    def __init__(
        self,
        places: Sequence[Path],
        endpoints: Sequence[str],
        nursery: trio.Nursery,
        log: Logger = SILENT,
        announcement: Announcement = NO_ANNOUNCEMENT,
    ) -> None:
        self._log = log
        self._announcement = announcement
        self._announced = announcement.text
        self.show: Callable[[dict[str, ServedCompetition]], None] = lambda _: None
        """Called with the competitions by slug whenever their set changes."""
        self._places = places
        self._endpoints = endpoints
        self._nursery = nursery
        self._boot = f"{time.time_ns():x}"
        self._competitions: dict[Path, ServedCompetition] = {}
        self._followed: dict[str, _WatchedCompetition] = {}
        self._seasons: list[SeasonPages] = []
        self._follow(INDEX)
        self._subscriber = Subscriber()
        self._spent = 0.0
        """Processor seconds spent on checks for changes."""
        self._feeds: dict[int, str] = dict(enumerate([LIVE] * len(endpoints)))
        """Slug by number of the feed."""
        self._sockets: dict[str, int] = {}
        """Number of the feed by slug, for competitions whose arena publishes one."""

    def stream_at(self, path: str) -> Stream | None:
        """Return the event stream at a path, or None.

        `events` and `SLUG/events` announce changed pages, `SLUG/live/events` sends all live matches, and
        `SLUG/live/ID/events` one of them.
        """
        match path.split("/"):
            case ["events"]:
                return self._followed[INDEX].changes
            case [slug, "events"] if slug in self._followed:
                return self._followed[slug].changes
            case [slug, "live", "events"] if slug in self._followed:
                return self._followed[slug].stage
            case [slug, "live", id_, "events"] if slug in self._followed:
                return self._followed[slug].stream_of(id_)
            case _:
                return None

    async def scan(self, *, first: bool = False) -> None:
        """Find new and removed competitions.

        Raises:
            WrongUse: a place is not a folder of results; raised only if `first` is set.
        """
        try:
            folders = await self._in_thread(partial(folders_in, self._places, some=False))
        except WrongUse:
            if first:
                raise
            return
        known = {folder: self._competitions[folder] for folder in folders if folder in self._competitions}
        taken = set(RESERVED) | {competition.slug for competition in known.values()}
        found = {
            folder: known.get(folder) or ServedCompetition(slug_of(folder, taken), folder) for folder in folders
        }
        if found.keys() == self._competitions.keys() and not first:
            return
        self._competitions = found
        shown = {competition.slug: competition for competition in found.values()}
        self._seasons = await self._in_thread(lambda: seasons_in(shown.values()))
        slugs = [*shown, *(season.slug for season in self._seasons)]
        for slug in self._followed.keys() - set(slugs) - {INDEX, LIVE}:
            del self._followed[slug]
        for slug in slugs:
            self._follow(slug)
        self.show(shown)
        self._followed[INDEX].changed()

    def begin(self) -> None:
        """Subscribe to the feeds that belong to no competition."""
        if self._endpoints:
            self._follow(LIVE)
        for number, endpoint in enumerate(self._endpoints):
            self._subscriber.hear(number, endpoint)

    async def keep(self) -> None:
        """Follow all competitions and feeds until cancelled."""
        self.begin()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._subscriber.run, self._hear)
            nursery.start_soon(self._again, SCAN_SECONDS, self.scan)
            nursery.start_soon(self._again, LOOK_SECONDS, self.look)

    async def _again(self, seconds: float, look: Callable[[], Awaitable[None]]) -> None:
        """Call `look` repeatedly, with pauses in proportion to its processor time."""
        while True:
            before = self._spent
            with tried_again():
                await look()
            await trio.sleep(min(max(seconds, SHARE * (self._spent - before)), MOST_SECONDS))

    async def _in_thread(self, act: Callable[[], Answer]) -> Answer:
        """Run `act` in a thread, where it may wait for the disk, and add up its processor time."""

        def timed() -> Answer:
            began = time.thread_time()
            try:
                return act()
            finally:
                self._spent += time.thread_time() - began

        return await trio.to_thread.run_sync(timed)

    def _follow(self, slug: str) -> None:
        if slug not in self._followed:
            self._followed[slug] = _WatchedCompetition(self._nursery, self._boot, partial(self._feed_failed, slug))

    def _feed_failed(self, slug: str, error: Exception) -> None:
        """Report the error to the operator."""
        self._log.error("feed_failed", path=f"{slug}/live", reason=repr(error))
        say(f"{slug}/live: what the feed said could not be shown")
        say("".join(traceback.format_exception(error)))

    def _hear(self, heard: Heard) -> None:
        """Pass a feed's message to the slug that the feed belongs to."""
        followed = self._followed.get(self._feeds.get(heard.feed, INDEX))
        if followed is not None:
            followed.hear(heard)

    async def look(self) -> None:
        """Check all competitions for changes and notify their clients."""
        competitions = tuple(self._competitions.values())
        stamps = await self._in_thread(lambda: [each.stamp() for each in competitions])
        changed = False
        of_seasons = set[str]()
        for competition, stamp in zip(competitions, stamps, strict=True):
            followed = self._followed.get(competition.slug)
            if followed is not None and followed.stamp != stamp:
                if followed.stamp is not None:
                    followed.changed()
                    changed = True
                    of_seasons |= {season.slug for season in self._seasons if season.holds(competition)}
                followed.stamp = stamp
        for slug in of_seasons & self._followed.keys():
            self._followed[slug].changed()
        if changed:
            self._followed[INDEX].changed()
        if self._announced != self._announcement.text:
            self._announced = self._announcement.text
            for followed in self._followed.values():
                followed.changed()
        await self._find_feeds(competitions)
        for competition in competitions:
            await self._count(competition)
        for followed in self._followed.values():
            followed.tidy()

    async def _find_feeds(self, competitions: Sequence[ServedCompetition]) -> None:
        """Subscribe to the feed of each competition that has a feed socket in its folder; leave the others."""
        there = await self._in_thread(
            lambda: {each.slug: each.folder for each in competitions if _socket_in(each.folder)}
        )
        for slug in self._sockets.keys() - there.keys():
            number = self._sockets.pop(slug)
            del self._feeds[number]
            self._subscriber.leave(number)
        for slug, folder in there.items():
            if slug not in self._sockets:
                number = max(self._feeds, default=-1) + 1
                self._feeds[number], self._sockets[slug] = slug, number
                self._subscriber.hear(number, f"ipc://{folder / FEED_SOCKET}")

    async def _count(self, competition: ServedCompetition) -> None:
        """Publish the results of matches whose blocks count now."""
        followed = self._followed.get(competition.slug)
        if followed is None or not (waiting := followed.waiting()):
            return
        try:
            counted = await self._in_thread(lambda: competition.counted(waiting))
        except (WrongUse, MachineCannot):
            return
        followed.count(counted)


def _socket_in(folder: Path) -> bool:
    try:
        return stat.S_ISSOCK((folder / FEED_SOCKET).lstat().st_mode)
    except OSError:
        return False
