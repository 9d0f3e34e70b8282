"""Hive Mind before a window closes: windows, forms of actions, what may be submitted, options, setup, time."""

from random import Random
from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.hive_mind import BreakTie, GiveToken, Round, Scores
from protocol.words import Audience
from referee.rules.contract import BadSetupError, Illegal, ResolvedAction
from referee.rules.table import Deal, Table
from tests.referee.games.hive_mind.play import (
    FIRST,
    GAUNTLET,
    HIVE_MIND,
    NAMES,
    RECHARGED,
    TEMPO_UP,
    VALUES,
    VARIANTS,
    place,
    start,
)
from tests.referee.games.playing import accepted, close, plain, rejected, shown


def later(variant: str, rounds: int, **options: Any) -> Table:
    """Play so many rounds, with nothing placed."""
    table = start(variant, **options)
    for _ in range(rounds):
        close(table)
    return table


# Windows.


def test_recharged_is_the_default_variant() -> None:
    assert [RECHARGED, TEMPO_UP, GAUNTLET] == [variant.name for variant in HIVE_MIND.variants]


@VARIANTS
def test_every_window_of_a_variant_has_a_day(variant: str) -> None:
    extra = {RECHARGED: [], TEMPO_UP: ["give_token"], GAUNTLET: ["scores"]}[variant]
    windows = ["round", *extra, "break_tie"]
    assert dict.fromkeys(windows, 24 * 60 * 60 * 1000) == HIVE_MIND.variant(variant).time.main_ms
    assert 0 == HIVE_MIND.variant(variant).time.reserve_ms


# Shapes and kinds: R4, R5.


@VARIANTS
def test_r5_a_shape_is_named_in_any_order_and_case_and_taken_in_upper_case_sorted(variant: str) -> None:
    hive = FIRST[variant]
    assert {"place": {hive: "ADE"}} == accepted(start(variant), 0, {"place": {hive: "eDa"}})


@VARIANTS
def test_r5_a_kind_already_used_on_that_hive_is_rejected(variant: str) -> None:
    hive, table = FIRST[variant], start(variant)
    place(table, "ADE")
    reason = "BCF is of the kind tri, which you have used on Hive " + hive
    assert reason == rejected(table, 0, {"place": {hive: "BCF"}})
    assert {"place": {hive: "BCF"}} == accepted(table, 1, {"place": {hive: "BCF"}})
    place(table, "ABC")
    for cells in ("CFI", "IKL"):
        assert "which you have used" in rejected(table, 0, {"place": {hive: cells}})
    assert {"place": {hive: "HKL"}} == accepted(table, 0, {"place": {hive: "HKL"}})


@VARIANTS
def test_r4_a_seat_that_left_a_hive_out_may_still_use_any_kind_it_has_not_used_there(variant: str) -> None:
    hive, table = FIRST[variant], later(variant, 2)
    for cells in ("ADE", "HKL", "CFI"):
        assert {"place": {hive: cells}} == accepted(table, 0, {"place": {hive: cells}})
    assert ["tri", "arc", "line"] == shown(table, 0)["unused"][hive]


# Double and Block: R6.


@VARIANTS
@pytest.mark.parametrize(("key", "what"), [("double", "Double"), ("block", "Block")])
def test_r6_a_second_double_or_block_on_the_same_hive_is_rejected(variant: str, key: str, what: str) -> None:
    hive = FIRST[variant]
    table = later(variant, 1, garnets=100)
    assert f"a second {what} on Hive {hive}" == rejected(table, 0, {key: [hive, hive]})


@VARIANTS
def test_r6_the_default_of_the_option_garnets_depends_on_the_variant(variant: str) -> None:
    default = {GAUNTLET: 8, TEMPO_UP: 2, RECHARGED: 0}[variant]
    assert {"garnets": default} == plain(Table(HIVE_MIND, Deal(variant, 0)).options)
    assert [default] * 5 == [shown(start(variant), seat)["wallet"]["garnets"] for seat in range(5)]


@pytest.mark.parametrize(
    ("garnets", "action", "legal"),
    [
        (5, {"double": ["1"]}, True),
        (4, {"double": ["1"]}, False),
        (3, {"block": ["1"]}, True),
        (2, {"block": ["1"]}, False),
        (8, {"double": ["1"], "block": ["1"]}, True),
        (7, {"double": ["1"], "block": ["1"]}, False),
    ],
)
def test_r6_in_gauntlet_double_costs_5_and_block_3(garnets: int, action: Any, legal: bool) -> None:
    table = later(GAUNTLET, 1, garnets=[0, 0, garnets, 0, 0])
    if legal:
        assert action == accepted(table, 2, action)
    else:
        assert f"this costs more garnets than the {garnets} you have" == rejected(table, 2, action)
    assert rejected(table, 1, action)


@pytest.mark.parametrize(
    ("garnets", "double", "block", "legal"),
    [
        (0, "1", "2", True),
        (0, "12", "", False),
        (1, "12", "", False),
        (2, "12", "", True),
        (2, "12", "3", True),
        (2, "12", "31", False),
        (3, "12", "31", True),
        (3, "123", "", False),
        (4, "123", "1", True),
        (5, "123", "123", False),
        (6, "123", "123", True),
        (0, "", "12", False),
        (1, "", "12", True),
    ],
)
def test_r6_in_tempo_up_one_use_of_each_is_free_then_double_costs_2_and_block_1(
    garnets: int, double: str, block: str, legal: bool
) -> None:
    table = later(TEMPO_UP, 1, garnets=garnets)
    action = {key: list(hives) for key, hives in (("double", double), ("block", block)) if hives}
    if legal:
        accepted(table, 0, action)
    else:
        assert f"this costs more garnets than the {garnets} you have" == rejected(table, 0, action)


@pytest.mark.parametrize("garnets", [0, 1000])
def test_r12_in_recharged_there_is_one_use_of_each_and_garnets_have_no_effect(garnets: int) -> None:
    table = later(RECHARGED, 1, garnets=garnets)
    assert accepted(table, 0, {"double": ["Zero"], "block": ["Charge"]})
    reason = "may be used once, and none can be bought"
    assert f"Double {reason}" == rejected(table, 0, {"double": ["Zero", "Charge"]})
    assert f"Block {reason}" == rejected(table, 0, {"block": ["Zero", "Charge", "Marcer"]})


# Guesses: R12.


@VARIANTS
@pytest.mark.parametrize("digits", ["111111111111", "333333333333", "123123123123"])
def test_r12_a_guess_is_any_twelve_digits_1_to_3_the_counts_need_not_fit(variant: str, digits: str) -> None:
    guess = {"guess": {FIRST[variant]: digits}}
    assert guess == accepted(later(variant, 2), 0, guess)


def test_a_number_with_a_point_or_an_exponent_is_a_fraction() -> None:
    for number in (b"1e2", b"1E2", b"1.0", b"-0.0"):
        with pytest.raises(Illegal):
            later(GAUNTLET, 6).read(2, b'{"scores":{"4":%b}}' % number)


# Options and setup.


@VARIANTS
@pytest.mark.parametrize("given", [None, Raw(b"{}"), Raw(b"null")])
def test_options_and_setup_may_be_left_out(variant: str, given: Raw | None) -> None:
    table = Table(HIVE_MIND, Deal(variant, 0, given))
    assert list(NAMES[variant]) == list(plain(table.setup)["hives"])


@pytest.mark.parametrize("garnets", [0, 7, 10**30, [0, 1, 2, 3, 4]])
def test_garnets_is_a_whole_number_from_0_or_a_list_of_five(garnets: Any) -> None:
    table = start(GAUNTLET, garnets=garnets)
    assert {"garnets": garnets} == plain(table.options)
    expected = garnets if isinstance(garnets, list) else [garnets] * 5
    assert expected == [shown(table, seat)["wallet"]["garnets"] for seat in range(5)]


@pytest.mark.parametrize(
    "options",
    [
        {"garnets": -1},
        {"garnets": -(10**30)},
        {"garnets": None},
        {"garnets": 1.0},
        {"garnets": True},
        {"garnets": "8"},
        {"garnets": []},
        {"garnets": [1, 2, 3, 4]},
        {"garnets": [1, 2, 3, 4, 5, 6]},
        {"garnets": [1, 2, 3, 4, -5]},
        {"garnets": [1, 2, 3, 4, -(10**30)]},
        {"garnets": [1, 2, 3, 4, None]},
        {"garnets": [1, 2, 3, 4, True]},
        {"garnets": {"0": 1}},
        {"rounds": 3},
        [],
    ],
)
def test_an_unknown_option_or_a_value_that_breaks_its_rule_is_an_error_that_names_the_place(options: Any) -> None:
    with pytest.raises(BadSetupError, match=r"^options: "):
        Table(HIVE_MIND, Deal(GAUNTLET, 0, Raw(encode(options))))


@VARIANTS
def test_a_drawn_setup_is_the_same_for_the_same_seed_and_may_be_given_back(variant: str) -> None:
    drawn = [plain(Table(HIVE_MIND, Deal(variant, seed)).setup) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert 1 < len(set(drawn[0]["hives"].values()))
    assert drawn[0] == plain(Table(HIVE_MIND, Deal(variant, 5, None, Raw(encode(drawn[0])))).setup)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ("11233211221", "setup.hives.2: 11 values; a Hive has 12"),
        ("1123321122133", "setup.hives.2: 13 values; a Hive has 12"),
        ("112332112210", "setup.hives.2: the value of L is '0'; it must be 1, 2 or 3"),
        ("11233211221\u0663", "setup.hives.2: the value of L is '\u0663'; it must be 1, 2 or 3"),
        ("112332112212", "setup.hives.2: 5 hexes of value 2; there must be 4"),
        ("112332112223", "setup.hives.2: 4 hexes of value 1; there must be 5"),
        ("333111112222", "setup.hives.2: the three 3s, on ABC, are all connected"),
        ("311331112222", "setup.hives.2: the three 3s, on ADE, are all connected"),
    ],
)
def test_a_setup_that_breaks_the_rule_for_values_is_an_error_that_names_the_count_or_the_hexes(
    values: str, what: str
) -> None:
    with pytest.raises(BadSetupError) as caught:
        start(GAUNTLET, {"2": values})
    assert what == str(caught.value)


@pytest.mark.parametrize(
    "setup",
    [
        {},
        [],
        {"hives": None},
        {"hives": {}},
        {"hives": {"1": VALUES}},
        {"hives": {"1": VALUES, "2": VALUES, "3": VALUES}},
        {"hives": {"1": VALUES, "Zero": VALUES}},
        {"hives": {"1": VALUES, "2": None}},
        {"hives": {"1": VALUES, "2": 112332112213}},
        {"hives": {"1": VALUES, "2": VALUES}, "seed": 1},
        {"hives": [VALUES, VALUES]},
    ],
)
def test_a_setup_of_another_form_or_with_other_hives_is_an_error_that_names_the_place(setup: Any) -> None:
    with pytest.raises(BadSetupError, match=r"^setup"):
        Table(HIVE_MIND, Deal(GAUNTLET, 0, None, Raw(encode(setup))))


# What conformance asks of a game.


def test_reseated_actions_name_seats_by_their_new_numbers_and_rounds_name_none() -> None:
    seat_of = (4, 3, 2, 1, 0)
    scores = Scores(scores={"0": 7, "3": 9})
    assert b'{"scores":{"1":9,"4":7}}' == encode(HIVE_MIND.reseat(scores, seat_of))
    assert GiveToken(seat=4) == HIVE_MIND.reseat(GiveToken(seat=0), seat_of)
    assert BreakTie(seat=1) == HIVE_MIND.reseat(BreakTie(seat=3), seat_of)
    placed = Round(place={"1": "ADE"})
    assert placed == HIVE_MIND.reseat(placed, seat_of)


@VARIANTS
def test_plausible_submissions_are_mostly_legal(variant: str) -> None:
    rng, legal, tried = Random(1), 0, 0
    for seed in range(20):
        table = Table(HIVE_MIND, Deal(variant, seed))
        while table.window:
            taken: list[ResolvedAction | None] = [None] * 5
            for owed in table.owed:
                raw = encode(HIVE_MIND.plausible(table.state, owed.seat, rng))
                tried += 1
                try:
                    taken[owed.seat] = ResolvedAction(table.read(owed.seat, raw))
                    legal += 1
                except Illegal:
                    taken[owed.seat] = ResolvedAction(table.default(owed.seat), by_default=True)
            table.close(tuple(taken))
    assert legal > 0.8 * tried


# Events.


def test_private_events_cannot_be_sent_to_all() -> None:
    tags = [event.__struct_config__.tag for event in HIVE_MIND.events]
    assert ["hint", "round_result", "doubles", "blocks", "score_guesses", "token_given", "reveal"] == tags
    alone = {event.__struct_config__.tag for event in HIVE_MIND.events if event.audience is Audience.SEAT}
    assert {"hint", "score_guesses"} == alone


@pytest.mark.parametrize("variant", [TEMPO_UP, RECHARGED])
def test_in_round_1_a_seats_kinds_must_differ_from_hive_to_hive(variant: str) -> None:
    one, two, three = NAMES[variant]
    table = start(variant)
    reason = "in round 1 a different kind of shape is placed on each Hive"
    assert reason == rejected(table, 0, {"place": {one: "ADE", two: "BCF"}})
    assert accepted(table, 0, {"place": {one: "ADE", two: "HKL", three: "CFI"}})


def test_only_the_scores_of_others_are_guessed() -> None:
    assert "only the scores of others are guessed" == rejected(later(GAUNTLET, 6), 2, {"scores": {"2": 3}})
