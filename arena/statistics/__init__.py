"""Statistics of results: standings, ratings and sequential tests. Pure."""

from arena.statistics.anytime import Anytime, Resource, UsageLimit, UsageState, UsageWalk, median_interval
from arena.statistics.highlights import Upset, best_scores, choose_highlights, is_close, latest_upset, upset_in
from arena.statistics.means import MeanPoints, mean_points
from arena.statistics.ratings import ELO, Rating
from arena.statistics.running import START, RunningRating, learn, shown, widened
from arena.statistics.sprt import EloModel, Sprt, SprtState, SprtVerdict
from arena.statistics.standings import (
    CONDUCT,
    COUNTS_OF_MANY,
    COUNTS_OF_TWO,
    DEFAULTS,
    FOR_PROGRAMS,
    LOSSES,
    MEAN_POINTS,
    PLAYED,
    POINTS,
    RATING_MEANING,
    RECORD,
    REFUSED,
    TIES,
    TIME_PER_MOVE,
    US_PER_WINDOW,
    WHOLE_US_PER_WINDOW,
    WINS,
    BotColumn,
    CountedMatch,
    Score,
    StandingsRow,
    conduct_columns,
    places_by_seat,
    points,
    standings_of,
)
from arena.statistics.summary import (
    BotReport,
    Digest,
    Reported,
    digest_of,
    reports_of,
)
