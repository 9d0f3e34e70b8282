"""Matches that people are at: watched, hosted, or played from a terminal."""
