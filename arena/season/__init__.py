"""Seasons: stages that follow one another, each a tournament or one for each group."""

from arena.season.qualification import Finish, ranked
from arena.season.results import (
    PartResults,
    PlannedStage,
    SeasonResults,
    StageResults,
    back_up_season,
    check_season_backup,
    cut_in,
    field_in,
    finishes_of,
    goes_on,
    is_of_season,
    parts_in,
    read_book,
    season_folder,
    season_in,
    title_of,
)
from arena.season.run import all_bots, begin_anew, play_season, remote_bots, tournament_as_begun
