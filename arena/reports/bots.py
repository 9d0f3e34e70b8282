"""Causes of lost matches, and the time and memory that bots used: tables for people, JSON for programs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.quantities import Column, duration, pluralise
from arena.statistics import BotColumn, BotReport, Digest, StandingsRow
from arena.terminal import Grid
from referee.bot_folder import BotFolder
from referee.display_text import printable
from referee.match import SeatReport, percentile, sentences

MOST_BOTS = 20
"""Maximum number of bots with notes below a table."""
MOST_CAUSES = 3
"""Maximum number of causes of losses that the notes on a bot name."""
MEGABYTE = 1 << 20
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
    loss = report.losses[0] if report.losses else None
    if loss is not None and loss.last_line and loss.last_line not in loss.cause:
        phrases.append(f"its last line of output: {loss.last_line}")
    if log := _log_path(report.log if loss is None else loss.log, logs):
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


class Usage(Struct, frozen=True):
    """The time per move that a bot was charged, in microseconds; None if unknown."""

    p50: int | None
    p99: int | None
    worst: int | None


def _usage(total: SeatReport) -> Usage:
    if not total.spread:
        return Usage(None, None, None)
    # Percentiles are exact to some percent only, so they could be above the maximum.
    found = [percentile(total.spread, share) for share in (0.5, 0.99)]
    half, most = (None if each is None else min(each, total.worst_us) for each in found)
    return Usage(half, most, total.worst_us)


def megabytes(count: int) -> str:
    """Return a number of bytes as text: `512 MB`, or `3.4 MB` below 10 MB."""
    amount = count / MEGABYTE
    return f"{amount:,.{int(round(amount, 1) < SMALL)}f} MB"


USAGE: tuple[Column[SeatReport], ...] = (
    Column(
        "median time per move",
        lambda total: _usage(total).p50,
        duration,
        meaning="Half of all moves took this long or less.",
    ),
    Column(
        "99th percentile",
        lambda total: _usage(total).p99,
        duration,
        meaning="99 % of all moves took this long or less.",
    ),
    Column("longest", lambda total: _usage(total).worst, duration, meaning="The longest move."),
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
        column.heading,
        lambda row: column.value(reports[row.entrant].total),
        column.text,
        meaning=column.meaning,
    )


def usage_table(names: Sequence[str], totals: Iterable[SeatReport]) -> Grid:
    """Return the table of the time and memory that bots used."""
    made = Grid({"bot": False} | {column.heading: True for column in USAGE})
    for name, total in zip(names, totals, strict=True):
        made.add_row(name, *(column.cell(total) for column in USAGE))
    return made


def field_usage(digest: Digest, reports: Sequence[BotReport]) -> tuple[list[str], list[SeatReport]]:
    """Return names and sums of a tournament's bots for `usage_table`, in the order of the standings."""
    order = [row.entrant for row in digest.standings]
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
        Column("p50", lambda row: _usage(total(row)).p50, key="us_p50"),
        Column("p99", lambda row: _usage(total(row)).p99, key="us_p99"),
        Column("worst", lambda row: _usage(total(row)).worst, key="us_worst"),
        Column("processor time", lambda row: total(row).cpu_us, key="cpu_us"),
        Column("peak memory", lambda row: total(row).peak_bytes, key="peak_bytes"),
    ]


def usage_json(total: SeatReport) -> dict[str, Any]:
    """Return the time and memory that a bot used as plain values; None means unknown."""
    window_us = msgspec.structs.asdict(_usage(total))
    return {"window_us": window_us, "cpu_us": total.cpu_us, "peak_bytes": total.peak_bytes}


def reports_json(labels: Sequence[str], reports: Sequence[BotReport], logs: Path | None = None) -> dict[str, Any]:
    """Return all problems and the usage of each bot by label. `logs` is as for `notes`."""
    return {label: _report_json(report, logs) for label, report in zip(labels, reports, strict=True)}


def _report_json(report: BotReport, logs: Path | None) -> dict[str, Any]:
    total = report.total
    losses = [{**msgspec.structs.asdict(loss), "log": _log_path(loss.log, logs) or None} for loss in report.losses]
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
        never = "never started: " if loss.never_started else ""
        last = f"; last line: {loss.last_line}" if loss.last_line and loss.last_line not in loss.cause else ""
        yield f"{never}{loss.cause} in {loss.matches:,} {of_all}{last}"
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
    return [msgspec.structs.asdict(each) for each in problems]
