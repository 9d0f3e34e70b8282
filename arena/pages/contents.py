"""Replays and transcripts, at paths that name what is in them by its hash: they may be kept for ever.

Whatever makes a replay is in its path, too: the hash of the match's last line, and of the code that draws it.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from arena.errors import WrongUse
from arena.pages.assets import asset_path
from referee.linux.regular_file import read_regular
from referee.match import Header
from referee.transcript import Differs, Reading, TranscriptError, Verified, verify_transcript

MOST_BYTES = 64 * 1024 * 1024
"""Of a transcript that is shown."""
DRAWN_BY = ("arena.viewer", "arena.replay", "arena.live", "protocol.text")
PAGES_BY = ("arena", "referee", "protocol")
DIGITS = 16
_HEAD = re.compile("[0-9a-f]{64}")


class NoReplayError(Exception):
    """A transcript is not one that can be shown. The text says why."""


def replay_path(head: str) -> str | None:
    """Where a match's replay is, by the head of its transcript; None: the head is not a hash."""
    return f"replay/{head}-{viewer_hash()}.html" if _HEAD.fullmatch(head) else None


def transcript_path(head: str) -> str | None:
    """Where a match's transcript is, by its head; None: the head is not a hash."""
    return f"transcript/{head}.jsonl" if _HEAD.fullmatch(head) else None


def replay_page(transcript: Path, head: str) -> bytes:
    """The page of a match that is over. Takes seconds of a processor.

    Raises:
        NoReplayError: the transcript does not hold, or is not the one that the head stands for.
    """
    # Here: the report of a tournament has no replays.
    from arena.replay import recorded  # noqa: PLC0415
    from arena.viewer import linked_page_of  # noqa: PLC0415

    check_size(transcript)
    try:
        reading = Reading(transcript)
        page = linked_page_of(recorded(iter(reading), transcript), lambda name: f"../{asset_path(name)}")
    except (Differs, WrongUse) as error:
        raise NoReplayError(str(error)) from None
    except TranscriptError as error:
        raise NoReplayError(error.what) from None
    _check(reading.verified(), head)
    return page.encode()


def transcript_bytes(transcript: Path, head: str) -> bytes:
    """A transcript whose hashes hold.

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
    """Refuses a transcript that is too long to be shown. Raises NoReplayError."""
    with suppress(OSError):  # Reading it says what is wrong.
        if transcript.stat().st_size > MOST_BYTES:
            raise NoReplayError(f"is longer than {MOST_BYTES:,} bytes")


def _check(verified: Verified, head: str) -> None:
    if not isinstance(verified.header, Header):
        raise NoReplayError("is the file of one seat")
    if verified.head != head:
        raise NoReplayError(f"has the head {verified.head}, and the ledger says {head}")


def viewer_hash() -> str:
    """The hash of what draws replays."""
    return _code_hash(DRAWN_BY)


def pages_hash() -> str:
    """The hash of all that pages are made by."""
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
