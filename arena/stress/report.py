"""Tables of stress tests, and the values of their page."""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from arena.quantities import Column, Table
from arena.stress.load import Load, LoadResult
from arena.terminal import Grid, grid

BINS = (0, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Lower bounds of the histogram's bins in microseconds; the last bin has no upper bound."""
WIDTH, HEIGHT, BAR = 640, 160, 50
"""Size of a histogram, and the distance between its bars, in units of the drawing."""


def _milliseconds(microseconds: int) -> str:
    return f"{microseconds / 1000:z.2f}"


def _time(heading: str, value: Callable[[LoadResult], int]) -> Column[LoadResult]:
    """Return a column of times in milliseconds."""
    return Column(heading, value, _milliseconds)


def _verdicts(name: str) -> Column[LoadResult]:
    """Return a column with the number of windows for which one side was to blame."""
    return Column(name, lambda level: level.verdicts.get(name, 0))


def _all_verdicts(level: LoadResult) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(level.verdicts.items())) or "none"


AT_ONCE: Column[LoadResult] = Column("at once", lambda level: level.concurrent)
LATENESS = (
    _time("late p50", lambda level: level.lateness.p50),
    _time("p99", lambda level: level.lateness.p99),
    _time("p99.9", lambda level: level.lateness.p999),
    _time("max", lambda level: level.lateness.max),
)
WRONG: Column[LoadResult] = Column("wrong", lambda level: level.wrong_defaults + level.wrong_answers + level.void)
CPU: Column[LoadResult] = Column("CPU ms", lambda level: level.cpu_ms, "{:.0f}".format)
MEMORY: Column[LoadResult] = Column("KiB", lambda level: level.memory_kb, "{:.0f}".format)
IN_TERMINAL: tuple[Column[LoadResult], ...] = (
    AT_ONCE,
    Column("matches", lambda level: level.matches),
    Column("a second", lambda level: level.matches / level.seconds, "{:.1f}".format),
    *LATENESS,
    _time("behind p99.9", lambda level: level.behind.p999),
    _time("charged - actual p50", lambda level: level.charged.p50),
    _time("charged - actual p99.9", lambda level: level.charged.p999),
    _verdicts("bot"),
    _verdicts("referee"),
    _verdicts("host"),
    WRONG,
    CPU,
    MEMORY,
)
ON_PAGE: tuple[Column[LoadResult], ...] = (
    AT_ONCE,
    Column("matches a second", lambda level: level.matches / level.seconds, "{:.1f}".format),
    *LATENESS,
    Column("verdicts", _all_verdicts),
    WRONG,
)


def stress_table(levels: Sequence[LoadResult]) -> Grid:
    """Return a table with one row per level."""
    return grid(Table(IN_TERMINAL, levels))


class Bar(Struct, frozen=True):
    """A bar of a histogram, in units of the drawing."""

    left: int
    top: int
    height: int
    bound: str
    """Lower bound of the bin in milliseconds."""
    count: int


def histogram(values: Sequence[int]) -> list[Bar]:
    """Return the bars of the number of values per bin."""
    counts = [0] * len(BINS)
    for value in values:
        counts[max((at for at, bound in enumerate(BINS) if value >= bound), default=0)] += 1
    most = max([*counts, 1])
    bars = []
    for at, (bound, count) in enumerate(zip(BINS, counts, strict=True)):
        height = round(count / most * (HEIGHT - 40))
        bars.append(Bar(at * BAR + 5, HEIGHT - 20 - height, height, f"{bound / 1000:g}", count))
    return bars


def stress_context(load: Load, levels: Sequence[LoadResult], machine: str) -> dict[str, Any]:
    """Return the values for the template of the page; see `arena.pages.stress_page`."""
    table = Table(ON_PAGE, levels)
    charts = [(level.concurrent, histogram(level.latenesses), histogram(level.overcharges)) for level in levels]
    return {
        "machine": machine,
        "load": load,
        "headings": table.headings,
        "rows": table.cells(),
        "charts": charts,
        "width": WIDTH,
        "height": HEIGHT,
        "bar_width": BAR - 8,
    }
