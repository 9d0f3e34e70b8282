"""What a host says over a line that stands between two matches: what came of the last one. Its bot need not know.

These are no messages of a match: `bots.remote` reads them, and passes none on to the bot.
"""

import msgspec
from msgspec import Struct

PART_BYTES = 32 * 1024
"""Of a seat's transcript, compressed: the most in one message."""
MOST_PARTS = 512
"""The most parts of a transcript: 16 MiB, compressed."""


class TableRow(Struct, frozen=True, kw_only=True):
    """Where a bot stands in its tournament."""

    place: int
    of: int
    played: int
    """Matches that count by now."""
    rating: float
    """Elo, with its 95 % interval. None: results set no limit on that side."""
    low: float | None
    high: float | None


class MatchReport(Struct, tag="report", tag_field="type", frozen=True, kw_only=True):
    """What came of a match for one seat."""

    match: str
    seat: int
    seats: int
    place: int | None = None
    """None: the attempt is void, and does not count."""
    score: int | None = None
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
    seat: int
    part: int
    """From 0."""
    parts: int
    data: bytes
    """As base64."""


class Dismissed(Struct, tag="dismissed", tag_field="type", frozen=True, kw_only=True):
    """There are no more matches: the bot need not stay."""

    text: str


News = MatchReport | TranscriptPart | Dismissed
_decoder: msgspec.json.Decoder[News] = msgspec.json.Decoder(News)


def decode_news(frame: bytes) -> News:
    """What a frame tells. Raises msgspec.MsgspecError if it is none of these."""
    return _decoder.decode(frame)
