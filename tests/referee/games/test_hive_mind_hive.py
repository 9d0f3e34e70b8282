"""A Hive of Hive Mind: its hexes, its 55 shapes and what they look at, and the ways its values may lie."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest

from referee.games.hive_mind.hive import (
    BOARD,
    BORDER,
    CELLS,
    SHAPES,
    THREES_ALLOWED,
    check_values,
    draw_values,
    shape_named,
    total,
)
from referee.rules.contract import BadSetupError
from tests.referee.games.naive_hive_mind import TOUCHES


def of_kind(kind: str) -> dict[str, str]:
    return {cells: shape.looks for cells, shape in SHAPES.items() if shape.kind == kind}


@pytest.mark.parametrize("cell", CELLS)
def test_a_hex_touches_those_that_the_page_lists(cell: str) -> None:
    assert tuple(TOUCHES[cell]) == BOARD.cells(BOARD.neighbours(BOARD.bit[cell]))


def test_e_f_and_i_are_inside_the_other_nine_are_the_border() -> None:
    assert ("A", "B", "C", "D", "G", "H", "J", "K", "L") == BOARD.cells(BORDER)


def test_there_are_13_tris_12_lines_and_30_arcs() -> None:
    assert {"tri": 13, "line": 12, "arc": 30} == Counter(shape.kind for shape in SHAPES.values())


@pytest.mark.parametrize(
    ("cells", "kind", "looks"),
    [
        ("ADE", "tri", "BFHI"),
        ("HKL", "arc", "CFI"),
        ("EIJ", "arc", "CF"),
        ("CFI", "line", "BG"),
        ("HIJ", "line", "DGKL"),
    ],
)
def test_the_five_looks_in_the_source_come_out_of_the_layout(cells: str, kind: str, looks: str) -> None:
    assert (kind, looks) == (SHAPES[cells].kind, SHAPES[cells].looks)


def test_r1_the_line_abc_looks_at_d_and_g_for_b_is_its_own() -> None:
    assert "DG" == SHAPES["ABC"].looks


def test_a_tri_looks_at_every_hex_that_touches_one_of_its_hexes_without_its_own() -> None:
    assert {
        "ABE": "CDFHI",
        "ADE": "BFHI",
        "BCF": "AEGIJ",
        "BEF": "ACDGHIJ",
        "CFG": "BEIJ",
        "DEH": "ABFIK",
        "EFI": "ABCDGHJKL",
        "EHI": "ABDFJKL",
        "FGJ": "BCEIL",
        "FIJ": "BCEGHKL",
        "HIK": "DEFJL",
        "IJL": "EFGHK",
        "IKL": "EFHJ",
    } == of_kind("tri")


def test_a_line_looks_at_the_border_hexes_that_touch_its_ends_on_the_border() -> None:
    assert {
        "ABC": "DG",
        "AEI": "BD",
        "BEH": "ACDK",
        "BFJ": "ACGL",
        "CFI": "BG",
        "DEF": "AH",
        "DHK": "AL",
        "EFG": "CJ",
        "EIL": "JK",
        "FIK": "HL",
        "GJL": "CK",
        "HIJ": "DGKL",
    } == of_kind("line")


def test_an_arc_looks_at_its_centre_and_straight_on_away_from_its_middle_to_the_edge() -> None:
    assert {
        "ABD": "EIL",
        "ABF": "EH",
        "ADH": "EFG",
        "AEF": "B",
        "AEH": "D",
        "BCE": "FJ",
        "BCG": "FIK",
        "BDE": "A",
        "BEI": "FG",
        "BFG": "C",
        "BFI": "DE",
        "CEF": "B",
        "CFJ": "G",
        "CGJ": "DEF",
        "DEI": "H",
        "DHI": "BE",
        "EFH": "IL",
        "EFJ": "IK",
        "EHK": "IJ",
        "EIJ": "CF",
        "EIK": "H",
        "FGI": "J",
        "FHI": "AE",
        "FIL": "J",
        "FJL": "HI",
        "GIJ": "BF",
        "HIL": "K",
        "HKL": "CFI",
        "IJK": "L",
        "JKL": "AEI",
    } == of_kind("arc")


def test_r5_a_shape_is_named_by_its_three_letters_in_any_order_or_case() -> None:
    for cells in ("ADE", "HKL"):
        for letters in permutations(cells):
            for name in ("".join(letters), "".join(letters).lower(), letters[0] + "".join(letters[1:]).lower()):
                assert SHAPES[cells] == shape_named(name)


@pytest.mark.parametrize(
    "name",
    ["", "A", "AD", "ADEH", "AAD", "ACE", "AFL", "ADM", "AD ", "AD\n", "HK\u0131", "\u0130JL", "123", "ADÉ"],
)
def test_r5_anything_else_names_no_shape(name: str) -> None:
    assert shape_named(name) is None


def test_a_hint_is_the_sum_of_the_values_looked_at() -> None:
    assert 1 + 2 + 1 + 2 == total("112332112213", "BFHI")
    assert 0 == total("112332112213", "")


def allowed(values: str) -> bool:
    try:
        check_values(values, "setup.hives.1")
    except BadSetupError:
        return False
    return True


def layouts(left: dict[str, int], values: str = "") -> list[str]:
    """Every way of laying out so many of each value."""
    if not any(left.values()):
        return [values]
    return [
        each for digit in left if left[digit] for each in layouts({**left, digit: left[digit] - 1}, values + digit)
    ]


def test_five_1s_four_2s_and_three_3s_may_lie_in_20790_ways() -> None:
    every = layouts({"1": 5, "2": 4, "3": 3})
    assert 27_720 == len(set(every))
    assert 20_790 == sum(map(allowed, every))


def test_the_three_3s_may_lie_in_165_of_220_ways() -> None:
    assert 165 == len(THREES_ALLOWED)
    assert "ABC" not in THREES_ALLOWED
    assert "ABL" in THREES_ALLOWED


def test_drawn_values_are_allowed_and_all_layouts_are_equally_likely() -> None:
    dice = Random(1)
    drawn = [draw_values(dice) for _ in range(33_000)]
    assert all(map(allowed, set(drawn)))
    # 200 are expected of each place of the 3s; a deviation of 5.6 times the spread happens in one run of millions.
    threes = Counter("".join(c for c, v in zip(CELLS, values, strict=True) if v == "3") for values in drawn)
    assert set(THREES_ALLOWED) == set(threes)
    assert all(120 < number < 280 for number in threes.values())
    # Whatever the 3s, each other hex is a 2 in four cases of nine.
    twos = Counter((cell, values[at]) for values in drawn for at, cell in enumerate(CELLS))
    for cell in CELLS:
        share = twos[cell, "2"] / (twos[cell, "1"] + twos[cell, "2"])
        assert abs(share - 4 / 9) < 0.02
