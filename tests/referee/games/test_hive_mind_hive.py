"""A Hive of Hive Mind: its hexes, its 55 shapes and what they look at, and the ways its values may lie."""

from collections import Counter
from itertools import permutations
from random import Random

from protocol.games.hive_mind.board import BOARD, BORDER, CELLS, SHAPES, shape_named
from referee.games.hive_mind.state import THREES_ALLOWED, check_values, draw_values
from referee.rules.contract import BadSetupError


def test_e_f_and_i_are_inside_the_other_nine_are_the_border() -> None:
    assert ("A", "B", "C", "D", "G", "H", "J", "K", "L") == BOARD.cells(BORDER)


def test_r1_the_line_abc_looks_at_d_and_g_for_b_is_its_own() -> None:
    assert "DG" == SHAPES["ABC"].looks


def test_r5_a_shape_is_named_by_its_three_letters_in_any_order_or_case() -> None:
    for cells in ("ADE", "HKL"):
        for letters in permutations(cells):
            for name in ("".join(letters), "".join(letters).lower(), letters[0] + "".join(letters[1:]).lower()):
                assert SHAPES[cells] == shape_named(name)


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
