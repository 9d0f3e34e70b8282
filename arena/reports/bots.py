"""Why bots lost what they lost, and what time and memory they used, as people read it and as programs do."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from arena.quantities import counted, duration
from arena.statistics import BotReport, Digest
from arena.tables import Grid, grid_of
from referee.match import SeatReport, percentile, sentences

MOST_BOTS = 20
"""Bots with notes below a table, the worst first."""
MOST_CAUSES = 3
"""Causes of losses that are named for one bot."""
MEGABYTE = 1 << 20
SMALL = 10
USAGE = ("bot", "median time per move", "99th percentile", "longest", "processor time", "peak memory")
"""Headings of the table of what bots used."""


def notes(labels: Sequence[str], reports: Sequence[BotReport], logs: Path | None = None) -> list[str]:
    """What went wrong, a line for each bot, the worst first, and one for those left out; none: nothing did.

    Args:
        labels: by entrant, as the reports are.
        reports: how the bots did.
        logs: the folder of their logs; None: logs are named as they are beside the transcripts.
    """
    bad = worst_first(reports)
    said = [f"{labels[bot]}: {'; '.join(note(reports[bot], logs))}" for bot in bad[:MOST_BOTS]]
    if len(bad) > MOST_BOTS:
        said.append(f"and {counted(len(bad) - MOST_BOTS, 'more bot')}: --json")
    return said


def worst_first(reports: Sequence[BotReport]) -> list[int]:
    """The entrants for which something went wrong."""
    return sorted(
        (bot for bot, report in enumerate(reports) if report.log), key=lambda bot: _badness(reports[bot])
    )


def _badness(report: BotReport) -> tuple[float, ...]:
    total, windows = report.total, max(1, report.windows)
    defaults = total.late + total.unanswered + total.asked_default
    return -report.lost / max(1, report.matches), -defaults / windows, -report.refused / windows


def note(report: BotReport, logs: Path | None = None) -> list[str]:
    """What went wrong for one bot over all its matches, in words. `logs`: see `notes`."""
    said = list(_losses(report))
    said += sentences(report.total, windows=report.windows, refused=report.refused)
    # The last line of the most frequent loss; without a loss, of the last match in which anything went wrong.
    loss = report.losses[0] if report.losses else None
    if loss is not None and loss.last_line and loss.last_line not in loss.cause:
        said.append(f"its last line of output: {loss.last_line}")
    if log := _place(report.log if loss is None else loss.log, logs):
        said.append(f"log: {log}")
    return said


def _losses(report: BotReport) -> Iterator[str]:
    """How often a bot was lost, by cause: `killed: memory over 256 MB in 3 of 14 matches`."""
    of_all = f"of {counted(report.matches, 'match', ',')}"
    for loss in report.losses[:MOST_CAUSES]:
        if loss.never_started:
            yield f"never started in {loss.matches:,} {of_all}: {loss.cause}"
        else:
            yield f"{loss.cause} in {loss.matches:,} {of_all}"
    if more := report.lost - sum(loss.matches for loss in report.losses[:MOST_CAUSES]):
        yield f"lost for other causes in {more:,} {of_all} (--json)"


def _place(log: str, logs: Path | None) -> str:
    """A log that is there; one that is elsewhere may be."""
    if not log or logs is None or "://" in log:
        return log
    with suppress(OSError):  # The name is a ledger's: it may be too long for one.
        if (logs / log).exists():
            return str(logs / log)
    return ""


def usage_table(names: Sequence[str], totals: Iterable[SeatReport]) -> Grid:
    """Charged time of windows, processor time in all, and memory: a row for each bot."""
    return grid_of(USAGE, usage_rows(names, totals))


def field_usage(digest: Digest, reports: Sequence[BotReport]) -> tuple[list[str], list[SeatReport]]:
    """Names and totals of a tournament's bots for `usage_table`, in the order of the standings."""
    order = [row.entrant for row in digest.standings]
    return [digest.labels[bot] for bot in order], [reports[bot].total for bot in order]


def usage_rows(names: Sequence[str], totals: Iterable[SeatReport]) -> list[tuple[str, ...]]:
    """The rows of that table. What nobody counted is `-`."""
    return [
        (
            name,
            *("-" if time is None else duration(time) for time in (*_times(total).values(), total.cpu_us)),
            "-" if total.peak_bytes is None else megabytes(total.peak_bytes),
        )
        for name, total in zip(names, totals, strict=True)
    ]


def megabytes(count: int) -> str:
    """Bytes as `512 MB`, or `3.4 MB` where there are few."""
    amount = count / MEGABYTE
    return f"{amount:,.{int(round(amount, 1) < SMALL)}f} MB"


def usage_json(total: SeatReport) -> dict[str, Any]:
    """What a bot used; None: unknown."""
    return {"window_us": _times(total), "cpu_us": total.cpu_us, "peak_bytes": total.peak_bytes}


def _times(total: SeatReport) -> dict[str, int | None]:
    """Charged time a window, in microseconds."""
    found = {"p50": percentile(total.spread, 0.5), "p99": percentile(total.spread, 0.99)}
    worst = total.worst_us if total.spread else None
    return {name: None if each is None else min(each, total.worst_us) for name, each in found.items()} | {
        "worst": worst
    }


def reports_json(labels: Sequence[str], reports: Sequence[BotReport], logs: Path | None = None) -> dict[str, Any]:
    """By bot: what went wrong and what it used, all kinds of it. `logs`: see `notes`."""
    return {label: _report_json(report, logs) for label, report in zip(labels, reports, strict=True)}


def _report_json(report: BotReport, logs: Path | None) -> dict[str, Any]:
    total = report.total
    return {
        "said": note(report, logs),
        "matches": report.matches,
        "windows": report.windows,
        "lost": report.lost,
        "losses": [
            {**msgspec.structs.asdict(loss), "log": _place(loss.log, logs) or None} for loss in report.losses
        ],
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
        "log": _place(report.log, logs) or None,
        **usage_json(total),
    }
