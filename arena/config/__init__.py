"""What hosts write for the arena: tournament files and caps, read and checked."""

from arena.config.caps import BotCaps, read_caps
from arena.config.entries import find_entry
from arena.config.tournament_file import CONSOLE, Tournament, TournamentFile, read_tournament, results_of

__all__ = [
    "CONSOLE",
    "BotCaps",
    "Tournament",
    "TournamentFile",
    "find_entry",
    "read_caps",
    "read_tournament",
    "results_of",
]
