"""One seat's part of a transcript: a file of its own, with only what that seat could know.

It is built up from nothing, by the same code when a match's file is finished (its last hash goes into the full
file's footer) and when it is taken out of a full file later. So a host can publish each seat's hash right after a
match, and hand each author the file that belongs to it.

In it: the match's public terms, the seat's own bot, the frames from and to it, when its windows were handed over,
how its bot left. Times count from the seat's own first record, for when others started is not its business. Not in
it: whatever else happened, or how much of it. The record of a closed window is left out, too: the seat's `closed`
message tells its part, and where the record stands would tell when the others were done, or, to a bot that is
gone, how the match goes on. Each file opens with a salt that only it and the full file hold: the hash of another
seat's file then gives no way to try out what may be in it.
"""

import re
from collections.abc import Iterable, Iterator
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
from referee.transcript.chain import Chain, TranscriptError

SALT_BYTES = 16
_KIND = b'"kind":"'
_OWN = re.compile(rb'("kind":"(?:in|out|handed|left)","at":)(\d+)(,"seat":(\d+).*)', re.DOTALL)
"""A line of the whole transcript that is one seat's own, from its kind on: its time, what follows, its seat."""
_AT = b'"at":'
_ended = msgspec.json.Decoder(Ended)


def fresh_salts(seats: int) -> tuple[str, ...]:
    """A salt for each seat's file: 128 bits that nobody can guess."""
    return tuple(token_hex(SALT_BYTES) for _ in range(seats))


class SeatChain:
    """A seat's own transcript, grown as the match's records pass. `head`: hash of its last line."""

    def __init__(self, seat: int) -> None:
        self._seat = seat
        self._chain = Chain()
        self._zero: int | None = None

    @property
    def head(self) -> str:
        """Hash of the last line so far."""
        return self._chain.head

    def take(self, record: AnyRecord, body: bytes) -> bytes | None:
        """The line that the seat gets for a record, of which `body` is the JSON; None if it is not its own."""
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
        """The line for a record that is the seat's own, made at that time."""
        # The same JSON but for its time: `at` comes right after the record's kind.
        before = body.index(_AT) + len(_AT)
        return self.take_parts(body[1:before], at, body[body.index(b",", before) :] + b"\n")

    def take_parts(self, before: bytes, at: int, after: bytes) -> bytes:
        """The same, given what stands before and after its time: from the kind on, and up to the line's end."""
        if self._zero is None:
            self._zero = at
        return self._chain.link_parts(before, at - self._zero, after)

    def close(self) -> bytes:
        """The last line."""
        return self._chain.seal(Footer(heads=()))


class SeatChains:
    """All seats' own transcripts, grown from the lines of the whole one as they stand in its file.

    Nothing of them is kept but their last hashes. A line is taken as it was written, without reading its JSON.
    """

    def __init__(self, header: Header) -> None:
        self._chains = tuple(SeatChain(seat) for seat in range(len(header.bots)))
        self._take(header, b"")

    def take_line(self, line: bytes) -> None:
        """The next line; the header's is passed over."""
        kind = line.index(_KIND)
        own = _OWN.match(line, kind)
        if own is not None:
            before, at, after, seat = own.groups()
            self._chains[int(seat)].take_parts(before, int(at), after)
        elif line.startswith(b"ended", kind + len(_KIND)):
            self._take(_ended.decode(b"{" + line[kind:]), b"")

    def close(self) -> tuple[str, ...]:
        """By seat: the hash of its last line. Nothing may follow."""
        for chain in self._chains:
            chain.close()
        return tuple(chain.head for chain in self._chains)

    def _take(self, record: Header | Ended, body: bytes) -> None:
        for chain in self._chains:
            chain.take(record, body)


def seat_lines(records: Iterable[AnyRecord], seat: int) -> Iterator[bytes]:
    """The lines of one seat's own transcript, from the records of a whole match as `read_transcript` gives them.

    Raises:
        TranscriptError: there is no such seat, the records are a seat's own already, or what comes out is not what
            the match's footer says it was.
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
        variant=header.variant,
        options=header.options,
        clock=header.clock,
        seat=seat,
        seats=len(header.bots),
        bot=header.bots[seat],
        salt=header.salts[seat],
    )
