"""How one seat's bot did in one match, and why it lost what it lost, for results, tables and people. Pure."""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.records import LARGEST, Count, Microseconds

MICROSECONDS = 1_000_000
STEPS = 8
"""Parts of the time scale from one value to its double: a bucket is 9 % wide."""
MOST_COMPLAINTS = 3
"""Kinds of refusals that a report names, the most frequent first."""
TEXT = 300
"""Characters of a text in a report, at most."""
FLOOD_BYTES = 64 * 1024
"""Of output, as much as a pipe holds: a bot that prints so much more than its log keeps waits for the reading."""
BYTES_PER_MEGABYTE = 1024 * 1024
HARDLY, NEARLY = 0.1, 0.8
"""Of the time of its windows: a bot that used less processor time waited, and one that used more computed."""
MOSTLY = 2
"""A bot that asks for the default in one window of so many, or less, may well mean it."""

Text = Annotated[str, Meta(max_length=TEXT)]
Bucket = Annotated[str, Meta(pattern=r"\A[0-9]{1,3}\Z")]
Spread = dict[Bucket, Count]
"""How many windows took how long: by `bucket`, as text, for JSON has no other keys."""


class Complaint(Struct, frozen=True):
    """Messages of one bot that were refused for the same reason."""

    refusal: Annotated[str, Meta(max_length=32)]
    """A `Refusal`."""
    text: Text
    """What the bot was told."""
    times: Count


class SeatReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the referee knows of one seat's bot beyond conduct and counts. All defaults: nothing went wrong."""

    loss: Text = ""
    """Why the bot was lost, or never started, the first time; empty: it was there to the end."""
    hello_us: Microseconds | None = None
    """From the bot's start to its first `hello`; None: it said none."""
    restarts: Count = 0
    """How often it was started again."""
    late: Count = 0
    """Windows that took the default because the answer came too late."""
    worst_late_us: Microseconds = 0
    """By how much, at the worst."""
    unanswered: Count = 0
    """Windows that took the default because no answer had come by the end of the next one."""
    asked_default: Count = 0
    """Windows in which the bot itself asked for the default."""
    fallbacks: Count = 0
    """Of these, windows in which an action had been refused before: the kit does so."""
    refused_late: Count = 0
    """Messages that were refused for coming too late."""
    complaints: Annotated[tuple[Complaint, ...], Meta(max_length=MOST_COMPLAINTS)] = ()
    last_line: Text = ""
    """What a bot that was lost, or asked for the default, wrote last: with Python, the error."""
    spread: Spread = {}
    """Time charged, of each window that the bot was there for."""
    worst_us: Microseconds = 0
    """The most that one window took."""
    cpu_us: Microseconds | None = None
    """Processor time over the match; None: unknown."""
    peak_bytes: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    """The most memory that the bot's processes held at once, since their start; None: unknown."""
    unlogged_bytes: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    """Of its output, what its log had no place for. A bot that prints waits until this has been read."""


def bucket(microseconds: int) -> int:
    """The place of a time on a scale with `STEPS` places from each value to its double."""
    return round(STEPS * math.log2(max(1, microseconds)))


def spread_of(times: Iterable[int]) -> Spread:
    """How many of these times, in microseconds, are in each bucket."""
    found: Spread = {}
    for each in times:
        key = str(bucket(each))
        found[key] = found.get(key, 0) + 1
    return found


def percentile(spread: Spread, share: float) -> int | None:
    """The time, in microseconds, that this share (0 to 1) of windows took at most; None: there were none.

    It is right to about 5 %.
    """
    rest = share * sum(spread.values())
    for place, count in sorted((int(key), count) for key, count in spread.items()):
        rest -= count
        if rest <= 0:
            return round(2 ** (place / STEPS))
    return None


def merged(spreads: Iterable[Spread]) -> Spread:
    """Many matches' as one."""
    found: Spread = {}
    for spread in spreads:
        for key, count in spread.items():
            found[key] = found.get(key, 0) + count
    return found


def summed(reports: Sequence[SeatReport]) -> SeatReport:
    """Many matches' as one: counts added, times and sizes the most; without losses and complaints."""
    lines = [each.last_line for each in reports if each.last_line and not each.loss]
    cpu = [each.cpu_us for each in reports if each.cpu_us is not None]
    return SeatReport(
        hello_us=_most(each.hello_us for each in reports),
        restarts=sum(each.restarts for each in reports),
        late=sum(each.late for each in reports),
        worst_late_us=max((each.worst_late_us for each in reports), default=0),
        unanswered=sum(each.unanswered for each in reports),
        asked_default=sum(each.asked_default for each in reports),
        fallbacks=sum(each.fallbacks for each in reports),
        refused_late=sum(each.refused_late for each in reports),
        spread=merged(each.spread for each in reports),
        worst_us=max((each.worst_us for each in reports), default=0),
        cpu_us=sum(cpu) if cpu else None,
        peak_bytes=_most(each.peak_bytes for each in reports),
        last_line=lines[-1] if lines else "",
        unlogged_bytes=sum(each.unlogged_bytes for each in reports),
    )


def sentences(report: SeatReport, *, windows: int, refused: int) -> list[str]:
    """Why a bot lost what it lost, in words; none where nothing went wrong.

    Args:
        report: the bot's.
        windows: how many it had.
        refused: how many of its messages were refused.
    """
    said = [report.loss] if report.loss else []
    if report.restarts:
        said.append(f"started again {_times(report.restarts)}")
    if report.late:
        worst = report.worst_late_us / MICROSECONDS_PER_MS
        said.append(f"{report.late} of {windows} windows late, worst {worst:,.0f} ms")
    if report.unanswered:
        said.append(f"{report.unanswered} of {windows} windows unanswered{_worked(report)}")
        if (later := report.refused_late - report.late) > 0:
            said.append(f"{later} messages came later still" if later > 1 else "1 message came later still")
    if (report.late or report.unanswered) and report.unlogged_bytes >= FLOOD_BYTES:
        megabytes = report.unlogged_bytes / BYTES_PER_MEGABYTE
        said.append(f"it printed {megabytes:,.1f} MB more than its log keeps, and waited until that was read")
    if refused > report.refused_late:
        said.append(_complaints(report, refused - report.refused_late))
    if report.fallbacks:
        said.append(f"after a refusal the default in {report.fallbacks} of {windows} windows")
    asked = not report.fallbacks and report.asked_default * MOSTLY > windows
    if asked:
        said.append(f"asked for the default in {report.asked_default} of {windows} windows")
    if report.last_line and (asked or report.loss):
        said.append(f"last line: {report.last_line}")
    return said


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _worked(report: SeatReport) -> str:
    """Whether a bot that did not answer computed or waited: a loop without end, or a message that never came."""
    if report.cpu_us is None:
        return ""
    cpu, charged = f"{report.cpu_us / MICROSECONDS:.1f} s", _charged(report.spread)
    if report.cpu_us < HARDLY * charged:
        return f": it waited ({cpu} of processor time)"
    if report.cpu_us > NEARLY * charged:
        return f": it used its processor all the time ({cpu})"
    return f": it used {cpu} of processor time in {charged / MICROSECONDS:.1f} s"


def _charged(spread: Spread) -> float:
    """The time of all windows, in microseconds, right to about 5 %."""
    return sum(count * 2 ** (int(place) / STEPS) for place, count in spread.items())


def _complaints(report: SeatReport, refused: int) -> str:
    shown = report.complaints[:MOST_COMPLAINTS]
    kinds = [f"{each.text} ({_times(each.times)})" for each in shown]
    others = refused - sum(each.times for each in shown)
    if shown and others > 0:
        kinds.append(f"others ({_times(others)})")
    messages = "1 message refused" if refused == 1 else f"{refused:,} messages refused"
    return f"{messages}: {'; '.join(kinds)}" if kinds else messages


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
