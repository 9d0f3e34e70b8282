"""Plots as SVG that stands in a page by itself: no script, no font, no file beside it. Pure.

Colours are the page's: classes here, their looks in the page's style, so that a dark page has dark plots.
"""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10

from msgspec import Struct

from arena.quantities import counted
from arena.reports.html import html_text
from arena.tables import shortened
from referee.printable import printable_name

WIDTH = 760
ROW = 26
LABEL = 190
"""Room for names at the left."""
TOP = 28
FOOT = 34
LONGEST_NAME = 28
CELL = 46
STEPS = (1, 2, 5, 10)
COLOURS = 8
"""How many kinds of line the page's style has."""
NEAR = 13
"""Names at the ends of lines keep so far from each other."""


class Bar(Struct, frozen=True):
    """A value with the span around it. None: the span has no end on that side."""

    name: str
    value: float
    low: float | None
    high: float | None
    tip: str
    """What is said of it when it is pointed at."""


class Axis(Struct, frozen=True):
    """Values to places."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Where a value is; those beyond the ends are put there."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def bars(title: str, rows: Sequence[Bar], unit: str) -> str:
    """Values with spans, one below the other: ratings with their intervals."""
    ends = [end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    axis, ticks = _axis(min(ends, default=0), max(ends, default=1), LABEL, WIDTH - 24)
    height = TOP + ROW * len(rows) + FOOT
    drawn = [_tick(axis, tick, f"{tick:zg}", height) for tick in ticks]
    for number, row in enumerate(rows):
        drawn.append(_bar(row, axis, TOP + ROW * (number + 0.5)))
    return _picture(title, height, [*drawn, _text(WIDTH - 24, height - 4, unit, "end")])


def spans(title: str, rows: Sequence[Bar], label: Callable[[float], str]) -> str:
    """The same where values differ by powers of ten: times."""
    ends = [end for row in rows for end in (row.low, row.high) if end]
    first = floor(log10(min(ends, default=1)))
    last = max(first + 1, ceil(log10(max(ends, default=10))))
    axis = Axis(first, last, LABEL, WIDTH - 24)
    height = TOP + ROW * len(rows) + FOOT
    drawn = [_tick(axis, power, label(10**power), height) for power in range(first, last + 1)]
    for number, row in enumerate(rows):
        flat = Bar(row.name, _log(row.value, first), _log(row.low, first), _log(row.high, first), row.tip)
        drawn.append(_bar(flat, axis, TOP + ROW * (number + 0.5)))
    return _picture(title, height, drawn)


def heat(title: str, names: Sequence[str], heads: Sequence[str], shares: Sequence[Sequence[float | None]]) -> str:
    """A table of shares from 0 to 1, each cell coloured by it; one half has no colour."""
    width = LABEL + CELL * len(heads) + 8
    drawn = [_text(LABEL + CELL * (place + 0.5), TOP - 8, head, "middle") for place, head in enumerate(heads)]
    for number, (name, row) in enumerate(zip(names, shares, strict=True)):
        top = TOP + ROW * number
        drawn.append(_name(name, top + ROW / 2))
        for place, share in enumerate(row):
            drawn.append(_cell(LABEL + CELL * place, top, share, f"{name}, {heads[place]}"))
    return _picture(title, TOP + ROW * len(names) + 8, drawn, max(width, WIDTH))


def lines(
    title: str, names: Sequence[str], moments: Sequence[tuple[int, Sequence[float]]], unit: str, measure: str
) -> str:
    """Values over time, a line each, with its name at its end; `unit` is of the time, `measure` of the values."""
    height = max(320, TOP + NEAR * len(names) + FOOT)
    foot = height - FOOT
    every = [value for _, values in moments for value in values]
    lows, ticks = _axis(min(every, default=0), max(every, default=1), foot, TOP)
    times = Axis(0, max((when for when, _ in moments), default=1), 56, WIDTH - LABEL)
    drawn = [
        f'<line class="grid" x1="56" x2="{WIDTH - LABEL}" y1="{lows.at(tick):.1f}" y2="{lows.at(tick):.1f}"/>'
        + _text(50, lows.at(tick) + 4, f"{tick:zg}", "end")
        for tick in ticks
    ]
    last = moments[-1][1] if moments else ()
    ends = _apart([lows.at(value) for value in last], foot)
    for number, name in enumerate(names):
        if not moments:
            break
        kind = f"c{number % COLOURS}"
        line = " ".join(f"{times.at(when):.1f},{lows.at(values[number]):.1f}" for when, values in moments)
        dots = "".join(
            f'<circle class="{kind}" cx="{times.at(when):.1f}" cy="{lows.at(values[number]):.1f}" r="2.5">'
            f"<title>{html_text(name)} after {counted(when, 'block')}: {values[number]:+z.0f}</title></circle>"
            for when, values in moments
        )
        drawn.append(f'<polyline class="{kind}" points="{line}"/>{dots}')
        drawn.append(_text(WIDTH - LABEL + 8, ends[number] + 4, _short(name), "start", kind))
    drawn += [_text(times.at(when), height - 14, str(when), "middle") for when in _some([m[0] for m in moments])]
    drawn += [_text(50, TOP - 8, measure, "end"), _text(WIDTH - LABEL + 28, height - 14, unit, "start")]
    return _picture(title, height, drawn)


def _bar(row: Bar, axis: Axis, middle: float) -> str:
    """A dot with its span; an arrow where the span has no end."""
    left = axis.start if row.low is None else axis.at(row.low)
    right = axis.end if row.high is None else axis.at(row.high)
    arrows = "".join(
        f'<path class="span" d="M{tip:.1f},{middle:.1f} l{back},-4 m{-back},4 l{back},4"/>'
        for tip, back, end in ((left, 6, row.low), (right, -6, row.high))
        if end is None
    )
    return (
        f"<g><title>{html_text(row.name)}: {html_text(row.tip)}</title>{_name(row.name, middle)}"
        f'<line class="span" x1="{left:.1f}" x2="{right:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>{arrows}'
        f'<circle class="dot" cx="{axis.at(row.value):.1f}" cy="{middle:.1f}" r="5"/></g>'
    )


def _cell(left: float, top: float, share: float | None, tip: str) -> str:
    """A cell of a heat map."""
    if share is None:
        return f'<rect class="none" x="{left}" y="{top}" width="{CELL - 2}" height="{ROW - 2}"/>'
    kind, depth = ("good", share - 0.5) if share >= 0.5 else ("bad", 0.5 - share)  # noqa: PLR2004 - the middle
    return (
        f"<g><title>{html_text(tip)}: {share:.1%}</title>"
        f'<rect class="none" x="{left}" y="{top}" width="{CELL - 2}" height="{ROW - 2}"/>'
        f'<rect class="{kind}" x="{left}" y="{top}" width="{CELL - 2}" height="{ROW - 2}"'
        f' fill-opacity="{min(1, depth * 1.6):.2f}"/>'
        + _text(left + CELL / 2 - 1, top + ROW / 2 + 3, f"{100 * share:.0f}", "middle")
        + "</g>"
    )


def _axis(low: float, high: float, start: float, end: float) -> tuple[Axis, list[float]]:
    """An axis that ends on round numbers, and the round numbers on it."""
    span = max(high - low, 1e-9)
    power = 10.0 ** floor(log10(span / 5))
    step = next(power * each for each in STEPS if span / (power * each) <= 7)  # noqa: PLR2004 - as many as are read
    first, last = floor(low / step), ceil(high / step)
    last = max(last, first + 1)
    ticks = [round(number * step, 10) for number in range(first, last + 1)]
    return Axis(ticks[0], ticks[-1], start, end), ticks


def _tick(axis: Axis, value: float, text: str, height: float) -> str:
    place = axis.at(value)
    return f'<line class="grid" x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 8}" y2="{height - FOOT}"/>' + _text(
        place, height - FOOT + 15, text, "middle"
    )


def _apart(places: Sequence[float], foot: float = float("inf")) -> list[float]:
    """The places, moved down where they would lie on each other, and up again from below the foot."""
    moved, lowest = list(places), float("-inf")
    order = sorted(range(len(places)), key=lambda number: places[number])
    for number in order:
        moved[number] = lowest = max(places[number], lowest + NEAR)
    highest = foot + NEAR
    for number in reversed(order):
        moved[number] = highest = min(moved[number], highest - NEAR)
    return moved


def _some(those: Sequence[int]) -> list[int]:
    """A few of many, the last among them."""
    every = -(-len(those) // 6)
    return list(those[::-1][::every]) if those else []


def _log(value: float | None, least: float) -> float:
    return log10(value) if value else least


def _name(name: str, middle: float) -> str:
    return _text(LABEL - 12, middle + 4, _short(name), "end")


def _short(name: str) -> str:
    """As wide as there is room for."""
    return shortened(printable_name(name), LONGEST_NAME)


def _text(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html_text(text)}</text>'


def _picture(title: str, height: float, drawn: Sequence[str], width: float = WIDTH) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img" aria-label="{html_text(title)}">'
        f"{''.join(drawn)}</svg>"
    )
