"""Writes, reads, verifies and replays transcripts."""

from referee.transcript.chain import Broken, TranscriptError
from referee.transcript.checks import BadTermsError, check_seat_terms, dealt
from referee.transcript.reader import (
    TranscriptReading,
    Verified,
    read_transcript,
    unanswered_window,
    verify_transcript,
)
from referee.transcript.replayer import Differs, Replayed, replay, steps
from referee.transcript.seat import seat_lines
from referee.transcript.writer import open_transcript, write_transcript

__all__ = [
    "BadTermsError",
    "Broken",
    "Differs",
    "Replayed",
    "TranscriptError",
    "TranscriptReading",
    "Verified",
    "check_seat_terms",
    "dealt",
    "open_transcript",
    "read_transcript",
    "replay",
    "seat_lines",
    "steps",
    "unanswered_window",
    "verify_transcript",
    "write_transcript",
]
