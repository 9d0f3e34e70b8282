"""Matches in this process, without sockets, sandbox and clock, for search, self-play, learning and tests."""

from arena.simulation.bots import BotGiven
from arena.simulation.errors import BotError, IllegalActionError
from arena.simulation.many import BotSummary, Results, play_many
from arena.simulation.match import Match, dealt, seed_of
from arena.simulation.one_match import heard, play
from arena.simulation.opponents import Opponents
from arena.simulation.result import Result

__all__ = [
    "BotError",
    "BotGiven",
    "BotSummary",
    "IllegalActionError",
    "Match",
    "Opponents",
    "Result",
    "Results",
    "dealt",
    "heard",
    "play",
    "play_many",
    "seed_of",
]
