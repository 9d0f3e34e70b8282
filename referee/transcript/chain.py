"""The chain of a transcript's lines: each has a number and the hash of the one before, and the last one is sealed.

Line 17 reads `{"line":17,"prev":"…","kind":"in",…}`, where `prev` is the SHA-256 of line 16 with its newline, so
that `sed -n 16p FILE | sha256sum` prints it. The last line is the footer. No line follows that could contain its
hash, so it ends with `"seal":"…"`: the SHA-256 of the line without the seal.

A seat's own transcript is a file with only the facts that the seat could know. It is built up from nothing, by the
same code when a match's file is finished (its last hash is in the full file's footer) and when it is extracted
from a full file later. So a host can publish each seat's hash right after a match, and send each author the file
that belongs to it.

It contains the match's public terms, the seat's own bot, the frames from and to it, the times at which its windows
were sent, and how its bot left. Times count from the seat's own first record, since the starts of other bots are
secret. It contains nothing about other events, not even their number. The records of closed windows are left out
too: the seat's `closed` message has its own part, and the place of the record would reveal when the others had
answered, or to a bot that has left, how the match went on. Each file starts with a salt that only it and the full
file contain, so that the published hash of another seat's file cannot be used to guess its content.
"""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import assert_never

import msgspec

from protocol.codec import encode
from referee.match import (
    AnyRecord,
    Cpu,
    Ended,
    Footer,
    Handed,
    Header,
    In,
    Judged,
    Left,
    Out,
    PauseOrder,
    SeatEnded,
    SeatHeader,
    Started,
    Used,
    WindowTime,
    Woke,
)

NO_LINE = "0" * 64
"""The hash in the first line, which has no line before it."""
NEWLINE = ord("\n")
MAX_LINE_BYTES = 8 * 1024 * 1024
"""The longest line in bytes, newline included. A reader never needs more in memory, even for a hostile file."""
MOST_LEVELS = 128
"""The deepest nesting of a line: twice that of a bot's message, which may be quoted in a line. The interpreter's
own limit depends on the caller, so that text which was parsed once could fail to be sent or drawn."""
_BEFORE_SEAL, _AFTER_SEAL = b',"seal":"', b'"}\n'
_SEAL_BYTES = len(_BEFORE_SEAL) + len(NO_LINE) + len(_AFTER_SEAL)
SALT_BYTES = 16
_KIND = b'"kind":"'
_OWN = re.compile(rb'("kind":"(?:in|out|handed|left)","at":)(\d+)(,"seat":(\d+).*)', re.DOTALL)
"""A line of the whole transcript that belongs to a seat, from its kind on: its time, the rest, its seat."""
_AT = b'"at":'
_ended = msgspec.json.Decoder(Ended)


class TranscriptError(Exception):
    """A transcript cannot be written or read. `path` is the file, if known; `what` is the error.

    During a match it is a fault of the referee's machine: the attempt is void, and no bot loses by it.
    """

    def __init__(self, what: str, path: Path | None = None) -> None:
        super().__init__(f"{path}: {what}" if path else what)
        self.what = what
        self.path = path


class Broken(TranscriptError):  # noqa: N818 - a finding about a file, not an error of ours
    """A transcript was changed. `line` counts from 1; `what` names it too."""

    def __init__(self, line: int, what: str, path: Path | None = None) -> None:
        super().__init__(what, path)
        self.line = line


class Chain:
    """Makes lines from records, each linked to the one before. `lines` is their number, `size` their bytes."""

    __slots__ = ("_head", "lines", "size")

    def __init__(self) -> None:
        self.lines = self.size = 0
        self._head = NO_LINE.encode()

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._head.decode()

    def link(self, body: bytes) -> bytes:
        """Return the line of a record with its newline, given the record's JSON.

        Raises:
            ValueError: as in `link_all`.
        """
        lines: list[bytes] = []
        self.link_all((body,), lines)
        return lines[0]

    def link_all(self, bodies: Iterable[bytes], lines: list[bytes]) -> None:
        """Append the lines of records to `lines`, up to the first that cannot be written.

        One loop serves a whole step.

        Raises:
            ValueError: a record cannot be written as one line. Errors of `bodies` are passed on.
        """
        number, size, head = self.lines, self.size, self._head
        try:
            for body in bodies:
                line = b'{"line":%d,"prev":"%b",%b\n' % (number + 1, head, body[1:])
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(f"{len(line)} bytes are too long for a line; {MAX_LINE_BYTES} are allowed")
                if NEWLINE in body:
                    raise ValueError("JSON that was given as it stands spans lines")
                number += 1
                size += len(line)
                head = sha256(line).hexdigest().encode()
                lines.append(line)
        finally:
            self.lines, self.size, self._head = number, size, head

    def link_parts(self, before: bytes, number: int, after: bytes) -> bytes:
        """Return the line of a record that is a line already, with another time; `after` ends with the newline."""
        line = b'{"line":%d,"prev":"%b",%b%d%b' % (self.lines + 1, self._head, before, number, after)
        self._add(line)
        return line

    def seal(self, footer: Footer) -> bytes:
        """Return the last line, with its seal."""
        line = sealed(opening(self.lines + 1, self.head) + encode(footer)[1:])
        self._add(line)
        return line

    def _add(self, line: bytes) -> None:
        self.lines += 1
        self.size += len(line)
        self._head = sha256(line).hexdigest().encode()


def opening(number: int, prev: str) -> bytes:
    """Return the start of line `number`, given the hash of the line before."""
    return b'{"line":%d,"prev":"%s",' % (number, prev.encode())


def hash_of(line: bytes) -> str:
    """Return the hash of a line with its newline, by which the next line refers to it."""
    return sha256(line).hexdigest()


def seal_holds(line: bytes) -> bool:
    """Return whether a footer's line with its seal is unchanged."""
    return line == sealed(line[:-_SEAL_BYTES] + b"}")


def sealed(unsealed: bytes) -> bytes:
    """Return the last line with its seal, given the line without seal and newline."""
    return unsealed[:-1] + _BEFORE_SEAL + sha256(unsealed).hexdigest().encode() + _AFTER_SEAL


def fresh_salts(seats: int) -> tuple[str, ...]:
    """Return a salt of 128 random bits for each seat's file."""
    return tuple(token_hex(SALT_BYTES) for _ in range(seats))


class SeatChain:
    """Builds a seat's own transcript from the match's records. `head` is the hash of its last line."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._chain = Chain()
        self._zero: int | None = None

    @property
    def head(self) -> str:
        """The hash of the last line so far."""
        return self._chain.head

    def take(self, record: AnyRecord, body: bytes) -> bytes | None:
        """Return the seat's line for a record with its JSON; None if the record does not belong to the seat."""
        match record:
            case Out() | In() | Handed() | Left():
                return self.take_own(record.at, body) if record.seat == self._seat else None
            case Header():
                return self._chain.link(encode(_seat_header(record, self._seat)))
            case Ended():
                ended = SeatEnded(conduct=record.conduct[self._seat], refused=record.refused[self._seat])
                return self._chain.link(encode(ended))
            case (
                Cpu()
                | Woke()
                | Started()
                | PauseOrder()
                | Used()
                | WindowTime()
                | Judged()
                | Footer()
                | SeatHeader()
                | SeatEnded()
            ):
                pass
            case _ as unreachable:
                assert_never(unreachable)
        return None

    def take_own(self, at: int, body: bytes) -> bytes:
        """Return the line for a record that belongs to the seat."""
        # The JSON is the same but for its time: `at` comes right after the record's kind.
        before = body.index(_AT) + len(_AT)
        return self.take_parts(body[1:before], at, body[body.index(b",", before) :] + b"\n")

    def take_parts(self, before: bytes, at: int, after: bytes) -> bytes:
        """Return the same line, given the bytes before its time, from the kind on, and those after it."""
        if self._zero is None:
            self._zero = at
        return self._chain.link_parts(before, at - self._zero, after)

    def close(self) -> bytes:
        """Return the last line."""
        return self._chain.seal(Footer(heads=()))


class SeatChains:
    """Builds all seats' own transcripts from the lines of the whole one.

    Only their last hashes are stored. Lines are used as written, without parsing their JSON.
    """

    def __init__(self, header: Header) -> None:
        self._chains = tuple(SeatChain(seat) for seat in range(len(header.bots)))
        self._take(header, b"")

    def take_line(self, line: bytes) -> None:
        """Add the next line; the header's has no effect."""
        kind = line.index(_KIND)
        own = _OWN.match(line, kind)
        if own is not None:
            before, at, after, seat = own.groups()
            self._chains[int(seat)].take_parts(before, int(at), after)
        elif line.startswith(b"ended", kind + len(_KIND)):
            self._take(_ended.decode(b"{" + line[kind:]), b"")

    def close(self) -> tuple[str, ...]:
        """Close all chains, and return the hashes of their last lines, indexed by seat."""
        for chain in self._chains:
            chain.close()
        return tuple(chain.head for chain in self._chains)

    def _take(self, record: Header | Ended, body: bytes) -> None:
        for chain in self._chains:
            chain.take(record, body)


def seat_lines(records: Iterable[AnyRecord], seat: int) -> Iterator[bytes]:
    """Yield the lines of a seat's own transcript, from the records of a whole match by `read_transcript`.

    Raises:
        TranscriptError: there is no such seat, the records are a seat's own already, or the result has not the
        hash
            in the match's footer.
    """
    chain = SeatChain(seat)
    for number, record in enumerate(records, 1):
        if number == 1:
            _check_seat(record, seat)
        if isinstance(record, Footer):
            yield chain.close()
            if chain.head != record.heads[seat]:
                raise TranscriptError(f"the file of seat {seat} does not come out with the hash in the footer")
            return
        line = chain.take(record, encode(record))
        if line is not None:
            yield line
    raise TranscriptError("there is no footer: the match was not finished")


def _check_seat(first: AnyRecord, seat: int) -> None:
    if isinstance(first, SeatHeader):
        raise TranscriptError(f"this is the file of seat {first.seat} alone")
    if not isinstance(first, Header):
        raise TranscriptError("there is no header")
    if not 0 <= seat < len(first.bots):
        raise TranscriptError(f"there is no seat {seat}: the seats are 0 to {len(first.bots) - 1}")
    if len(first.salts) != len(first.bots):
        raise TranscriptError("the header has no salts for the seats' own transcripts")


def _seat_header(header: Header, seat: int) -> SeatHeader:
    return SeatHeader(
        format=header.format,
        arena=header.arena,
        match=header.match,
        game=header.game,
        package=header.package,
        variant=header.variant,
        options=header.options,
        clock=header.clock,
        seat=seat,
        seats=len(header.bots),
        bot=header.bots[seat],
        salt=header.salts[seat],
    )
