"""A seat's own transcript: a file with only the facts that the seat could know.

It is built up from nothing, by the same code when a match's file is finished (its last hash is in the full file's
footer) and when it is extracted from a full file later. So a host can publish each seat's hash right after a
match, and send each author the file that belongs to it.

It contains the match's public terms, the seat's own bot, the frames from and to it, the times at which its windows
were sent, and how its bot left. Times count from the seat's own first record, since the starts of other bots are
secret. It contains nothing about other events, not even their number. The records of closed windows are left out
too: the seat's `closed` message has its own part, and the place of the record would reveal when the others had
answered, or to a bot that has left, how the match went on. Each file starts with a salt that only it and the full
file contain, so that the published hash of another seat's file cannot be used to guess its content.
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
"""A line of the whole transcript that belongs to a seat, from its kind on: its time, the rest, its seat."""
_AT = b'"at":'
_ended = msgspec.json.Decoder(Ended)


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
