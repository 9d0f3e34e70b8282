"""What hosts write for the arena: tournament files and caps, read and checked."""

from arena.config.caps import BotCaps, read_caps
from arena.config.entries import find_entry, random_bot, say_link
from arena.config.tournament_file import (
    CONSOLE,
    Broken,
    Tournament,
    TournamentFile,
    bot_given,
    entry_place,
    find_entrant,
    read_tournament,
    results_of,
    with_changes,
    without,
)

__all__ = [
    "CONSOLE",
    "BotCaps",
    "Broken",
    "Tournament",
    "TournamentFile",
    "bot_given",
    "entry_place",
    "find_entrant",
    "find_entry",
    "random_bot",
    "read_caps",
    "read_tournament",
    "results_of",
    "say_link",
    "with_changes",
    "without",
]
