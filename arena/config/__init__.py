"""What hosts write for the arena: tournament files and caps, read and checked."""

from arena.config.caps import BotCaps, over, read_caps, too_large
from arena.config.tournament_file import (
    CONSOLE,
    HOUSE_MARK,
    Tournament,
    TournamentFile,
    read_tournament,
    results_of,
)

__all__ = [
    "CONSOLE",
    "HOUSE_MARK",
    "BotCaps",
    "Tournament",
    "TournamentFile",
    "over",
    "read_caps",
    "read_tournament",
    "results_of",
    "too_large",
]
