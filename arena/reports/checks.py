"""Results of a check of bots: tables and lines for people, JSON for programs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from arena.checks import BotCheck, Forecast, Trial, TrialSummary
from arena.config import Entry, Tournament
from arena.quantities import Column, Table, duration, pluralise, rounded, three_digits
from arena.reports.matches import logs_of
from arena.reports.standings import HALF, MOST, longest, time_percentile
from arena.schedule import Design
from arena.terminal import Grid, grid
from arena.tournament import NotBegun
from protocol.messages import ClockTerms
from referee.bot_folder import MEGABYTE, BotFolder
from referee.match import MICROSECONDS_PER_MS, SeatReport

EVEN = 0.5
"""Mean points of a bot that is as good as its opponents."""
SMALLEST = 0.005
"""Smallest difference that a table with three decimal places shows."""
FEW = 5
"""Minimum number of matches for a forecast of how the interval shrinks."""
ROUND = 10
MINUTE, HOUR = 60, 3600


class CheckedGame(Struct, frozen=True):
    """Results of a bot's check in one game."""

    game: str
    variant: str
    clock: ClockTerms
    tally: TrialSummary
    trials: Sequence[Trial]
    against: str
    """The bot in all other seats."""


class CheckRow(Struct, frozen=True):
    """A row of the tables of a check: one bot in one game."""

    name: str
    """Label of the bot, or name of the game."""
    tally: TrialSummary
    bot: Entry
    check: BotCheck | None = None
    """The bot's part of a tournament's check."""
    clock: ClockTerms | None = None


def _if_played(value: Callable[[CheckRow], Any]) -> Callable[[CheckRow], Any]:
    """Return a function that returns the value of a row, or None if the bot played no match."""
    return lambda row: value(row) if row.tally.matches else None


def _number(heading: str, value: Callable[[CheckRow], Any]) -> Column[CheckRow]:
    return Column(heading, _if_played(value))


def _time(heading: str, value: Callable[[SeatReport], int | None]) -> Column[CheckRow]:
    return Column(heading, _if_played(lambda row: value(row.tally.report)), duration)


def _conduct(row: CheckRow) -> str | None:
    """Return the faults of a bot; without a match, why there was none."""
    if not row.tally.matches:
        if not isinstance(row.bot, BotFolder):
            return "remote"
        if row.check is not None and row.check.broken and row.check.trial is None:
            return "not built"
        return None
    faults = {conduct: times for conduct, times in row.tally.conduct.items() if conduct != "ok"}
    if row.tally.matches == 1:
        return ", ".join(faults) or "ok"
    return ", ".join(f"{conduct} {times}" for conduct, times in faults.items()) or "ok"


def _memory(row: CheckRow) -> str | None:
    peak = row.tally.report.peak_bytes
    if peak is None or not isinstance(row.bot, BotFolder):
        return None
    return f"{peak / MEGABYTE:.0f} of {row.bot.limits.memory_mb} MB"


BEFORE_POINTS: tuple[Column[CheckRow], ...] = (
    _time("hello", lambda report: report.hello_us),
    Column("conduct", _conduct, is_text=True),
    Column("mean points", _if_played(lambda row: row.tally.mean_points), three_digits),
)
INTERVAL: Column[CheckRow] = Column(
    "95 % interval", lambda row: row.tally.interval, lambda ends: "{:.2f} to {:.2f}".format(*ends), is_text=True
)
AFTER_POINTS: tuple[Column[CheckRow], ...] = (
    _number("windows", lambda row: row.tally.windows),
    _number("lost", lambda row: row.tally.lost),
    _number("late", lambda row: row.tally.report.late + row.tally.report.unanswered),
    _number("refused", lambda row: row.tally.refused),
    _number("chose default", lambda row: row.tally.report.asked_default),
    _time("p50", lambda report: time_percentile(report, HALF)),
    _time("p99", lambda report: time_percentile(report, MOST)),
    _time("worst", longest),
    Column("memory", _if_played(_memory)),
    _time("cpu", lambda report: report.cpu_us),
)


def game_table(games: Sequence[CheckedGame], bot: BotFolder) -> Grid:
    """Return the table of one bot with a row per game."""
    rows = [CheckRow(each.game, each.tally, bot, clock=each.clock) for each in games]
    columns: tuple[Column[CheckRow], ...] = (
        Column("game", lambda row: row.name, is_text=True),
        Column("starts", lambda row: f"{row.tally.started} of {row.tally.matches}"),
        *BEFORE_POINTS,
        INTERVAL,
        *AFTER_POINTS,
        Column("a window has", lambda row: row.clock, _main_time),
    )
    return grid(Table(columns, rows))


def strength_text(label: str, each: CheckedGame, most: int) -> str | None:
    """Return whether the matches of a check show that a bot is better or worse than its opponent.

    Args:
        label: label of the bot.
        each: results in one game.
        most: maximum number of matches of a check.

    Returns:
        One sentence; None if no match was played.
    """
    found = each.tally
    if found.mean_points is None or found.interval is None:
        return None
    low, high = found.interval
    interval = f"mean points {found.mean_points:.3f}, 95 % interval {low:.2f} to {high:.2f}"
    if low > EVEN or high < EVEN:
        than = "better" if low > EVEN else "worse"
        return f"{each.game}: {label} is {than} than {each.against} ({interval}; {EVEN} is as good)"
    cannot = (
        f"{pluralise(found.matches, 'match')} cannot show whether {label} is better or worse than {each.against}"
    )
    return f"{each.game}: {cannot} ({interval}; {EVEN} is as good){_more_matches(found, most)}"


def _more_matches(found: TrialSummary, most: int) -> str:
    """Return how many matches would show a difference of this size; intervals shrink with their square root."""
    assert found.mean_points is not None  # noqa: S101 - a match was played
    assert found.interval is not None  # noqa: S101 - as above
    low, high = found.interval
    difference = abs(found.mean_points - EVEN)
    if difference < SMALLEST:
        return ""
    wanted = found.matches * ((high - low) / 2 / difference) ** 2
    if found.matches < FEW or wanted > most:
        return "; --matches plays more"
    return f"; --matches {ceil(wanted / ROUND) * ROUND} would show a difference as large as this"


def field_table(checks: Sequence[BotCheck], tournament: Tournament) -> Grid:
    """Return the table of a tournament with a row per bot."""
    pairs = zip(checks, tournament.bots, strict=True)
    rows = [CheckRow(check.label, check.tally, bot, check) for check, bot in pairs]
    label: Column[CheckRow] = Column("bot", lambda row: row.name, is_text=True)
    return grid(Table((label, *BEFORE_POINTS, *AFTER_POINTS), rows))


def not_begun_lines(waiting: NotBegun) -> list[str]:
    """Return why a competition has not begun: the bots that cannot start, each with the reason."""
    lines = [f"{waiting.folder}: {waiting.text}"]
    if waiting.refused is not None:
        lines += [*waiting.refused.lines, f"logs: {waiting.logs}"]
    return lines


def not_begun_json(waiting: NotBegun) -> dict[str, Any]:
    """Return a competition that has not begun as plain values, with the bots that cannot start."""
    refused = waiting.refused
    bots = []
    if refused is not None:
        bots = [{"bot": bot, "why": why} for bot, why in refused.cannot_start.items()]
    logs = waiting.logs and str(waiting.logs)
    return {"results": str(waiting.folder), "not_begun": waiting.text, "cannot_start": bots, "logs": logs}


def said_lines(name: str, found: TrialSummary, trials: Sequence[Trial], broken: str = "") -> list[str]:
    """Return a line with what went wrong and the path of a log; an empty list if all is well."""
    phrases = found.said
    if broken:
        phrases = [broken]
    elif found.lost and not phrases:
        phrases = [f"{found.lost} of {pluralise(found.windows, 'window')} lost"]
    if not phrases:
        return []
    logs = [f"log: {log}" for log in _logs(trials)[:1]]
    return [f"{name}: {'; '.join([*phrases, *logs])}"]


def forecast_text(found: Forecast | None) -> str:
    """Return how long the tournament will probably take, on one line."""
    if found is None:
        return "time: unknown, because no match was measured"
    times = dict.fromkeys(map(_long, (found.lower_seconds, found.upper_seconds)))
    matches = f"{pluralise(found.matches, 'match', ',')}, {found.at_once} at once"
    return f"time: about {' to '.join(times)} for {matches}, if they are like those of the check"


def game_json(each: CheckedGame, bot: BotFolder) -> dict[str, Any]:
    """Return one game of a bot's check as plain values."""
    return {
        "game": each.game,
        "variant": each.variant,
        "main_ms": each.clock.main_ms,
        "reserve_ms": each.clock.reserve_ms,
        "against": each.against,
        **_tally_json(each.tally, bot),
        "transcripts": [trial.result.transcript for trial in each.trials if trial.result is not None],
        "logs": _logs(each.trials),
    }


def field_json(
    found: Sequence[BotCheck], tournament: Tournament, design: Design | None, expected: Forecast | None
) -> dict[str, Any]:
    """Return a tournament's check as plain values."""
    bots = []
    for each, bot in zip(found, tournament.bots, strict=True):
        bots.append(
            {
                "bot": each.label,
                "version": bot.version,
                "content": bot.content,
                "house": each.entrant == tournament.house,
                "broken": each.broken or None,
                **_tally_json(each.tally, bot),
                "logs": _logs(filter(None, [each.trial])),
            }
        )
    return {
        "game": tournament.form.game,
        "variant": tournament.variant,
        "format": tournament.form.format,
        "starts": not any(each.broken for each in found),
        "bots": bots,
        "design": msgspec.to_builtins(design),
        "forecast": msgspec.to_builtins(expected),
    }


def _tally_json(found: TrialSummary, bot: Entry) -> dict[str, Any]:
    report, interval, limit_mb = found.report, None, None
    if found.interval is not None:
        interval = [rounded(end, 3) for end in found.interval]
    if isinstance(bot, BotFolder):
        limit_mb = bot.limits.memory_mb
    return {
        "matches": found.matches,
        "started": found.started,
        "well": found.is_well,
        "hello_ms": _ms(report.hello_us),
        "conduct": dict(found.conduct),
        "wins": found.wins,
        "mean_points": rounded(found.mean_points, 3),
        "interval": interval,
        "windows": found.windows,
        "lost": found.lost,
        "late": report.late,
        "unanswered": report.unanswered,
        "refused": found.refused,
        "refusals": msgspec.to_builtins(report.complaints),
        "asked_default": report.asked_default,
        "returned_nothing": report.returned_nothing,
        "raised": report.raised,
        "p50_ms": _ms(time_percentile(report, HALF)),
        "p99_ms": _ms(time_percentile(report, MOST)),
        "worst_ms": _ms(longest(report)),
        "peak_mb": _in_units(report.peak_bytes, MEGABYTE),
        "limit_mb": limit_mb,
        "cpu_ms": _ms(report.cpu_us),
        "said": found.said,
    }


def _logs(trials: Iterable[Trial]) -> list[str]:
    logs: list[str] = []
    for trial in trials:
        if trial.result is not None:
            logs += logs_of(trial.result, trial.seat)
    return logs


def _main_time(clock: ClockTerms) -> str:
    times: Mapping[str, int] = clock.main_ms
    least, most = min(times.values()), max(times.values())
    texts = {each: duration(each * MICROSECONDS_PER_MS) for each in (least, most)}
    return " to ".join(texts.values())


def _ms(microseconds: int | None) -> float | None:
    return _in_units(microseconds, MICROSECONDS_PER_MS)


def _in_units(amount: int | None, unit: int) -> float | None:
    if amount is None:
        return None
    return rounded(amount / unit, 1)


def _long(seconds: float) -> str:
    """Return a time as text: `42 s`, `12 min`, `3.5 h`."""
    if seconds < 2 * MINUTE:
        return f"{max(1, round(seconds))} s"
    if seconds < 2 * HOUR:
        return f"{seconds / MINUTE:.0f} min"
    return f"{seconds / HOUR:.1f} h"
