"""What a check found, as people read it and as programs do."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import msgspec
from msgspec import Struct

from arena.checks import BotCheck, Forecast, Tally, Trial
from arena.config import Entry, Tournament
from arena.quantities import counted, duration, rounded
from arena.reports.match import logs_of
from arena.schedule import Design
from arena.tables import Grid
from arena.tournament import NotBegun
from protocol.messages import ClockTerms
from referee.bot_folder import MEGABYTE, BotFolder
from referee.match import MICROSECONDS_PER_MS, SeatReport, percentile

HALF, MOST = 0.5, 0.99
POINTS = "mean points"
EVEN = 0.5
"""Mean points of a bot that is as good as all others."""
SMALLEST = 0.005
"""A smaller difference is none in a table of three digits."""
FEW = 5
"""Of fewer matches the interval says little about how it shrinks."""
ROUND = 10
MINUTE, HOUR = 60, 3600
HEADINGS = {"hello": True, "conduct": False, POINTS: True, "windows": True, "lost": True, "late": True} | {
    "refused": True, "chose default": True, "p50": True, "p99": True, "worst": True, "memory": True, "cpu": True
}  # fmt: skip


class CheckedGame(Struct, frozen=True):
    """What a bot did in one game."""

    game: str
    variant: str
    clock: ClockTerms
    tally: Tally
    trials: Sequence[Trial]
    against: str
    """The bot in all other seats."""


def game_table(games: Sequence[CheckedGame], bot: BotFolder) -> Grid:
    """One bot's row for each game."""
    headings: dict[str, bool] = {}
    for heading, is_number in HEADINGS.items():
        headings[heading] = is_number
        if heading == POINTS:
            headings["95 % interval"] = False
    grid = Grid({"game": False, "starts": True} | headings | {"a window has": True})
    place = list(HEADINGS).index(POINTS) + 1
    for each in games:
        found = each.tally
        cells = _cells(found, bot)
        cells.insert(place, _interval(found))
        grid.add_row(each.game, f"{found.started} of {found.matches}", *cells, _main_time(each.clock))
    return grid


def _interval(found: Tally) -> str:
    return "-" if found.interval is None else "{:.2f} to {:.2f}".format(*found.interval)


def strength_text(label: str, each: CheckedGame, most: int) -> str | None:
    """Return whether the matches of a check show that a bot is better or worse than its opponent.

    Args:
        label: the bot's.
        each: what it did in one game.
        most: matches that a check can play.

    Returns:
        One sentence, or None if no match was played.
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
        f"{counted(found.matches, 'match')} cannot show whether {label} is better or worse than {each.against}"
    )
    return f"{each.game}: {cannot} ({interval}; {EVEN} is as good){_more_matches(found, most)}"


def _more_matches(found: Tally, most: int) -> str:
    """Return how many matches would show a difference as large as this one: intervals shrink with their root."""
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


def field_table(found: Sequence[BotCheck], tournament: Tournament) -> Grid:
    """A row for each bot of a tournament."""
    grid = Grid({"bot": False} | HEADINGS)
    for each, bot in zip(found, tournament.bots, strict=True):
        grid.add_row(each.label, *_cells(each.tally, bot, each))
    return grid


def not_begun_lines(waiting: NotBegun) -> list[str]:
    """Return what is said of a competition that has not begun: which bots cannot start, and why."""
    lines = [f"{waiting.folder}: {waiting.text}"]
    if waiting.refused is not None:
        lines += [*waiting.refused.lines, f"logs: {waiting.logs}"]
    return lines


def not_begun_json(waiting: NotBegun) -> dict[str, Any]:
    """Return the same as plain values."""
    refused = waiting.refused
    bots = [] if refused is None else [{"bot": bot, "why": why} for bot, why in refused.cannot_start.items()]
    logs = None if waiting.logs is None else str(waiting.logs)
    return {"results": str(waiting.folder), "not_begun": waiting.text, "cannot_start": bots, "logs": logs}


def said_lines(name: str, found: Tally, trials: Sequence[Trial], broken: str = "") -> list[str]:
    """What is wrong in words, and where to read more; nothing, if all is well."""
    said = [broken] if broken else found.said
    if found.lost and not said:
        said = [f"{found.lost} of {counted(found.windows, 'window')} lost"]
    if not said:
        return []
    logs = [f"log: {log}" for log in _logs(trials)[:1]]
    return [f"{name}: {'; '.join([*said, *logs])}"]


def forecast_text(found: Forecast | None) -> str:
    """How long the tournament takes, in one line."""
    if found is None:
        return "time: unknown, because no match was measured"
    lower, upper = _long(found.lower_seconds), _long(found.upper_seconds)
    matches = f"{counted(found.matches, 'match', ',')}, {found.at_once} at once"
    about = lower if lower == upper else f"{lower} to {upper}"
    return f"time: about {about} for {matches}, if they are like those of the check"


def game_json(each: CheckedGame, bot: BotFolder) -> dict[str, Any]:
    """One game of a bot's check as plain values."""
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
    """A tournament's check as plain values."""
    return {
        "game": tournament.form.game,
        "variant": tournament.variant,
        "format": tournament.form.format,
        "starts": not any(each.broken for each in found),
        "bots": [
            {
                "bot": each.label,
                "version": bot.version,
                "content": bot.content,
                "house": each.entrant == tournament.house,
                "broken": each.broken or None,
                **_tally_json(each.tally, bot),
                "logs": _logs([] if each.trial is None else [each.trial]),
            }
            for each, bot in zip(found, tournament.bots, strict=True)
        ],
        "design": None if design is None else msgspec.to_builtins(design),
        "forecast": None if expected is None else msgspec.to_builtins(expected),
    }


def _cells(found: Tally, bot: Entry, check: BotCheck | None = None) -> list[str]:
    report = found.report
    if not found.matches:
        started = "-" if check is None or not check.broken else "not built" if check.trial is None else "-"
        started = started if isinstance(bot, BotFolder) else "remote"
        return ["-", started, *(["-"] * (len(HEADINGS) - 2))]
    faults = {conduct: times for conduct, times in found.conduct.items() if conduct != "ok"}
    return [
        _time(report.hello_us),
        ", ".join(f"{conduct} {times}" if found.matches > 1 else conduct for conduct, times in faults.items())
        or "ok",
        "-" if found.mean_points is None else f"{found.mean_points:.3f}",
        str(found.windows),
        str(found.lost),
        str(report.late + report.unanswered),
        str(found.refused),
        str(report.asked_default),
        _time(_percentile(report, HALF)),
        _time(_percentile(report, MOST)),
        _time(report.worst_us if report.spread else None),
        _memory(report.peak_bytes, bot),
        _time(report.cpu_us),
    ]


def _tally_json(found: Tally, bot: Entry) -> dict[str, Any]:
    report = found.report
    return {
        "matches": found.matches,
        "started": found.started,
        "well": found.is_well,
        "hello_ms": _ms(report.hello_us),
        "conduct": dict(found.conduct),
        "wins": found.wins,
        "mean_points": None if found.mean_points is None else rounded(found.mean_points, 3),
        "interval": None if found.interval is None else [rounded(each, 3) for each in found.interval],
        "windows": found.windows,
        "lost": found.lost,
        "late": report.late,
        "unanswered": report.unanswered,
        "refused": found.refused,
        "refusals": msgspec.to_builtins(report.complaints),
        "asked_default": report.asked_default,
        "returned_nothing": report.returned_nothing,
        "raised": report.raised,
        "p50_ms": _ms(_percentile(report, HALF)),
        "p99_ms": _ms(_percentile(report, MOST)),
        "worst_ms": _ms(report.worst_us if report.spread else None),
        "peak_mb": None if report.peak_bytes is None else rounded(report.peak_bytes / MEGABYTE, 1),
        "limit_mb": bot.limits.memory_mb if isinstance(bot, BotFolder) else None,
        "cpu_ms": _ms(report.cpu_us),
        "said": found.said,
    }


def _logs(trials: Sequence[Trial]) -> list[str]:
    return [str(log) for trial in trials if trial.result for log in logs_of(trial.result, trial.seat)]


def _percentile(report: SeatReport, share: float) -> int | None:
    """Right to some percent, and so never said to be more than the worst."""
    found = percentile(report.spread, share)
    return None if found is None else min(found, report.worst_us)


def _main_time(clock: ClockTerms) -> str:
    times: Mapping[str, int] = clock.main_ms
    least, most = min(times.values()), max(times.values())
    lower, upper = duration(least * MICROSECONDS_PER_MS), duration(most * MICROSECONDS_PER_MS)
    return upper if least == most else f"{lower} to {upper}"


def _memory(peak: int | None, bot: Entry) -> str:
    return (
        "-"
        if peak is None or not isinstance(bot, BotFolder)
        else f"{peak / MEGABYTE:.0f} of {bot.limits.memory_mb} MB"
    )


def _time(microseconds: int | None) -> str:
    return "-" if microseconds is None else duration(microseconds)


def _ms(microseconds: int | None) -> float | None:
    return None if microseconds is None else rounded(microseconds / MICROSECONDS_PER_MS, 1)


def _long(seconds: float) -> str:
    """A time of hours or less: `42 s`, `12 min`, `3.5 h`."""
    if seconds < 2 * MINUTE:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / MINUTE:.0f} min" if seconds < 2 * HOUR else f"{seconds / HOUR:.1f} h"
