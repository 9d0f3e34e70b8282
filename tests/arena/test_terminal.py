"""No text commands the terminal that it is shown on, and nothing of a table is cut."""

import io
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.table import Table  # noqa: TID251 - the worst case

from arena.commands import entry
from arena.quantities import duration
from arena.reports import show_crosstable
from arena.statistics import standings_of
from arena.terminal import Grid, Screen, arguments, distinct_names, grid_of, show
from tests.arena.simulated import result


def shown(thing: object) -> str:
    """Return the text that reaches a terminal."""
    out = io.StringIO()
    Screen(file=out, width=60, force_terminal=True, color_system=None).print(thing)
    return out.getvalue()


def test_the_words_of_others_are_shown_and_do_nothing() -> None:
    table = Table("bot")
    table.add_row("eve\x1b[2J\u202e")
    assert "│ eve\\x1" in shown(table)  # A table has no more room for it than for what it would have shown.
    assert "\u202e" not in shown(table)
    assert ["a", r"b\x9b31m", ""] == shown("a\nb\x9b31m").split("\n")
    assert "\x1b" not in shown(table)


def test_our_own_colours_stay() -> None:
    out = io.StringIO()
    Screen(file=out, force_terminal=True, color_system="standard", legacy_windows=False).print("a", style="red")
    assert "\x1b[31ma\x1b[0m\n" == out.getvalue()


def test_a_label_that_begins_with_a_hyphen_is_no_option() -> None:
    assert ("cup.toml", "anna", "--results", "r") == arguments("cup.toml", "anna", options=("--results", "r"))
    told = arguments(Path("cup.toml"), "--results=x", options=("--results", "r"))
    assert ("--results", "r", "--", Path("cup.toml"), "--results=x") == told
    update = entry.update_command.make_context("update", [*map(str, told)])
    assert ("--results=x", None, Path("r")) == tuple(update.params[name] for name in ("label", "bot", "results"))


def lines(width: int, *names: str) -> list[str]:
    screen = Screen(file=StringIO(), width=width)
    table = Grid({"bot": False, "points": True})
    for name in names:
        table.add_row(name, "17.5")
    show(screen, table)
    assert isinstance(screen.file, StringIO)
    return [line.rstrip() for line in screen.file.getvalue().splitlines()]


WIDE = "\u754c" * 30
LONG = (
    "the_university_of_somewhere_team_alpha", "the_university_of_elsewhere_team_alpha", "zoe",
    "the_university_of_somewhere_team_beta", "pointing_strategist_by_anna_v1", "pointing_strategist_by_anna_v2",
)  # fmt: skip


@pytest.mark.parametrize("most", [16, 20, 26, 42])
@pytest.mark.parametrize(
    "names",
    [
        LONG,
        [f"a_bot_with_a_long_name_{number}" for number in range(13)],
        [f"{'a' * 40}{letter}{'z' * 40}" for letter in "xyz"],
        [f"{WIDE}{number}{WIDE}" for number in range(13)],
        ["a" * 500 + "x" * n + "b" * 500 for n in range(3)],
    ],
)
def test_names_that_are_cut_are_told_apart(names: Sequence[str], most: int) -> None:
    shown = distinct_names(names, most)
    assert len(names) == len(set(shown))
    assert all(cell_len(name) <= most for name in shown)
    assert all(short == name for short, name in zip(shown, names, strict=True) if cell_len(name) <= most)


def test_in_a_file_a_table_is_plain_text() -> None:
    assert [
        "bot           points",
        "--------------------",
        "mist_tracker    17.5",
    ] == lines(80, "mist_tracker")


def test_words_of_a_table_that_is_too_wide_are_folded_and_never_cut() -> None:
    assert ["a_name_with_more    17.5", "_than_20_letters"] == lines(25, "a_name_with_more_than_20_letters")[2:]


def test_numbers_are_not_even_cut_where_there_is_no_room_for_them() -> None:
    assert ["bot     points", "--------------", "hunter    17.5"] == lines(5, "hunter")


def test_columns_with_equal_cells_move_below_a_table_that_is_still_too_wide() -> None:
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


def test_a_table_of_two_seats_shows_the_mean_points_that_order_it_and_four_bots_have_room_in_80_columns() -> None:
    """Twelve points of twelve stand above fifteen of thirty."""
    names = ("mist_tracker", "mist_cautious", "mist_hunter", "mist_random")
    screen = Screen(file=StringIO(), width=80, force_terminal=True, color_system=None)
    played = [result(n, 0, (0, 1), [[0], [1]]) for n in range(12)]
    played += [result(12 + n, 0, (2, 3), [[n % 2], [1 - n % 2]]) for n in range(30)]
    show_crosstable(screen, standings_of(4, played), names, 2)
    assert isinstance(screen.file, StringIO)
    heading, _, *rows = screen.file.getvalue().splitlines()
    assert ["#", "bot", "mean", "points", "W-T-L", "1", "2", "3", "4"] == heading.split()[:9]
    assert ["1.000", "0.500", "0.500", "0.000"] == [row.split()[2] for row in rows[:4]]
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize(
    ("microseconds", "said"),
    [
        (0, "0 µs"),
        (1, "< 1 ms"),
        (9.4, "< 1 ms"),
        (9.6, "10 µs"),
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
