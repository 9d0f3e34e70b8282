"""Ratings, seats, conduct, faults and usage of bots: tables and texts for people, JSON for programs."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.quantities import Column, Table, duration, pluralise, rounded, signed, three_digits, values
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
from referee.bot_folder import BotFolder
from referee.display_text import printable
from referee.match import SeatReport, percentile, sentences

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
    for rating in digest.ratings.ratings:
        if rating.low is None or rating.high is None:
            return PRIOR_TEXT
    return ""


def superiority_text(superiority: float | None) -> str:
    """Return the likelihood that a bot is stronger than another as text."""
    return NOT_COMPARABLE if superiority is None else f"{superiority:.1%}"


def naming_columns(digest: Digest) -> tuple[BotColumn, BotColumn]:
    """Return the columns of places and names."""
    places = zip(_entrants(digest), places_of(digest.standings), strict=True)
    return place_column(dict(places)), bot_column(digest.labels)


def _entrants(digest: Digest) -> list[int]:
    """Return the bots' numbers in the order of the standings."""
    return [row.entrant for row in digest.standings]


def _ratings(digest: Digest) -> Callable[[StandingsRow], Rating]:
    """Return the function from a row of the standings to its rating."""
    return lambda row: digest.ratings.ratings[row.entrant]


def rating_columns(digest: Digest) -> tuple[BotColumn, BotColumn]:
    """Return the columns of ratings and their 95 % intervals."""
    rating_of = _ratings(digest)
    return (
        Column("rating", lambda row: rating_of(row).elo, signed, meaning=RATING_MEANING),
        Column("95 % interval", rating_of, interval, meaning=INTERVAL_MEANING),
    )


def ratings_table(digest: Digest) -> Grid:
    """Return the table of ratings, with the likelihood that each bot is stronger than the next one."""
    following = dict(pairwise(_entrants(digest)))

    def above_next(row: StandingsRow) -> str:
        if row.entrant not in following:
            return ""
        return superiority_text(digest.ratings.superiority[row.entrant][following[row.entrant]])

    matches: BotColumn = Column("matches", lambda row: row.played)
    columns = (*naming_columns(digest), *rating_columns(digest), matches, Column("above the next", above_next))
    return grid(Table(columns, digest.standings))


def seat_rows(digest: Digest, order: Sequence[StandingsRow]) -> list[list[float | None]]:
    """Return mean points indexed by seat: first those of all bots together, then those of each row's bot."""
    scores = [digest.by_seat]
    scores += (digest.by_bot_and_seat[row.entrant] for row in order)
    return [list(map(attrgetter("mean"), by_seat)) for by_seat in scores]


def seats_table(digest: Digest) -> Grid:
    """Return the table of mean points by seat, of all bots together and of each."""
    names = ["all", *map(digest.labels.__getitem__, _entrants(digest))]
    rows = list(zip(names, seat_rows(digest, digest.standings), strict=True))
    columns: list[Column[SeatRow]] = [Column("bot", lambda row: row[0], is_text=True)]
    columns += map(_seat_column, range(digest.seats))
    return grid(Table(columns, rows))


def _seat_column(seat: int) -> Column[SeatRow]:
    return Column(f"seat {seat}", lambda row: row[1][seat], three_digits)


def conduct_kinds(digest: Digest) -> list[BotColumn]:
    """Return a column for each kind of conduct that occurred: the number of matches."""
    kinds = dict.fromkeys(chain.from_iterable(digest.conduct))
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
    rating_of = _ratings(digest)

    def time_of(row: StandingsRow, field: str) -> float | None:
        return rounded(getattr(digest.time[row.entrant], field, None))

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


def digest_json(digest: Digest) -> dict[str, Any]:
    """Return a whole digest as plain values; bots are named by their labels."""
    columns = columns_for_programs(digest)
    over_time = []
    for moment in digest.moments:
        elo = dict(zip(digest.labels, moment.elo, strict=True))
        over_time.append({"blocks": moment.blocks, "elo": elo})
    return {
        "blocks": digest.blocks,
        "matches": digest.matches,
        "seats": [{"seat": seat, **_mean_json(score)} for seat, score in enumerate(digest.by_seat)],
        "bots": [values(columns, row) | _bot_json(digest, row) for row in digest.standings],
        "over_time": over_time,
    }


def _bot_json(digest: Digest, row: StandingsRow) -> dict[str, Any]:
    """Return the values of a bot that are no single numbers."""
    against = {}
    for other, score in sorted(row.against.items()):
        against[digest.labels[other]] = {"played": score.played, "points": score.points}
    return {
        "against": against,
        "superiority": dict(zip(digest.labels, digest.ratings.superiority[row.entrant], strict=True)),
        "seats": list(map(_mean_json, digest.by_bot_and_seat[row.entrant])),
        "conduct": digest.conduct[row.entrant],
        "time_us_per_window": msgspec.to_builtins(digest.time[row.entrant]),
    }


def _mean_json(score: Score) -> dict[str, Any]:
    return {"played": score.played, "points": score.points, "mean_points": score.mean}


MOST_BOTS = 20
"""Maximum number of bots with notes below a table."""
MOST_CAUSES = 3
"""Maximum number of causes of losses that the notes on a bot name."""
MEGABYTE = 1 << 20
HALF, MOST = 0.5, 0.99
"""Shares of the moves whose times are shown."""
SMALL = 10
LONGEST_PROBLEM = 500
"""Maximum number of characters of a problem's text."""
_KIT_PLACE = re.compile(r"\(([^()\s:]{1,200}):(\d{1,7})\)")
"""Place in a bot's file as the kit writes it at the end of an error: `(bot.py:21)`."""
_COMPILER_PLACE = re.compile(r"(?:^|\s)([^()\s:]{1,200}):(\d{1,7})(?::\d+)?: ")
"""Place as a compiler writes it: `bot.c:21:5: error`."""


def notes(labels: Sequence[str], reports: Sequence[BotReport], logs: Path | None = None) -> list[str]:
    """Return what went wrong, one line per bot, the worst bot first; the last line counts the bots left out.

    Args:
        labels: names by entrant.
        reports: reports by entrant.
        logs: folder of the bots' logs; if None, logs are named relative to the transcripts.
    """
    bad = worst_first(reports)
    lines = [f"{labels[bot]}: {'; '.join(note(reports[bot], logs))}" for bot in bad[:MOST_BOTS]]
    if len(bad) > MOST_BOTS:
        lines.append(f"and {pluralise(len(bad) - MOST_BOTS, 'more bot')}: --json")
    return lines


def worst_first(reports: Sequence[BotReport]) -> list[int]:
    """Return the entrants for which something went wrong, the worst first."""
    bad = [bot for bot, report in enumerate(reports) if report.log]
    return sorted(bad, key=lambda bot: _badness(reports[bot]))


def _badness(report: BotReport) -> tuple[float, ...]:
    total, windows = report.total, max(1, report.windows)
    defaults = total.late + total.unanswered + total.asked_default
    return -report.lost / max(1, report.matches), -defaults / windows, -report.refused / windows


def note(report: BotReport, logs: Path | None = None) -> list[str]:
    """Return what went wrong for one bot in all its matches, as phrases. `logs` is as for `notes`."""
    phrases = list(_losses(report))
    phrases += sentences(report.total, windows=report.windows, refused=report.refused)
    # The last line is that of the most frequent loss. Without a loss, the log is of the last match with a problem.
    log = report.log
    if report.losses:
        loss = report.losses[0]
        log = loss.log
        if loss.last_line not in loss.cause:
            phrases.append(f"its last line of output: {loss.last_line}")
    if log := _log_path(log, logs):
        phrases.append(f"log: {log}")
    return phrases


def _losses(report: BotReport) -> Iterator[str]:
    """Yield the number of losses by cause: `killed: memory over 256 MB in 3 of 14 matches`."""
    of_all = f"of {pluralise(report.matches, 'match', ',')}"
    for loss in report.losses[:MOST_CAUSES]:
        if loss.never_started:
            yield f"never started in {loss.matches:,} {of_all}: {loss.cause}"
        else:
            yield f"{loss.cause} in {loss.matches:,} {of_all}"
    if more := report.lost - sum(loss.matches for loss in report.losses[:MOST_CAUSES]):
        yield f"lost for other causes in {more:,} {of_all} (--json)"


def _log_path(log: str, logs: Path | None) -> str:
    """Return the path of a log, or "" if the folder `logs` lacks it. A URL is returned as it is."""
    if not log or logs is None or "://" in log:
        return log
    with suppress(OSError):  # The name is from a ledger, so it may be too long.
        if (logs / log).exists():
            return str(logs / log)
    return ""


def time_percentile(report: SeatReport, share: float) -> int | None:
    """Return a percentile of the times per move, which is exact to some percent, but at most the longest time."""
    found = percentile(report.spread, share)
    if found is None:
        return None
    return min(found, report.worst_us)


def longest(report: SeatReport) -> int | None:
    """Return the longest time per move in microseconds; None without a move."""
    return report.worst_us if report.spread else None


def megabytes(count: int) -> str:
    """Return a number of bytes as text: `512 MB`, or `3.4 MB` below 10 MB."""
    amount = count / MEGABYTE
    return f"{amount:,.{int(round(amount, 1) < SMALL)}f} MB"


USAGE: tuple[Column[SeatReport], ...] = (
    Column(
        "median time per move",
        lambda total: time_percentile(total, HALF),
        duration,
        meaning="Half of all moves took this long or less.",
    ),
    Column(
        "99th percentile",
        lambda total: time_percentile(total, MOST),
        duration,
        meaning="99 % of all moves took this long or less.",
    ),
    Column("longest", longest, duration, meaning="The longest move."),
    Column(
        "processor time",
        lambda total: total.cpu_us,
        duration,
        meaning="Of all matches together. A dash: not measured.",
    ),
    Column(
        "peak memory",
        lambda total: total.peak_bytes,
        megabytes,
        meaning="The most memory that the bot's processes used at once. A dash: not measured.",
    ),
)
"""Columns of time and memory, from the sums of a bot's reports."""


def usage_columns(reports: Sequence[BotReport]) -> list[BotColumn]:
    """Return the columns of time and memory for the standings. `reports` are indexed by entrant."""
    return [_of_entrant(column, reports) for column in USAGE]


def _of_entrant(column: Column[SeatReport], reports: Sequence[BotReport]) -> BotColumn:
    return Column(
        column.heading, lambda row: column.value(reports[row.entrant].total), column.text, meaning=column.meaning
    )


def usage_table(names: Sequence[str], totals: Iterable[SeatReport]) -> Grid:
    """Return the table of the time and memory that bots used."""
    rows = list(zip(names, totals, strict=True))
    columns: list[Column[tuple[str, SeatReport]]] = [Column("bot", lambda row: row[0], is_text=True)]
    columns += map(_of_pair, USAGE)
    return grid(Table(columns, rows))


def _of_pair(column: Column[SeatReport]) -> Column[tuple[str, SeatReport]]:
    return Column(column.heading, lambda row: column.value(row[1]), column.text)


def field_usage(digest: Digest, reports: Sequence[BotReport]) -> tuple[list[str], list[SeatReport]]:
    """Return names and sums of a tournament's bots for `usage_table`, in the order of the standings."""
    order = _entrants(digest)
    return [digest.labels[bot] for bot in order], [reports[bot].total for bot in order]


def cause_columns(reports: Sequence[BotReport]) -> list[BotColumn]:
    """Return the columns of CSV about problems and usage. `reports` are indexed by entrant."""

    def total(row: StandingsRow) -> SeatReport:
        return reports[row.entrant].total

    return [
        Column("lost", lambda row: reports[row.entrant].lost, key="lost"),
        Column("late", lambda row: total(row).late, key="late"),
        Column("worst late", lambda row: total(row).worst_late_us, key="us_worst_late"),
        Column("unanswered", lambda row: total(row).unanswered, key="unanswered"),
        Column("chose default", lambda row: total(row).asked_default, key="asked_default"),
        Column("p50", lambda row: time_percentile(total(row), HALF), key="us_p50"),
        Column("p99", lambda row: time_percentile(total(row), MOST), key="us_p99"),
        Column("worst", lambda row: longest(total(row)), key="us_worst"),
        Column("processor time", lambda row: total(row).cpu_us, key="cpu_us"),
        Column("peak memory", lambda row: total(row).peak_bytes, key="peak_bytes"),
    ]


def usage_json(total: SeatReport) -> dict[str, Any]:
    """Return the time and memory that a bot used as plain values; None means unknown."""
    half, most = time_percentile(total, HALF), time_percentile(total, MOST)
    window_us = {"p50": half, "p99": most, "worst": longest(total)}
    return {"window_us": window_us, "cpu_us": total.cpu_us, "peak_bytes": total.peak_bytes}


def reports_json(labels: Sequence[str], reports: Sequence[BotReport], logs: Path | None) -> dict[str, Any]:
    """Return all problems and the usage of each bot by label. `logs` is as for `notes`."""
    return {label: _report_json(report, logs) for label, report in zip(labels, reports, strict=True)}


def _report_json(report: BotReport, logs: Path | None) -> dict[str, Any]:
    total = report.total
    losses = [msgspec.structs.asdict(loss) | {"log": _log_path(loss.log, logs) or None} for loss in report.losses]
    return {
        "said": note(report, logs),
        "matches": report.matches,
        "windows": report.windows,
        "lost": report.lost,
        "losses": losses,
        "restarts": total.restarts,
        "late": total.late,
        "worst_late_us": total.worst_late_us,
        "unanswered": total.unanswered,
        "asked_default": total.asked_default,
        "returned_nothing": total.returned_nothing,
        "raised": total.raised,
        "refused": report.refused,
        "refused_late": total.refused_late,
        "complaints": msgspec.to_builtins(total.complaints),
        "unlogged_bytes": total.unlogged_bytes,
        "log": _log_path(report.log, logs) or None,
        **usage_json(total),
    }


class Problem(Struct, frozen=True, kw_only=True):
    """A problem of a bot, for an annotation in CI."""

    bot: str
    """Label of the bot."""
    text: str
    """Printable text on one line."""
    file: str | None = None
    """Path of the bot's file, relative to the current folder; None if unknown or not in the bot's folder."""
    line: int | None = None


def problem(label: str, bot: BotFolder, text: str) -> Problem:
    """Return a problem, with the place that its text names if the bot's folder contains that file."""
    shown = printable(text)[:LONGEST_PROBLEM]
    for place in (*_KIT_PLACE.finditer(text), *_COMPILER_PLACE.finditer(text)):
        file = _file_in(bot, place[1])
        if file is not None:
            return Problem(bot=label, text=shown, file=file, line=int(place[2]))
    return Problem(bot=label, text=shown)


def problems_of(label: str, bot: BotFolder, report: BotReport) -> list[Problem]:
    """Return the causes of a bot's losses, the most frequent first; without a loss, its last error."""
    return [problem(label, bot, text) for text in _problem_texts(report)]


def _problem_texts(report: BotReport) -> Iterator[str]:
    of_all = f"of {pluralise(report.matches, 'match', ',')}"
    for loss in report.losses[:MOST_CAUSES]:
        text = f"{loss.cause} in {loss.matches:,} {of_all}"
        if loss.never_started:
            text = f"never started: {text}"
        if loss.last_line not in loss.cause:
            text += f"; last line: {loss.last_line}"
        yield text
    if not report.losses and report.total.asked_default and report.total.last_line:
        windows = pluralise(report.total.asked_default, "window", ",")
        yield f"asked for the default in {windows}; last line: {report.total.last_line}"


def _file_in(bot: BotFolder, name: str) -> str | None:
    """Return the path of a bot's file relative to the current folder; None unless the bot's folder is below it."""
    with suppress(OSError, ValueError):
        folder = Path(bot.given).resolve(strict=True)
        file = (folder / name).resolve(strict=True)
        if file.is_file() and file.is_relative_to(folder):
            return str(file.relative_to(Path.cwd().resolve()))
    return None


def problems_json(problems: Sequence[Problem]) -> list[dict[str, str | int | None]]:
    """Return problems as plain values."""
    return list(map(msgspec.structs.asdict, problems))
