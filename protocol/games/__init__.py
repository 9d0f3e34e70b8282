"""The games: the list of them, and a folder for each with its words, board, texts and drawing for browsers."""

from protocol.games.listing import (
    GROUP,
    GameEntry,
    GameLoadError,
    entries,
    entry_of,
    fault_of_package,
    outside_games,
    package_of,
    problems,
)

__all__ = [
    "GROUP",
    "GameEntry",
    "GameLoadError",
    "entries",
    "entry_of",
    "fault_of_package",
    "outside_games",
    "package_of",
    "problems",
]
