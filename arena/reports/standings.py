"""Ratings, seats and conduct of a tournament's bots: tables for people, CSV and JSON for programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from arena.quantities import Column, Table, duration, rounded, signed, three_digits, values
from arena.reports.bots import cause_columns
from arena.reports.files import csv_text, write_whole
from arena.schedule import bot_column, place_column, places_of
from arena.statistics import (
    FOR_PROGRAMS,
    RATING_MEANING,
    US_PER_WINDOW,
    BotColumn,
    BotReport,
    Digest,
    Rating,
    Score,
    StandingsRow,
)
from arena.terminal import Grid, grid
from arena.tournament import Results

NOT_COMPARABLE = "not comparable"
"""Text for the superiority of a bot over another if no chain of matches connects them."""
PRIOR_TEXT = (
    "*: The results do not bound this end (the bot won everything, for example)."
    " The value shown assumes one extra draw against an average bot."
)
INTERVAL_MEANING = "Where the true rating most likely lies. Matches from one deal count as one result here."
SeatRow = tuple[str, list[float | None]]
"""Name of a bot, and its mean points indexed by seat."""
HOUSE: BotColumn = Column("house", lambda row: row.house, key="house")


def interval(rating: Rating) -> str:
    """Return a rating's interval as text; `*` marks an end that `PRIOR_TEXT` explains."""
    low = f"{rating.prior_low:+z.0f}{'*' * (rating.low is None)}"
    return f"{low} to {rating.prior_high:+z.0f}{'*' * (rating.high is None)}"


def prior_text(digest: Digest) -> str:
    """Return the explanation of `*` in intervals; empty if the results bound all intervals."""
    bounded = all(None not in (rating.low, rating.high) for rating in digest.ratings.ratings)
    return "" if bounded else PRIOR_TEXT


def superiority_text(superiority: float | None) -> str:
    """Return the likelihood that a bot is stronger than another as text."""
    return NOT_COMPARABLE if superiority is None else f"{superiority:.1%}"


def naming_columns(digest: Digest) -> tuple[BotColumn, BotColumn]:
    """Return the columns of places and names."""
    places = {row.entrant: place for row, place in zip(digest.standings, places_of(digest.standings), strict=True)}
    return place_column(places), bot_column(digest.labels)


def rating_columns(digest: Digest) -> tuple[BotColumn, BotColumn]:
    """Return the columns of ratings and their 95 % intervals."""

    def rating_of(row: StandingsRow) -> Rating:
        return digest.ratings.ratings[row.entrant]

    return (
        Column("rating", lambda row: rating_of(row).elo, signed, meaning=RATING_MEANING),
        Column("95 % interval", rating_of, interval, meaning=INTERVAL_MEANING),
    )


def ratings_table(digest: Digest) -> Grid:
    """Return the table of ratings, with the likelihood that each bot is stronger than the next one."""
    following = {
        row.entrant: after.entrant for row, after in zip(digest.standings, digest.standings[1:], strict=False)
    }

    def above_next(row: StandingsRow) -> str:
        if row.entrant not in following:
            return ""
        return superiority_text(digest.ratings.superiority[row.entrant][following[row.entrant]])

    matches: BotColumn = Column("matches", lambda row: row.played)
    columns = (*naming_columns(digest), *rating_columns(digest), matches, Column("above the next", above_next))
    return grid(Table(columns, digest.standings))


def seat_rows(digest: Digest, order: Sequence[StandingsRow]) -> list[list[float | None]]:
    """Return mean points indexed by seat: first those of all bots together, then those of each row's bot."""
    scores = [digest.by_seat, *(digest.by_bot_and_seat[row.entrant] for row in order)]
    return [[score.mean for score in by_seat] for by_seat in scores]


def seats_table(digest: Digest) -> Grid:
    """Return the table of mean points by seat, of all bots together and of each."""
    names = ["all", *(digest.labels[row.entrant] for row in digest.standings)]
    rows = list(zip(names, seat_rows(digest, digest.standings), strict=True))
    columns: list[Column[SeatRow]] = [Column("bot", lambda row: row[0], is_text=True)]
    columns += map(_seat_column, range(digest.seats))
    return grid(Table(columns, rows))


def _seat_column(seat: int) -> Column[SeatRow]:
    return Column(f"seat {seat}", lambda row: row[1][seat], three_digits)


def conduct_kinds(digest: Digest) -> list[BotColumn]:
    """Return a column for each kind of conduct that occurred: the number of matches."""
    kinds = dict.fromkeys(kind for counts in digest.conduct for kind in counts)
    return [_conduct_column(digest, kind) for kind in kinds]


def _conduct_column(digest: Digest, kind: str) -> BotColumn:
    meaning = CONDUCT_MEANINGS.get(kind, "")
    return Column(kind, lambda row: digest.conduct[row.entrant].get(kind, 0), meaning=meaning)


CONDUCT_MEANINGS = {
    "ok": "Matches in which the bot played to the end.",
    "crashed": "Its process ended by a signal or with an exit code other than 0 before the match was over.",
    "disconnected": "Its process ended with exit code 0, or it did not read what it was sent.",
    "misbehaved": "The referee ended the connection, because of a wrong hello or too many refused messages.",
    "never_started": "It never sent a valid hello.",
}


def conduct_table(digest: Digest) -> Grid:
    """Return the table of matches by conduct, and of each bot's average time per move in its matches."""
    columns = [
        bot_column(digest.labels),
        *conduct_kinds(digest),
        _time_column(digest, "10th percentile", "tenth"),
        _time_column(digest, "median time per move", "median"),
        _time_column(digest, "90th percentile", "nine_tenths"),
        _time_column(digest, "longest", "most"),
    ]
    return grid(Table(columns, digest.standings))


def _time_column(digest: Digest, heading: str, field: str) -> BotColumn:
    """Return the column of a field of `TimeUse`."""
    return Column(heading, lambda row: getattr(digest.time[row.entrant], field, None), duration)


def columns_for_programs(digest: Digest) -> list[BotColumn]:
    """Return the columns that CSV and JSON have in common. A missing end of an interval is None."""

    def rating_of(row: StandingsRow) -> Rating:
        return digest.ratings.ratings[row.entrant]

    def time_of(row: StandingsRow, field: str) -> float | None:
        use = digest.time[row.entrant]
        return None if use is None else rounded(getattr(use, field))

    return [
        *naming_columns(digest),
        HOUSE,
        Column("rating", lambda row: rounded(rating_of(row).elo), key="elo"),
        Column("low", lambda row: rounded(rating_of(row).low), key="elo_low"),
        Column("high", lambda row: rounded(rating_of(row).high), key="elo_high"),
        Column("error", lambda row: rounded(rating_of(row).error), key="elo_error"),
        Column("blocks", lambda row: rating_of(row).blocks, key="blocks"),
        *FOR_PROGRAMS,
        US_PER_WINDOW,
        Column("median time per move", lambda row: time_of(row, "median"), key="us_median"),
        Column("longest", lambda row: time_of(row, "most"), key="us_most"),
    ]


def write_csv(path: Path, results: Results) -> None:
    """Write the CSV table of a tournament's bots.

    Raises:
        WrongUse: the file cannot be written there.
        MachineCannot: there is no space.
    """
    write_whole(path, digest_csv(results.digest, results.reports))


def digest_csv(digest: Digest, reports: Sequence[BotReport]) -> str:
    """Return one line of CSV per bot, best first: its figures, mean points by seat, and against each other bot.

    `reports` are indexed by entrant.
    """
    columns = [*columns_for_programs(digest), *cause_columns(reports)]
    columns += [_mean_in_seat(digest, seat) for seat in range(digest.seats)]
    columns += [_mean_against(digest, other.entrant) for other in digest.standings]
    rows: list[list[Any]] = [[column.key for column in columns]]
    rows += [[column.value(row) for column in columns] for row in digest.standings]
    return csv_text(rows)


def _mean_in_seat(digest: Digest, seat: int) -> BotColumn:
    name = f"seat {seat}"
    return Column(name, lambda row: digest.by_bot_and_seat[row.entrant][seat].mean, key=name)


def _mean_against(digest: Digest, other: int) -> BotColumn:
    name = f"against {digest.labels[other]}"
    return Column(name, lambda row: row.against[other].mean if other in row.against else None, key=name)


def digest_json(digest: Digest) -> dict[str, Any]:
    """Return a whole digest as plain values; bots are named by their labels."""
    labels = digest.labels
    columns = columns_for_programs(digest)
    return {
        "blocks": digest.blocks,
        "matches": digest.matches,
        "seats": [{"seat": seat, **_mean_json(score)} for seat, score in enumerate(digest.by_seat)],
        "bots": [values(columns, row) | _bot_json(digest, row) for row in digest.standings],
        "over_time": [
            {"blocks": moment.blocks, "elo": dict(zip(labels, moment.elo, strict=True))}
            for moment in digest.moments
        ],
    }


def _bot_json(digest: Digest, row: StandingsRow) -> dict[str, Any]:
    """Return the values of a bot that are no single numbers."""
    against = {}
    for other, score in sorted(row.against.items()):
        against[digest.labels[other]] = {"played": score.played, "points": score.points}
    return {
        "against": against,
        "superiority": dict(zip(digest.labels, digest.ratings.superiority[row.entrant], strict=True)),
        "seats": [_mean_json(score) for score in digest.by_bot_and_seat[row.entrant]],
        "conduct": digest.conduct[row.entrant],
        "time_us_per_window": msgspec.to_builtins(digest.time[row.entrant]),
    }


def _mean_json(score: Score) -> dict[str, Any]:
    return {"played": score.played, "points": score.points, "mean_points": score.mean}
