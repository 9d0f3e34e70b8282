"""What a tournament's host tells a remote bot's author between two matches: what came of the last one.

The host is another's machine: what it sends is bounded, and names no file but one of its own in one folder.
"""

import errno
import re
import zlib
from contextlib import suppress
from pathlib import Path

import msgspec

from bots.remote_summary import printable
from protocol.news import MOST_PARTS, Dismissed, MatchReport, TableRow, TranscriptPart, decode_news

MOST_BYTES = 256 * 1024 * 1024
"""Of one transcript, unpacked."""
MOST_ATTEMPTS = 20
"""At one match, of which transcripts are kept."""
TEXT = 300
"""Characters of a text that are shown."""
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,99}")


class News:
    """What the host has told so far."""

    def __init__(self, folder: Path) -> None:
        """`folder`: for transcripts, made when the first one comes."""
        self.dismissed = False
        """There are no more matches."""
        self._folder = folder
        self._match = ("", -1)
        self._parts: list[bytes] = []

    def hear(self, frame: bytes) -> list[str] | None:
        """The lines that an author is told of a frame; None: it is no such news, but a message of a match."""
        try:
            news = decode_news(frame)
        except msgspec.MsgspecError:
            return None
        match news:
            case Dismissed(text=text):
                self.dismissed = True
                said = [text[:TEXT]]
            case MatchReport():
                said = [_report(news)]
            case TranscriptPart():
                said = self._take(news)
        return [printable(line) for line in said]

    def _take(self, part: TranscriptPart) -> list[str]:
        """A part of a transcript; the last one completes it."""
        if part.part == 0:
            self._match, self._parts = (part.match, part.seat), []
        in_order = (part.match, part.seat) == self._match and part.part == len(self._parts)
        if not in_order or not 0 < part.parts <= MOST_PARTS:
            self._match, self._parts = ("", -1), []
            return []
        self._parts.append(part.data)
        if len(self._parts) < part.parts:
            return []
        packed, self._parts = b"".join(self._parts), []
        if not _NAME.fullmatch(part.match):
            return ["a transcript came whose name is none of a file"]
        try:
            return [f"transcript: {_write(self._folder, f'{part.match}.seat-{part.seat}', packed)}"]
        except (zlib.error, ValueError) as error:
            return [f"the transcript of match {part.match} cannot be unpacked: {error}"]
        except OSError as error:
            return [f"{self._folder}: cannot be written: {error.strerror}"]


def _write(folder: Path, name: str, packed: bytes) -> Path:
    """Writes a transcript over no other; where it is.

    Raises:
        zlib.error: it is no such thing.
        ValueError: it is too long, or not whole.
        OSError: it cannot be written.
    """
    unpacker = zlib.decompressobj()
    lines = unpacker.decompress(packed, MOST_BYTES)
    if not unpacker.eof:
        raise ValueError("it is too long, or not whole")
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, MOST_ATTEMPTS + 1):
        file = folder / (f"{name}.jsonl" if number == 1 else f"{name}.attempt-{number}.jsonl")
        with suppress(FileExistsError), file.open("xb") as opened:
            opened.write(lines)
            return file
    raise FileExistsError(errno.EEXIST, f"{MOST_ATTEMPTS} transcripts of match {name} are there already")


def _report(report: MatchReport) -> str:
    delay = "" if report.delay_ms is None else f", network delay {report.delay_ms:g} ms"
    head = f"match {report.match[:TEXT]}, seat {report.seat}"
    if report.place is None:
        return f"{head}: does not count: {report.reason[:TEXT]}{delay}"
    score = "" if report.score is None else f", score {report.score}"
    text = f"{head}: place {report.place}{score}, {report.reason[:TEXT]}, conduct {report.conduct[:TEXT]}{delay}"
    return text if report.standing is None else f"{text}; {_standing(report.standing)}"


def _standing(row: TableRow) -> str:
    low = "?" if row.low is None else f"{row.low:g}"
    high = "?" if row.high is None else f"{row.high:g}"
    return f"place {row.place} of {row.of} after {row.played} matches, rating {row.rating:g} ({low} to {high})"
