"""A cache of pages, valid until their competition changes. A thread makes a competition's pages one at a time.

A competition that changes constantly is read again every few seconds: the more processor time that takes, the less
often, but at least every ten seconds. Neither visitors nor other busy programs can lengthen that interval.
"""

import gzip
import time
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from threading import Lock

import trio
from msgspec import Struct

from arena.pages import NO_ANNOUNCEMENT, PATHS, Announcement, Competition, Overview, Page, Website
from arena.web.catalog import RESERVED

SOONEST_SECONDS = 2.0
"""Minimum seconds between two reads of a competition."""
SHARE = 10
"""Factor by which that interval exceeds the processor time spent on the competition's pages."""
MOST_SECONDS = 10.0
"""Maximum seconds until the ledger is checked again after the last check or read."""
MOST_BYTES = 64 * 1024 * 1024
"""Maximum bytes of all cached pages, including their compressed forms."""
LATE = "late"
"""Start of the file names of pages of matches that are being played."""
THREADS = 4
COMPRESSED = 512
"""Pages of fewer bytes are not compressed."""
LEVEL = 5
HELD = 8
"""Maximum competitions whose results stay in memory, those whose pages were made last."""
WAITING = 200
"""Maximum requests that wait for pages."""
PICTURES = frozenset({"picture", "card"})
"""Folders of pictures. Their requests wait for each other, so that they leave threads to pages."""
WAITING_FOR_PICTURES = 100
"""Maximum requests that wait for pictures, of which one page of matches may have a hundred."""
WAITING_FOR_FILES = 150
"""Maximum requests that wait for files of matches, such as replays and pictures."""
FILE_THREADS = 2
"""Threads that make such files: some take a minute, so they get no others."""

Stamp = tuple[tuple[int, int], ...]


class BusyError(Exception):
    """Too many requests are waiting for pages."""


class ServedCompetition(Competition):
    """A competition whose stamp is held for some seconds, even if its ledger changes constantly."""

    def __init__(self, slug: str, folder: Path) -> None:
        super().__init__(slug, folder)
        self._held: Stamp | None = None
        self._until = self._latest = 0.0
        """Monotonic times when the stamp expires, and until which that may be postponed at most."""
        self._looked: tuple[float, float] | None = None
        """Time of the last check of the ledger: on the monotonic clock, and as a Unix time."""
        self._guard = Lock()

    def stamp(self) -> Stamp:
        """Return the held stamp, or the ledger's current one if that has expired."""
        with self._guard:
            if (current := self.current()) is not None:
                return current
            now = time.monotonic()
            self._looked = now, time.time()
            self._held, self._until, self._latest = super().stamp(), now + SOONEST_SECONDS, now + MOST_SECONDS
            return self._held

    def current(self) -> Stamp | None:
        """Return the held stamp, or None if it has expired. Never waits."""
        return self._held if time.monotonic() < self._until else None

    def overview(self) -> Overview:
        """See `Competition`."""
        before, began = self._read, time.thread_time()
        found = super().overview()
        if self._read is not before:  # The ledger was read, which takes long, so its result may be held again.
            self._latest = time.monotonic() + MOST_SECONDS
        self.spend(time.thread_time() - began)
        return found

    def as_of(self) -> float | None:
        """See `Competition`."""
        looked = self._looked
        return looked[1] if looked is not None and time.monotonic() > looked[0] + MOST_SECONDS else None

    def spend(self, seconds: float) -> None:
        """Extend the stamp's lifetime in proportion to the processor seconds spent on pages."""
        self._until = min(max(self._until, time.monotonic() + SHARE * seconds), self._latest)


class Kept(Struct, frozen=True):
    """A page ready to be sent."""

    page: Page
    tag: str
    """Entity tag, without quotes."""
    compressed: bytes | None
    """Body compressed by gzip; None if that is not smaller."""

    @property
    def size(self) -> int:
        """Bytes of memory that the bodies use."""
        return len(self.page.body) + len(self.compressed or b"")


def kept(page: Page) -> Kept:
    """Compress and tag a page. This is slow for large pages."""
    body = page.body
    compressed = gzip.compress(body, LEVEL, mtime=0) if len(body) >= COMPRESSED else body
    return Kept(page, sha256(body).hexdigest()[:32], compressed if len(compressed) < len(body) else None)


class _Entry(Struct, frozen=True):
    kept: Kept
    stamp: Stamp | tuple[tuple[str, Stamp | None], ...] | None
    """Stamp of its competition, or of all competitions, when it was made; None for pages of running matches."""
    until: float
    """Time of expiry on the monotonic clock, for pages that do not depend on one competition alone."""
    announced: str
    """Text of the announcement before it was made."""


class Cache:
    """Cached pages of a website. Call its methods from trio."""

    def __init__(self, most_bytes: int = MOST_BYTES, announcement: Announcement = NO_ANNOUNCEMENT) -> None:
        """`announcement`: that of the pages, which are made again when it changes."""
        self._announcement = announcement
        self._most = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._threads = trio.CapacityLimiter(THREADS)
        self._turns: dict[str, trio.Lock] = {}
        self._file_threads = trio.CapacityLimiter(FILE_THREADS)
        self._waiting = self._waiting_for_files = self._waiting_for_pictures = 0
        self._held: OrderedDict[str, ServedCompetition] = OrderedDict()

    async def page(self, website: Website, path: str, competitions: dict[str, ServedCompetition]) -> Kept | None:
        """Return the page at a path, or None if there is none.

        Raises:
            BusyError: too many requests are waiting already.
            WrongUse: see `Website.page`.
            MachineCannot: see `Website.page`.
        """
        slug = path.partition("/")[0]
        competition = competitions.get(slug)
        if (found := self._found(path, competition, competitions)) is not None:
            return found
        is_picture = slug in PICTURES
        is_file = slug in PATHS
        if (
            self._waiting >= WAITING
            or (is_file and self._waiting_for_files >= WAITING_FOR_FILES)
            or (is_picture and self._waiting_for_pictures >= WAITING_FOR_PICTURES)
        ):
            raise BusyError
        self._waiting += 1
        self._waiting_for_files += is_file
        self._waiting_for_pictures += is_picture
        # There is a lock per competition, one per reserved folder of the site, and one for everything else.
        turn = slug if competition or slug in RESERVED else ""
        if is_picture:
            turn = "picture"
        try:
            async with self._turns.setdefault(turn, trio.Lock()):
                if (found := self._found(path, competition, competitions)) is not None:
                    return found
                entry = await trio.to_thread.run_sync(
                    self._made,
                    website,
                    path,
                    competition,
                    competitions,
                    abandon_on_cancel=True,
                    limiter=self._file_threads if is_file else self._threads,
                )
                await trio.to_thread.run_sync(
                    self._hold, competition, competitions, abandon_on_cancel=True, limiter=self._threads
                )
        finally:
            self._waiting -= 1
            self._waiting_for_files -= is_file
            self._waiting_for_pictures -= is_picture
        if entry is None:
            return None
        self._keep(path, entry)
        return entry.kept

    def forget(self, slugs: set[str]) -> None:
        """Drop the locks of all competitions but these."""
        self._turns = {slug: turn for slug, turn in self._turns.items() if slug in slugs or turn.locked()}

    def _found(
        self, path: str, competition: ServedCompetition | None, competitions: dict[str, ServedCompetition]
    ) -> Kept | None:
        entry = self._entries.get(path)
        if entry is None:
            return None
        if not (entry.kept.page.for_ever or self._is_fresh(entry, competition, competitions)):
            return None
        self._entries.move_to_end(path)
        return entry.kept

    def _is_fresh(
        self, entry: _Entry, competition: ServedCompetition | None, competitions: dict[str, ServedCompetition]
    ) -> bool:
        """Return whether a page is up to date, as far as is known without reading the disk."""
        if entry.announced != self._announcement.text:
            return False
        if competition is not None and entry.stamp is not None:
            return entry.stamp == competition.current()
        if time.monotonic() >= entry.until:
            return False
        # The overview depends on all competitions.
        return entry.stamp is None or entry.stamp == _stamps(competitions)

    def _made(
        self,
        website: Website,
        path: str,
        competition: ServedCompetition | None,
        competitions: dict[str, ServedCompetition],
    ) -> _Entry | None:
        """Return the cached page if its stamp is current; otherwise make it. Call this in a thread."""
        stamp: Stamp | tuple[tuple[str, Stamp | None], ...] | None
        announced = self._announcement.text
        if f"/{LATE}" in path:  # A running match changes without the ledger.
            stamp = None
        elif competition is not None:
            stamp = competition.stamp()
            before = self._entries.get(path)
            if before is not None and (before.stamp, before.announced) == (stamp, announced):
                return before
        else:
            for each in competitions.values():
                each.stamp()
            stamp = _stamps(competitions)
        began = time.thread_time()
        page = website.page(path)
        made = None if page is None else kept(page)
        took = time.thread_time() - began
        if competition is not None:
            competition.spend(took)
        until = time.monotonic() + min(max(SOONEST_SECONDS, SHARE * took), MOST_SECONDS)
        return None if made is None else _Entry(made, stamp, until, announced)

    def _hold(self, latest: ServedCompetition | None, competitions: dict[str, ServedCompetition]) -> None:
        """Release the results of all but the `HELD` competitions whose pages were made last."""
        if latest is not None:
            self._held[latest.slug] = latest
            self._held.move_to_end(latest.slug)
        while len(self._held) > HELD:
            self._held.popitem(last=False)
        for slug, competition in competitions.items():
            if slug not in self._held:
                competition.forget()

    def _keep(self, path: str, entry: _Entry) -> None:
        before = self._entries.pop(path, None)
        self._bytes += entry.kept.size - (0 if before is None else before.kept.size)
        self._entries[path] = entry
        while self._bytes > self._most:
            _, gone = self._entries.popitem(last=False)
            self._bytes -= gone.kept.size


def _stamps(competitions: dict[str, ServedCompetition]) -> tuple[tuple[str, Stamp | None], ...]:
    return tuple((slug, competition.current()) for slug, competition in competitions.items())
