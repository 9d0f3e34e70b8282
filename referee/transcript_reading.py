"""Reads transcripts, a whole match's or one seat's, and verifies them while it reads.

No record is given out before the line after it has vouched for it (the last line has its seal), so that nobody who
iterates acts on a line that was changed. What is wrong is named by line.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import Struct

from referee.records import FORMAT, AnyRecord, Footer, Header, SeatHeader
from referee.transcript_chain import (
    MAX_LINE_BYTES,
    NO_LINE,
    Broken,
    TranscriptError,
    hash_of,
    opening,
    seal_holds,
)


class Verified(Struct, frozen=True, kw_only=True):
    """What a transcript that holds comes to."""

    lines: int
    head: str
    """Hash of the last line."""
    header: Header | SeatHeader
    footer: Footer


def read_transcript(path: Path) -> Iterator[AnyRecord]:
    """The records of a transcript, footer included, one by one; never more than two lines in memory.

    Raises:
        Broken: a line is not as it was written. All records given out until then are.
        TranscriptError: the file cannot be read.
    """
    for line in _lines(path):
        yield line.record


def verify_transcript(path: Path) -> Verified:
    """Reads a transcript to its end.

    Raises:
        Broken: a line is not as it was written.
        TranscriptError: the file cannot be read.
    """
    header: AnyRecord | None = None
    last: Line | None = None
    for last in _lines(path):
        header = header or last.record
    if last is None or not isinstance(header, Header | SeatHeader) or not isinstance(last.record, Footer):
        raise AssertionError("what is read has a header and a footer, or is broken")
    return Verified(lines=last.number, head=last.hash, header=header, footer=last.record)


class Line(Struct, frozen=True):
    """A line that the one after it, or its seal, has vouched for."""

    number: int
    hash: str
    record: AnyRecord


class _Link(Struct, frozen=True):
    """What a line says of its place."""

    line: int
    prev: str


_records: msgspec.json.Decoder[AnyRecord] = msgspec.json.Decoder(AnyRecord)
_links = msgspec.json.Decoder(_Link)


def _lines(path: Path) -> Iterator[Line]:
    try:
        with path.open("rb") as file:
            yield from lines_of(file)
    except Broken as broken:
        raise Broken(broken.line, broken.what, path) from None
    except OSError as error:
        raise TranscriptError(f"cannot be read: {error.strerror or error}", path) from error


def lines_of(file: BinaryIO) -> Iterator[Line]:
    """The lines of an open transcript, each once it has been vouched for.

    Raises:
        Broken: a line is not as it was written.
    """
    number, prev = 0, NO_LINE
    waiting: Line | None = None
    while raw := file.readline(MAX_LINE_BYTES + 1):
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
        prev = hash_of(raw)
        waiting = Line(number, prev, record)
    if waiting is None:
        raise Broken(1, "line 1 is missing: the file is empty")
    if not isinstance(waiting.record, Footer):
        raise Broken(number, f"line {number} is the last, and no footer: the file is unfinished or cut short")
    yield waiting


def _record(raw: bytes, number: int) -> AnyRecord:
    """The record of a line, looked at by itself."""
    if len(raw) > MAX_LINE_BYTES:
        raise Broken(number, f"line {number} is longer than {MAX_LINE_BYTES} bytes")
    if not raw.endswith(b"\n"):
        raise Broken(number, f"line {number} does not end with a newline: the file is cut short")
    try:
        record = _records.decode(raw)
    except msgspec.ValidationError as error:
        raise Broken(number, f"line {number} is no record: {error}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Broken(number, f"line {number} is not JSON: {error}") from None
    if isinstance(record, Header | SeatHeader) != (number == 1):
        raise Broken(number, f"line {number} is {'no' if number == 1 else 'another'} header")
    if isinstance(record, Header | SeatHeader) and record.format != FORMAT:
        raise Broken(number, f"line {number}: format {record.format} is not known here; {FORMAT} is")
    return record


def _misplaced(raw: bytes, number: int, prev: str, record: AnyRecord, file: BinaryIO) -> Broken:
    """Says of a line that does not begin as it must whether it was changed, or the one before.

    The line after tells: if it vouches for this one, this one is as it was, and the one before is not.
    """
    try:
        link = _links.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
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
