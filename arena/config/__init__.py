"""What people write for the arena: tournament files, clocks, setups and caps, read and checked."""

from arena.config.caps import BotCaps, over, read_caps, too_large
from arena.config.clock_file import clock_json, clock_text, read_clock
from arena.config.games import rules_asked, variant_named
from arena.config.setup_file import drawn_setup, read_setup
from arena.config.tournament_file import (
    CONSOLE,
    HOUSE_MARK,
    TWO,
    Tournament,
    TournamentFile,
    read_tournament,
    results_of,
)

__all__ = [
    "CONSOLE",
    "HOUSE_MARK",
    "TWO",
    "BotCaps",
    "Tournament",
    "TournamentFile",
    "clock_json",
    "clock_text",
    "drawn_setup",
    "over",
    "read_caps",
    "read_clock",
    "read_setup",
    "read_tournament",
    "results_of",
    "rules_asked",
    "too_large",
    "variant_named",
]
