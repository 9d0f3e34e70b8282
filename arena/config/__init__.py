"""What hosts write for the arena: tournament files and caps, read and checked."""

from arena.config.caps import BotCaps, read_caps
from arena.config.entries import find_entry, random_bot, say_link
from arena.config.tournament_file import (
    CONSOLE,
    Broken,
    Tournament,
    TournamentFile,
    entry_place,
    read_tournament,
    results_of,
    without,
)

__all__ = [
    "CONSOLE",
    "BotCaps",
    "Broken",
    "Tournament",
    "TournamentFile",
    "entry_place",
    "find_entry",
    "random_bot",
    "read_caps",
    "read_tournament",
    "results_of",
    "say_link",
    "without",
]
