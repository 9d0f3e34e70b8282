"""What comes of Hive Mind's windows: hints, what all are told, points on hexes, Double, Block, guesses, feats."""

from typing import Any

import pytest

from referee.rules.table import Table
from tests.referee.games.hive_mind_play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    RECHARGED,
    SEATS,
    TEMPO_UP,
    VALUES,
    VARIANTS,
    close,
    finish,
    hexes,
    place,
    points,
    shown,
    start,
)

#  VALUES: A1 B1 C2 / D3 E3 F2 G1 / H1 I2 J2 / K1 L3
NO_COUNTS = dict.fromkeys("ABCDEFGHIJKL", 0)


def feats(table: Table) -> list[int]:
    return list(HIVE_MIND.host_view(table.state).feats or ())


# Hints and what all are told.


@VARIANTS
@pytest.mark.parametrize(
    ("cells", "shape", "looks", "total"),
    [
        ("ADE", "tri", "BFHI", 1 + 2 + 1 + 2),
        ("HKL", "arc", "CFI", 2 + 2 + 2),
        ("EIJ", "arc", "CF", 2 + 2),
        ("CFI", "line", "BG", 1 + 1),
        ("HIJ", "line", "DGKL", 3 + 1 + 1 + 3),
        ("ABC", "line", "DG", 3 + 1),
    ],
)
def test_a_hint_is_the_sum_of_the_initial_values_looked_at(
    variant: str, cells: str, shape: str, looks: str, total: int
) -> None:
    heard = place(start(variant), cells.lower())
    expected = {"type": "hint", "hive": FIRST[variant], "round": 1, "shape": shape, "cells": cells, "looks": looks}
    assert [expected | {"total": total}] == heard.seats[0]
    assert list(expected) == list(heard.seats[0][0])[:-1]


@VARIANTS
def test_hints_are_based_on_initial_values_not_current_ones(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "BFI")
    assert 5 == hexes(table)[0]
    assert 1 + 2 + 1 + 2 == place(table, None, "ADE").event(1, "hint")["total"]


@VARIANTS
def test_only_the_seat_itself_is_told_its_hint(variant: str) -> None:
    heard = place(start(variant), None, None, "ADE")
    assert [[], [], ["hint"], [], []] == [[event["type"] for event in told] for told in heard.seats]
    assert ["round_result"] == heard.types()


def test_a_seats_hints_come_in_the_order_of_the_hives() -> None:
    heard = close(start(RECHARGED), {3: {"place": {"Zero": "ADE", "Charge": "HKL", "Marcer": "CFI"}}})
    assert [("Charge", "HKL"), ("Marcer", "CFI"), ("Zero", "ADE")] == [
        (hint["hive"], hint["cells"]) for hint in heard.seats[3]
    ]


def test_r4_a_hive_that_is_left_out_gives_no_hint() -> None:
    heard = close(start(TEMPO_UP), {0: {"place": {"2": "ADE"}}})
    assert ["2"] == [hint["hive"] for hint in heard.seats[0]]


@VARIANTS
def test_all_are_told_how_many_of_each_shape_and_how_many_shapes_at_each_hex(variant: str) -> None:
    heard = place(start(variant), "ADE", "ADE", "HKL", "CFI", None)
    (event,) = heard.public
    hive = FIRST[variant]
    counts = NO_COUNTS | {"A": 2, "D": 2, "E": 2, "H": 1, "K": 1, "L": 1, "C": 1, "F": 1, "I": 1}
    assert {"round": 1, "shapes": {"tri": 2, "arc": 1, "line": 1}, "counts": counts} == event["hives"][hive]
    in_play = ("1",) if variant == GAUNTLET else NAMES[variant]
    assert list(in_play) == list(event["hives"])
    nothing = {"round": 1, "shapes": {"tri": 0, "arc": 0, "line": 0}, "counts": NO_COUNTS}
    assert [nothing] * (len(in_play) - 1) == [event["hives"][other] for other in in_play[1:]]


@VARIANTS
def test_it_is_not_told_who_placed_what(variant: str) -> None:
    shapes = ["ADE", "HKL", "CFI", "EIJ", "BCF"]
    assert place(start(variant), *shapes).public == place(start(variant), *reversed(shapes)).public


@VARIANTS
def test_doubles_are_told_with_the_end_of_round_2_after_the_result(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    assert ["round_result"] == close(table).types()
    heard = close(table, {3: {"double": [hive]}, 1: {"double": [hive], "block": [hive]}, 0: {"block": [hive]}})
    assert ["round_result", "doubles"] == heard.types()
    assert {"type": "doubles", "hives": {hive: [1, 3]}} == heard.event(None, "doubles")


@VARIANTS
def test_doubles_and_blocks_are_told_also_when_there_are_none(variant: str) -> None:
    table = start(variant)
    close(table)
    assert {} == close(table).event(None, "doubles")["hives"]
    last = finish(table) if variant == RECHARGED else close(table)
    assert {} == last.event(None, "blocks")["hives"]


def test_in_gauntlet_and_tempo_up_blocks_are_told_at_the_end_of_round_3_after_the_result() -> None:
    for variant in (GAUNTLET, TEMPO_UP):
        hive, table = FIRST[variant], start(variant)
        close(table)
        close(table, {4: {"block": [hive]}, 2: {"block": [hive]}})
        heard = place(table, None, "ADE")
        assert ["round_result", "blocks"] == heard.types()[:2]
        assert {hive: [2, 4]} == heard.event(None, "blocks")["hives"]


def test_in_recharged_blocks_are_told_just_before_the_reveal() -> None:
    table = start(RECHARGED)
    close(table)
    close(table, {2: {"block": ["Zero"]}, 1: {"block": ["Charge"]}})
    assert ["round_result"] == place(table, None, "ADE").types()
    assert "break_tie" == shown(table, 1)["window"]
    heard = close(table)
    assert ["blocks", "reveal"] == heard.types()
    assert {"Charge": [1], "Zero": [2]} == heard.event(None, "blocks")["hives"]
    assert ["Charge", "Zero"] == list(heard.event(None, "blocks")["hives"])


def test_each_of_gauntlets_hives_has_its_own_doubles_and_blocks() -> None:
    table, told = start(GAUNTLET), []
    for action in ({}, {"double": ["1"]}, {}, {}, {"block": ["2"]}, {}):
        told += close(table, {0: action}).public
    assert [{"1": [0]}, {}, {}, {"2": [0]}] == [
        one["hives"] for one in told if one["type"] in ("doubles", "blocks")
    ]


# Points on hexes.


@VARIANTS
def test_round_1_does_not_score(variant: str) -> None:
    table = start(variant)
    place(table, "ADE")
    assert [0] * 5 == hexes(table)
    place(table, None, "ADE")
    assert [0, 7, 0, 0, 0] == hexes(table)


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
def test_each_hex_counts_for_itself(variant: str) -> None:
    """ADE and ABE share A and E: D scores 3 for the one, B 1 for the other."""
    table = start(variant)
    place(table)
    place(table, "ADE", "ABE")
    assert [3, 1, 0, 0, 0] == hexes(table)


@VARIANTS
def test_a_hex_once_scored_is_worth_0_for_the_rest_of_that_hive(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE")
    place(table, None, "ADE", "ABE", "BEH")
    # A by 1 and 2, E by 1, 2 and 3: gone anyway; D is gone too; B by 2 and 3; H by 3 alone.
    assert [7, 0, 0, 1, 0] == hexes(table)
    assert "012002102213" == HIVE_MIND.host_view(table.state).current[FIRST[variant]]


@VARIANTS
def test_a_hex_not_scored_for_an_even_number_keeps_its_value(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE", "ADE")
    place(table, None, None, "ADE")
    assert [0, 0, 7, 0, 0] == hexes(table)


def test_a_hex_scored_on_one_hive_keeps_its_value_on_the_others() -> None:
    table = start(TEMPO_UP)
    close(table)
    close(table, {0: {"place": {"1": "ADE", "2": "ADE"}}})
    close(table, {1: {"place": {"1": "ADE", "2": "ADE", "3": "ADE"}}})
    assert [14, 7, 0, 0, 0] == hexes(table)


@VARIANTS
def test_points_on_3s_and_on_2s_are_counted_apart(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE", "CFI")
    assert (7, 6, 0) == tuple(points(table)[0][key] for key in ("hexes", "threes", "twos"))
    assert (6, 0, 6) == tuple(points(table)[1][key] for key in ("hexes", "threes", "twos"))


# Double.


@VARIANTS
def test_a_hex_that_a_doubler_scores_alone_in_round_3_pays_double_threes_and_twos_too(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, s0={"double": [FIRST[variant]]})
    place(table, "EFI")
    assert (14, 6, 8) == tuple(points(table)[0][key] for key in ("hexes", "threes", "twos"))


@VARIANTS
def test_a_doubler_gains_no_more_than_others_where_it_does_not_score_alone(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, s0={"double": [FIRST[variant]]})
    place(table, "ADE", "ABE", "BEH")
    # A two, B two: nothing. D alone: 6. E three: 3 each. H alone: 1, not doubled.
    assert [9, 3, 4, 0, 0] == hexes(table)


@VARIANTS
def test_double_does_not_count_in_round_2_in_which_it_is_had(variant: str) -> None:
    table = start(variant)
    place(table)
    place(table, "ADE", s0={"double": [FIRST[variant]]})
    assert [7, 0, 0, 0, 0] == hexes(table)


@pytest.mark.parametrize("variant", [TEMPO_UP, RECHARGED])
def test_double_counts_on_its_hive_only(variant: str) -> None:
    one, two, _ = NAMES[variant]
    table = start(variant)
    close(table)
    close(table, {0: {"double": [two]}})
    close(table, {0: {"place": {one: "ADE", two: "ADE"}}})
    assert [7 + 14, 0, 0, 0, 0] == hexes(table)


def test_in_gauntlet_a_double_on_hive_1_does_not_count_on_hive_2() -> None:
    table = start(GAUNTLET)
    place(table)
    place(table, s0={"double": ["1"]})
    for _ in range(3):
        place(table)
    place(table, "ADE")
    assert [7, 0, 0, 0, 0] == hexes(table)


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
def test_a_block_gains_at_most_1_a_hex_however_many_doubled(variant: str) -> None:
    third: list[str | None] = ["ADE", "ADE", "ADE", "ADE"]
    assert [0, 0, 0, 3, 0] == blocks(variant, third, doublers=(0, 1, 2), blockers=(3,))


@VARIANTS
def test_every_blocker_over_the_hex_gains(variant: str) -> None:
    third: list[str | None] = ["ADE", "ADE", "ADE", "ADE"]
    assert [0, 3, 3, 3, 0] == blocks(variant, third, doublers=(0,), blockers=(1, 2, 3))


@VARIANTS
def test_nobody_blocks_itself_but_doublers_may_block_each_other(variant: str) -> None:
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0,), blockers=(0,))
    assert [3, 3, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(0, 1), blockers=(0, 1))


@VARIANTS
def test_a_hex_that_scores_is_not_blocked(variant: str) -> None:
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE", "ADE"], doublers=(0,), blockers=(1,))
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE"], doublers=(0,), blockers=(1,))


@VARIANTS
def test_nothing_is_gained_where_nobody_else_doubled_or_the_blocker_is_not_over_the_hex(variant: str) -> None:
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE"], doublers=(), blockers=(1,))
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE", "HKL"], doublers=(0,), blockers=(2,))
    assert [0, 0, 0, 0, 0] == blocks(variant, ["ADE", "ADE", "HKL"], doublers=(2,), blockers=(1,))


@VARIANTS
def test_nothing_is_gained_on_a_hex_that_was_scored_before(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    place(table)
    place(table, "ABC", s0={"double": [hive]}, s1={"block": [hive]})
    place(table, "ABE", "ABE")
    assert [0, 1, 0, 0, 0] == [each["blocks"] for each in points(table)]


@VARIANTS
def test_nothing_is_blocked_in_round_2(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    place(table)
    place(table, "ADE", "ADE", s0={"double": [hive]}, s1={"block": [hive]})
    assert [0] * 5 == [each["blocks"] for each in points(table)]


@pytest.mark.parametrize("variant", [TEMPO_UP, RECHARGED])
def test_a_block_counts_against_doubles_on_the_same_hive_only(variant: str) -> None:
    one, two, _ = NAMES[variant]
    table = start(variant)
    close(table)
    close(table, {0: {"double": [one]}, 1: {"block": [two]}})
    close(table, {0: {"place": {one: "ADE", two: "ADE"}}, 1: {"place": {one: "ADE", two: "ADE"}}})
    assert [0] * 5 == [each["blocks"] for each in points(table)]


# Guesses.


@VARIANTS
@pytest.mark.parametrize(
    ("guess", "gained"),
    [
        (VALUES, 3),
        ("112332112212", 1),  # the 1s; one 3 is taken for a 2
        ("112332112223", 1),  # the 3s; one 1 is taken for a 2
        ("312332112213", 1),  # the 2s; one 1 is taken for a 3
        ("111111111111", 0),
        ("221331221123", 1),  # the 3s; all others are the wrong way round
    ],
)
def test_a_guess_gains_1_each_for_the_right_set_of_1s_2s_and_3s(variant: str, guess: str, gained: int) -> None:
    table = start(variant)
    for _ in range(2):
        close(table)
    close(table, {2: {"guess": {FIRST[variant]: guess}}})
    assert [0, 0, gained, 0, 0] == [each["guesses"] for each in points(table)]


def test_initial_values_are_guessed_not_current_ones() -> None:
    table = start(TEMPO_UP)
    close(table)
    place(table, "ADE")
    close(table, {1: {"guess": {"1": VALUES}}})
    assert 3 == points(table)[1]["guesses"]


def test_guessing_all_three_hives_may_gain_9() -> None:
    table = start(RECHARGED)
    for _ in range(2):
        close(table)
    close(table, {0: {"guess": dict.fromkeys(NAMES[RECHARGED], VALUES)}})
    assert 9 == points(table)[0]["guesses"]


# Feats, and the guessing of scores.


def test_feat_three_shapes_on_a_hive_that_share_no_hex() -> None:
    table = start(GAUNTLET)
    # Somebody else shares a hex with seat 0 in every round, so that it wins no other feat.
    place(table, "ADE", "ABE")
    place(table, "HKL", None, "IKL")
    place(table, "CFI", None, None, "BCF")
    # Its line lies on 2s only.
    assert 1 + 1 == feats(table)[0]


@pytest.mark.parametrize(("third", "won"), [(None, 0), ("CFI", 1 + 1), ("BEH", 0)])
def test_r4_that_feat_needs_three_shapes_placed_that_share_none(third: str | None, won: int) -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ABE")
    place(table, "HKL", None, "IKL")
    place(table, third, None, None, "EFI")
    assert won == feats(table)[0]


def test_feat_a_shape_that_shares_no_hex_with_any_other_of_the_round_in_each_of_the_six() -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "HKL", "ABE", "BCG")
    assert [0, 1, 0, 0, 0] == feats(table)
    place(table, None, "IJL")
    assert [0, 2, 0, 0, 0] == feats(table)


def test_r4_alone_on_the_board_a_shape_shares_no_hex_but_one_that_is_not_placed_wins_nothing() -> None:
    table = start(GAUNTLET)
    place(table, "ADE")
    assert [1, 0, 0, 0, 0] == feats(table)


def test_feat_a_shape_on_three_hexes_of_initial_value_2() -> None:
    table = start(GAUNTLET)
    place(table, "CFI", "CFI")
    assert [1, 1, 0, 0, 0] == feats(table)
    place(table, "FIJ", "FIJ")
    assert [2, 2, 0, 0, 0] == feats(table)
    place(table, "CFJ", "EFJ", "CFJ")
    # It counts by initial values, though some are scored by now.
    assert [3, 2, 1, 0, 0] == feats(table)


def test_feat_avoiding_a_hex_that_all_four_others_covered() -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ADE", "ABE", "BEH", "GJL")
    assert [0, 0, 0, 0, 1 + 1] == feats(table)


def test_that_feat_needs_a_shape_on_no_such_hex() -> None:
    """All four others of seat 4 cover A, D and E; seat 4's own AEH lies over two of these."""
    table = start(GAUNTLET)
    place(table, "ADE", "ADE", "ADE", "ADE", "AEH")
    assert [0, 0, 0, 0, 0] == feats(table)


def test_r4_that_feat_needs_a_shape_placed() -> None:
    table = start(GAUNTLET)
    place(table, "ADE", "ADE", "ADE", "ADE")
    assert [0, 0, 0, 0, 0] == feats(table)


def test_there_are_no_feats_in_the_other_variants() -> None:
    for variant in (TEMPO_UP, RECHARGED):
        table = start(variant)
        place(table, "ADE")
        assert HIVE_MIND.host_view(table.state).feats is None
        last = finish(table)
        assert "feats" not in last.event(None, "reveal")


def scored() -> Table:
    """A match of gauntlet in its window `scores`: seats 0, 1, 2 have 7, 5 and 6 points."""
    table = start(GAUNTLET)
    place(table)
    place(table, "ADE", "HKL", "CFI")
    for _ in range(4):
        place(table)
    return table


def test_each_right_guess_of_a_score_gains_1_and_costs_the_guessed_2() -> None:
    table = scored()
    heard = close(
        table, {0: {"scores": {"1": 5, "2": 6, "3": 1}}, 1: {"scores": {"2": 6}}, 3: {"scores": {"4": 0}}}
    )
    assert [2, 1 - 2, -4, 1, -2] == [each["score_guesses"] for each in points(table)]
    told = [heard.event(seat, "score_guesses") for seat in SEATS]
    assert [(2, 0), (1, 1), (0, 2), (1, 0), (0, 1)] == [(one["right"], one["guessed_by"]) for one in told]
    assert ["type", "right", "guessed_by"] == list(told[0])


def test_all_guesses_of_scores_are_of_the_totals_before_this_phase_guesses_and_blocks_included() -> None:
    table = start(GAUNTLET)
    place(table)
    place(table, s0={"double": ["1"]}, s1={"block": ["1"]})
    close(
        table,
        {
            0: {"place": {"1": "ADE"}},
            1: {"place": {"1": "ABE"}},
            2: {"guess": {"1": VALUES}},
        },
    )
    for _ in range(3):
        place(table)
    # Seat 0 doubles D: 6. Seat 1 blocks A and E: 2, and scores B: 1. Seat 2 has guessed 3.
    close(table, {3: {"scores": {"0": 6, "1": 3, "2": 3}}, 4: {"scores": {"3": 3, "2": 1}}})
    assert [-2, -2, -2, 3, 0] == [each["score_guesses"] for each in points(table)]


def test_a_wrong_guess_of_a_score_costs_nothing() -> None:
    table = scored()
    heard = close(table, {4: {"scores": {"0": 8, "1": -5, "2": 60}}})
    assert [0] * 5 == [each["score_guesses"] for each in points(table)]
    assert {"type": "score_guesses", "right": 0, "guessed_by": 0} == heard.seats[4][0]


# The reveal.


def test_the_reveal_tells_values_placements_points_and_in_gauntlet_feats() -> None:
    table = start(GAUNTLET, {"1": VALUES, "2": "322221133111"})
    place(table, "eda", "HKL")
    place(table, "BFI")
    reveal = finish(table).event(None, "reveal")
    assert ["type", "hives", "placements", "points", "feats"] == list(reveal)
    assert {"1": VALUES, "2": "322221133111"} == reveal["hives"]
    nothing = [None, None, None]
    assert {
        "0": {"1": ["ADE", "BFI", None], "2": nothing},
        "1": {"1": ["HKL", None, None], "2": nothing},
        "2": {"1": nothing, "2": nothing},
        "3": {"1": nothing, "2": nothing},
        "4": {"1": nothing, "2": nothing},
    } == reveal["placements"]
    zero = {"hexes": 0, "threes": 0, "twos": 0, "guesses": 0, "blocks": 0, "score_guesses": 0}
    assert zero | {"hexes": 5, "twos": 4} == reveal["points"]["0"]
    assert [zero] * 4 == [reveal["points"][str(seat)] for seat in range(1, 5)]
    assert {"0": 2, "1": 1, "2": 0, "3": 0, "4": 0} == reveal["feats"]


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
