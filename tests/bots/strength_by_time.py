"""How strong `mist_search` is by its time a turn: `scripts/strength_by_time` plays it and draws a plot.

It plays `mist_hunter` and `mist_tracker`, each deal twice with the seats swapped, the variants in turn. Nothing
but this machine's load changes what a millisecond holds, so the time measured is in the table, too.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from math import log10
from pathlib import Path
from statistics import mean, stdev

from msgspec import Struct

from arena.statistics.standings import points
from bots.mist_search.bot import Searcher
from tests.bots.in_process import MIST_BOTS, MIST_VARIANTS, play

OPPONENTS = ("hunter", "tracker")
TIMES = (10, 30, 100, 300)
PLOT = Path(__file__).parents[2] / "docs" / "search.svg"
EQUALS = 0.5
WIDE, HIGH, LEFT, TOP = 520, 240, 60, 20


class Strength(Struct, frozen=True):
    """The points of `mist_search` against one opponent, with a limit of time."""

    opponent: str
    ms: int
    matches: int
    share: float
    """Of the points: 1 for a win in each match."""
    margin: float
    """Half a 95 % interval, from the spread of the deals; one more win and loss are counted, for it is never 0."""
    slowest_ms: float
    """The slowest turn of all."""


def one_deal(opponent: str, ms: int, seed: int) -> tuple[float, float]:
    """Mean points of a deal played twice, and the slowest turn in milliseconds."""
    variant = MIST_VARIANTS[seed % len(MIST_VARIANTS)]
    makers = partial(Searcher, ms), MIST_BOTS[opponent]
    first = play(makers, variant=variant, seed=seed)
    second = play(makers[::-1], variant=variant, seed=seed)
    slowest = max(first.slowest_ms[0], second.slowest_ms[1])
    return (points(first.outcome, 0) + points(second.outcome, 1)) / 2, slowest


def strength(opponent: str, ms: int, deals: Sequence[tuple[float, float]]) -> Strength:
    """Sum up deals that were played with this limit of time."""
    shares = [share for share, _ in deals]
    margin = 1.96 * stdev([*shares, 0.0, 1.0]) / len(shares) ** 0.5
    return Strength(opponent, ms, 2 * len(deals), mean(shares), margin, max(slowest for _, slowest in deals))


def plot(found: Sequence[Strength]) -> str:
    """Points by time as SVG: a line for each opponent, and an interval at each point."""
    times = sorted({each.ms for each in found})
    span = log10(times[-1] / times[0]) or 1

    def across(ms: float) -> float:
        return LEFT + 20 + (WIDE - 130) * log10(ms / times[0]) / span

    def down(share: float) -> float:
        return TOP + HIGH * (1 - min(1.0, max(0.0, share)))

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE} {TOP + HIGH + 60}" role="img">',
        '<g font-family="sans-serif" font-size="13" fill="#555">',
        "<title>Points of mist_search by time a turn</title>",
        f'<rect width="{LEFT + WIDE}" height="{TOP + HIGH + 60}" fill="#fff"/>',
    ]
    for share in (0, 0.25, EQUALS, 0.75, 1):
        y = down(share)
        colour = "#888" if share == EQUALS else "#ddd"
        drawn.append(f'<path d="M{LEFT} {y:.0f}h{WIDE - 90}" stroke="{colour}"/>')
        drawn.append(f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{share:.0%}</text>')
    drawn += [
        f'<text x="{across(ms):.0f}" y="{TOP + HIGH + 20}" text-anchor="middle">{ms} ms</text>' for ms in times
    ]
    for opponent, colour in zip(OPPONENTS, ("#0a6", "#06c"), strict=True):
        row = [each for each in found if each.opponent == opponent]
        if not row:
            continue
        line = " ".join(f"{across(each.ms):.0f},{down(each.share):.0f}" for each in row)
        drawn.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for each in row:
            x, low, high = across(each.ms), down(each.share - each.margin), down(each.share + each.margin)
            drawn.append(f'<path d="M{x:.0f} {low:.0f}V{high:.0f}" stroke="{colour}"/>')
            drawn.append(f'<circle cx="{x:.0f}" cy="{down(each.share):.0f}" r="4" fill="{colour}"/>')
        drawn.append(
            f'<text x="{across(times[-1]) + 10:.0f}" y="{down(row[-1].share) + 4:.0f}" fill="{colour}">'
            f"mist_{opponent}</text>"
        )
    words = "time a turn; share of the points, with 95 % intervals"
    return "\n".join([*drawn, f'<text x="{LEFT}" y="{TOP + HIGH + 45}">{words}</text>', "</g></svg>", ""])


def main() -> None:
    """Plays, prints a table, and draws."""
    parser = argparse.ArgumentParser(prog="scripts/strength_by_time", description=__doc__)
    parser.add_argument("--deals", type=int, default=20, help="of each opponent and time, each played twice")
    parser.add_argument("--seed", type=int, default=1, help="the first deal's")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--plot", type=Path, default=PLOT)
    given = parser.parse_args()
    found: list[Strength] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for opponent in OPPONENTS:
            for ms in TIMES:
                deals = pool.map(partial(one_deal, opponent, ms), range(given.seed, given.seed + given.deals))
                found.append(each := strength(opponent, ms, list(deals)))
                print(  # noqa: T201 - its output is its purpose
                    f"| `mist_{opponent}` | {ms} ms | {each.matches} | {each.share:.1%} ± {each.margin:.1%} |"
                    f" {each.slowest_ms:.0f} ms |",
                    flush=True,
                )
    given.plot.write_text(plot(found))


if __name__ == "__main__":
    main()
