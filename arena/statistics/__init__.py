"""What results come to: standings, ratings, sequential tests. Pure."""

from arena.statistics.anytime import Anytime
from arena.statistics.bot_reports import BotReport, Loss, reports_of
from arena.statistics.means import MeanPoints, mean_points
from arena.statistics.ratings import ELO, Rating
from arena.statistics.running import START, RunningRating, learn, shown, widened
from arena.statistics.sprt import EloModel, Progress, Sprt, Verdict
from arena.statistics.standings import Played, Score, StandingsRow, points, standings_of
from arena.statistics.summary import Digest, TimeUse, digest_of

__all__ = [
    "ELO",
    "START",
    "Anytime",
    "BotReport",
    "Digest",
    "EloModel",
    "Loss",
    "MeanPoints",
    "Played",
    "Progress",
    "Rating",
    "RunningRating",
    "Score",
    "Sprt",
    "StandingsRow",
    "TimeUse",
    "Verdict",
    "digest_of",
    "learn",
    "mean_points",
    "points",
    "reports_of",
    "shown",
    "standings_of",
    "widened",
]
