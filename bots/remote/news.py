"""Messages that a tournament's host sends to the author of a remote bot between matches.

The host is untrusted: the size of its messages is bounded, and they can only create files in one folder.
"""

import errno
import re
import zlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, assert_never

import msgspec

from bots.remote.memory import MEGABYTE, Bounds, HostError, printable
from protocol.news import Dismissed, MatchReport, TableRow, TranscriptPart, decode_news, most_unpacked

MOST_FOLDER_BYTES = 1024 * MEGABYTE
"""Maximum size of all files in the folder, including those from earlier runs."""
BLOCK_BYTES = MEGABYTE
"""Bytes of an unpacked transcript that are held in memory at a time."""
MOST_ATTEMPTS = 20
"""Maximum number of attempts at one match whose transcripts are stored."""
TEXT = 300
"""Maximum number of characters of a text that are shown."""
_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.-]{0,99}")


class News:
    """The news received from the host, and the transcripts being assembled."""

    def __init__(self, folder: Path, bounds: Bounds | None = None) -> None:
        """Store transcripts in `folder`, which is created for the first one."""
        self.dismissed = False
        """True if there are no more matches."""
        self.farewell = ""
        """The host's text with its dismissal. It is the last thing to be printed."""
        self._folder = folder
        self._bounds = bounds or Bounds()
        self._is_full = False
        self._match = ("", -1, 0)
        self._parts: list[bytes] = []

    def hear(self, frame: bytes) -> list[str] | None:
        """Return the lines to print for a frame; None if it is not news but a message of a match.

        Raises:
            HostError: the frame exceeds what an honest host sends.
        """
        try:
            news = decode_news(frame)
        except msgspec.MsgspecError as error:
            raise HostError(printable(f"a message that cannot be read: {error}"[:TEXT])) from None
        match news:
            case None:
                return None
            case Dismissed(text=text):
                self.dismissed = True
                self.farewell = printable(text[:TEXT])
                said = []
            case MatchReport():
                self._bounds.news()
                said = [_report(news)]
            case TranscriptPart():
                said = self._take(news)
            case _ as unreachable:
                assert_never(unreachable)
        return [printable(line) for line in said]

    def _take(self, part: TranscriptPart) -> list[str]:
        """Collect a part of a transcript. Return the lines to print once it is complete."""
        which = (part.match, part.seat, part.parts)
        if part.part == 0:
            self._bounds.news()
            self._match, self._parts = which, []
        if which != self._match or part.part != len(self._parts):
            self._bounds.unknown()
            self._match, self._parts = ("", -1, 0), []
            return []
        self._parts.append(part.data)
        if len(self._parts) < part.parts:
            return []
        packed = b"".join(self._parts)
        self._match, self._parts = ("", -1, 0), []
        if not _NAME.fullmatch(part.match):
            return ["refused a transcript: its name cannot be used as a file name"]
        return self._keep(part, packed)

    def _keep(self, part: TranscriptPart, packed: bytes) -> list[str]:
        """Write a complete transcript. Return the lines to print."""
        try:
            if _size_of(self._folder) > MOST_FOLDER_BYTES - most_unpacked(len(packed)):
                return self._refuse_more()
            return [f"transcript: {_write(self._folder, f'{part.match}.seat-{part.seat}', packed)}"]
        except (zlib.error, ValueError) as error:
            return [f"the transcript of match {part.match} cannot be unpacked: {error}"]
        except OSError as error:
            return [f"{self._folder}: cannot be written: {error.strerror}"]

    def _refuse_more(self) -> list[str]:
        """Return the line that reports a full folder, the first time only."""
        if self._is_full:
            return []
        self._is_full = True
        return [f"{self._folder}: has {MOST_FOLDER_BYTES >> 20} MB of transcripts: no more are saved"]


def _size_of(folder: Path) -> int:
    """Return the total size of the files in a folder, in bytes; 0 if it does not exist."""
    try:
        return sum(file.lstat().st_size for file in folder.iterdir())
    except FileNotFoundError:
        return 0


def _write(folder: Path, name: str, packed: bytes) -> Path:
    """Write a transcript to a new file, and return its path.

    Raises:
        zlib.error: the data is not compressed by zlib.
        ValueError: the data is incomplete.
        HostError: the transcript is longer than a host may send.
        OSError: the file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, MOST_ATTEMPTS + 1):
        file = folder / (f"{name}.jsonl" if number == 1 else f"{name}.attempt-{number}.jsonl")
        with suppress(FileExistsError), file.open("xb") as opened:
            try:
                _unpack(packed, opened)
            except BaseException:
                file.unlink()
                raise
            return file
    raise FileExistsError(errno.EEXIST, f"{MOST_ATTEMPTS} transcripts of match {name} are there already")


def _unpack(packed: bytes, file: BinaryIO) -> None:
    """Unpack the data into a file, a block at a time. Raises the errors of `_write`."""
    left = most_unpacked(len(packed))
    unpacker = zlib.decompressobj()
    while not unpacker.eof:
        block = unpacker.decompress(packed, BLOCK_BYTES)
        packed = unpacker.unconsumed_tail
        left -= len(block)
        if left < 0:
            raise HostError("a transcript that is far larger than what was sent of it")
        if not (block or packed or unpacker.eof):
            raise ValueError("it is not whole")
        file.write(block)


def _report(report: MatchReport) -> str:
    text = f"match {report.match[:TEXT]}, seat {report.seat}: "
    if report.place is None:
        text += f"does not count: {report.reason[:TEXT]}"
    else:
        text += f"place {report.place}"
        if report.score is not None:
            text += f", score {report.score}"
        text += f", {report.reason[:TEXT]}, conduct {report.conduct[:TEXT]}"
    if report.delay_ms is not None:
        text += f", network delay {report.delay_ms:g} ms"
    if report.place is not None and report.standing is not None:
        text += f"; {_standing(report.standing)}"
    return text


def _standing(row: TableRow) -> str:
    low = "?" if row.low is None else f"{row.low:g}"
    high = "?" if row.high is None else f"{row.high:g}"
    return f"place {row.place} of {row.of} after {row.played} matches, rating {row.rating:g} ({low} to {high})"
