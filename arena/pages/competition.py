"""What pages know of one competition: a results folder, read anew when its ledger has changed.

A match is shown once its block counts. The matches of a block are played from one deal: what is known of one
that is over would be a secret of one that is not.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock

from msgspec import Struct

from arena.errors import WrongUse
from arena.statistics import Played
from arena.tournament import LEDGER, TRANSCRIPTS, Ledger, Results, results_in
from referee.match import SeatReport

Stamp = tuple[tuple[int, int], ...]
"""Of the ledger's files: size, and when each was written."""
AT_ONCE = 1_000
"""Matches read from a ledger in one step."""


class MatchOnPage(Struct, frozen=True):
    """A match that counts."""

    played: Played
    reports: tuple[SeatReport, ...]
    transcript: str
    """Its file's name in the results folder, or its URL."""


class Competition:
    """A tournament, or a regression test. Calls wait on the disk, for seconds; any thread may call."""

    def __init__(self, slug: str, folder: Path) -> None:
        """A results folder, and its name in paths."""
        self.slug = slug
        self.folder = folder
        self.title = folder.resolve().name
        self._lock = Lock()
        self._read: tuple[Stamp, Results] | None = None

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        return self.folder / LEDGER

    def stamp(self) -> Stamp:
        """What changes when the ledger does."""
        found = []
        for path in (self.ledger, self.ledger.with_name(f"{LEDGER}-wal")):
            try:
                its = path.stat()
            except OSError:
                continue
            found.append((its.st_size, its.st_mtime_ns))
        return tuple(found)

    def results(self) -> Results:
        """What came of it so far.

        Raises:
            WrongUse: the ledger is none.
            MachineCannot: it cannot be read.
        """
        with self._lock:
            stamp = self.stamp()
            if self._read is None or self._read[0] != stamp:
                self._read = (stamp, results_in(self.ledger))
            return self._read[1]

    def matches(self, first: int, count: int) -> Sequence[MatchOnPage]:
        """Matches that count, in schedule order, from the `first`-th on, counted from 0."""
        with closing(Ledger(self.ledger)) as ledger:
            return [MatchOnPage(*row) for row in ledger.page(first, count)]

    def all_matches(self) -> Iterator[MatchOnPage]:
        """Every match that counts, in schedule order. Few are in memory at once, and the ledger is not held open.

        One whose block comes to count in the meantime may be missing. Raises as `results`.
        """
        block, seating = -1, 0
        while True:
            with closing(Ledger(self.ledger)) as ledger:
                rows = ledger.after(block, seating, AT_ONCE)
            yield from (MatchOnPage(*row) for row in rows)
            if len(rows) < AT_ONCE:
                return
            last = rows[-1][0]
            if (last.block, last.seating) <= (block, seating):
                raise WrongUse(f"{self.ledger}: holds results that are not in order")
            block, seating = last.block, last.seating

    def match(self, block: int, seating: int) -> MatchOnPage | None:
        """One of them; None: it does not count, or not yet."""
        with closing(Ledger(self.ledger)) as ledger:
            found = ledger.one(block, seating)
        return None if found is None else MatchOnPage(*found)

    def counted(self, heads: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Those of these transcripts' heads whose matches count, with block and seating."""
        with closing(Ledger(self.ledger)) as ledger:
            return ledger.counted(heads)

    def transcript(self, match: MatchOnPage) -> Path | None:
        """The match's transcript; None: it is not in the results folder."""
        if "://" in match.transcript or os.sep in match.transcript:
            return None
        path = self.folder / TRANSCRIPTS / match.transcript
        return path if path.is_file() else None
