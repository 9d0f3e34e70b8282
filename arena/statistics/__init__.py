"""Statistics of results: standings, ratings and sequential tests. Pure."""

from arena.statistics.anytime import Anytime
from arena.statistics.bot_reports import BotReport, Loss, reports_of
from arena.statistics.hold_ups import HoldUp, SeatTimes, count_of, is_alone
from arena.statistics.means import MeanPoints, mean_points
from arena.statistics.ratings import ELO, Rating
from arena.statistics.running import START, RunningRating, learn, shown, widened
from arena.statistics.sprt import EloModel, Progress, Sprt, Verdict
from arena.statistics.standings import Played, Score, StandingsRow, points, standings_of
from arena.statistics.summary import Digest, TimeUse, digest_of
from arena.statistics.usage_ratio import Resource, UsageLimit, UsageState, UsageWalk, median_interval

__all__ = [
    "ELO",
    "START",
    "Anytime",
    "BotReport",
    "Digest",
    "EloModel",
    "HoldUp",
    "Loss",
    "MeanPoints",
    "Played",
    "Progress",
    "Rating",
    "Resource",
    "RunningRating",
    "Score",
    "SeatTimes",
    "Sprt",
    "StandingsRow",
    "TimeUse",
    "UsageLimit",
    "UsageState",
    "UsageWalk",
    "Verdict",
    "count_of",
    "digest_of",
    "is_alone",
    "learn",
    "mean_points",
    "median_interval",
    "points",
    "reports_of",
    "shown",
    "standings_of",
    "widened",
]
