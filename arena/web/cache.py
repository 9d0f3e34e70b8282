"""Pages that are kept until their competition changes. A competition's pages are made one at a time, in a thread.

A competition that changes all the time is read anew every few seconds, and never more than a tenth of the time.
"""

import gzip
import time
from collections import OrderedDict
from hashlib import sha256
from pathlib import Path
from threading import Lock

import trio
from msgspec import Struct

from arena.pages import Competition, Overview, Page, Website
from arena.web.catalog import RESERVED

SOONEST_SECONDS = 2.0
"""A competition is read anew at most so often."""
SHARE = 10
"""And waits so many times as long as it took to make its pages."""
MOST_BYTES = 64 * 1024 * 1024
"""Of all pages that are kept, and of what they are compressed to."""
LATE = "late"
"""Pages of matches that are being played are named so."""
THREADS = 3
COMPRESSED = 512
"""Pages of fewer bytes are not compressed."""
LEVEL = 5
HELD = 8
"""Competitions whose results stay in memory: those of which pages were made last."""
WAITING = 200
"""Requests that may wait for pages to be made."""

Stamp = tuple[tuple[int, int], ...]


class BusyError(Exception):
    """Too many pages are asked for at once."""


class ServedCompetition(Competition):
    """A competition whose results stay the same for a while, however quickly its ledger changes."""

    def __init__(self, slug: str, folder: Path) -> None:
        super().__init__(slug, folder)
        self._held: Stamp | None = None
        self._until = 0.0
        self._guard = Lock()

    def stamp(self) -> Stamp:
        """The ledger's, or that which it had a while ago."""
        with self._guard:
            if (current := self.current()) is not None:
                return current
            self._held, self._until = super().stamp(), time.monotonic() + SOONEST_SECONDS
            return self._held

    def current(self) -> Stamp | None:
        """The stamp, if the ledger need not be looked at for it. Never waits."""
        return self._held if time.monotonic() < self._until else None

    def overview(self) -> Overview:
        """See `Competition`."""
        began = time.monotonic()
        found = super().overview()
        self.spend(time.monotonic() - began)
        return found

    def spend(self, seconds: float) -> None:
        """Making something of what is held took so long: it is held so much longer."""
        self._until = max(self._until, time.monotonic() + SHARE * seconds)


class Kept(Struct, frozen=True):
    """A page as it is sent."""

    page: Page
    tag: str
    """Its entity tag, without quotes."""
    compressed: bytes | None
    """By gzip; None: that would make it no smaller."""

    @property
    def size(self) -> int:
        """How much memory it takes."""
        return len(self.page.body) + len(self.compressed or b"")


def kept(page: Page) -> Kept:
    """A page made ready to be sent. Takes a while."""
    body = page.body
    compressed = gzip.compress(body, LEVEL, mtime=0) if len(body) >= COMPRESSED else body
    return Kept(page, sha256(body).hexdigest()[:32], compressed if len(compressed) < len(body) else None)


class _Entry(Struct, frozen=True):
    kept: Kept
    stamp: Stamp | None
    """Its competition's when it was made; None: it has none, and is good until a moment."""
    until: float = 0.0


class Cache:
    """The pages of a website. Its methods are called from trio."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._threads = trio.CapacityLimiter(THREADS)
        self._turns: dict[str, trio.Lock] = {}
        self._waiting = 0
        self._held: OrderedDict[str, ServedCompetition] = OrderedDict()

    async def page(self, website: Website, path: str, competitions: dict[str, ServedCompetition]) -> Kept | None:
        """What is at a path; None: nothing.

        Raises:
            BusyError: too many wait already.
            WrongUse: see `Website.page`.
            MachineCannot: see `Website.page`.
        """
        slug = path.partition("/")[0]
        competition = competitions.get(slug)
        if (found := self._found(path, competition)) is not None:
            return found
        if self._waiting >= WAITING:
            raise BusyError
        self._waiting += 1
        try:
            # A lock for each competition, for each folder of the site's own, and one for all else.
            async with self._turns.setdefault(slug if competition or slug in RESERVED else "", trio.Lock()):
                if (found := self._found(path, competition)) is not None:
                    return found
                entry = await trio.to_thread.run_sync(
                    self._made, website, path, competition, abandon_on_cancel=True, limiter=self._threads
                )
                await trio.to_thread.run_sync(
                    self._hold, competition, competitions, abandon_on_cancel=True, limiter=self._threads
                )
        finally:
            self._waiting -= 1
        if entry is None:
            return None
        self._keep(path, entry)
        return entry.kept

    def forget(self, slugs: set[str]) -> None:
        """Only these competitions are there from now on."""
        self._turns = {slug: turn for slug, turn in self._turns.items() if slug in slugs or turn.locked()}

    def _found(self, path: str, competition: ServedCompetition | None) -> Kept | None:
        entry = self._entries.get(path)
        if entry is None:
            return None
        fresh = (
            entry.kept.page.for_ever
            or (entry.stamp is None and time.monotonic() < entry.until)
            or (competition is not None and entry.stamp == competition.current())
        )
        if not fresh:
            return None
        self._entries.move_to_end(path)
        return entry.kept

    def _made(self, website: Website, path: str, competition: ServedCompetition | None) -> _Entry | None:
        """The page, made anew if it has to be. In a thread."""
        # A match goes on without the ledger.
        is_late = f"/{LATE}" in path
        stamp = None if competition is None or is_late else competition.stamp()
        before = self._entries.get(path)
        if before is not None and stamp is not None and before.stamp == stamp:
            return before
        began = time.monotonic()
        page = website.page(path)
        made = None if page is None else kept(page)
        took = time.monotonic() - began
        if competition is not None:
            competition.spend(took)
        until = time.monotonic() + max(SOONEST_SECONDS, SHARE * took)
        return None if made is None else _Entry(made, stamp, until)

    def _hold(self, latest: ServedCompetition | None, competitions: dict[str, ServedCompetition]) -> None:
        """Lets go of the results of all competitions but a few."""
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
