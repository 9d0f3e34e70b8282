"""Writes all pages of competitions as plain files, for any server of files. What is there already stays.

Replays and transcripts come first, then matches, then what links to them: a page never links to what is not there
yet. Processes share the replays, which take nearly all of the time.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from hashlib import sha256
from itertools import chain, count, islice
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.pages import (
    UNFORESEEN,
    Competition,
    NoReplayError,
    Page,
    Website,
    replay_page,
    replay_path,
    transcript_bytes,
    transcript_path,
)
from arena.processes import process_pool
from arena.replay import path_text
from arena.tournament import NotBegun
from arena.web.catalog import seasons_in
from arena.web.output import Output

NO_JEKYLL = ".nojekyll"
"""GitHub Pages would look through every file for what is not in it."""
NO_REPLAY = "no replay"
"""What a page is made from that stands where a replay belongs, until there is one."""
WORTH_PROCESSES = 8
"""Replays and transcripts; a process takes a second to start."""
AHEAD = 4
"""Files for each process that are under way before the first of them is put in its place."""
MOST_TOLD = 100
"""Transcripts that cannot be shown whose reasons are kept."""
MOST_CHARACTERS = 300
"""Of such a reason."""


class Wanted(Struct, frozen=True):
    """A file that is made from a transcript."""

    path: str
    transcript: Path
    head: str
    part: str
    """The name that it is written under at first, which no other has."""


class Made(Struct, frozen=True):
    """Such a file, written into the output's `parts`; or why it cannot be made."""

    part: Path | None = None
    digest: bytes = b""
    size: int = 0
    failure: str = ""


class Written(Struct):
    """What was done, in files."""

    written: int = 0
    size: int = 0
    """Bytes of those that were written."""
    kept: int = 0
    """Those that were there already."""
    deleted: int = 0
    left: int = 0
    """Those that are pages no longer, and that somebody else had changed."""
    failures: int = 0
    """Transcripts that cannot be shown."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """The first of them, and why."""
    unread: list[str] = field(default_factory=list)
    """Why competitions could not be read. What was written of them earlier stays."""


class Progress(Protocol):
    """Is told how far it is."""

    def begin(self, what: str, total: int | None) -> None:
        """What is now being written, and how many files it has, if that is known."""

    def advance(self) -> None:
        """One more is done."""


class Builder:
    """One writing of a site."""

    def __init__(self, output: Output, jobs: int, progress: Progress) -> None:
        self.done = Written()
        self._output = output
        self._jobs = jobs
        self._progress = progress
        self._numbers = count()
        self._under_way: set[str] = set()
        """Paths of what is being made: matches of deterministic bots may have the same transcript."""

    def build(self, competitions: Sequence[Competition], *, replays: bool, transcripts: bool) -> Written:
        """Writes all that there is of these competitions, and deletes our files that are no longer of them.

        Raises:
            WrongUse: the folder holds something else where a page belongs; or a file is not a ledger.
            MachineCannot: there is no space.
        """
        seasons = seasons_in(competitions)
        website = Website(competitions, live=False, replays=replays, transcripts=transcripts, seasons=seasons)
        for each in competitions:
            try:
                matches = each.results().digest.matches
            except NotBegun:
                self._write_all(website, [f"{each.slug}/index.html"])
                continue
            except (WrongUse, MachineCannot) as error:
                self.done.unread.append(error.format_message())
                continue
            if replays or transcripts:
                self._progress.begin(f"{each.slug}: replays", matches * (replays + transcripts))
                try:
                    for wanted, result in self._make(self._wanted(each, replays=replays, transcripts=transcripts)):
                        self._put(website, wanted, result)
                except OSError as error:
                    raise cannot_write(self._output.folder, error) from None
            self._progress.begin(f"{each.slug}: matches", matches)
            for path, source, make in website.match_pages(each.slug):
                if self._output.has(path, source):
                    self._count(written=False)
                else:
                    self._write(path, make, source)
            self._progress.begin(f"{each.slug}: pages", None)
            self._write_all(website, website.paths(each.slug))
        self._write_all(website, website.shared_paths())
        self._count(written=self._output.write(NO_JEKYLL, b""))
        if not self.done.unread:  # Else we do not know what is no longer wanted.
            self.done.deleted, self.done.left = self._output.delete_rest()
        return self.done

    def _wanted(self, competition: Competition, *, replays: bool, transcripts: bool) -> Iterator[Wanted]:
        """What is not there yet of a competition's replays and transcripts."""
        for match in competition.all_matches():
            head = match.played.head
            paths = [transcript_path(head)] * transcripts + [replay_path(head)] * replays
            transcript = competition.transcript(match)
            for path in paths:
                if path is None or transcript is None:
                    continue
                if path in self._under_way or self._output.has(path):
                    self._count(written=False)
                else:
                    self._under_way.add(path)
                    yield Wanted(path, transcript, head, str(next(self._numbers)))

    def _make(self, wanted: Iterator[Wanted]) -> Iterator[tuple[Wanted, Made]]:
        """What came of each. No transcript, whatever it does, keeps the others from being made."""
        make = partial(made, parts=self._output.parts)
        first = list(islice(wanted, WORTH_PROCESSES))
        wanted = chain(first, wanted)
        if self._jobs == 1 or len(first) < WORTH_PROCESSES:
            yield from ((each, make(each)) for each in wanted)
            return
        asked: deque[Wanted] = deque()
        while True:
            under_way: deque[Future[Made]] = deque()
            with process_pool(self._jobs) as pool:
                try:
                    while True:
                        for each in islice(wanted, AHEAD * self._jobs - len(asked)):
                            asked.append(each)
                            under_way.append(pool.submit(make, each))
                        if not asked:
                            return
                        result = under_way.popleft().result()
                        yield asked.popleft(), result
                except BrokenProcessPool:
                    pass  # A process was killed: one of those under way, or somebody, did it.
            yield from _one_by_one(make, asked)
            asked.clear()

    def _put(self, website: Website, wanted: Wanted, result: Made) -> None:
        """Puts a replay or a transcript in its place, or notes why there is none."""
        self._under_way.discard(wanted.path)
        if result.part is None:
            self.done.failures += 1
            if len(self.done.failed) < MOST_TOLD:
                self.done.failed.append((path_text(wanted.transcript), result.failure))
            if wanted.path.endswith(".html"):
                page = website.error(
                    wanted.path, "No replay", f"The transcript cannot be shown: {result.failure}."
                )
                self._count(written=self._output.write(wanted.path, page.body, NO_REPLAY), size=len(page.body))
            else:
                self._progress.advance()
            return
        self._output.put(wanted.path, result.part, result.digest, result.size)
        self._count(written=True, size=result.size)

    def _write_all(self, website: Website, paths: Iterable[str]) -> None:
        for path in paths:
            self._write(path, partial(website.page, path))

    def _write(self, path: str, make: Callable[[], Page | None], source: str = "") -> None:
        """Writes a page, unless it is gone by now."""
        try:
            page = make()
        except (WrongUse, MachineCannot, *UNFORESEEN) as error:
            # One competition's ledger keeps no other from being shown.
            why = error.format_message() if isinstance(error, WrongUse | MachineCannot) else repr(error)
            if len(self.done.unread) < MOST_TOLD:
                self.done.unread.append(f"{path}: {why}"[:MOST_CHARACTERS])
            return
        if page is not None:
            self._count(written=self._output.write(path, page.body, source), size=len(page.body))

    def _count(self, *, written: bool, size: int = 0) -> None:
        if written:
            self.done.written += 1
            self.done.size += size
        else:
            self.done.kept += 1
        self._progress.advance()


def _one_by_one(make: Callable[[Wanted], Made], wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, Made]]:
    """What came of each, where one of the files may end the process that makes it."""
    rest = deque(wanted)
    while rest:
        with process_pool(1) as pool:
            try:
                while rest:
                    result = pool.submit(make, rest[0]).result()
                    yield rest.popleft(), result
            except BrokenProcessPool:
                yield rest.popleft(), Made(failure="the process that made it was killed")


def made(wanted: Wanted, parts: Path) -> Made:
    """Makes a file. Raises OSError if it cannot be written."""
    try:
        make = replay_page if wanted.path == replay_path(wanted.head) else transcript_bytes
        content = make(wanted.transcript, wanted.head)
    except NoReplayError as error:
        return Made(failure=str(error))
    except Exception as error:  # noqa: BLE001 - whatever one transcript brings about, the others are to be shown
        # A page says it: an error's own text may have a path of this machine.
        return Made(failure=f"brings about {type(error).__name__}")
    part = parts / wanted.part
    part.write_bytes(content)
    return Made(part, sha256(content).digest(), len(content))
