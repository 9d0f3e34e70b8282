"""The page of a regression test: the evidence over blocks, the results of blocks, and the estimated difference."""

from collections.abc import Sequence
from math import log10
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from arena.pages.charts import LineChart, line_chart
from arena.pages.competition import Overview
from arena.pages.tables import PageTable, table
from arena.regression import History, answers, evidence
from arena.reports import (
    DECISIONS,
    decision_rows,
    difference_text,
    explained_lines,
    headline_of,
    hypotheses_text,
    usage_text,
)
from arena.statistics import Progress, Sprt

MOST_DECISIONS = 200
BINS = 9
"""Number of bars for games with more than two seats: equal parts from -1 to 1."""
LLR_ABOUT = "The log-likelihood ratio (LLR). The test ends where it leaves the bounds."
MONEY_ABOUT = "Powers of ten of the e-values for and against. The test ends where one of them reaches its bound."
POINTS = ("0", "0.5", "1", "1.5", "2")


class Bar(Struct, frozen=True):
    """A bar of the chart of block results."""

    label: str
    count: int
    percent: float
    """Length in percent of the longest bar."""
    kind: str
    """`bad`, `good`, or empty for the middle."""


def test_context(overview: Overview) -> dict[str, Any]:
    """Return the values for the template."""
    history = overview.history
    if history is None:
        return {"test": None}
    test, headline, estimate, explained = history.test, "", "", []
    if history.interval is not None:
        headline = headline_of(test, history.scores, history.interval)
        estimate = difference_text(test, history.mean, history.interval)
    if overview.explained:
        explained = explained_lines(overview.explained)
    walk_about, bars_about = MONEY_ABOUT, "Head's mean points minus base's in a block."
    if isinstance(test, Sprt):
        walk_about, bars_about = LLR_ABOUT, "Points of head in a block of two matches, of 2."
    return {
        "test": history,
        "headline": headline,
        "resources": list(map(usage_text, history.usage)),
        "hypotheses": hypotheses_text(test),
        "evidence": evidence(test, history.state),
        "estimate": estimate,
        "explained": explained,
        "decisions": _decisions(overview),
        "walk": walk_chart(history),
        "walk_about": walk_about,
        "bars": bars(history),
        "bars_about": bars_about,
    }


def _decisions(overview: Overview) -> PageTable:
    """Return the table of decisions in which head differs from base."""
    rows = decision_rows(overview.explained, overview.found.digest.seats)[:MOST_DECISIONS]
    return replace(table("Where base and head differ", DECISIONS, rows, head="match"), sortable=False)


def walk_chart(history: History) -> LineChart:
    """Return a chart of the evidence after each block, with the bounds at which the test ends."""
    yes, no = answers(history.test)
    ratios, better, worse = [], [], []
    for state in history.states:
        if isinstance(state, Progress):
            ratios.append(state.llr)
        else:
            better.append(log10(max(state.against_low, 1e-12)))
            worse.append(log10(max(state.against_high, 1e-12)))
    if isinstance(history.test, Sprt):
        series = [("LLR", ratios, "")]
        bounds = [(history.test.upper, f"accepted: {yes}"), (history.test.lower, f"rejected: {no}")]
    else:
        series = [(f"for: {yes}", better, ""), (f"for: {no}", worse, "")]
        bounds = [(-log10(history.test.alpha), "enough")]
    blocks = list(map(attrgetter("blocks"), history.states))
    return line_chart(series, blocks, "block", bounds=bounds, words="{:+z.2f}".format)


def bars(history: History) -> list[Bar]:
    """Return the number of blocks for each result."""
    if isinstance(history.state, Progress):
        return _bars(list(zip(POINTS, history.state.counts, strict=True)))
    width = 2 / BINS
    counts = [0] * BINS
    for each in history.differences:
        counts[min(int((each + 1) / 2 * BINS), BINS - 1)] += 1
    return _bars([(f"{-1 + width * (place + 0.5):+z.2f}", count) for place, count in enumerate(counts)])


def _bars(counts: Sequence[tuple[str, int]]) -> list[Bar]:
    most = max(count for _, count in counts) or 1
    middle = len(counts) // 2
    kinds = ["bad"] * middle + [""] + ["good"] * middle
    shown = []
    for (label, count), kind in zip(counts, kinds, strict=True):
        shown.append(Bar(label, count, round(100 * count / most, 1), kind))
    return shown
