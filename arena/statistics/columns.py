"""Columns of the standings: one declaration for terminal, CSV, JSON, Markdown and pages. Pure.

A new column needs a field of `StandingsRow`, its declaration here, and a place in the groups below, from which
tables are made.
"""

from collections.abc import Sequence

from arena.columns import Column, plain, three_digits
from arena.quantities import duration, rounded
from arena.statistics.standings import StandingsRow

BotColumn = Column[StandingsRow]
RATING_MEANING = "Strength in Elo: 400 points are odds of 10 to 1 to be ranked before the other. The mean is 0."

PLAYED: BotColumn = Column(
    "played",
    lambda row: row.played,
    key="played",
    meaning="Matches that count. A bot in several seats of a match counts for each.",
)
WINS: BotColumn = Column(
    "wins", lambda row: row.wins, key="wins", meaning="Matches in which the bot alone was first."
)
TIES: BotColumn = Column(
    "shared wins", lambda row: row.ties, key="ties", meaning="Matches in which the bot was first with others."
)
LOSSES: BotColumn = Column("lost", lambda row: row.losses, key="losses", meaning="All other matches.")
WON: BotColumn = Column("won", lambda row: row.wins, meaning="Matches that the bot alone won.")
TIED: BotColumn = Column("tied", lambda row: row.ties, meaning="Matches in which the bot shared the first place.")
RECORD: BotColumn = Column("W-T-L", lambda row: row.record, meaning="Matches won, tied and lost.")
POINTS: BotColumn = Column(
    "points",
    lambda row: row.points,
    plain,
    key="points",
    meaning="The sum over all matches. A match has 1 for the first place and 0 for the last, ties a half.",
)
MEAN_POINTS: BotColumn = Column(
    "mean points",
    lambda row: row.mean,
    three_digits,
    key="mean_points",
    meaning="Points per match: the share of the other seats that were ranked below, ties as a half.",
)
FAULTS: BotColumn = Column(
    "faults",
    lambda row: row.faults,
    key="faults",
    meaning="Matches in which the bot crashed, left, misbehaved or never started.",
)
DEFAULTS: BotColumn = Column(
    "defaults",
    lambda row: row.defaults,
    key="defaults",
    meaning="Moves that the game made for the bot, because no legal action came in time.",
)
REFUSED: BotColumn = Column(
    "refused",
    lambda row: row.refused,
    key="refused",
    meaning="Messages of the bot that the referee could not act on.",
)
WINDOWS: BotColumn = Column("windows", lambda row: row.windows, key="windows")
TIME_PER_MOVE: BotColumn = Column(
    "time per move", lambda row: row.mean_us, duration, meaning="Average thinking time per move."
)

US_PER_WINDOW: BotColumn = Column("time per move", lambda row: rounded(row.mean_us), key="us_per_window")
"""The time per move in CSV, in microseconds."""
WHOLE_US_PER_WINDOW: BotColumn = Column(
    "time per move", lambda row: None if row.mean_us is None else round(row.mean_us), key="us_per_window"
)
"""The same in the JSON of results, in whole microseconds."""

FOR_PROGRAMS = (PLAYED, WINS, TIES, LOSSES, POINTS, MEAN_POINTS, FAULTS, DEFAULTS, REFUSED, WINDOWS)
"""Columns of CSV and JSON, in this order, before the time per move."""
COUNTS_OF_TWO = (PLAYED, WON, TIED, LOSSES)
"""Counts of matches on pages, in games of two seats."""
COUNTS_OF_MANY = (PLAYED, WINS, TIES)
"""Counts of matches on pages, in games of more seats, in which a second place is not a loss."""
CONDUCT = (FAULTS, DEFAULTS, REFUSED)
"""Columns about a bot's behaviour, which are the last ones of each table for people."""


def conduct_columns(rows: Sequence[StandingsRow]) -> list[BotColumn]:
    """Return the last columns of tables in a terminal; `refused` only if a message of these rows was refused."""
    columns = [*CONDUCT, TIME_PER_MOVE]
    if not any(row.refused for row in rows):
        columns.remove(REFUSED)
    return columns
