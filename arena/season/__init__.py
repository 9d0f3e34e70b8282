"""Seasons: stages that follow one another, each a tournament or one for each group."""

from arena.season.book import BOOK, PlannedStage, SeasonBook, is_of_season, read_book, title_of
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
    season_folder,
    season_in,
    season_of,
)
from arena.season.run import begin_anew, play_season, remote_bots, tournament_as_begun

__all__ = [
    "BOOK",
    "Finish",
    "Origin",
    "PartResults",
    "PlannedStage",
    "Qualified",
    "SeasonBook",
    "SeasonResults",
    "StageResults",
    "begin_anew",
    "cut_in",
    "cut_texts",
    "drawn",
    "field_in",
    "finishes_of",
    "goes_on",
    "is_of_season",
    "play_season",
    "qualified",
    "ranked",
    "read_book",
    "remote_bots",
    "season_folder",
    "season_in",
    "season_of",
    "title_of",
    "tournament_as_begun",
]
