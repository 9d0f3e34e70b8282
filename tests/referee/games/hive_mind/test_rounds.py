"""Hive Mind's Hives, what comes of its windows, and what seats, spectators and the host see."""

from collections import Counter
from itertools import permutations
from random import Random
from typing import Any

import pytest

from protocol.codec import encode
from protocol.games.hive_mind.board import BOARD, BORDER, CELLS, SHAPES, shape_named
from referee.games.hive_mind.state import THREES_ALLOWED, check_values, draw_values
from referee.rules.contract import BadSetupError
from referee.rules.table import Table
from tests.referee.games.hive_mind.play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    SEATS,
    TEMPO_UP,
    VALUES,
    VARIANTS,
    hexes,
    place,
    points,
    start,
)
from tests.referee.games.playing import close, host_view, shown


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


#  VALUES: A1 B1 C2 / D3 E3 F2 G1 / H1 I2 J2 / K1 L3
def feats(table: Table) -> list[int]:
    return list(HIVE_MIND.host_view(table.state).feats or ())


# Hints and what all are told.


def test_r4_a_hive_that_is_left_out_gives_no_hint() -> None:
    heard = close(start(TEMPO_UP), {0: {"place": {"2": "ADE"}}})
    assert ["2"] == [hint["hive"] for hint in heard.seats[0]]


# Points on hexes.


@VARIANTS
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_a_hex_over_which_an_odd_number_of_shapes_lies_scores_for_each_an_even_number_does_not(
    variant: str, number: int
) -> None:
    table = start(variant)
    place(table)
    place(table, *["ADE"] * number)
    assert [7 if seat < number and number % 2 else 0 for seat in SEATS] == hexes(table)


@VARIANTS
def test_a_hex_once_scored_is_worth_0_for_the_rest_of_that_hive(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE")
    place(table, None, "ADE", "ABE", "BEH")
    # A by 1 and 2, E by 1, 2 and 3: gone anyway; D is gone too; B by 2 and 3; H by 3 alone.
    assert [7, 0, 0, 1, 0] == hexes(table)
    assert "012002102213" == HIVE_MIND.host_view(table.state).current[FIRST[variant]]


# Double.


@VARIANTS
def test_a_hex_that_a_doubler_scores_alone_in_round_3_pays_double_threes_and_twos_too(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, s0={"double": [FIRST[variant]]})
    place(table, "EFI")
    assert (14, 6, 8) == tuple(points(table)[0][key] for key in ("hexes", "threes", "twos"))


# Block.


def blocks(
    variant: str, third: list[str | None], *, doublers: tuple[int, ...], blockers: tuple[int, ...]
) -> list[int]:
    """Return the seats' gains by Blocks when these are placed in round 3."""
    hive, table = FIRST[variant], start(variant)
    place(table)
    actions: dict[int, Any] = {seat: {} for seat in SEATS}
    for key, seats in (("double", doublers), ("block", blockers)):
        for seat in seats:
            actions[seat][key] = [hive]
    close(table, actions)
    place(table, *third)
    return [each["blocks"] for each in points(table)]


@VARIANTS
def test_a_blocker_gains_1_for_each_hex_it_keeps_a_doubler_from_scoring(variant: str) -> None:
    assert [0, 3, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0,), blockers=(1,))
    assert [0, 2, 0, 0, 0] == blocks(variant, ["ADE", "ABE"], doublers=(0,), blockers=(1,))


@VARIANTS
def test_no_seat_blocks_itself_but_doublers_may_block_each_other(variant: str) -> None:
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0,), blockers=(0,))
    assert [3, 3, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0, 1), blockers=(0, 1))


# Feats, and the guessing of scores.


@pytest.mark.parametrize(("third", "won"), [(None, 0), ("CFI", 1 + 1), ("BEH", 0)])
def test_r4_the_feat_needs_three_shapes_that_share_no_hex(third: str | None, won: int) -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ABE")
    place(table, "HKL", None, "IKL")
    place(table, third, None, None, "EFI")
    assert won == feats(table)[0]


def test_r4_alone_on_the_board_a_shape_shares_no_hex_but_one_that_is_not_placed_wins_nothing() -> None:
    table = start(GAUNTLET)
    place(table, "ADE")
    assert [1, 0, 0, 0, 0] == feats(table)


def test_r4_the_feat_needs_a_placed_shape() -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ADE", "ADE", "ADE")
    assert [0, 0, 0, 0, 0] == feats(table)


# The reveal.


@VARIANTS
def test_r10_only_the_reveal_shows_points_and_scoring_hexes(variant: str) -> None:
    """Two matches whose values differ where nobody looks tell the same until the end, though one scores more."""
    told, scored = [], []
    for values in ("112332112213", "112132132213"):
        table = start(variant, values)
        heard = [place(table), place(table, "HKL"), place(table, None, "JKL")]
        told.append([(one.public, one.seats) for one in heard])
        scored.append(hexes(table))
    assert told[0] == told[1]
    assert [[5, 2, 0, 0, 0], [7, 2, 0, 0, 0]] == scored


def after_scores() -> Table:
    table = start(GAUNTLET)
    place(table)
    place(table, "ADE")
    for _ in range(4):
        place(table)
    return table


def test_r10_only_the_winner_is_shown_the_window_in_which_it_decides_and_who_is_tied() -> None:
    table = after_scores()
    close(table)
    assert ("break_tie", [1, 2, 3, 4]) == (shown(table, 0)["window"], shown(table, 0)["tied"])
    for seat in (1, 2, 3, 4, None):
        assert (None, []) == (shown(table, seat)["window"], shown(table, seat)["tied"])


def test_r10_others_cannot_tell_give_token_from_break_tie() -> None:
    table = start(TEMPO_UP)
    place(table)
    place(table, "ADE")
    place(table)
    seen = []
    for window in ("give_token", "break_tie"):
        assert window == shown(table, 0)["window"]
        seen.append([encode(HIVE_MIND.view(table.state, seat)) for seat in (1, 2, 3, 4)])
        close(table)
    assert seen[0] == seen[1]


@VARIANTS
def test_the_host_is_shown_everything(variant: str) -> None:
    hive, table = FIRST[variant], start(variant, garnets=9)
    place(table, "ADE")
    place(table, "BFI", s1={"place": {hive: "HKL"}, "block": [hive]})
    view = host_view(table)
    assert ("round", 3) == (view["window"], view["round"])
    assert dict.fromkeys(NAMES[variant], VALUES) == view["initial"]
    # B, F and I by seat 0, H, K and L by seat 1.
    assert "102330100200" == view["current"][hive]
    assert [[{"place": {hive: "ADE"}}, {}, {}, {}, {}]] == view["rounds"][:1]
    assert {"place": {hive: "HKL"}, "block": [hive]} == view["rounds"][1][1]
    assert [5, 5, 0, 0, 0] == [each["hexes"] for each in view["points"]]
    assert (6 if variant == GAUNTLET else 9) == view["garnets"][1]
    assert ([2, 1, 0, 0, 0] if variant == GAUNTLET else None) == view["feats"]
    assert (None, []) == (view["scores"], view["tied"])


def test_the_host_is_shown_guessed_scores_and_the_tied() -> None:
    table = after_scores()
    close(table, {3: {"scores": {"1": 0}}})
    view = host_view(table)
    assert [{}, {}, {}, {"1": 0}, {}] == view["scores"]
    assert [0, -2, 0, 1, 0] == [each["score_guesses"] for each in view["points"]]
    assert [] == view["tied"]
    table = after_scores()
    close(table)
    assert [1, 2, 3, 4] == host_view(table)["tied"]
