"""What hosts write for the arena: tournament files and caps, read and checked."""

from arena.config.caps import BotCaps, read_caps
from arena.config.entries import Entry, find_entry, find_remote, link_in, random_bot, say_link, short_name
from arena.config.notices import NoticeEvent, Notices, url_complaint
from arena.config.season_file import (
    Season,
    Stage,
    StageBot,
    is_season,
    read_season,
    stage_line,
    tournament_of_stage,
)
from arena.config.tournament_file import (
    CONSOLE,
    THE_ARENA,
    Broken,
    Tournament,
    TournamentFile,
    bot_given,
    entry_place,
    find_entrant,
    read_form,
    read_tournament,
    results_of,
    with_changes,
    without,
)

__all__ = [
    "CONSOLE",
    "THE_ARENA",
    "BotCaps",
    "Broken",
    "Entry",
    "NoticeEvent",
    "Notices",
    "Season",
    "Stage",
    "StageBot",
    "Tournament",
    "TournamentFile",
    "bot_given",
    "entry_place",
    "find_entrant",
    "find_entry",
    "find_remote",
    "is_season",
    "link_in",
    "random_bot",
    "read_caps",
    "read_form",
    "read_season",
    "read_tournament",
    "results_of",
    "say_link",
    "short_name",
    "stage_line",
    "tournament_of_stage",
    "url_complaint",
    "with_changes",
    "without",
]
