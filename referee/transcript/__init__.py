"""Writes, reads, verifies and replays transcripts."""
