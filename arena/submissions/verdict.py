"""The verdict on a submission, and the margins between what a bot used and its limits. Pure."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from referee.bot_folder import Limits
from referee.match import MICROSECONDS_PER_MS, SeatReport, summed

CLOSE = 0.7
"""Share of a limit from which a warning is shown."""
MILLISECONDS = 1_000
MICROSECONDS = 1_000_000
MEGABYTE = 1024 * 1024

StepName = Literal["unpack", "build", "starts", "match"]


class Step(Struct, frozen=True):
    """A step of the judge."""

    name: StepName
    seconds: float
    cpu_seconds: float | None = None
    """Seconds of processor time; None: not measured."""


class Margin(Struct, frozen=True, kw_only=True):
    """What a bot used of a limit, at worst."""

    what: str
    """The limit in words, such as `start-up`."""
    worst: float
    limit: float
    unit: str
    share: float
    """`worst` divided by `limit`."""
    warning: bool
    """True if the share is `CLOSE` or more."""
    text: str
    """A sentence, such as `hello after 8.9 of 10 s: close`."""


class MatchSummary(Struct, frozen=True, kw_only=True):
    """The check match."""

    opponent: str
    seat: int
    points: float | None
    """Share of the other seats that the bot ranked before; None: the match was stopped."""
    conduct: str
    said: tuple[str, ...] = ()
    """Sentences about the bot's problems; empty if there were none."""


class Verdict(Struct, frozen=True, kw_only=True):
    """The judge's verdict on a submission."""

    passed: bool
    reason: str
    """Reason of the refusal, for the author; empty if the submission passed."""
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    margins: tuple[Margin, ...] = ()
    match: MatchSummary | None = None
    logs: tuple[str, ...] = ()
    """Names of the logs that `Submissions.log` returns."""


def margin(what: str, verb: str, worst: float, limit: float, unit: str) -> Margin:
    """Return a margin; `verb` begins its sentence."""
    share = worst / limit
    text = f"{verb} {_number(worst)} of {_number(limit)} {unit}"
    if share >= CLOSE:
        text = f"{text}: close"
    return Margin(
        what=what,
        worst=round(worst, 3),
        limit=limit,
        unit=unit,
        share=round(share, 3),
        warning=share >= CLOSE,
        text=text,
    )


def margins_of(
    reports: Sequence[SeatReport], hellos_us: Sequence[int], limits: Limits, *, startup_ms: int, reply_ms: int
) -> tuple[Margin, ...]:
    """Return the margins over all starts of a bot.

    Args:
        reports: its reports; none of matches that were stopped.
        hellos_us: the microseconds of each start until its `hello`.
        limits: its limits.
        startup_ms: the start-up time of the competition.
        reply_ms: the shortest main time of a window; 0 if windows have none.
    """
    found: list[Margin] = []
    if hellos_us:
        worst = max(hellos_us) / MICROSECONDS
        one = margin("start-up", "hello after", worst, startup_ms / MILLISECONDS, "s")
        cpu = max((report.start_cpu_us or 0 for report in reports), default=0) / MICROSECONDS
        if one.warning and cpu and cpu < worst / 2:
            # Both times are of the slowest start of five, perhaps not the same one.
            text = f"{one.text} ({_number(cpu)} s of processor time: the machine was busy)"
            found.append(replace(one, text=text))
        else:
            found.append(one)
    total = summed(reports)
    if total.peak_bytes is not None:
        found.append(margin("memory", "used", total.peak_bytes / MEGABYTE, limits.memory_mb, "MB of memory"))
    if total.peak_processes is not None:
        found.append(
            margin("processes", "had", total.peak_processes, limits.processes, "processes and threads at once")
        )
    if total.scratch_bytes is not None:
        used = total.scratch_bytes / MEGABYTE
        found.append(margin("scratch", "scratch folder held", used, limits.scratch_mb, "MB"))
    times = [report.worst_us for report in reports if report.spread]
    if times and reply_ms:
        slowest = max(times) / MICROSECONDS_PER_MS / MILLISECONDS
        found.append(margin("reply", "slowest reply after", slowest, reply_ms / MILLISECONDS, "s"))
    return tuple(found)


def _number(value: float) -> str:
    """Return a number with at most two digits after the point."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
