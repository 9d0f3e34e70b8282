"""Plays scenarios, which describe a match, without a bot or a clock. Pure."""

from referee.adjudication.adjudicate import MAX_SCENARIO_BYTES, adjudicate_line, adjudicate_stream

__all__ = ["MAX_SCENARIO_BYTES", "adjudicate_line", "adjudicate_stream"]
