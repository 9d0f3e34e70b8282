"""Matches in this process, without sockets, sandbox and clock, for search, self-play, learning and tests."""

from arena.simulation.bots import BotError, BotGiven, IllegalActionError
from arena.simulation.many import BotSummary, Results, play_many
from arena.simulation.match import Match, Result, new_table, seed_of
from arena.simulation.one_match import Opponents, messages_to_seats, play

__all__ = [
    "BotError",
    "BotGiven",
    "BotSummary",
    "IllegalActionError",
    "Match",
    "Opponents",
    "Result",
    "Results",
    "messages_to_seats",
    "new_table",
    "play",
    "play_many",
    "seed_of",
]
