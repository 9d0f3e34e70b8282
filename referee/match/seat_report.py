"""Reports on a seat's bot in a match: its use of time and memory, and the causes of its losses. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import Annotated, Generic, TypeVar

from msgspec import Meta, Struct

from referee.display_text import printable
from referee.match.records import LARGEST, Count, Microseconds
from referee.match.window import MICROSECONDS_PER_MS

ItemT = TypeVar("ItemT", bound=Hashable)
MICROSECONDS = 1_000_000
STEPS = 8
"""Number of buckets from a time to its double. A bucket is 9 % wide."""
MOST_COMPLAINTS = 3
"""The most kinds of refusals that a report names, most frequent first."""
TEXT = 300
"""The most characters of a text in a report."""
FLOOD_BYTES = 64 * 1024
"""Bytes of discarded output, the size of a pipe, from which a bot may have waited until it was read."""
BYTES_PER_MEGABYTE = 1024 * 1024
CLOSED = "its connection was closed: "
"""Start of a sentence that the reason completes."""
QUOTED = 60
"""The most characters that are quoted of a line by a bot."""
HARDLY, NEARLY = 0.1, 0.8
"""Shares of the time of its windows: with less processor time a bot was waiting, with more it was computing."""
MOSTLY = 2
"""A bot that chooses the default in at most one window in this many probably intends it."""
_SUMMED = (
    "restarts",
    "late",
    "unanswered",
    "asked_default",
    "fallbacks",
    "returned_nothing",
    "raised",
    "refused_late",
    "printed_windows",
    "answers_at_end",
    "unlogged_bytes",
    "output_wait_us",
)
"""The fields of a `SeatReport` that are summed over matches."""
Text = Annotated[str, Meta(max_length=TEXT)]
Bucket = Annotated[str, Meta(pattern=r"\A[0-9]{1,3}\Z")]
Spread = dict[Bucket, Count]
"""A histogram of the times of windows, keyed by `bucket` as text, since JSON has no other keys."""


class Frequent(Generic[ItemT]):
    """A bounded counter: "space-saving" of Metwally, Agrawal and El Abbadi (2005).

    An item that makes up more than one part in `most` of all items added is never missing. While at most `most`
    kinds were added, counts are exact; after that they may be too low, by at most that part.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[ItemT, int] = {}
        """Counts that are never too low: a new kind inherits the count of the one that it replaces."""
        self._inherited: dict[ItemT, int] = {}
        """The inherited part of each count."""

    def add(self, item: ItemT, times: int = 1) -> None:
        """Add an item a number of times."""
        if item not in self._counts:
            inherited = 0
            if len(self._counts) >= self._most:
                least = min(self._counts, key=self._counts.__getitem__)
                inherited = self._counts.pop(least)
                del self._inherited[least]
            self._counts[item] = self._inherited[item] = inherited
        self._counts[item] += times

    def most_common(self, most: int | None = None) -> list[tuple[ItemT, int]]:
        """Return the most frequent items with their certain counts, highest first; equal ones in order of arrival.

        None returns all items kept.
        """
        return Counter({item: self._counts[item] - self._inherited[item] for item in self._counts}).most_common(
            most
        )


class Complaint(Struct, frozen=True):
    """Messages of a bot that were refused for the same reason."""

    refusal: Annotated[str, Meta(max_length=32)]
    """A `Refusal`."""
    text: Text
    """The text sent to the bot."""
    times: Count


class SeatReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The facts about a seat's bot besides conduct and counts.

    If all have their defaults, there was no problem.
    """

    loss: Text = ""
    """The reason why the bot was lost, or never started, the first time; empty: it stayed to the end."""
    closed_for: Text = ""
    """The reason why the bot's connection was closed the last time because of its bytes; empty: it was not."""
    hello_us: Microseconds | None = None
    """Time from the bot's start to its first `hello`; None: it sent none."""
    restarts: Count = 0
    """Number of restarts."""
    late: Count = 0
    """Windows that took the default because the answer arrived too late."""
    worst_late_us: Microseconds = 0
    """The largest delay of such an answer."""
    unanswered: Count = 0
    """Windows that took the default because no answer had arrived by the end of the next one."""
    asked_default: Count = 0
    """Windows in which the bot itself chose the default."""
    fallbacks: Count = 0
    """Those of `asked_default` in which an action had been refused before, as the kit does."""
    returned_nothing: Count = 0
    """Windows in which the bot's function returned None, so that its kit submitted the default."""
    raised: Count = 0
    """Those of `asked_default` in which the bot's function raised an error and the bot continued."""
    refused_late: Count = 0
    """Messages that were refused as late."""
    printed: Text = ""
    """The first line on a program's standard output that is no message, shortened and printable."""
    printed_windows: Count = 0
    """Number of windows in which the bot printed such lines."""
    answers_at_end: Count = 0
    """Answers of a program that speaks by lines which arrived, too late, when it exited, if none arrived
    before."""
    answers_at_once: Count = 0
    """The largest number of answers of such a program that arrived at once, each after its window was over."""
    complaints: Annotated[tuple[Complaint, ...], Meta(max_length=MOST_COMPLAINTS)] = ()
    last_line: Text = ""
    """The last line of output of a bot that was lost or chose the default: with Python, the error."""
    stuck_at: Text = ""
    """File and line of the bot's own code that it was at when a window's time ran out, such as `bot.py:4`."""
    spread: Spread = {}
    """Histogram of the time charged for each window before the bot left."""
    worst_us: Microseconds = 0
    """The longest time charged for a window."""
    cpu_us: Microseconds | None = None
    """Processor time over the match; None: unknown."""
    start_cpu_us: Microseconds | None = None
    """Processor time before the bot's first `hello`, which is part of `cpu_us`; None: unknown."""
    peak_bytes: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    """Peak memory of the bot's processes since their start; None: unknown."""
    peak_processes: Count | None = None
    """The most processes and threads that the bot had at once; None: unknown."""
    scratch_bytes: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    """The most bytes that the bot's scratch folder held, whenever it was looked at; None: unknown."""
    unlogged_bytes: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    """Bytes of the bot's output for which its log had no room. A bot that prints waits until they are read."""
    output_wait_us: Microseconds = 0
    """Time for which the bot's pipe was full of such output: the bot waited for at most that long."""


def quoted(line: bytes) -> str:
    """Return the start of a line by a bot for display: at most `QUOTED` printable characters."""
    text = printable(line[: 4 * QUOTED].decode(errors="backslashreplace").strip())
    if len(text) > QUOTED:
        text = f"{text[: QUOTED - 1]}…"
    return text


def bucket(microseconds: int) -> int:
    """Return the bucket of a time on a logarithmic scale with `STEPS` buckets per doubling."""
    return round(STEPS * math.log2(max(1, microseconds)))


def spread_of(times: Iterable[int]) -> Spread:
    """Return the histogram of times in microseconds."""
    return dict(Counter(str(bucket(each)) for each in times))


def percentile(spread: Spread, share: float) -> int | None:
    """Return the time in microseconds that a share (0 to 1) of windows did not exceed; None: no windows.

    It is exact to about 5 %.
    """
    rest = share * sum(spread.values())
    for place, count in sorted((int(key), count) for key, count in spread.items()):
        rest -= count
        if rest <= 0:
            return round(2 ** (place / STEPS))
    return None


def merged(spreads: Iterable[Spread]) -> Spread:
    """Return the sum of the histograms of several matches."""
    found: Counter[str] = Counter()
    for spread in spreads:
        found.update(spread)
    return dict(found)


def summed(reports: Sequence[SeatReport]) -> SeatReport:
    """Return one report for several matches: sums of counts, largest times and sizes, no losses or complaints."""
    lines = [each.last_line for each in reports if each.last_line and not each.loss]
    sums = {name: sum(map(attrgetter(name), reports)) for name in _SUMMED}
    return SeatReport(
        **sums,
        hello_us=_known(max, map(attrgetter("hello_us"), reports)),
        worst_late_us=max(map(attrgetter("worst_late_us"), reports), default=0),
        spread=merged(map(attrgetter("spread"), reports)),
        worst_us=max(map(attrgetter("worst_us"), reports), default=0),
        cpu_us=_known(sum, map(attrgetter("cpu_us"), reports)),
        start_cpu_us=_known(sum, map(attrgetter("start_cpu_us"), reports)),
        peak_bytes=_known(max, map(attrgetter("peak_bytes"), reports)),
        peak_processes=_known(max, map(attrgetter("peak_processes"), reports)),
        scratch_bytes=_known(max, map(attrgetter("scratch_bytes"), reports)),
        last_line=next(reversed(lines), ""),
        closed_for=next((each.closed_for for each in reports if each.closed_for and not each.loss), ""),
        stuck_at=next(filter(None, map(attrgetter("stuck_at"), reports)), ""),
        printed=next(filter(None, map(attrgetter("printed"), reports)), ""),
        answers_at_once=max(map(attrgetter("answers_at_once"), reports), default=0),
    )


def _known(of: Callable[[list[int]], int], values: Iterable[int | None]) -> int | None:
    """Return the sum or maximum of the known values; None: none is known."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return of(known)


def sentences(report: SeatReport, *, windows: int, refused: int) -> list[str]:
    """Return sentences on the problems of a bot; none if there were none.

    Args:
        report: the bot's report.
        windows: the number of its windows.
        refused: the number of its refused messages.
    """
    said: list[str] = []
    if report.loss:
        said.append(report.loss)
    if report.closed_for and not report.loss.startswith(CLOSED):
        said.append(f"{CLOSED}{report.closed_for}")
    if report.restarts:
        said.append(f"started again {_times(report.restarts)}")
    said += _of_time(report, windows)
    said += _of_lines(report, windows)
    others = refused - report.refused_late - report.printed_windows
    if others > 0:
        said.append(_complaints(report, others))
    said += _by_choice(report, windows)
    if report.last_line and (report.loss or report.raised or _mostly_by_choice(report, windows)):
        said.append(f"its last line of output: {report.last_line}")
    return said


def _of_time(report: SeatReport, windows: int) -> list[str]:
    """Return sentences on late and missing answers, and on what kept the bot from answering."""
    said: list[str] = []
    if report.late:
        worst = report.worst_late_us / MICROSECONDS_PER_MS
        said.append(f"{report.late} of {windows} windows late, worst {worst:,.0f} ms")
    if report.unanswered:
        said.append(f"{report.unanswered} of {windows} windows unanswered{_worked(report)}")
        later = report.refused_late - report.late
        if later == 1:
            said.append("1 message came later still")
        elif later > 1:
            said.append(f"{later} messages came later still")
    if report.unlogged_bytes >= FLOOD_BYTES:
        megabytes = report.unlogged_bytes / BYTES_PER_MEGABYTE
        lost = f"it printed {megabytes:,.1f} MB more than its log keeps: they were thrown away"
        if report.output_wait_us:
            waited = f"{report.output_wait_us / MICROSECONDS:,.1f} s of its own time"
            lost = f"{lost}, and it waited for that, up to {waited}"
        said.append(lost)
    return said


def _by_choice(report: SeatReport, windows: int) -> list[str]:
    """Return sentences on the windows in which the bot or its kit chose the default."""
    said: list[str] = []
    if report.returned_nothing:
        said.append(f"decide returned nothing in {report.returned_nothing} of {windows} windows")
    if report.raised:
        said.append(f"decide raised an error in {report.raised} of {windows} windows")
    if report.fallbacks:
        said.append(f"it chose the default after a refusal in {report.fallbacks} of {windows} windows")
    elif _mostly_by_choice(report, windows):
        said.append(f"it chose the default in {_own_choices(report)} of {windows} windows")
    return said


def _mostly_by_choice(report: SeatReport, windows: int) -> bool:
    return not report.fallbacks and _own_choices(report) * MOSTLY > windows


def _own_choices(report: SeatReport) -> int:
    """Return the number of windows in which the bot itself chose the default."""
    return report.asked_default - report.raised


def _of_lines(report: SeatReport, windows: int) -> list[str]:
    """Return sentences on mistakes that only a program that speaks by lines can make."""
    said: list[str] = []
    if report.answers_at_end:
        said.append("all its answers arrived when it ended: does it flush its output?")
    elif report.answers_at_once:
        said.append(f"{report.answers_at_once} answers arrived at once, too late: does it flush its output?")
    if report.printed:
        first = f'it printed something to standard output that is not a message, first "{report.printed}"'
        said.append(f"{first}: print to standard error ({_in_windows(report.printed_windows, windows)})")
    return said


def _in_windows(some: int, windows: int) -> str:
    """Return the number of windows as text. Lines before the first window count as in a window too."""
    if not windows:
        return "before its first window"
    return f"in {min(some, windows)} of {windows} windows"


def _worked(report: SeatReport) -> str:
    """Return as text whether a bot without an answer was computing or waiting: in a loop, or for a message."""
    place = ""
    if report.stuck_at:
        place = f", at {report.stuck_at}"
    if report.cpu_us is None:
        return place
    cpu, charged = f"{report.cpu_us / MICROSECONDS:.1f} s", _charged(report.spread)
    if report.cpu_us < HARDLY * charged:
        return f": it was waiting, not computing{place} ({cpu} of processor time)"
    if report.cpu_us > NEARLY * charged:
        return f": it was computing all the time{place} ({cpu} of processor time)"
    return f": it was computing for {cpu} of {charged / MICROSECONDS:.1f} s{place}"


def _charged(spread: Spread) -> float:
    """Return the time of all windows in microseconds, exact to about 5 %."""
    return sum(count * 2 ** (int(place) / STEPS) for place, count in spread.items())


def _complaints(report: SeatReport, refused: int) -> str:
    shown = report.complaints[:MOST_COMPLAINTS]
    kinds = [f"{each.text} ({_times(each.times)})" for each in shown]
    others = refused - sum(each.times for each in shown)
    if shown and others > 0:
        kinds.append(f"others ({_times(others)})")
    messages = f"{refused:,} messages refused"
    if refused == 1:
        messages = "1 message refused"
    if kinds:
        messages = f"{messages}: {'; '.join(kinds)}"
    return messages


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
