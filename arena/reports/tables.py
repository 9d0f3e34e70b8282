"""The parts of a report that a terminal shows, and what programs get: plain values, a row of CSV a bot."""

from collections.abc import Sequence
from typing import Any

import msgspec

from arena.quantities import duration, rounded
from arena.reports.bots import usage_json
from arena.reports.csv import csv_text
from arena.statistics import BotReport, Digest, Rating, Score, StandingsRow, TimeUse
from arena.tables import Grid

COLUMNS = (
    "place", "bot", "house", "elo", "elo_low", "elo_high", "elo_error", "blocks", "played", "wins", "ties",
    "losses", "points", "mean_points", "faults", "defaults", "refused", "windows", "us_per_window", "us_median",
    "us_most",
)  # fmt: skip
"""Of the CSV, before those for each seat and each other. What is not there is empty: an end of an interval."""
CAUSES = (
    "lost", "late", "us_worst_late", "unanswered", "asked_default", "us_p50", "us_p99", "us_worst", "cpu_us",
    "peak_bytes",
)  # fmt: skip
"""Of the CSV, behind `COLUMNS`: what went wrong and what the bot used, as `arena.reports.bots` has it."""

TIMES = ("10th percentile", "median time per move", "90th percentile", "longest")
"""Headings of a bot's average times per move in its matches."""
NOT_COMPARABLE = "not comparable"
"""Stands for the superiority of a bot over another that no chain of meetings connects with it."""
PRIOR_TEXT = (
    "*: The results do not bound this end (the bot won everything, for example)."
    " The value shown assumes one extra draw against an average bot."
)


def labels_of(rows: Sequence[StandingsRow]) -> list[str]:
    """Places in a table: 1, 2, …, and h for the house."""
    return ["h" if row.house else str(place) for place, row in enumerate(rows, start=1)]


def interval(rating: Rating) -> str:
    """A rating's interval in words; `*` marks an end that `PRIOR_TEXT` explains."""
    low = f"{rating.prior_low:+z.0f}{'*' * (rating.low is None)}"
    return f"{low} to {rating.prior_high:+z.0f}{'*' * (rating.high is None)}"


def prior_text(digest: Digest) -> str:
    """What is to be said of the intervals; nothing, where results limit all of them."""
    limited = all(None not in (rating.low, rating.high) for rating in digest.ratings.ratings)
    return "" if limited else PRIOR_TEXT


def seat_rows(digest: Digest, order: Sequence[StandingsRow]) -> list[list[float | None]]:
    """Mean points by seat: everyone's first, then each bot's."""
    everyone = [mean.mean for mean in digest.by_seat]
    return [everyone, *([mean.mean for mean in digest.by_bot_and_seat[row.entrant]] for row in order)]


def superiority_text(superiority: float | None) -> str:
    """Return how probable it is that a bot is stronger than another, in words."""
    return NOT_COMPARABLE if superiority is None else f"{superiority:.1%}"


def ratings_table(digest: Digest) -> Grid:
    """Ratings with intervals, and how sure it is that each is stronger than the next."""
    table = Grid(
        {"#": True, "bot": False, "rating": True, "95 % interval": True, "matches": True, "above the next": True}
    )
    for place, (number, row) in zip(labels_of(digest.standings), enumerate(digest.standings), strict=True):
        rating = digest.ratings.ratings[row.entrant]
        after = digest.standings[number + 1 : number + 2]
        sure = [superiority_text(digest.ratings.superiority[row.entrant][other.entrant]) for other in after]
        table.add_row(
            place, digest.labels[row.entrant], f"{rating.elo:+z.0f}", interval(rating), str(row.played), *sure
        )
    return table


def seats_table(digest: Digest) -> Grid:
    """Mean points by seat, of everyone and of each bot."""
    table = Grid({"bot": False} | {f"seat {seat}": True for seat in range(digest.seats)})
    names = ["all", *(digest.labels[row.entrant] for row in digest.standings)]
    for name, row in zip(names, seat_rows(digest, digest.standings), strict=True):
        table.add_row(name, *("-" if value is None else f"{value:.3f}" for value in row))
    return table


def conduct_table(digest: Digest) -> Grid:
    """Matches by conduct, and charged time a window from match to match."""
    kinds = list(dict.fromkeys(kind for counts in digest.conduct for kind in counts))
    table = Grid({"bot": False} | dict.fromkeys((*kinds, *TIMES), True))
    for row in digest.standings:
        counts, use = digest.conduct[row.entrant], digest.time[row.entrant]
        table.add_row(digest.labels[row.entrant], *(str(counts.get(kind, 0)) for kind in kinds), *_times(use))
    return table


def digest_json(digest: Digest) -> dict[str, Any]:
    """All of a digest as plain values; what is by entrant is named by bot."""
    labels = digest.labels
    return {
        "blocks": digest.blocks,
        "matches": digest.matches,
        "seats": [{"seat": seat, **_mean(mean)} for seat, mean in enumerate(digest.by_seat)],
        "bots": [
            {
                "place": place,
                **_row(digest, place, number),
                "against": {
                    labels[other]: {"played": score.played, "points": score.points}
                    for other, score in sorted(row.against.items())
                },
                "superiority": dict(zip(labels, digest.ratings.superiority[row.entrant], strict=True)),
                "seats": [_mean(mean) for mean in digest.by_bot_and_seat[row.entrant]],
                "conduct": digest.conduct[row.entrant],
                "time_us_per_window": msgspec.to_builtins(digest.time[row.entrant]),
            }
            for place, (number, row) in zip(labels_of(digest.standings), enumerate(digest.standings), strict=True)
        ],
        "over_time": [
            {"blocks": one.blocks, "elo": dict(zip(labels, one.elo, strict=True))} for one in digest.moments
        ],
    }


def digest_csv(digest: Digest, reports: Sequence[BotReport]) -> str:
    """A row for each bot, best first: its figures, mean points by seat, and against each other.

    `reports`: by entrant.
    """
    order = [row.entrant for row in digest.standings]
    seats = [f"seat {seat}" for seat in range(digest.seats)]
    others = [f"against {digest.labels[entrant]}" for entrant in order]
    rows: list[list[Any]] = [[*COLUMNS, *CAUSES, *seats, *others]]
    for number, (place, row) in enumerate(zip(labels_of(digest.standings), digest.standings, strict=True)):
        by_seat = [mean.mean for mean in digest.by_bot_and_seat[row.entrant]]
        against = [row.against[other].mean if other in row.against else None for other in order]
        rows.append([*_row(digest, place, number).values(), *_causes(reports[order[number]]), *by_seat, *against])
    return csv_text(rows)


def _row(digest: Digest, place: str, number: int) -> dict[str, Any]:
    """A bot's figures."""
    row = digest.standings[number]
    rating, use = digest.ratings.ratings[row.entrant], digest.time[row.entrant]
    values: Sequence[Any] = (
        place, digest.labels[row.entrant], row.house, rounded(rating.elo), rounded(rating.low),
        rounded(rating.high), rounded(rating.error), rating.blocks, row.played, row.wins, row.ties,
        row.losses, row.points, row.mean, row.faults, row.defaults, row.refused, row.windows,
        rounded(row.mean_us), rounded(use.median if use else None), rounded(use.most if use else None),
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _causes(report: BotReport) -> tuple[int | None, ...]:
    """The columns of `CAUSES`."""
    total, used = report.total, usage_json(report.total)
    return (
        report.lost, total.late, total.worst_late_us, total.unanswered, total.asked_default,
        *used["window_us"].values(), total.cpu_us, total.peak_bytes,
    )  # fmt: skip


def _mean(mean: Score) -> dict[str, Any]:
    return {"played": mean.played, "points": mean.points, "mean_points": mean.mean}


def _times(use: TimeUse | None) -> tuple[str, ...]:
    if use is None:
        return ("-",) * 4
    return tuple(duration(each) for each in (use.tenth, use.median, use.nine_tenths, use.most))
