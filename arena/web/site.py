"""Writes all pages of competitions as plain files, for any server of files. Files that are up to date are kept.

Replays, stories and transcripts are written first, then matches, then the pages that link to them: so no page
links to a file that does not exist yet. Several processes make the replays, which take nearly all of the time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain, count, islice
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec import Struct, field

from arena.errors import MachineCannot, WrongUse, cannot_write
from arena.pages import (
    PATHS,
    UNFORESEEN,
    Competition,
    MatchFiles,
    NoReplayError,
    Page,
    Website,
    no_picture,
    picture_path,
    read_story,
    story_path,
)
from arena.processes import made_in_processes
from arena.replay import Story, path_text
from arena.statistics import Reported
from arena.tournament import NotBegun
from arena.web.catalog import seasons_in
from arena.web.output import Output
from referee.linux.files import read_regular

NO_JEKYLL = ".nojekyll"
"""A file that makes GitHub Pages skip Jekyll, which would search every file for templates."""
NO_REPLAY = "no replay"
"""Source of the page in place of a replay that cannot be made. It is replaced once the replay can be made."""
WORTH_PROCESSES = 8
"""Number of replays and transcripts from which processes are started, each of which takes a second to start."""
AHEAD = 4
"""Number of files per process that are made ahead of the one to be moved to its place next."""
MOST_TOLD = 100
"""Number of transcripts that cannot be shown for which the reason is reported."""
MOST_STORY = 1_000_000
"""Largest story that is read back for a match's page, in bytes."""
MOST_CHARACTERS = 300
"""Length of such a reason, in characters."""


class Wanted(Struct, frozen=True):
    """Files to be made from a transcript."""

    paths: tuple[str, ...]
    transcript: Path
    head: str
    title: str
    """Title of the competition."""
    url: str
    """Address of the site's top; "" if it is unknown."""
    part: str
    """Unique start of the names in the output's `parts` under which they are written first."""


class Made(Struct, frozen=True):
    """A file that was made and written into the output's `parts`, or the reason why it cannot be made."""

    part: Path | None = None
    digest: bytes = b""
    size: int = 0
    failure: str = ""


class Written(Struct):
    """Numbers of files that a build wrote, kept and deleted, and its failures."""

    written: int = 0
    size: int = 0
    """Size of the files that were written, in bytes."""
    kept: int = 0
    """Number of files that were there already."""
    deleted: int = 0
    left: int = 0
    """Number of files that are no longer pages but were not deleted, because somebody else had changed them."""
    failures: int = 0
    """Number of transcripts that cannot be shown."""
    failed: list[tuple[str, str]] = field(default_factory=list)
    """The first `MOST_TOLD` of these transcripts, each with the reason."""
    unread: list[str] = field(default_factory=list)
    """Errors of competitions that could not be read. Their pages of earlier builds are kept."""


class BuildListener(Protocol):
    """A listener to the progress of a build."""

    def begin(self, what: str, total: int | None) -> None:
        """Report a new step by its description and its number of files; None: the number is unknown."""

    def advance(self) -> None:
        """Report that one more file is done."""


class Builder:
    """A build of a site."""

    def __init__(self, output: Output, jobs: int, progress: BuildListener) -> None:
        self.done = Written()
        self._output = output
        self._jobs = jobs
        self._progress = progress
        self._numbers = count()
        self._url = ""
        """Address of the site for links to cards; "" if there are no cards."""
        self._under_way: set[str] = set()
        """Paths of files that are being made. Matches of deterministic bots may have the same transcript."""
        self._refused: dict[str, str] = {}
        """Reasons why transcripts cannot be shown, by head."""

    def build(
        self,
        competitions: Sequence[Competition],
        *,
        replays: bool,
        transcripts: bool,
        pictures: bool,
        url: str = "",
    ) -> Written:
        """Write all pages of these competitions, and delete our files that are no longer part of them.

        There are pictures of matches that have a replay only, and cards only if the site's address `url` is known.

        Raises:
            WrongUse: a foreign file is in the place of a page, or a file is not a ledger.
            MachineCannot: there is no space.
        """
        folders = ["transcript"] * transcripts + ["replay", "story"] * replays
        folders += ["picture"] * (replays and pictures)
        folders += ["card"] * (replays and pictures and bool(url))
        seasons = seasons_in(competitions)
        website = Website(
            competitions,
            live=False,
            replays=replays,
            transcripts=transcripts,
            seasons=seasons,
            url=url,
            embeds=True,
            story=self._story,
            pictures=pictures,
        )
        self._url = url * pictures
        for each in competitions:
            self._build_competition(website, each, folders)
        self._write_all(website, website.shared_paths())
        self._count(written=self._output.write(NO_JEKYLL, b""))
        if not self.done.unread:  # Else it is unknown which files are no longer wanted.
            self.done.deleted, self.done.left = self._output.delete_rest()
        return self.done

    def _build_competition(self, website: Website, competition: Competition, folders: Sequence[str]) -> None:
        """Write the pages of a competition, and a file for each of its matches in each of these folders."""
        slug = competition.slug
        try:
            matches = competition.results().digest.matches
        except NotBegun:
            self._write_all(website, [f"{slug}/index.html"])
            return
        except (WrongUse, MachineCannot) as error:
            self.done.unread.append(error.format_message())
            return
        if folders:
            self._progress.begin(f"{slug}: replays", matches * len(folders))
            try:
                for wanted, results in self._make(self._wanted(competition, folders)):
                    for path, result in zip(wanted.paths, results, strict=True):
                        self._put(website, path, wanted, result)
            except OSError as error:
                raise cannot_write(self._output.folder, error) from None
        self._progress.begin(f"{slug}: matches", matches)
        for path, source, make in website.match_pages(slug, self._refused):
            if self._output.has(path, source):
                self._count(written=False)
            else:
                self._write(path, make, source)
        self._progress.begin(f"{slug}: pages", None)
        self._write_all(website, website.paths(slug))

    def _wanted(self, competition: Competition, folders: Sequence[str]) -> Iterator[Wanted]:
        """Yield those files of a competition's matches in these folders of the site that do not exist yet."""
        for match in competition.all_matches():
            head = match.played.head
            transcript = competition.transcript(match)
            paths = []
            for folder in folders:
                path = PATHS[folder](head)
                if path is None or transcript is None:
                    continue
                if path in self._under_way or self._output.has(path, self._source(path, competition.title)):
                    self._count(written=False)
                else:
                    paths.append(path)
            if paths and transcript is not None:
                self._under_way.update(paths)
                part = str(next(self._numbers))
                yield Wanted(tuple(paths), transcript, head, competition.title, self._url, part)

    def _source(self, path: str, title: str) -> str:
        """Return what a match's file is made from besides its transcript: the site's address, or a title."""
        return {"replay": self._url, "card": title}.get(path.partition("/")[0], "")

    def _make(self, wanted: Iterator[Wanted]) -> Iterator[tuple[Wanted, Sequence[Made]]]:
        """Make files and yield their results. A transcript that breaks a process does not stop the others."""
        make = partial(made, parts=self._output.parts)
        first = list(islice(wanted, WORTH_PROCESSES))
        wanted = chain(first, wanted)
        if self._jobs == 1 or len(first) < WORTH_PROCESSES:
            yield from ((each, make(each)) for each in wanted)
            return
        killed = Made(failure="the process that made it was killed")
        for each, results in made_in_processes(make, wanted, self._jobs, AHEAD):
            yield each, results or [killed] * len(each.paths)

    def _story(self, competition: Competition, match: Reported) -> Story | None:
        """Return the story of a match from the site's own file; see `StoryTeller`."""
        head = match.played.head
        if head in self._refused:
            raise NoReplayError(self._refused[head])
        path = story_path(head)
        if path is None or competition.transcript(match) is None:
            return None
        try:
            return read_story(read_regular(self._output.folder / path, MOST_STORY, follow=False))
        except (OSError, msgspec.MsgspecError):
            return None  # Somebody else has changed or deleted it.

    def _put(self, website: Website, path: str, wanted: Wanted, result: Made) -> None:
        """Move a file of a match to its place, or record why there is none."""
        self._under_way.discard(path)
        if result.part is None:
            self.done.failures += 1
            if len(self.done.failed) < MOST_TOLD:
                self.done.failed.append((path_text(wanted.transcript), result.failure))
            if path == story_path(wanted.head):
                self._refused[wanted.head] = result.failure[:MOST_CHARACTERS]
            if path.endswith(".html"):
                page = website.error(path, "No replay", f"The transcript cannot be shown: {result.failure}.")
                self._count(written=self._output.write(path, page.body, NO_REPLAY), size=len(page.body))
            elif path == picture_path(wanted.head):
                content = no_picture()
                self._count(written=self._output.write(path, content, NO_REPLAY), size=len(content))
            else:
                self._progress.advance()
            return
        source = self._source(path, wanted.title)
        self._output.put(path, result.part, result.digest, result.size, source)
        self._count(written=True, size=result.size)

    def _write_all(self, website: Website, paths: Iterable[str]) -> None:
        for path in paths:
            self._write(path, partial(website.page, path))

    def _write(self, path: str, make: Callable[[], Page | None], source: str = "") -> None:
        """Write a page, unless it no longer exists."""
        try:
            page = make()
        except (WrongUse, MachineCannot, *UNFORESEEN) as error:
            # A broken ledger of one competition must not hide the others.
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


def made(wanted: Wanted, parts: Path) -> list[Made]:
    """Make the files of a match. Raises OSError if one cannot be written."""
    files = MatchFiles(wanted.transcript, wanted.head, wanted.title, wanted.url)
    return [_made(files, path, parts / f"{wanted.part}-{at}") for at, path in enumerate(wanted.paths)]


def _made(files: MatchFiles, path: str, part: Path) -> Made:
    try:
        content = files.content(path.partition("/")[0])
    except NoReplayError as error:
        return Made(failure=str(error))
    except Exception as error:  # noqa: BLE001 - whatever one transcript brings about, the others are to be shown
        # This is shown on a page. The error's own text may contain a path of this machine.
        return Made(failure=f"brings about {type(error).__name__}")
    part.write_bytes(content)
    return Made(part, sha256(content).digest(), len(content))
