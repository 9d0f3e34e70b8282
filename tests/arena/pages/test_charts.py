"""Plots: places in percent, round axes, and names that lie on nothing."""

import pytest

from arena.pages.charts import Interval, axis, heat_cell, interval_chart, line_chart
from arena.quantities import duration


@pytest.mark.parametrize(
    ("low", "high", "first", "last"),
    [(0, 1, 0, 1), (-638, 638, -1000, 1000), (5, 5, 5, 6), (-0.2, 0.1, -0.2, 0.1), (1e6, 2e6, 1e6, 2e6)],
)
def test_an_axis_ends_on_round_numbers(low: float, high: float, first: float, last: float) -> None:
    start, end, marks = axis(low, high)
    assert start <= low
    assert high <= end
    assert 2 <= len(marks) <= 9
    if high > low:
        assert (first, last) == (start, end)


def test_intervals_lie_within_the_frame_in_their_order() -> None:
    chart = interval_chart([Interval(name="a", value=10, low=-20, high=400, words="+10")])
    [drawn] = chart.rows
    assert 3 <= drawn.left < drawn.at < drawn.right <= 97
    assert chart.zero is not None
    assert drawn.left < chart.zero < drawn.at


def test_times_lie_on_powers_of_ten() -> None:
    chart = interval_chart([Interval(name="a", value=500, low=200, high=3000, words="")], logarithmic=duration)
    assert ["100 µs", "1.0 ms", "10 ms"] == [tick.label for tick in chart.ticks]
    assert [3, 50, 97] == [tick.at for tick in chart.ticks]


def test_a_bot_that_took_no_time_has_its_row_all_the_same() -> None:
    chart = interval_chart([Interval(name="a", value=0, low=0, high=0, words="")], logarithmic=duration)
    assert 3 == chart.rows[0].at


def test_a_line_goes_from_left_to_right_and_up_where_values_rise() -> None:
    chart = line_chart([("a", [0, 50, 100], "")], [5, 10, 20], "match", bounds=[(100, "enough")])
    assert "250,300 500,150 1000,0" == chart.lines[0].points
    assert ("+100", 0) == (chart.lines[0].words, chart.lines[0].end)
    assert [(0, "enough")] == [(bound.at, bound.label) for bound in chart.bounds]
    assert ["5", "10", "15", "20"] == [tick.label for tick in chart.times]


@pytest.mark.parametrize(
    ("last", "labels"),
    [
        (1, ["1"]),
        (7, ["2", "4", "6"]),
        (94, ["20", "40", "60", "80"]),
        (126, ["50", "100"]),
        (1234, ["500", "1000"]),
    ],
)
def test_times_are_written_at_round_numbers(last: int, labels: list[str]) -> None:
    times = sorted({max(1, last * part // 12) for part in range(1, 13)})
    chart = line_chart([("a", [0.0] * len(times), "")], times, "match")
    assert labels == [tick.label for tick in chart.times]
    assert [round(100 * int(label) / last, 2) for label in labels] == [round(tick.at, 2) for tick in chart.times]


def test_a_line_begins_with_its_first_value() -> None:
    chart = line_chart(
        [("a", [None, 0, 100], ""), ("b", [None, None, 50], ""), ("c", [None] * 3, "")], [1, 2, 4], "match"
    )
    late, dot, nothing = chart.lines
    assert "500,300 1000,0" == late.points
    assert ("1000,150 1000,150", "+50") == (dot.points, dot.words)
    assert ("", "") == (nothing.points, nothing.words)


def test_a_value_that_never_changes_has_an_axis_of_round_numbers() -> None:
    low, high, marks = axis(139.0290001, 139.0290001)
    assert low <= 139.0290001 <= high
    assert all(mark == round(mark, 1) for mark in marks)


def test_counts_have_whole_numbers_on_their_axis() -> None:
    assert ["1", "2"] == [tick.label for tick in line_chart([("chips", [1, 1, 2], "")], [1, 2, 3], "step").ticks]


def test_one_match_is_no_matches() -> None:
    assert ["match", "matches"] == [line_chart([], [last], "match").unit for last in (1, 2)]


def test_a_chart_of_nothing_is_a_chart() -> None:
    assert [] == line_chart([], [], "match").lines
    assert [] == interval_chart([]).rows


@pytest.mark.parametrize(
    ("share", "text", "kind"),
    [(None, "", "none"), (0.5, "50", ""), (1.0, "100", "good10"), (0.0, "0", "bad10"), (0.26, "26", "bad5")],
)
def test_a_cell_says_its_share_and_the_middle_has_no_colour(share: float | None, text: str, kind: str) -> None:
    found = heat_cell(share, "tip")
    assert (text, kind) == (found.text, found.kind)


def test_a_band_goes_along_its_lower_ends_and_back_along_the_upper_ones() -> None:
    band = [None, (-50.0, 50.0), (0.0, 100.0)]
    chart = line_chart([("a", [None, 0, 50], "")], [1, 2, 4], "match", band=band)
    assert "500,300 1000,200 1000,0 500,100" == chart.band
