"""Reads and verifies transcripts, a whole match's or one seat's, and reads those that are still being written.

Each record is returned only after the next line has confirmed it (the last line has its seal), so that no caller
uses a changed line. Errors name the line. Files are untrusted: at most two lines of a file are in memory. Nothing
is verified of a transcript that is still being written, which is read only to show the progress of a match.
"""

import os
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, assert_never

import msgspec
from msgspec import Struct

from protocol.codec import decode_server_message, encode, is_deeper
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Invited,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    Welcome,
)
from referee.linux.files import open_regular
from referee.match import FORMAT, AnyRecord, Footer, Header, Out, SeatHeader
from referee.transcript.chain import (
    MAX_LINE_BYTES,
    MOST_LEVELS,
    NO_LINE,
    Broken,
    SeatChains,
    TranscriptError,
    hash_of,
    opening,
    seal_holds,
    sealed,
)
from referee.transcript.replayer import Form
from referee.transcript.writer import part_of

_SHOWN_BYTES = 40
"""Bytes shown of a line in the wrong form."""
_records: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)
TAIL_BYTES = 256 * 1024
"""Bytes read from its end, which suffice for a `window` message and the lines after it."""


class Verified(Struct, frozen=True, kw_only=True):
    """The result of verifying a transcript."""

    lines: int
    head: str
    header: Header | SeatHeader
    footer: Footer


class TranscriptReading:
    """An iterator over the records of a transcript, footer included, which verifies them.

    Iterate once. `Broken` is raised at a changed line, after all records before it; `TranscriptError` if the file
    cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._verified: Verified | None = None

    def __iter__(self) -> Iterator[AnyRecord]:
        """Yield the records. The footer comes after the whole file was verified."""
        try:
            with open_regular(self._path) as file:
                yield from self._records(file)
        except Broken as broken:
            raise Broken(broken.line, broken.what, self._path) from None
        except OSError as error:
            raise TranscriptError(f"cannot be read: {error.strerror or error}", self._path) from error

    def verified(self) -> Verified:
        """Return the result. Call after the footer."""
        if self._verified is None:
            raise AssertionError("what is read has a header and a footer, or is broken")
        return self._verified

    def _records(self, file: BinaryIO) -> Iterator[AnyRecord]:
        header: Header | SeatHeader | None = None
        chains: SeatChains | None = None
        for line in lines_of(file):
            record = line.record
            if isinstance(record, Header | SeatHeader):
                header = record
                chains = SeatChains(record) if isinstance(record, Header) else None
            elif chains is not None and not isinstance(record, Footer):
                chains.take_line(line.raw)
            if isinstance(record, Footer) and header is not None:
                _check_heads(line.number, record, chains)
                self._verified = Verified(lines=line.number, head=line.hash, header=header, footer=record)
            yield record


def read_transcript(path: Path) -> Iterator[AnyRecord]:
    """Return the records of a transcript, footer included. Errors are those of `TranscriptReading`."""
    return iter(TranscriptReading(path))


def verify_transcript(path: Path) -> Verified:
    """Verify a transcript. Errors are those of `TranscriptReading`."""
    reading = TranscriptReading(path)
    deque(reading, maxlen=0)
    return reading.verified()


class TranscriptLine(Struct, frozen=True):
    """A line that the next one, or its seal, has confirmed."""

    number: int
    hash: str
    record: AnyRecord
    raw: bytes


class _Link(Struct, frozen=True):
    """A line's number and the hash of the line before, as written in it."""

    line: int
    prev: str


_links = msgspec.json.Decoder(_Link)


def lines_of(file: BinaryIO) -> Iterator[TranscriptLine]:
    """Yield the lines of an open transcript, each after it was confirmed.

    Raises:
        Broken: a line was changed.
    """
    number, prev, form = 0, NO_LINE, Form()
    waiting: TranscriptLine | None = None
    for raw in _raw_lines(file):
        number += 1
        if waiting and isinstance(waiting.record, Footer):
            raise Broken(number, f"line {number} comes after the footer")
        record = _record(raw, number)
        if not raw.startswith(opening(number, prev)):
            raise _misplaced(raw, number, prev, record, file)
        if isinstance(record, Footer) and not seal_holds(raw):
            raise Broken(number, f"line {number}: its seal does not fit it")
        if waiting:
            yield waiting
        _check(raw, number, prev, record, form)
        prev = hash_of(raw)
        waiting = TranscriptLine(number, prev, record, raw)
    if waiting is None:
        raise Broken(1, "line 1 is missing: the file is empty")
    if not isinstance(waiting.record, Footer):
        raise Broken(number, f"line {number} is the last, and no footer: the file is unfinished or cut short")
    yield waiting


def _raw_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of the file's current content: a file that is being written has no end."""
    left = file.seek(0, os.SEEK_END)
    file.seek(0)
    number = 0
    while raw := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        left -= len(raw)
        if left < 0 and len(raw) <= MAX_LINE_BYTES:
            raise Broken(number, f"line {number} was written while the file was read: it is not finished")
        yield raw


def _record(raw: bytes, number: int) -> AnyRecord:
    if len(raw) > MAX_LINE_BYTES:
        raise Broken(number, f"line {number} is longer than {MAX_LINE_BYTES} bytes")
    if not raw.endswith(b"\n"):
        raise Broken(number, f"line {number} does not end with a newline: the file is cut short")
    if number == 1 and raw.startswith(BOM_UTF8):
        raise Broken(1, "line 1 begins with a byte order mark, which no transcript has: the file was changed")
    try:
        raw.decode()  # The decoder does not check strings that it skips or leaves raw.
        record = _records.decode(raw)
    except msgspec.ValidationError as error:
        raise Broken(number, f"line {number} is no record: {error}") from None
    except RecursionError:
        raise Broken(number, f"line {number} is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Broken(number, f"line {number} is not JSON: {error}") from None
    if is_deeper(raw, MOST_LEVELS):
        raise Broken(number, f"line {number} is nested too deeply")
    if isinstance(record, Header | SeatHeader) != (number == 1):
        raise Broken(number, f"line {number} is {'no' if number == 1 else 'another'} header")
    if isinstance(record, Header | SeatHeader) and record.format != FORMAT:
        age = "an older" if record.format < FORMAT else "a newer"
        raise Broken(number, f"line {number}: format {record.format} is {age} arena's; this one reads {FORMAT}")
    return record


def _check(raw: bytes, number: int, prev: str, record: AnyRecord, form: Form) -> None:
    """Check that a line is exactly what the writer makes of its record, and that the record may be at this place.

    So a line contains nothing but its record: no unknown fields, and no repeated ones.
    """
    try:
        _check_spelling(raw, opening(number, prev) + encode(record)[1:], record)
        form.check(record)
    except RecursionError:
        raise Broken(number, f"line {number} is nested too deeply") from None
    except ValueError as error:
        raise Broken(number, f"line {number}: {error}") from None


def _check_spelling(raw: bytes, body: bytes, record: AnyRecord) -> None:
    """Check that a line is exactly what the writer makes of its record, whose JSON is `body`.

    Raises:
        ValueError: it is not.
    """
    due = sealed(body) if isinstance(record, Footer) else body + b"\n"
    if raw != due:
        at = next((at for at, (one, other) in enumerate(zip(raw, due, strict=False)) if one != other), len(due))
        read, given = (line[at : at + _SHOWN_BYTES].decode(errors="replace").strip() for line in (raw, due))
        raise ValueError(f"from byte {at + 1} on it reads {read}, where its record is written as {given}")


def _check_heads(number: int, footer: Footer, chains: SeatChains | None) -> None:
    for seat, head in enumerate(() if chains is None else chains.close()):
        if footer.heads[seat] != head:
            raise Broken(number, f"line {number}: the hash of seat {seat}'s own transcript comes out otherwise")


def _misplaced(raw: bytes, number: int, prev: str, record: AnyRecord, file: BinaryIO) -> Broken:
    """Return the error for a line with a wrong start: either it or the line before was changed.

    The next line decides: if it confirms this one, the line before was changed.
    """
    try:
        link = _links.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Broken(number, f"line {number} does not say what line it follows: {error}")
    if link.line != number:
        return Broken(number, f"line {number} says that it is line {link.line}")
    if number == 1 or link.prev == prev:
        return Broken(number, f"line {number} does not begin as the first lines of transcripts do")
    if isinstance(record, Footer):
        unchanged = seal_holds(raw)
    else:
        unchanged = file.readline(MAX_LINE_BYTES).startswith(opening(number + 1, hash_of(raw)))
    if unchanged:
        return Broken(number - 1, f"line {number - 1}: its hash is not the one that line {number} carries")
    return Broken(number, f"line {number}: the hash it carries is not that of line {number - 1}")


def unanswered_window(path: Path, seat: int) -> Opened | None:
    """Return the open window without a submission by a seat; None: there is none, as far as can be seen.

    Args:
        path: the path of the finished transcript.
        seat: the seat.
    """
    try:
        with part_of(path).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            record = _records.decode(line)
            if not isinstance(record, Out) or record.seat != seat:
                continue
            message = decode_server_message(bytes(record.frame))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue  # The first or the last line is incomplete.
        match message:
            case Opened():
                return message
            case Accepted() | Closed() | Over():
                return None
            case Invited() | Welcome() | EventMessage() | Rejected() | Paused() | Resumed() | Faulted():
                pass
            case _ as unreachable:
                assert_never(unreachable)
    return None
