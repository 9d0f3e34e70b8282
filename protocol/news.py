"""What a host says over a line that stands between two matches: what came of the last one. Its bot need not know.

These are no messages of a match: `bots.remote` reads them, and passes none on to the bot.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

PART_BYTES = 32 * 1024
"""Of a seat's transcript, compressed: the most in one message."""
MOST_PARTS = 512
"""The most parts of a transcript: 16 MiB, compressed."""
MOST_UNPACKED_BYTES = 64 * 1024 * 1024
"""Of a seat's transcript, unpacked."""
MOST_RATIO = 100
"""The most bytes of a transcript for each of its compressed bytes, beyond the first."""
FREE_BYTES = 1024 * 1024
"""The first bytes of a transcript, which may come of next to nothing."""
MOST_SEATS = 64
"""More seats than any game has."""

Count = Annotated[int, Meta(ge=0, le=2**53)]
"""A number that every reader of JSON can take."""
Number = Annotated[int, Meta(ge=-(2**53), le=2**53)]
Seat = Annotated[int, Meta(ge=0, le=MOST_SEATS)]


def most_unpacked(packed: int) -> int:
    """Return the size that a transcript may have which takes so many bytes compressed.

    The host sends no larger one, so an author's machine takes no larger one.
    """
    return min(MOST_UNPACKED_BYTES, FREE_BYTES + MOST_RATIO * packed)


class TableRow(Struct, frozen=True, kw_only=True):
    """Where a bot stands in its tournament."""

    place: Count
    of: Count
    played: Count
    """Matches that count by now."""
    rating: float
    """Elo, with its 95 % interval. None: results set no limit on that side."""
    low: float | None
    high: float | None


class MatchReport(Struct, tag="report", tag_field="type", frozen=True, kw_only=True):
    """What came of a match for one seat."""

    match: str
    seat: Seat
    seats: Seat
    place: Count | None = None
    """None: the attempt is void, and does not count."""
    score: Number | None = None
    """None: the game has no scores."""
    reason: str
    """Why the match ended so; of a void attempt, why it is void."""
    conduct: str
    head: str
    """Hash of the last line of the whole transcript."""
    delay_ms: float | None = None
    """How long the network took to the bot and back; None: it was not measured."""
    standing: TableRow | None = None
    """As of the last count; None: nothing counts yet."""


class TranscriptPart(Struct, tag="transcript", tag_field="type", frozen=True, kw_only=True):
    """A part of the seat's own transcript: all parts together are one file, compressed by zlib."""

    match: str
    seat: Seat
    part: Annotated[int, Meta(ge=0, lt=MOST_PARTS)]
    """From 0."""
    parts: Annotated[int, Meta(ge=1, le=MOST_PARTS)]
    data: Annotated[bytes, Meta(max_length=PART_BYTES)]
    """As base64."""


class Dismissed(Struct, tag="dismissed", tag_field="type", frozen=True, kw_only=True):
    """There are no more matches: the bot need not stay."""

    text: str


News = MatchReport | TranscriptPart | Dismissed
_decoder: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)
_TAGS = {"report", "transcript", "dismissed"}


class _Tagged(Struct):
    """Any message that says its type."""

    type: str


_tagged = msgspec.json.Decoder(_Tagged)


def decode_news(frame: bytes) -> News | None:
    """Return what a frame tells, or None if it is of another type.

    Raises:
        msgspec.MsgspecError: it is of one of these types, and does not keep to its bounds.
    """
    try:
        return _decoder.decode(frame)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        if not _is_news(frame):
            return None
        raise msgspec.ValidationError(str(error)) from None


def _is_news(frame: bytes) -> bool:
    try:
        return _tagged.decode(frame).type in _TAGS
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
