"""Reports of stress tests: a table for the terminal, and a page with histograms."""

from collections.abc import Sequence
from html import escape  # noqa: TID251 - one page of the arena's own words

from arena.stress.campaign import Level, Load, Percentiles
from arena.tables import Grid
from referee.display_text import printable_name

BINS = (0, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""Lower bounds of the histogram's bins in microseconds; the last bin has no upper bound."""
WIDTH, HEIGHT, BAR = 640, 160, 50
STYLE = (
    "body{font:15px sans-serif;margin:2em;max-width:60em}td,th{padding:.2em .8em;text-align:right}rect{fill:#47a}"
)


def stress_table(levels: Sequence[Level]) -> Grid:
    """Return a table with one row per level."""
    made = Grid(
        {
            "at once": True,
            "matches": True,
            "a second": True,
            "late p50": True,
            "p99": True,
            "p99.9": True,
            "max": True,
            "behind p99.9": True,
            "charged - actual p50": True,
            "charged - actual p99.9": True,
            "bot": True,
            "referee": True,
            "host": True,
            "wrong": True,
            "CPU ms": True,
            "KiB": True,
        }
    )
    for level in levels:
        made.add_row(*_row(level))
    return made


def _row(level: Level) -> list[str]:
    verdicts = [str(level.verdicts.get(name, 0)) for name in ("bot", "referee", "host")]
    late = level.lateness
    return [
        str(level.concurrent),
        str(level.matches),
        f"{level.matches / level.seconds:.1f}",
        *(_ms(value) for value in (late.p50, late.p99, late.p999, late.max, level.behind.p999)),
        _ms(level.charged.p50),
        _ms(level.charged.p999),
        *verdicts,
        str(level.wrong_defaults + level.wrong_answers + level.void),
        f"{level.cpu_ms:.0f}",
        f"{level.memory_kb:.0f}",
    ]


def _ms(micros: int) -> str:
    return f"{micros / 1000:z.2f}"


def stress_page(load: Load, levels: Sequence[Level], machine: str) -> str:
    """Return a self-contained HTML page."""
    head = ["at once", "matches a second", "late p50", "p99", "p99.9", "max", "verdicts", "wrong"]
    rows = [
        [
            str(level.concurrent),
            f"{level.matches / level.seconds:.1f}",
            *(_ms(value) for value in _all(level.lateness)),
            ", ".join(f"{name} {count}" for name, count in sorted(level.verdicts.items())) or "none",
            str(level.wrong_defaults + level.wrong_answers + level.void),
        ]
        for level in levels
    ]
    heading = f"{machine}. Windows of {load.main_ms} ms; {load.hogs} hogs beside; isolation {load.isolation}."
    parts = [
        f"<h1>arena stress</h1><p>{_text(heading)} Times in milliseconds.</p>",
        "<table><tr>" + "".join(f"<th>{_text(name)}</th>" for name in head) + "</tr>",
        *("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows),
        "</table>",
    ]
    for level in levels:
        parts.append(f"<h2>{level.concurrent} at once</h2>")
        parts += [
            "<h3>How late the referee woke for deadlines</h3>",
            _histogram(level.latenesses),
            "<h3>Charged beyond what the bot itself took</h3>",
            _histogram(level.overcharges),
        ]
    body = "\n".join(parts)
    return f"<!doctype html><meta charset=utf-8><title>arena stress</title><style>{STYLE}</style>\n{body}\n"


def _all(percentiles: Percentiles) -> tuple[int, ...]:
    return percentiles.p50, percentiles.p99, percentiles.p999, percentiles.max


def _histogram(values: Sequence[int]) -> str:
    """Draw the number of values per bin as SVG."""
    counts = [0] * len(BINS)
    for value in values:
        counts[max((at for at, bound in enumerate(BINS) if value >= bound), default=0)] += 1
    most = max([*counts, 1])
    drawn = []
    for at, (bound, count) in enumerate(zip(BINS, counts, strict=True)):
        tall = round(count / most * (HEIGHT - 40))
        left, top = at * BAR + 5, HEIGHT - 20 - tall
        drawn.append(f'<rect x="{left}" y="{top}" width="{BAR - 8}" height="{tall}"/>')
        drawn.append(f'<text x="{left}" y="{HEIGHT - 5}" font-size="11">{bound / 1000:g}</text>')
        drawn.append(f'<text x="{left}" y="{top - 3}" font-size="11">{count or ""}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg {size} xmlns="http://www.w3.org/2000/svg">{"".join(drawn)}</svg>'


def _text(text: str) -> str:
    """Escape the text for an HTML element, on one line."""
    return escape(printable_name(text))
