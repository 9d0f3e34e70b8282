"""Replays and transcripts of matches, and delayed pages of unfinished matches.

The path of a replay holds the hash of the match's last line and the hash of the code that draws it, so that it can
be cached for ever. A delayed page shows all secrets, if the host wants it: the full view shows the deal, and all
matches of a block are played from the same deal. So a match is shown only when it is the last unfinished match of
its block.
"""

import re
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from pathlib import Path

from arena.errors import WrongUse
from arena.pages.competition import Competition
from arena.pages.template import asset_path
from arena.tournament import TRANSCRIPTS, Ledger
from referee.linux.files import read_regular
from referee.match import AnyRecord, Header
from referee.transcript import Broken, Differs, TranscriptError, TranscriptReading, Verified, verify_transcript

MOST_BYTES = 64 * 1024 * 1024
"""Maximum size of a transcript that pages show."""
DRAWN_BY = ("arena.viewer", "arena.replay", "arena.live", "protocol.text")
PAGES_BY = ("arena", "referee", "protocol")
DIGITS = 16
_HEAD = re.compile("[0-9a-f]{64}")


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


MICROSECONDS = 1_000_000
BACK = ("../late.html", "All delayed matches")
"""Target and text of the link back from a match's page."""


def shown_late(competition: Competition) -> list[tuple[int, int]]:
    """Return block and seating of the unfinished matches that may be shown."""
    overview = competition.overview()
    if not overview.running:
        return []
    seatings = {block.number: len(block.shifts) for block in overview.coming}
    with closing(Ledger(competition.ledger)) as ledger:
        times, finished = ledger.times(), ledger.finished()
    found = []
    for block, seating in dict.fromkeys((block, seating) for block, seating, _ in times.under_way):
        others = {(block, each) for each in range(seatings.get(block, 0))} - {(block, seating)}
        if block in seatings and (block, seating) not in finished and others <= finished:
            found.append((block, seating))
    return found


def late_page(competition: Competition, block: int, seating: int, seconds: float) -> bytes | None:
    """Return the page of an unfinished match as it was `seconds` before the last record of its transcript.

    None if the match may not be shown, or not yet. Uses seconds of processor time.
    """
    # Imported late, as for replays: see `arena.pages.contents`.
    from arena.replay import recorded  # noqa: PLC0415
    from arena.viewer import page_of  # noqa: PLC0415

    if (block, seating) not in shown_late(competition):
        return None
    with closing(Ledger(competition.ledger)) as ledger:
        name = ledger.under_way(block, seating)
    if name is None or "/" in name:
        return None
    part = competition.folder / TRANSCRIPTS / f"{name}.part"
    try:
        check_size(part)
        records = list(_so_far(TranscriptReading(part)))
        until = max((_at(record) for record in records), default=0) - seconds * MICROSECONDS
        if until <= 0:
            return None
        known = takewhile(lambda record: _at(record) <= until, records)
        return page_of(recorded(known, part, unfinished=True), back=BACK).encode()
    except (NoReplayError, TranscriptError, WrongUse):
        return None  # For example, the match has just ended.


def _so_far(reading: TranscriptReading) -> Iterator[AnyRecord]:
    try:
        yield from reading
    except Broken:  # The file of an unfinished match has no end yet.
        return


def _at(record: AnyRecord) -> int:
    """Return the time of a record in microseconds since the match's zero; 0 for earlier records."""
    at = getattr(record, "at", 0)
    return at if isinstance(at, int) else 0
