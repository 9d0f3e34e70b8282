"""Seasons: stages that follow one another, each a tournament or one for each group."""

from arena.season.backup import back_up_season, check_season_backup
from arena.season.book import PlannedStage, is_of_season, read_book, title_of
from arena.season.qualification import Finish, Qualified, cut_texts, drawn, qualified, ranked
from arena.season.results import (
    Origin,
    PartResults,
    SeasonResults,
    StageResults,
    cut_in,
    field_in,
    finishes_of,
    goes_on,
    parts_in,
    season_folder,
    season_in,
)
from arena.season.run import all_bots, begin_anew, play_season, remote_bots, tournament_as_begun

__all__ = [
    "Finish",
    "Origin",
    "PartResults",
    "PlannedStage",
    "Qualified",
    "SeasonResults",
    "StageResults",
    "all_bots",
    "back_up_season",
    "begin_anew",
    "check_season_backup",
    "cut_in",
    "cut_texts",
    "drawn",
    "field_in",
    "finishes_of",
    "goes_on",
    "is_of_season",
    "parts_in",
    "play_season",
    "qualified",
    "ranked",
    "read_book",
    "remote_bots",
    "season_folder",
    "season_in",
    "title_of",
    "tournament_as_begun",
]
