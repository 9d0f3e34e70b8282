"""What pages know of one competition: a results folder, read anew when its ledger has changed.

A match is shown once its block counts. The matches of a block are played from one deal: what is known of one
that is over would be a secret of one that is not.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path
from threading import Lock

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.errors import WrongUse
from arena.pages.match_index import MatchIndex, index_of
from arena.regression import USAGE, Explained, History, explained_in, history_of
from arena.schedule import Block, Cells, Closed, Fixed, ScheduleSpec, Tie, format_of, next_round
from arena.season import Finish, finishes_of, title_of
from arena.statistics import Played
from arena.tournament import (
    DECISIONS,
    LEDGER,
    TRANSCRIPTS,
    Ledger,
    LedgerTimes,
    NotBegun,
    Results,
    is_held,
    results_in,
)
from referee.match import SeatReport

Stamp = tuple[tuple[int, int], ...]
"""Whether it is played now, and of the ledger's files: size, and when each was written."""
AT_ONCE = 1_000
"""Matches read from a ledger in one step."""
COMING = 60
"""Blocks to come that are shown, at most."""
UNFORESEEN = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""What a strange ledger may bring about beyond what is refused by name."""
MOST_SAID = 1_000
"""Characters of it."""
MOST_SCHEDULED = 200_000
"""Blocks of a schedule that are gone through to find what comes next."""


class MatchOnPage(Struct, frozen=True):
    """A match that counts."""

    played: Played
    reports: tuple[SeatReport, ...]
    transcript: str
    """Its file's name in the results folder, or its URL."""


class Overview(Struct, frozen=True, kw_only=True):
    """All that pages say of a competition, single matches left out."""

    found: Results
    """Without the contest, which holds all matches."""
    index: MatchIndex
    own: tuple[Cells, list[Cells]] | None
    """Headings and rows of the format's own table, if it has one."""
    bracket: list[list[Tie]]
    order: str
    """How the bots are placed."""
    running: bool
    """Whether an arena is playing now."""
    finished: bool
    """Whether all is played; of a regression test, whether it is decided."""
    total: int | None
    """Matches in all, as far as is known; None of a regression test, and of a ladder without an end."""
    coming: tuple[Block, ...]
    """The next blocks that do not count yet. They hold the seed, which is secret."""
    times: LedgerTimes
    history: History | None
    """Of a regression test."""
    finishes: tuple[Finish, ...] = ()
    """How the bots of a season's stage came out, as the next stage's rule has it; empty elsewhere."""
    explained: tuple[Explained, ...] = ()
    """Of a regression test: where head would have acted otherwise than base, if that was asked."""


class Competition:
    """A tournament, or a regression test. Calls wait on the disk, for seconds; any thread may call."""

    def __init__(self, slug: str, folder: Path) -> None:
        """A results folder, and its name in paths."""
        self.slug = slug
        self.folder = folder
        self.title = title_of(folder)
        self._lock = Lock()
        self._read: tuple[Stamp, Overview] | None = None

    @property
    def name(self) -> str:
        """The folder's, without that of its season."""
        return self.folder.resolve().name

    @property
    def ledger(self) -> Path:
        """The ledger's file."""
        return self.folder / LEDGER

    @property
    def running(self) -> bool:
        """Whether an arena is playing it now."""
        return is_held(self.folder)

    def stamp(self) -> Stamp:
        """What changes when the ledger does, and when an arena begins or ends to play."""
        found = [(0, int(self.running))]
        for path in (self.ledger, self.ledger.with_name(f"{LEDGER}-wal"), self.folder / DECISIONS):
            try:
                its = path.stat()
            except OSError:
                continue
            if its.st_size:  # An empty one comes and goes with those who read.
                found.append((its.st_size, its.st_mtime_ns))
        return tuple(found)

    def as_of(self) -> float | None:
        """Return when its ledger was last looked at, in seconds of the wall's clock, if that is worth saying.

        None: just now, or not long ago.
        """
        return None

    def _open(self) -> Ledger:
        """Return its ledger, which is not made if it is not there. Raises NotBegun."""
        if not self.ledger.exists():
            raise NotBegun(self.folder)
        return Ledger(self.ledger)

    def overview(self) -> Overview:
        """How it stands.

        Raises:
            NotBegun: it has not begun.
            WrongUse: the file is not a ledger, or a damaged one.
            MachineCannot: it cannot be read.
        """
        with self._lock:
            stamp = self.stamp()
            if self._read is None or self._read[0] != stamp:
                self._read = None  # Not both at once.
                with closing(self._open()) as ledger:
                    times = ledger.times()
                try:
                    results = results_in(self.ledger)
                    with closing(Ledger(self.ledger)) as ledger:
                        reports = reports_of_test(ledger)
                    found = overview_of(results, times, reports, running=self.running)
                except UNFORESEEN as error:
                    why = f"{type(error).__name__}: {error}"[:MOST_SAID]
                    raise WrongUse(f"{self.ledger}: holds what cannot be shown: {why}") from error
                if found.history is not None:
                    with suppress(WrongUse):  # The test itself is shown all the same.
                        found = replace(found, explained=explained_in(self.folder))
                self._read = (stamp, found)
            return self._read[1]

    def forget(self) -> None:
        """Lets go of what was read: there may be many competitions. One that is being read is not waited for."""
        if self._lock.acquire(blocking=False):
            self._read = None
            self._lock.release()

    def results(self) -> Results:
        """What came of it so far, without the contest; see `overview`."""
        return self.overview().found

    def some(self, keys: Sequence[tuple[int, int]]) -> list[MatchOnPage]:
        """These of the matches that count, by block and seating."""
        with closing(self._open()) as ledger:
            return [MatchOnPage(*row) for row in ledger.some(keys)]

    def all_matches(self) -> Iterator[MatchOnPage]:
        """Every match that counts, in schedule order. Few are in memory at once, and the ledger is not held open.

        One whose block comes to count in the meantime may be missing. Raises as `results`.
        """
        block, seating = -1, 0
        while True:
            with closing(self._open()) as ledger:
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
        return next(iter(self.some([(block, seating)])), None)

    def match_by_head(self, head: str) -> MatchOnPage | None:
        """One of them, by the head of its transcript."""
        key = self.overview().index.key_of(head)
        return None if key is None else self.match(*key)

    def counted(self, heads: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Those of these transcripts' heads whose matches count, with block and seating."""
        with closing(self._open()) as ledger:
            return ledger.counted(heads)

    def transcript(self, match: MatchOnPage) -> Path | None:
        """The match's transcript; None: it is not in the results folder."""
        if "://" in match.transcript or os.sep in match.transcript:
            return None
        path = self.folder / TRANSCRIPTS / match.transcript
        try:
            return path if path.is_file() else None
        except OSError:  # A name that is too long, for one.
            return None


def reports_of_test(ledger: Ledger) -> dict[tuple[int, int], tuple[SeatReport, ...]]:
    """Return the reports that a regression test of time or memory needs, by block and seating; else none."""
    if not any(key.startswith(USAGE) for key in ledger.terms()):
        return {}
    return {(match.block, match.seating): reports for match, reports, _ in ledger.reports()}


def overview_of(
    found: Results,
    times: LedgerTimes,
    reports: Mapping[tuple[int, int], tuple[SeatReport, ...]] | None = None,
    *,
    running: bool,
) -> Overview:
    """What pages need of results. `running`: whether an arena is playing now; `reports`: see `history_of`.

    Raises:
        WrongUse: the terms are of no tournament and of no regression test.
    """
    contest, spec, digest = found.contest, found.spec, found.digest
    try:
        history = history_of(found.terms, found.played, reports) if "format" not in found.terms else None
        coming = () if spec is None else _coming(spec, found)
    except (msgspec.ValidationError, LookupError, ValueError, ArithmeticError) as error:
        raise WrongUse(f"holds neither a tournament nor a regression test: {error}") from None
    format_ = None if spec is None else format_of(spec)
    return Overview(
        found=replace(found, contest=None, played=[]),
        index=index_of(found.played, digest.seats),
        own=None if contest is None or format_ is None else format_.table(contest, digest.standings),
        bracket=[] if contest is None or format_ is None else format_.bracket(contest),
        order="" if format_ is None else format_.order_text,
        running=running,
        finished=_finished(found, coming, history),
        total=None if spec is None or spec.endless else _total(found, coming),
        coming=coming[:COMING],
        times=times,
        history=history,
        finishes=finishes_of(found) if "stage" in found.terms and spec is not None else (),
    )


def _coming(spec: ScheduleSpec, found: Results) -> tuple[Block, ...]:
    """The blocks that do not count yet, of the round that is played now, or the first of all."""
    seed = msgspec.convert(found.terms["seed"], int, strict=False)
    schedule = format_of(spec).schedule(spec)
    counted = {match.block for match in found.played}
    blocks: Iterable[Block]
    if spec.endless:
        blocks = found.pending
    elif not isinstance(schedule, Fixed):
        blocks = next_round(schedule.rounds(seed), found.played)
    elif found.total == len(found.played):
        return ()
    else:
        blocks = islice(schedule.blocks(seed), MOST_SCHEDULED)
    return tuple(islice((block for block in blocks if block.number not in counted), COMING))


def _finished(found: Results, coming: Sequence[Block], history: History | None) -> bool:
    """Return whether all is played.

    A ladder without an end is over once a season has closed it.
    """
    if history is not None:
        return history.decided
    if found.spec is not None and found.spec.endless:
        return any(isinstance(event.what, Closed) and event.block is not None for event in found.events)
    return found.spec is not None and not coming and len(found.played) >= (found.total or 0)


def _total(found: Results, coming: Sequence[Block]) -> int:
    """Return how many matches there are in all; tie-breaks that have not begun are left out."""
    return max(found.total or 0, found.digest.matches + sum(len(block.shifts) for block in coming))
