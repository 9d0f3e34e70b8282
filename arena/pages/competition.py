"""The data of one competition for its pages: a results folder, read again when its ledger has changed.

A match is shown once its block counts. All matches of a block are played from one deal, so a finished match would
reveal secrets of an unfinished one.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.arrays import Whole, np
from arena.config import FACE, Face, read_face, read_face_image
from arena.errors import WrongUse
from arena.quantities import Table
from arena.regression import USAGE, DecisionDiff, RegressionHistory, history_of, read_decision_diffs
from arena.reports import batches_of
from arena.schedule import Block, EntriesClosed, Fixed, ScheduleSpec, Tie, format_of, next_round
from arena.season import Finish, finishes_of, is_of_season, title_of
from arena.statistics import CountedMatch, Reported, StandingsRow, Upset, choose_highlights, latest_upset
from arena.tournament import (
    DECISIONS,
    LEDGER,
    TRANSCRIPTS,
    Ledger,
    LedgerTimes,
    NotBegun,
    TournamentResults,
    is_held,
    load_results,
)
from referee.match import SeatReport

if TYPE_CHECKING:
    from numpy.typing import NDArray

Stamp = tuple[tuple[int, int], ...]
"""Size and modification time of each ledger file, after two pairs: whether an arena is running, and a hash of the
links to published code."""
MOST_SEATINGS = 1_024
"""Number by which a block is multiplied in the key of a match."""
HEAD_LETTERS = 64
"""Length of a transcript's head."""
COMING = 60
"""Maximum number of future blocks that pages show."""
UNFORESEEN = (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
"""Errors that a damaged ledger may cause besides those that are checked for."""
MOST_SAID = 1_000
"""Maximum characters of such an error's text."""
MOST_SCHEDULED = 200_000
"""Maximum number of blocks of a schedule that are searched for the next ones."""


class MatchIndex(Struct, frozen=True):
    """Arrays with one row per match, in schedule order."""

    blocks: Whole
    seatings: Whole
    entrants: "NDArray[np.int32]"
    """Entrant numbers of shape (matches, seats)."""
    heads: "NDArray[Any]"
    """Heads of the transcripts, sorted."""
    head_rows: Whole
    """The match row of each entry of `heads`."""

    def __len__(self) -> int:
        return len(self.blocks)

    def keys(self, rows: Iterable[int]) -> list[tuple[int, int]]:
        """Return block and seating of these rows; rows that do not exist are skipped."""
        return [(int(self.blocks[row]), int(self.seatings[row])) for row in rows if 0 <= row < len(self)]

    def row_of(self, block: int, seating: int) -> int | None:
        """Return the row of a match; None if it does not count."""
        first, end = np.searchsorted(self.blocks, (block, block + 1)).tolist()
        return next((row for row in range(first, end) if self.seatings[row] == seating), None)

    def of_block(self, block: int) -> list[tuple[int, int]]:
        """Return block and seating of all matches of a block."""
        return self.keys(range(*np.searchsorted(self.blocks, (block, block + 1)).tolist()))

    def of_bot(self, entrant: int) -> list[int]:
        """Return the rows of a bot's matches."""
        found: list[int] = np.flatnonzero((self.entrants == entrant).any(axis=1)).tolist()
        return found

    def key_of(self, head: str) -> tuple[int, int] | None:
        """Return block and seating of the match whose transcript has this head; None if there is none."""
        place = int(np.searchsorted(self.heads, head.encode()))
        if place == len(self.heads) or self.heads[place] != head.encode():
            return None
        return self.keys([int(self.head_rows[place])])[0]


def index_of(played: Sequence[CountedMatch], seats: int) -> MatchIndex:
    """Return the index of matches in schedule order, each with `seats` seats."""
    # A damaged ledger may hold a head of any length. No page requests such a head, so it is cut.
    heads = np.array([match.head[:HEAD_LETTERS].encode() for match in played], dtype=f"S{HEAD_LETTERS}")
    order = np.argsort(heads, kind="stable")
    return MatchIndex(
        blocks=np.array(list(map(attrgetter("block"), played)), dtype=np.int64),
        seatings=np.array(list(map(attrgetter("seating"), played)), dtype=np.int64),
        entrants=np.array(list(map(attrgetter("entrants"), played)), dtype=np.int32).reshape(len(played), seats),
        heads=heads[order],
        head_rows=order,
    )


class Overview(Struct, frozen=True, kw_only=True):
    """All data that pages show of a competition, except single matches."""

    found: TournamentResults
    """The results without the contest and the list of matches, which need much memory."""
    index: MatchIndex
    running: bool
    """True if an arena is playing now."""
    finished: bool
    """True if all matches are played, or the regression test is decided."""
    coming: tuple[Block, ...]
    """The next blocks that do not count yet. They hold the seed, which is secret."""
    times: LedgerTimes
    history: RegressionHistory | None
    """History of a regression test; None for other competitions."""
    own: Table[StandingsRow] | None = None
    """The format's additional table; None if it has none."""
    bracket: Sequence[Sequence[Tie]] = ()
    order: str = ""
    """Explanation of how the bots are ranked."""
    total: int | None = None
    """Known number of matches in total; None for a regression test and for an endless ladder."""
    finishes: tuple[Finish, ...] = ()
    """Final results of the bots of a season's stage, for the next stage's rule; empty elsewhere."""
    highlights: tuple[tuple[int, int], ...] = ()
    """Block and seating of the matches most worth watching, the best first; empty for a regression test."""
    upset: Upset | None = None
    """The latest upset; None if there is none, and in a regression test."""
    explained: tuple[DecisionDiff, ...] = ()
    """Decisions of a regression test in which head differs from base; empty unless they were requested."""


class FaceFile:
    """The file of a face, read again when it has changed."""

    def __init__(self, folder: Path) -> None:
        """Use the face in a results folder."""
        self._folder = folder
        self._read: tuple[tuple[int, ...], Face] = ((), Face())

    def read(self) -> Face:
        """Return the face; without any field if there is none."""
        try:
            its = (self._folder / FACE).stat()
        except OSError:
            return Face()
        stamp = (its.st_ino, its.st_size, its.st_mtime_ns)
        if self._read[0] != stamp:
            self._read = (stamp, read_face(self._folder))
        return self._read[1]

    def image(self) -> bytes | None:
        """Return the content of the face's image; None if it has none, or if that cannot be read."""
        image = self.read().image
        return None if image is None else read_face_image(self._folder, image)


class MatchesOfBots:
    """The keys of the matches that count, by entrant: all are read from the ledger once, and then the new ones."""

    def __init__(self) -> None:
        self._file = (0, 0)
        """Device and inode of the ledger that was read."""
        self._keys: dict[int, array[int]] = {}
        self._next = 0
        """Attempt from which on attempts may complete further blocks."""
        self._latest: set[int] = set()
        """Blocks that were read last."""

    @property
    def is_read(self) -> bool:
        """True if the ledger was read, so that the next call reads new matches alone."""
        return bool(self._next)

    def keys(self, ledger: Ledger, entrants: Iterable[int]) -> list[tuple[int, int]]:
        """Return block and seating of the matches of these entrants, in schedule order. One thread at a time."""
        self._read(ledger)
        found = {key for entrant in entrants for key in self._keys.get(entrant, ())}
        return [divmod(key, MOST_SEATINGS) for key in sorted(found)]

    def _read(self, ledger: Ledger) -> None:
        its = ledger.path.stat()
        if self._file != (its.st_dev, its.st_ino):  # A restored ledger is another one.
            self._file = its.st_dev, its.st_ino
            self._keys, self._next, self._latest = {}, 0, set()
        following, blocks = ledger.unended(self._next), set[int]()
        for block, seating, entrants in ledger.counted_since(self._next):
            blocks.add(block)
            if block not in self._latest:
                for entrant in set(entrants):
                    self._keys.setdefault(entrant, array("q")).append(block * MOST_SEATINGS + seating)
        self._next, self._latest = following, blocks


class Competition:
    """A tournament or a regression test. Calls may block on the disk for seconds; any thread may call."""

    def __init__(self, slug: str, folder: Path) -> None:
        """Use a results folder; `slug` is its name in paths."""
        self.slug = slug
        self.folder = folder
        self._lock = Lock()
        self._read: tuple[Stamp, Overview] | None = None
        self._face = FaceFile(folder)
        self.name = folder.resolve().name
        """The folder's name, without that of its season."""
        self.published: Mapping[str, str] = {}
        """Paths of the code of bots whose authors publish it, by label."""
        self.of_teams = False
        """True if teams enter by themselves: causes of losses, with what bots printed, are theirs alone then."""
        self.of_bots = MatchesOfBots()
        """Matches by bot. The pages of teams use it, because an overview of all matches may take seconds."""
        self.withheld = False
        """True if the host shows what all seats saw only once the competition is over."""
        self._is_stage = is_of_season(folder)
        self._plain_title = title_of(folder)

    @property
    def face(self) -> Face:
        """The face of the competition as it was written last."""
        return self._face.read()

    @property
    def title(self) -> str:
        """The face's title, or the folder's name; in a season, with the name of the stage."""
        title = self.face.title
        if title is None:
            return self._plain_title
        return f"{title}: {self.name}" if self._is_stage else title

    @property
    def ledger(self) -> Path:
        """Path of the ledger."""
        return self.folder / LEDGER

    @property
    def running(self) -> bool:
        """True if an arena is playing the competition now."""
        return is_held(self.folder)

    def stamp(self) -> Stamp:
        """Return a value that changes when the ledger changes, and when an arena starts or stops playing."""
        found = [(0, int(self.running)), (len(self.published), hash(frozenset(self.published.items())))]
        files = (LEDGER, f"{LEDGER}-wal", DECISIONS, FACE)
        for path in map(self.folder.joinpath, files):
            try:
                its = path.stat()
            except OSError:
                continue
            if its.st_size:  # Readers create and remove an empty file.
                found.append((its.st_size, its.st_mtime_ns))
        return tuple(found)

    def image(self) -> bytes | None:
        """Return the bytes of the competition's image; None if it has none."""
        return self._face.image()

    def as_of(self) -> float | None:
        """Return the wall-clock time in seconds of the last look at the ledger; None if that was recent."""
        return None

    def _open(self) -> Ledger:
        """Return the ledger. Raises NotBegun if there is no file; none is created."""
        if not self.ledger.exists():
            raise NotBegun(self.folder)
        return Ledger(self.ledger)

    def overview(self) -> Overview:
        """Return the current state, read again if it has changed.

        Raises:
            NotBegun: the competition has not begun.
            WrongUse: the file is not a ledger, or is damaged.
            MachineCannot: the file cannot be read.
        """
        with self._lock:
            stamp = self.stamp()
            if self._read is None or self._read[0] != stamp:
                self._read = None  # Free the old overview before the new one needs memory.
                with closing(self._open()) as ledger:
                    times = ledger.times()
                try:
                    results = load_results(self.ledger)
                    with closing(Ledger(self.ledger)) as ledger:
                        reports = reports_of_test(ledger)
                    found = overview_of(results, times, reports, running=self.running)
                except UNFORESEEN as error:
                    why = f"{type(error).__name__}: {error}"[:MOST_SAID]
                    raise WrongUse(f"{self.ledger}: holds what cannot be shown: {why}") from error
                if found.history is not None:
                    with suppress(WrongUse):  # The test is shown without the explained decisions.
                        found = replace(found, explained=read_decision_diffs(self.folder))
                self._read = (stamp, found)
            return self._read[1]

    def forget(self) -> None:
        """Free the memory of the last overview, unless another thread is reading it right now."""
        if self._lock.acquire(blocking=False):
            self._read = None
            self._lock.release()

    def results(self) -> TournamentResults:
        """Return the results so far, without the contest; see `overview`."""
        return self.overview().found

    def some(self, keys: Sequence[tuple[int, int]]) -> list[Reported]:
        """Return those of these matches that count; keys are block and seating."""
        with closing(self._open()) as ledger:
            return ledger.some(keys)

    def all_matches(self) -> Iterator[Reported]:
        """Return every match that counts, in schedule order, read in portions; the ledger is not held open.

        Matches whose block starts to count during the iteration may be missing. Raises the same errors as
        `results`.
        """
        return chain.from_iterable(batches_of(self.ledger, self._after))

    def _after(self, block: int, seating: int, count: int) -> list[Reported]:
        with closing(self._open()) as ledger:
            return ledger.after(block, seating, count)

    def recent_blocks(self, count: int) -> list[tuple[int, str]]:
        """Return the latest blocks that count, each with the end of its last match; newest first."""
        with closing(self._open()) as ledger:
            return ledger.recent_blocks(count)

    def match_by_head(self, head: str) -> Reported | None:
        """Return the match whose transcript has this head; None if no match that counts has it."""
        key = self.overview().index.key_of(head)
        return None if key is None else next(iter(self.some([key])), None)

    def counted(self, heads: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return block and seating by transcript head, for those of these heads whose matches count."""
        with closing(self._open()) as ledger:
            return ledger.counted(heads)

    @property
    def withholds(self) -> bool:
        """True if transcripts are not public, as far as the last overview says. Nothing is read."""
        return self.withheld and (self._read is None or not self._read[1].finished)

    def transcript(self, match: Reported) -> Path | None:
        """Return the path of the match's transcript; None if it is not public, or not in the results folder."""
        return None if self.withholds else self.stored_transcript(match)

    def stored_transcript(self, match: Reported) -> Path | None:
        """Return the path of the match's transcript for pages of one seat's team; None if there is none."""
        if "://" in match.transcript or os.sep in match.transcript:
            return None
        path = self.folder / TRANSCRIPTS / match.transcript
        with suppress(OSError):  # For example, the name is too long.
            if path.is_file():
                return path
        return None


def reports_of_test(ledger: Ledger) -> dict[tuple[int, int], tuple[SeatReport, ...]]:
    """Return the reports by block and seating for a regression test of time or memory; otherwise an empty dict."""
    if not any(key.startswith(USAGE) for key in ledger.terms()):
        return {}
    return {(match.block, match.seating): reports for match, reports, _ in ledger.reports()}


def overview_of(
    found: TournamentResults,
    times: LedgerTimes,
    reports: Mapping[tuple[int, int], tuple[SeatReport, ...]] | None = None,
    *,
    running: bool,
) -> Overview:
    """Return the overview of results.

    Args:
        found: the results.
        times: the times in the ledger.
        reports: the reports for `history_of`.
        running: whether an arena is playing now.

    Raises:
        WrongUse: the terms are neither those of a tournament nor those of a regression test.
    """
    contest, spec, digest = found.contest, found.spec, found.digest
    history: RegressionHistory | None = None
    coming: tuple[Block, ...] = ()
    try:
        if "format" not in found.terms:
            history = history_of(found.terms, found.played, reports)
        if spec is not None:
            coming = _coming(spec, found)
    except (msgspec.ValidationError, LookupError, ValueError, ArithmeticError) as error:
        raise WrongUse(f"holds neither a tournament nor a regression test: {error}") from None
    overview = Overview(
        found=replace(found, contest=None, played=[]),
        index=index_of(found.played, digest.seats),
        running=running,
        finished=_finished(found, coming, history),
        coming=coming[:COMING],
        times=times,
        history=history,
    )
    if spec is None:
        return overview
    format_ = format_of(spec)
    total = None if spec.endless else _total(found, coming)
    overview = replace(
        overview,
        order=format_.order_text,
        total=total,
        upset=latest_upset(digest, found.played),
        highlights=choose_highlights(digest, found.played),
    )
    if contest is not None:
        own, bracket = format_.table(contest, digest.standings), format_.bracket(contest)
        overview = replace(overview, own=own, bracket=bracket)
    if "stage" in found.terms:
        overview = replace(overview, finishes=finishes_of(found))
    return overview


def _coming(spec: ScheduleSpec, found: TournamentResults) -> tuple[Block, ...]:
    """Return the next blocks that do not count yet; of a schedule in rounds, those of the current round."""
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


def _finished(found: TournamentResults, coming: Sequence[Block], history: RegressionHistory | None) -> bool:
    """Return whether all matches are played. An endless ladder is finished once a season has closed it."""
    if history is not None:
        return history.decided
    if found.spec is not None and found.spec.endless:
        return any(isinstance(event.what, EntriesClosed) and event.block is not None for event in found.events)
    return found.spec is not None and not coming and len(found.played) >= (found.total or 0)


def _total(found: TournamentResults, coming: Sequence[Block]) -> int:
    """Return the total number of matches, without tie-breaks that have not begun."""
    return max(found.total or 0, found.digest.matches + sum(len(block.shifts) for block in coming))
