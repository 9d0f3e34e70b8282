"""The data of charts: positions in percent of a frame, so that charts scale with the page. Pure.

The templates draw the charts. Labels are text of the page, so their size does not depend on the chart's width.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, floor, log10

from msgspec import Struct

from arena.quantities import pluralise

STEPS = (1, 2, 5, 10)
MOST_TICKS = 6
WIDE, HIGH = 1000, 300
"""Width and height of the frame of a line chart, in units of the drawing."""
COLOURS = 8
"""Number of line colours in the style sheet."""
INNER = (3.0, 97.0)
"""Range for values, in percent of the frame; the margin keeps dots at both ends whole."""
FLAT = 1e-6
"""Smallest span of an axis; a smaller one is widened to 1."""
SHADES = 10
"""Number of shades of each colour of a cell."""


class Tick(Struct, frozen=True):
    """A labelled value of an axis."""

    at: float
    """Position in percent of the frame."""
    label: str


class Interval(Struct, frozen=True, kw_only=True):
    """A value and the interval around it."""

    name: str
    value: float
    low: float
    high: float
    words: str
    """The value in words."""
    tip: str = ""
    """Text shown when the pointer is over the row."""
    href: str = ""
    open_low: bool = False
    """True if only an assumption limits the lower side."""
    open_high: bool = False
    """True if only an assumption limits the upper side."""


class DrawnInterval(Struct, frozen=True):
    """An interval with its positions in percent of the frame."""

    row: Interval
    left: float
    at: float
    right: float


class IntervalChart(Struct, frozen=True):
    """A chart of values with intervals, one per row."""

    rows: list[DrawnInterval]
    ticks: list[Tick]
    zero: float | None
    """Position of 0 in percent; None if 0 is not inside the axis."""


class ChartLine(Struct, frozen=True):
    """A line of a line chart: one value over time."""

    name: str
    points: str
    """Points of an SVG polyline in a frame of `WIDE` by `HIGH`."""
    end: float
    """Position of the last value, in percent from the top."""
    words: str
    """The last value in words; empty without values."""
    kind: int
    """Number of the line's colour, below `COLOURS`."""
    href: str = ""


Values = Sequence[float | None]
"""Values by time; None where there is no value yet."""


class LineChart(Struct, frozen=True):
    """A chart of values over time."""

    lines: list[ChartLine]
    ticks: list[Tick]
    """Labelled values, in percent from the top."""
    times: list[Tick]
    bounds: list[Tick]
    """Values at which a test is decided, in percent from the top."""
    unit: str
    band: str = ""
    """Points of an SVG polygon around the first line, in a frame of `WIDE` by `HIGH`; empty for none."""


class HeatCell(Struct, frozen=True):
    """A coloured table cell that shows a share."""

    text: str
    kind: str
    tip: str


def interval_chart(
    rows: Sequence[Interval], *, logarithmic: Callable[[float], str] | None = None
) -> IntervalChart:
    """Return a chart of these rows. If `logarithmic` is set, the axis is logarithmic and it formats the labels."""
    ends: list[float] = []
    for row in rows:
        ends += (row.low, row.value, row.high)
    if logarithmic is not None:
        return _logarithmic(rows, ends, logarithmic)
    low, high, marks = axis(min(ends, default=0), max(ends, default=1))
    at = partial(_percent, low=low, high=high)
    ticks = [Tick(at(mark), f"{mark:zg}") for mark in marks]
    return IntervalChart(_drawn(rows, at), ticks, at(0) if low < 0 < high else None)


def _logarithmic(rows: Sequence[Interval], ends: Sequence[float], label: Callable[[float], str]) -> IntervalChart:
    powers = [log10(end) for end in ends if end > 0] or [0, 1]
    first = floor(min(powers))
    last = max(first + 1, ceil(max(powers)))

    def at(value: float) -> float:
        return _percent(log10(value) if value > 0 else first, first, last)

    every = -(-(last - first) // MOST_TICKS)
    values = [10.0**power for power in range(first, last + 1, every)]
    return IntervalChart(_drawn(rows, at), [Tick(at(value), label(value)) for value in values], None)


def _drawn(rows: Sequence[Interval], at: Callable[[float], float]) -> list[DrawnInterval]:
    return [DrawnInterval(row, at(row.low), at(row.value), at(row.high)) for row in rows]


def line_chart(
    series: Sequence[tuple[str, Values, str]],
    times: Sequence[int],
    unit: str,
    *,
    bounds: Sequence[tuple[float, str]] = (),
    band: Sequence[tuple[float, float] | None] = (),
    words: Callable[[float], str] = "{:+z.0f}".format,
) -> LineChart:
    """Return a chart of values over time.

    Args:
        series: name, values at the times, and link of each line. A line starts at its first value.
        times: the horizontal positions, in `unit`.
        unit: the unit of time in the singular, such as `match`.
        bounds: values at which a test is decided, each with its label.
        band: lower and upper end of an interval around the first line at the times; None where there is none.
        words: formats a value.
    """
    every = [bound for bound, _ in bounds]
    for _, values, _ in series:
        every += (value for value in values if value is not None)
    shown_ends = [(when, ends) for when, ends in zip(times, band, strict=False) if ends is not None]
    for _, ends in shown_ends:
        every += ends
    whole = all(isinstance(value, int) for value in every)
    low, high, marks = axis(min(every, default=0), max(every, default=1), whole=whole)
    last = max(times, default=1) or 1

    def down(value: float) -> float:
        return 100 - _percent(value, low, high, (0, 100))

    def line(number: int, name: str, values: Values, href: str) -> ChartLine:
        spots, end, shown = [], 50.0, ""
        for when, value in zip(times, values, strict=True):
            if value is not None:
                end, shown = down(value), words(value)
                spots.append(f"{WIDE * when / last:.0f},{HIGH * end / 100:.0f}")
        if len(spots) == 1:  # A polyline needs two points; two equal ones are drawn as a dot.
            spots *= 2
        return ChartLine(name=name, points=" ".join(spots), end=end, words=shown, kind=number % COLOURS, href=href)

    around = [(when, ends[0]) for when, ends in shown_ends] + [(when, ends[1]) for when, ends in shown_ends[::-1]]
    return LineChart(
        lines=[line(number, *each) for number, each in enumerate(series)],
        ticks=[Tick(down(mark), f"{mark:zg}") for mark in marks],
        times=[Tick(100 * mark / last, str(mark)) for mark in _round_times(last)],
        bounds=[Tick(down(bound), label) for bound, label in bounds],
        unit=pluralise(last, unit).partition(" ")[2],
        band=" ".join(f"{WIDE * when / last:.0f},{HIGH * down(value) / 100:.0f}" for when, value in around),
    )


def heat_cell(share: float | None, tip: str, missing: str = "") -> HeatCell:
    """Return a cell with a share from 0 to 1 in percent; one half has no colour.

    Without a share, show `missing`.
    """
    if share is None:
        return HeatCell(missing, "none", tip * bool(missing))
    kind = ""
    if shade := round(2 * SHADES * abs(share - 0.5)):
        kind = f"{'good' if share > 0.5 else 'bad'}{shade}"  # noqa: PLR2004 - the middle
    return HeatCell(f"{100 * share:.0f}", kind, tip)


def axis(low: float, high: float, *, whole: bool = False) -> tuple[float, float, list[float]]:
    """Return the round ends of an axis for values from `low` to `high`, and the round numbers on it.

    `whole`: mark whole numbers only, for values that count something.
    """
    if high - low < FLAT:
        low, high = low - 0.5, low + 0.5
    span = high - low
    power = 10.0 ** floor(log10(span / MOST_TICKS))
    step = next(power * each for each in STEPS if span / (power * each) <= MOST_TICKS)
    if whole:
        step = max(step, 1.0)
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    marks = [round(number * step, 10) + 0.0 for number in range(first, last + 1)]
    return marks[0], marks[-1], marks


def _percent(value: float, low: float, high: float, frame: tuple[float, float] = INNER) -> float:
    """Return the position of a value in percent; values outside the axis are moved to its nearer end."""
    share = (min(max(value, low), high) - low) / (high - low)
    return round(frame[0] + share * (frame[1] - frame[0]), 2)


def _round_times(last: int) -> list[int]:
    """Return round whole numbers from the first step up to `last`."""
    _, _, marks = axis(0, last)
    step = max(1, round(marks[1] - marks[0]))
    return list(range(step, last + 1, step))
