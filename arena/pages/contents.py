"""Replays and transcripts of matches.

The path of a replay holds the hash of the match's last line and the hash of the code that draws it, so that it can
be cached for ever.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from arena.errors import MachineCannot, WrongUse
from arena.pages.competition import MOST_SAID, Competition
from arena.pages.template import HTML, LINES, Page, asset_path
from referee.linux.files import read_regular
from referee.match import Header
from referee.transcript import Differs, TranscriptError, TranscriptReading, Verified, verify_transcript

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of a transcript that pages show."""
DRAWN_BY = ("arena.viewer", "arena.replay", "arena.live", "protocol.text")
PAGES_BY = ("arena", "referee", "protocol")
DIGITS = 16
_HEAD = re.compile("[0-9a-f]{64}")
MOST_REFUSED = 1_000
"""Maximum number of refused transcripts whose reasons are cached."""


class NoReplayError(Exception):
    """A transcript cannot be shown; the text is the reason."""


def replay_path(head: str) -> str | None:
    """Return the path of a match's replay by the head of its transcript; None if the head is not a hash."""
    return f"replay/{head}-{viewer_hash()}.html" if _HEAD.fullmatch(head) else None


def transcript_path(head: str) -> str | None:
    """Return the path of a match's transcript by its head; None if the head is not a hash."""
    return f"transcript/{head}.jsonl" if _HEAD.fullmatch(head) else None


def replay_page(transcript: Path, head: str) -> bytes:
    """Return the replay page of a finished match. Uses seconds of processor time.

    Raises:
        NoReplayError: the transcript is not valid, or its head is another one.
    """
    # Imported late: a tournament's report has no replays.
    from arena.replay import recorded  # noqa: PLC0415
    from arena.viewer import linked_page_of  # noqa: PLC0415

    check_size(transcript)
    try:
        reading = TranscriptReading(transcript)
        page = linked_page_of(recorded(iter(reading), transcript), lambda name: f"../{asset_path(name)}")
    except (Differs, WrongUse) as error:
        raise NoReplayError(str(error)) from None
    except TranscriptError as error:
        raise NoReplayError(error.what) from None
    _check(reading.verified(), head)
    return page.encode()


def transcript_bytes(transcript: Path, head: str) -> bytes:
    """Return the content of a transcript after verifying it.

    Raises:
        NoReplayError: as `replay_page`.
    """
    check_size(transcript)
    try:
        _check(verify_transcript(transcript), head)
        return read_regular(transcript, MOST_BYTES)
    except TranscriptError as error:
        raise NoReplayError(error.what) from None
    except OSError as error:
        raise NoReplayError(f"cannot be read: {error.strerror}") from None


def check_size(transcript: Path) -> None:
    """Raise NoReplayError for a transcript that is too long to be shown."""
    with suppress(OSError):  # Reading the file reports the error later.
        if transcript.stat().st_size > MOST_BYTES:
            raise NoReplayError(f"is longer than {MOST_BYTES:,} bytes")


def _check(verified: Verified, head: str) -> None:
    if not isinstance(verified.header, Header):
        raise NoReplayError("is the file of one seat")
    if verified.head != head:
        raise NoReplayError(f"has the head {verified.head}, and the ledger says {head}")


def viewer_hash() -> str:
    """Return the hash of the code that draws replays."""
    return _code_hash(DRAWN_BY)


def pages_hash() -> str:
    """Return the hash of the code that makes pages."""
    return _code_hash(PAGES_BY)


@cache
def _code_hash(packages: tuple[str, ...]) -> str:
    total = sha256()
    for package in packages:
        for name, content in sorted(_sources(files(package))):
            total.update(f"{package}/{name} {len(content)}\n".encode() + content)
    return total.hexdigest()[:DIGITS]


def _sources(folder: Traversable) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from ((f"{each.name}/{name}", content) for name, content in _sources(each))
        elif not each.name.endswith(".pyc"):
            yield each.name, each.read_bytes()


class TranscriptPages:
    """Replays and transcripts of the matches of some competitions, by head."""

    def __init__(self, competitions: Iterable[Competition]) -> None:
        self._competitions = tuple(competitions)
        self._refused: dict[tuple[str, str], tuple[tuple[int, ...], str]] = {}
        """File stamp and reason of each refused transcript, by head and media type."""

    def replay(self, head: str, viewer: str) -> Page | None:
        """Return the replay of a match; None for the hash of another viewer."""
        return self._made(head, replay_page, HTML) if viewer == viewer_hash() else None

    def transcript(self, head: str) -> Page | None:
        """Return a match's transcript."""
        return self._made(head, transcript_bytes, LINES)

    def _made(self, head: str, make: Callable[[Path, str], bytes], kind: str) -> Page | None:
        """Return the page made from a match's transcript.

        A refused one is read again once its file has changed.
        """
        transcript = self._file(head)
        if transcript is None:
            return None
        stamp = _stamp(transcript)
        before, why = self._refused.get((head, kind), (None, ""))
        if stamp != before:
            try:
                return Page(make(transcript, head), kind, for_ever=True)
            except NoReplayError as error:
                why = str(error)[:MOST_SAID]
            if len(self._refused) >= MOST_REFUSED:
                self._refused.clear()
            self._refused[head, kind] = stamp, why
        raise WrongUse(f"{transcript}: {why}")

    def _file(self, head: str) -> Path | None:
        """Return the transcript of the match that has this head, if it counts; skip unreadable competitions."""
        for competition in self._competitions:
            with suppress(WrongUse, MachineCannot):
                match = competition.match_by_head(head)
                if match is not None:
                    return competition.transcript(match)
        return None


def _stamp(file: Path) -> tuple[int, ...]:
    """Return a value that changes when the file changes; zeros if the file does not exist."""
    try:
        its = file.stat()
    except OSError:
        return 0, 0, 0
    return its.st_ino, its.st_size, its.st_mtime_ns
