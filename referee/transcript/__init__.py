"""Writes, reads, verifies and replays transcripts."""

from referee.transcript.chain import Broken, TranscriptError, seat_lines
from referee.transcript.reader import (
    TranscriptReading,
    Verified,
    read_transcript,
    unanswered_window,
    verify_transcript,
)
from referee.transcript.replayer import BadTermsError, Differs, Replayed, check_seat_terms, dealt, replay, steps
from referee.transcript.writer import open_transcript, write_transcript
