"""Tables: nothing of them is cut, and times are as exact as is of use."""

from io import StringIO

import pytest

from arena.quantities import duration
from arena.reports import show_crosstable
from arena.statistics import standings_of
from arena.tables import Grid, grid_of, show
from arena.terminal import Screen
from tests.arena.simulated import result


def lines(width: int, *names: str) -> list[str]:
    screen = Screen(file=StringIO(), width=width)
    table = Grid({"bot": False, "points": True})
    for name in names:
        table.add_row(name, "17.5")
    show(screen, table)
    assert isinstance(screen.file, StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


def test_in_a_file_a_table_is_plain_text() -> None:
    assert [
        "bot           points",
        "--------------------",
        "mist_tracker    17.5",
    ] == lines(80, "mist_tracker")


def test_where_a_table_is_too_wide_its_words_are_folded_and_never_cut() -> None:
    assert ["a_name_with_more    17.5", "_than_20_letters"] == lines(25, "a_name_with_more_than_20_letters")[2:]


def test_numbers_are_not_even_cut_where_there_is_no_room_for_them() -> None:
    assert ["bot     points", "--------------", "hunter    17.5"] == lines(5, "hunter")


def test_where_that_is_not_enough_columns_that_are_the_same_in_all_rows_are_said_below() -> None:
    """The last ones first, and no more than is needed; never the first two, which name the row."""
    rows = [("0", "b", "1", "0", "ok", "5"), ("1", "b", "1", "0", "ok", "6")]
    grid = grid_of(("seat", "bot", "place", "defaults", "conduct", "charged"), rows, words=("bot", "conduct"))

    def shown(width: int) -> list[str]:
        screen = Screen(file=StringIO(), width=width)
        show(screen, grid)
        assert isinstance(screen.file, StringIO)
        return [line.rstrip() for line in screen.file.getvalue().splitlines()]

    whole = shown(44)
    assert "seat  bot  place  defaults  conduct  charged" == whole[0]
    assert 4 == len(whole)
    assert ["seat  bot  place  defaults  charged", "in all rows: conduct ok"] == shown(43)[:: len(whole)]
    assert ["seat  bot  charged", "in all rows: place 1, defaults 0, conduct ok"] == shown(5)[:: len(whole)]


@pytest.mark.parametrize(
    ("terminal", "width", "matrix"), [(True, 120, True), (True, 70, False), (False, 70, True)]
)
def test_each_against_each_is_left_out_at_a_terminal_that_is_too_narrow(
    *, terminal: bool, width: int, matrix: bool
) -> None:
    screen = Screen(file=StringIO(), width=width, force_terminal=terminal, color_system=None)
    rows = standings_of(12, [result(0, 0, (0, 11), [[0], [1]])])
    show_crosstable(screen, rows, [f"bot_{number}" for number in range(12)], 2)
    assert isinstance(screen.file, StringIO)
    shown = screen.file.getvalue()
    assert matrix == (" 12 " in shown.splitlines()[0])
    assert matrix != ("too narrow" in shown)
    if not matrix:
        assert max(map(len, shown.splitlines()[:-1])) <= width


@pytest.mark.parametrize(
    ("microseconds", "said"),
    [
        (0, "0 µs"),
        (512.4, "512 µs"),
        (999.4, "999 µs"),
        (999.6, "1.0 ms"),
        (2_740, "2.7 ms"),
        (9_960, "10 ms"),
        (27_700, "28 ms"),
        (999_400, "999 ms"),
        (999_600, "1.0 s"),
        (1_240_000, "1.2 s"),
        (59_000_000, "59 s"),
        (6_000_000_000, "6000 s"),
    ],
)
def test_a_time_is_said_with_its_unit(microseconds: float, said: str) -> None:
    assert said == duration(microseconds)
