"""What comes of Hive Mind's windows: hints, what all are told, points on hexes, Double, Block, guesses, feats."""

from typing import Any

import pytest

from referee.rules.table import Table
from tests.referee.games.hive_mind_play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    SEATS,
    TEMPO_UP,
    VARIANTS,
    hexes,
    place,
    points,
    start,
)
from tests.referee.games.playing import close


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
    """What each seat gains by Blocks when these are placed in round 3."""
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
def test_nobody_blocks_itself_but_doublers_may_block_each_other(variant: str) -> None:
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0,), blockers=(0,))
    assert [3, 3, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0, 1), blockers=(0, 1))


# Feats, and the guessing of scores.


@pytest.mark.parametrize(("third", "won"), [(None, 0), ("CFI", 1 + 1), ("BEH", 0)])
def test_r4_that_feat_needs_three_shapes_placed_that_share_none(third: str | None, won: int) -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ABE")
    place(table, "HKL", None, "IKL")
    place(table, third, None, None, "EFI")
    assert won == feats(table)[0]


def test_r4_alone_on_the_board_a_shape_shares_no_hex_but_one_that_is_not_placed_wins_nothing() -> None:
    table = start(GAUNTLET)
    place(table, "ADE")
    assert [1, 0, 0, 0, 0] == feats(table)


def test_r4_that_feat_needs_a_shape_placed() -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ADE", "ADE", "ADE")
    assert [0, 0, 0, 0, 0] == feats(table)


# The reveal.


@VARIANTS
def test_r10_nothing_but_the_reveal_tells_points_or_what_scored(variant: str) -> None:
    """Two matches whose values differ where nobody looks tell the same until the end, though one scores more."""
    told, scored = [], []
    for values in ("112332112213", "112132132213"):
        table = start(variant, values)
        heard = [place(table), place(table, "HKL"), place(table, None, "JKL")]
        told.append([(one.public, one.seats) for one in heard])
        scored.append(hexes(table))
    assert told[0] == told[1]
    assert [[5, 2, 0, 0, 0], [7, 2, 0, 0, 0]] == scored
