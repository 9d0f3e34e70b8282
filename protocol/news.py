"""Messages that a host sends to a remote bot between two matches: results of the last one.

They do not belong to a match: `bots.remote` reads them, and passes none on to the bot.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from protocol.messages import type_of

PART_BYTES = 32 * 1024
"""Most compressed bytes of a seat's transcript in one message."""
MOST_PARTS = 512
"""Most parts of a transcript: 16 MiB, compressed."""
MOST_UNPACKED_BYTES = 64 * 1024 * 1024
"""Largest transcript of a seat, unpacked, in bytes."""
MOST_RATIO = 100
"""Most bytes of a transcript per compressed byte, beyond `FREE_BYTES`."""
FREE_BYTES = 1024 * 1024
"""Size of a transcript, in bytes, that is allowed however few its compressed bytes are."""
MOST_SEATS = 64
"""Upper bound of seats, above that of any game."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A number that every JSON reader supports."""
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Seat = Annotated[int, Meta(ge=0, le=MOST_SEATS)]


def most_unpacked(packed: int) -> int:
    """Return the largest transcript that is accepted from this many compressed bytes.

    The host sends no larger one.
    """
    return min(MOST_UNPACKED_BYTES, FREE_BYTES + MOST_RATIO * packed)


class TableRow(Struct, frozen=True, kw_only=True):
    """Placement of a bot in its tournament."""

    place: Count
    of: Count
    played: Count
    """Number of matches that count now."""
    rating: float
    """Elo, with its 95 % interval; None for a side that results do not bound."""
    low: float | None
    high: float | None


class MatchReport(Struct, tag="report", tag_field="type", frozen=True, kw_only=True):
    """Result of a match for one seat."""

    match: str
    seat: Seat
    seats: Seat
    place: Count | None = None
    """Place in the ranking; None if the attempt is void and does not count."""
    score: Number | None = None
    """Score; None if the game has none."""
    reason: str
    """Reason for the match's end; for a void attempt, why it is void."""
    conduct: str
    head: str
    """Hash of the last line of the whole transcript."""
    delay_ms: float | None = None
    """Round trip to the bot over the network, in milliseconds; None if it was not measured."""
    standing: TableRow | None = None
    """Standing at the last count; None before anything counts."""


class TranscriptPart(Struct, tag="transcript", tag_field="type", frozen=True, kw_only=True):
    """A part of the seat's own transcript. The parts together are one file, compressed by zlib."""

    match: str
    seat: Seat
    part: Annotated[int, Meta(ge=0, lt=MOST_PARTS)]
    """Index of the part, from 0."""
    parts: Annotated[int, Meta(ge=1, le=MOST_PARTS)]
    data: Annotated[bytes, Meta(max_length=PART_BYTES)]
    """Content; base64 on the wire."""


class Dismissed(Struct, tag="dismissed", tag_field="type", frozen=True, kw_only=True):
    """Notice that no more matches follow and that the bot may leave."""

    text: str


News = MatchReport | TranscriptPart | Dismissed
_decoder: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)
_TAGS = {"report", "transcript", "dismissed"}


def decode_news(frame: bytes) -> News | None:
    """Decode a frame, or return None if it is of another type.

    Raises:
        msgspec.MsgspecError: it has one of these types, but exceeds its bounds.
    """
    try:
        return _decoder.decode(frame)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        if type_of(frame) not in _TAGS:
            return None
        raise msgspec.ValidationError(str(error)) from None
