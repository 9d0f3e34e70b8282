"""Replays, stories and transcripts of matches.

The path of a replay holds the hash of the match's last line and the hash of the code that draws it, so that it can
be cached for ever.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from arena.errors import MachineCannot, WrongUse
from arena.pages.competition import MOST_SAID, Competition
from arena.pages.template import JSON, Page, asset_path
from arena.statistics import Reported
from referee.linux.files import read_regular
from referee.match import Header
from referee.transcript import Differs, TranscriptError, TranscriptReading, Verified, verify_transcript

if TYPE_CHECKING:
    from arena.replay import Recording, Story

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of a transcript that pages show."""
DRAWN_BY = ("arena.viewer", "arena.replay", "arena.live", "protocol.text", "protocol.games")
PAGES_BY = ("arena", "referee", "protocol")
DIGITS = 16
HEAD = "[0-9a-f]{64}"
"""Pattern of the hash of a transcript's last line."""
MOST_PLACES = 5
"""Maximum number of bots in the words that other sites show of a link to a replay."""
MOST_REFUSED = 1_000
"""Maximum number of refused transcripts whose reasons are cached."""
MOST_STORIES = 2_000
"""Maximum number of stories that a server keeps; each has some kilobytes."""


class NoReplayError(Exception):
    """A transcript cannot be shown; the text is the reason."""


def replay_path(head: str) -> str | None:
    """Return the path of a match's replay by the head of its transcript; None if the head is not a hash."""
    return f"replay/{head}-{viewer_hash()}.html" if re.fullmatch(HEAD, head) else None


def transcript_path(head: str) -> str | None:
    """Return the path of a match's transcript by its head; None if the head is not a hash."""
    return f"transcript/{head}.jsonl" if re.fullmatch(HEAD, head) else None


def story_path(head: str) -> str | None:
    """Return the path of a match's story by the head of its transcript; None if the head is not a hash."""
    return f"story/{head}-{viewer_hash()}.json" if re.fullmatch(HEAD, head) else None


def read_story(content: bytes) -> "Story":
    """Return a story from its JSON. Raises msgspec.MsgspecError for other content."""
    from arena.replay import Story  # noqa: PLC0415 - a tournament's report has no stories

    return msgspec.json.decode(content, type=Story)


class MatchFiles:
    """The files that pages show of one finished match. They share what is read from its transcript."""

    def __init__(self, transcript: Path, head: str, title: str = "", url: str = "") -> None:
        """`title` is that of the match's competition, for its card. `url`: see `PageMaker`."""
        self._transcript = transcript
        self._head = head
        self._title = title
        self._url = url

    def content(self, folder: str) -> bytes:
        """Return the content of the match's file in a folder of the site. Uses seconds of processor time.

        Raises:
            NoReplayError: the transcript is not valid, or its head is another one.
            MachineCannot: a picture cannot be made now.
        """
        # Imported late: a tournament's report has no replays.
        from arena.pages.pictures import card_of, card_path, picture_of  # noqa: PLC0415
        from arena.replay import story_of  # noqa: PLC0415
        from arena.viewer import linked_page_of  # noqa: PLC0415

        if folder == "transcript":
            return transcript_bytes(self._transcript, self._head)
        if folder == "story":
            return msgspec.json.encode(story_of(self._recording))
        recording, data = self._recording, self._data
        if folder == "picture":
            return picture_of(data)
        if folder == "card":
            return card_of(data, self._title)
        card = card_path(self._head)
        image = f"{self._url}{card}" if self._url and card else ""
        places = [f"{place}. {name}" for place, name in _placed(data)[:MOST_PLACES]]
        page = linked_page_of(
            recording,
            lambda name: f"../{asset_path(name)}",
            data,
            description=", ".join(filter(None, [data["variant"], *places])),
            image=image,
        )
        return page.encode()

    @cached_property
    def _recording(self) -> "Recording":
        """The match's steps."""
        from arena.replay import recorded  # noqa: PLC0415

        check_size(self._transcript)
        try:
            reading = TranscriptReading(self._transcript)
            recording = recorded(iter(reading), self._transcript)
        except (Differs, WrongUse) as error:
            raise NoReplayError(str(error)) from None
        except TranscriptError as error:
            raise NoReplayError(error.what) from None
        _check(reading.verified(), self._head)
        return recording

    @cached_property
    def _data(self) -> dict[str, Any]:
        """The data of the replay's page."""
        from arena.viewer import page_data  # noqa: PLC0415

        return page_data(self._recording)


def _placed(data: dict[str, Any]) -> list[tuple[int, str]]:
    """Return place and name of each seat by a match's `page_data`, the best ones first."""
    pairs = zip(data["places"], data["names"], strict=True)
    return sorted((place, name) for place, name in pairs if place is not None)


def replay_page(transcript: Path, head: str) -> bytes:
    """Return the replay page of a finished match. Raises NoReplayError as `MatchFiles.content`."""
    return MatchFiles(transcript, head).content("replay")


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


@cache
def viewer_hash() -> str:
    """Return the hash of the code that draws replays, with the drawings of all games."""
    from arena.viewer import shared_assets  # noqa: PLC0415

    parts = [_code_hash(DRAWN_BY), *map(asset_path, shared_assets())]
    return sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


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

    def __init__(self, competitions: Iterable[Competition], url: str = "") -> None:
        self._url = url
        self._competitions = tuple(competitions)
        self._refused: dict[tuple[str, str], tuple[tuple[int, ...], str]] = {}
        """File stamp and reason of each refused transcript, by head and folder."""
        self._stories: OrderedDict[str, Story] = OrderedDict()
        """Stories by head, the last used ones last."""
        self._lock = Lock()

    def page(self, folder: str, head: str, kind: str) -> Page | None:
        """Return the file of a match in one of the site's folders; None if no match that counts has this head.

        A refused one is read again once its file has changed.

        Raises:
            WrongUse: it cannot be made.
            MachineCannot: it cannot be made now.
        """
        found = self._file(head)
        if found is None:
            return None
        return self._page(*found, folder, head, kind)

    def story(self, competition: Competition, match: Reported) -> "Story | None":
        """Return the story of a match that counts; None without a transcript.

        Raises:
            NoReplayError: the transcript cannot be shown.
        """
        head, transcript = match.played.head, competition.transcript(match)
        if transcript is None:
            return None
        with self._lock:
            if head in self._stories:
                self._stories.move_to_end(head)
                return self._stories[head]
        try:
            page = self._page(transcript, competition.title, "story", head, JSON)
        except WrongUse as error:
            # A public page must not show paths of this machine.
            raise NoReplayError(error.format_message().removeprefix(f"{transcript}: ")) from None
        story = read_story(page.body)
        with self._lock:
            self._stories[head] = story
            while len(self._stories) > MOST_STORIES:
                self._stories.popitem(last=False)
        return story

    def _page(self, transcript: Path, title: str, folder: str, head: str, kind: str) -> Page:
        """Return a file made from a transcript. Raises WrongUse if it cannot be made."""
        stamp = _stamp(transcript)
        before, why = self._refused.get((head, folder), (None, ""))
        if stamp != before:
            try:
                return Page(MatchFiles(transcript, head, title, self._url).content(folder), kind, for_ever=True)
            except NoReplayError as error:
                why = str(error)[:MOST_SAID]
            except MachineCannot:
                raise
            except Exception as error:  # noqa: BLE001 - the rules of any game run here, and one match hides no page
                why = f"brings about {type(error).__name__}"
            if len(self._refused) >= MOST_REFUSED:
                self._refused.clear()
            self._refused[head, folder] = stamp, why
        raise WrongUse(f"{transcript}: {why}")

    def _file(self, head: str) -> tuple[Path, str] | None:
        """Return the transcript of the match that has this head, if it counts, and its competition's title.

        Unreadable competitions are skipped.
        """
        for competition in self._competitions:
            with suppress(WrongUse, MachineCannot):
                match = competition.match_by_head(head)
                if match is not None and (path := competition.transcript(match)) is not None:
                    return path, competition.title
        return None


def _stamp(file: Path) -> tuple[int, ...]:
    """Return a value that changes when the file changes; zeros if the file does not exist."""
    try:
        its = file.stat()
    except OSError:
        return 0, 0, 0
    return its.st_ino, its.st_size, its.st_mtime_ns
