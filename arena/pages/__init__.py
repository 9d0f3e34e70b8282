"""Pages of competitions, for the server, the static site and the report."""

from arena.pages.competition import UNFORESEEN, Competition, Overview
from arena.pages.contents import (
    MatchFiles,
    NoReplayError,
    read_story,
    replay_page,
    replay_path,
    story_path,
    transcript_path,
)
from arena.pages.pictures import card_path, no_picture, picture_path
from arena.pages.play import games_to_play, seat_page, start_page
from arena.pages.report import (
    stress_page,
    write_beside,
    write_report,
    write_season_beside,
    write_season_report,
    write_waiting,
)
from arena.pages.season import SeasonPages
from arena.pages.team import TeamMatch, TeamPart, read_matches, team_parts
from arena.pages.template import NO_ANNOUNCEMENT, Announcement, Page, PageMaker
from arena.pages.website import PATHS, Website
