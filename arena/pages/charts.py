"""What plots are drawn from: places in percent of a frame, so that they scale with the page. Pure.

The templates draw; words stay words of the page, in its own size, however wide it is.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10

from msgspec import Struct

from arena.quantities import counted

STEPS = (1, 2, 5, 10)
MOST_TICKS = 6
WIDE, HIGH = 1000, 300
"""Units of a frame for lines."""
COLOURS = 8
"""How many kinds of line the style has."""
INNER = (3.0, 97.0)
"""Percent of a frame that values are laid out in: dots at its ends are whole."""
FLAT = 1e-6
"""Values that lie no further apart are drawn as one."""
SHADES = 10
"""Of each colour of a cell."""


class Tick(Struct, frozen=True):
    """A value that is written at an axis."""

    at: float
    """Percent of the frame."""
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
    """More words, shown under the pointer."""
    href: str = ""
    open_low: bool = False
    """Whether only an assumption limits that side."""
    open_high: bool = False


class DrawnInterval(Struct, frozen=True):
    """An interval with its places in percent."""

    row: Interval
    left: float
    at: float
    right: float


class IntervalChart(Struct, frozen=True):
    """Values with intervals, one below the other."""

    rows: list[DrawnInterval]
    ticks: list[Tick]
    zero: float | None
    """Where 0 is."""


class Line(Struct, frozen=True):
    """A value over time."""

    name: str
    points: str
    """For a polyline in a frame of `WIDE` by `HIGH`."""
    end: float
    """Percent from the top of its last value."""
    words: str
    """Its last value."""
    kind: int
    """Its colour."""
    href: str = ""


Values = Sequence[float | None]
"""None: there was no value yet."""


class LineChart(Struct, frozen=True):
    """Values over time."""

    lines: list[Line]
    ticks: list[Tick]
    """Of values; percent from the top."""
    times: list[Tick]
    bounds: list[Tick]
    """Values at which something is decided."""
    unit: str


class HeatCell(Struct, frozen=True):
    """A share in a table, coloured."""

    text: str
    kind: str
    tip: str


def interval_chart(
    rows: Sequence[Interval], *, logarithmic: Callable[[float], str] | None = None
) -> IntervalChart:
    """The chart of these rows. `logarithmic`: the axis is one, and this writes its values."""
    ends = [end for row in rows for end in (row.low, row.value, row.high)]
    if logarithmic is not None:
        return _logarithmic(rows, ends, logarithmic)
    low, high, marks = axis(min(ends, default=0), max(ends, default=1))

    def at(value: float) -> float:
        return _percent(value, low, high)

    drawn = [DrawnInterval(row, at(row.low), at(row.value), at(row.high)) for row in rows]
    return IntervalChart(
        drawn, [Tick(at(mark), f"{mark:zg}") for mark in marks], at(0) if low < 0 < high else None
    )


def _logarithmic(rows: Sequence[Interval], ends: Sequence[float], label: Callable[[float], str]) -> IntervalChart:
    first = floor(log10(min((end for end in ends if end > 0), default=1)))
    last = max(first + 1, ceil(log10(max((end for end in ends if end > 0), default=10))))

    def at(value: float) -> float:
        return _percent(log10(value) if value > 0 else first, first, last)

    drawn = [DrawnInterval(row, at(row.low), at(row.value), at(row.high)) for row in rows]
    every = -(-(last - first) // MOST_TICKS)
    ticks = [Tick(at(10.0**power), label(10.0**power)) for power in range(first, last + 1, every)]
    return IntervalChart(drawn, ticks, None)


def line_chart(
    series: Sequence[tuple[str, Values, str]],
    times: Sequence[int],
    unit: str,
    *,
    bounds: Sequence[tuple[float, str]] = (),
    words: Callable[[float], str] = "{:+z.0f}".format,
) -> LineChart:
    """Values over time.

    Args:
        series: of each line its name, its values at the times, and where it links to. A line begins at its first
            value.
        times: when.
        unit: what a time counts: `match`.
        bounds: values at which something is decided, and what.
        words: writes a value.
    """
    every = [value for _, values, _ in series for value in values if value is not None]
    every += [bound for bound, _ in bounds]
    low, high, marks = axis(min(every, default=0), max(every, default=1))
    last = max(times, default=1) or 1

    def down(value: float) -> float:
        return 100 - _percent(value, low, high, (0, 100))

    def line(number: int, name: str, values: Values, href: str) -> Line:
        known = [(when, value) for when, value in zip(times, values, strict=True) if value is not None]
        spots = [f"{WIDE * when / last:.0f},{HIGH * down(value) / 100:.0f}" for when, value in known]
        if len(spots) == 1:  # A line of no length, which is drawn as a dot.
            spots *= 2
        end = known[-1][1] if known else None
        return Line(
            name=name,
            points=" ".join(spots),
            end=50 if end is None else down(end),
            words="" if end is None else words(end),
            kind=number % COLOURS,
            href=href,
        )

    return LineChart(
        lines=[line(number, *each) for number, each in enumerate(series)],
        ticks=[Tick(down(mark), f"{mark:zg}") for mark in marks],
        times=[Tick(100 * mark / last, str(mark)) for mark in _round_times(last)],
        bounds=[Tick(down(bound), label) for bound, label in bounds],
        unit=counted(last, unit).partition(" ")[2],
    )


def heat_cell(share: float | None, tip: str, missing: str = "") -> HeatCell:
    """A share from 0 to 1 in percent; one half has no colour. None: there is only `missing` to say."""
    if share is None:
        return HeatCell(missing, "none", tip if missing else "")
    shade = round(2 * SHADES * abs(share - 0.5))
    kind = "" if shade == 0 else f"{'good' if share > 0.5 else 'bad'}{shade}"  # noqa: PLR2004 - the middle
    return HeatCell(f"{100 * share:.0f}", kind, tip)


def axis(low: float, high: float) -> tuple[float, float, list[float]]:
    """The ends of an axis for values between these, both round, and the round numbers on it."""
    if high - low < FLAT:
        low, high = low - 0.5, low + 0.5
    span = high - low
    power = 10.0 ** floor(log10(span / MOST_TICKS))
    step = next(power * each for each in STEPS if span / (power * each) <= MOST_TICKS)
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    marks = [round(number * step, 10) + 0.0 for number in range(first, last + 1)]
    return marks[0], marks[-1], marks


def _percent(value: float, low: float, high: float, frame: tuple[float, float] = INNER) -> float:
    """Where a value is; one beyond the ends is put there."""
    share = (min(max(value, low), high) - low) / (high - low)
    return round(frame[0] + share * (frame[1] - frame[0]), 2)


def _round_times(last: int) -> list[int]:
    """Round whole numbers from the first step to `last` at most."""
    _, _, marks = axis(0, last)
    step = max(1, round(marks[1] - marks[0]))
    return list(range(step, last + 1, step))
