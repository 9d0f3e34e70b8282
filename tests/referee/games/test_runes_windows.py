"""The window `round`: what an action may hold, what it costs, and its canonical spelling; options and setup."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from referee.rules.contract import BadSetupError, Illegal
from referee.rules.table import Deal, Table
from tests.referee.games.as_json import plain
from tests.referee.games.runes_play import GAME, SYMBOLS, opening, put, rejected, start, taken_as


def rich(**options: Any) -> Table:
    """Round 2 with seat 0 able to pay for anything and to use both artefacts."""
    table = start(artefacts={"0": ["light", "dark"]}, **options)
    put(table, 0, insight=100)
    return table


def test_empty_keys_and_false_flags_count_as_left_out() -> None:
    table = start()
    objects = ("assign", "pattern", "place", "except", "mirror", "window")
    empty: list[Any] = [
        {"votes": {}, "visions": {}, "learned": [], "guesses": []},
        {"more_votes": False, "told": False, "abstain": False, "light": False},
        {"visions": {"veil": False}},
        {"visions": {key: {} for key in objects}},
        {"visions": {"assign": {}, "veil": False}, "votes": {}},
    ]
    for action in empty:
        assert {} == taken_as(table, 0, action)
    with_votes = {"votes": {"3": 1}, "visions": {"place": {}, "divine": "Box"}}
    assert {"votes": {"3": 1}, "visions": {"divine": "Box"}} == taken_as(table, 0, with_votes)


def test_an_except_that_names_no_runes_keeps_its_empty_list() -> None:
    action = {"visions": {"except": {"seat": 1, "runes": []}}}
    assert action == taken_as(start(), 0, action)


@pytest.mark.parametrize(
    "action",
    [
        {"votes": {"7": 2}},
        {"votes": {"7": 1, "8": 1}},
        {"votes": {"7": 5}, "more_votes": True},
        {"votes": {"7": 3, "8": 2}, "more_votes": True},
        {"votes": {"7": 1}, "abstain": True},
        {"more_votes": True, "abstain": True},
        {"votes": {"7": 0}},
        {"votes": {"7": -1}},
        {"votes": {"7": 1.0}},
        {"votes": {"7": True}},
        {"votes": {"7": "1"}},
        {"votes": {"7": None}},
        {"votes": {"0": 1}},
        {"votes": {"16": 1}},
        {"votes": {"07": 1}},
        {"votes": {" 7": 1}},
        {"votes": {"seven": 1}},
        {"votes": {"7": 10**30}, "more_votes": True},
        {"votes": [7]},
    ],
)
def test_r8_votes_are_at_least_1_for_a_condition_from_1_to_15_and_no_more_than_there_are(action: Any) -> None:
    assert rejected(start(), 0, action)


def test_a_number_of_thousands_of_digits_is_rejected_like_any_other() -> None:
    with pytest.raises(Illegal):
        start().read(0, b'{"more_votes":true,"votes":{"7":' + b"9" * 6000 + b"}}")


def test_r5_nothing_earned_in_a_round_pays_for_it() -> None:
    """Being alone with a vision gains 1, after payment."""
    table = start()
    put(table, 0, insight=0)
    assert "this costs 1 insight" in rejected(table, 0, {"visions": {"divine": "Box"}})


def test_r8_the_groups_of_a_pattern_may_mix_orders_and_repeat() -> None:
    pattern = {"groups": ["Box", "Cross", "Box", "Cross", "Box", "Slash"], "seats": [1, 2, 3, 4]}
    assert {"visions": {"pattern": pattern}} == taken_as(rich(), 0, {"visions": {"pattern": pattern}})


def test_r8_a_guess_need_not_be_a_legal_symbol_and_may_be_the_own_one() -> None:
    boxes = ["Straight Box", "Torn Box", "Origin Box", "Cross Box", "Angled Box", "Slash Box"]
    assert rejected(opening(), 0, {"symbol": boxes})
    assert taken_as(start(), 0, {"guesses": [boxes]})
    assert taken_as(start(), 0, {"guesses": [list(SYMBOLS[0])]})


def test_options_left_out_have_their_defaults() -> None:
    for given in (None, Raw(b"{}"), Raw(b"null")):
        table = Table(GAME, Deal("guardians", 0, given, given))
        assert {"rounds": 30, "artefacts": {}} == plain(table.options)
        assert {} == plain(table.setup)


@pytest.mark.parametrize(
    "options",
    [
        {"rounds": 1},
        {"rounds": 0},
        {"rounds": 2.0},
        {"rounds": True},
        {"rounds": None},
        {"rounds": "30"},
        {"artefacts": {"5": ["light"]}},
        {"artefacts": {"00": ["light"]}},
        {"artefacts": {"0": ["light", "light"]}},
        {"artefacts": {"0": ["fire"]}},
        {"artefacts": {"0": "light"}},
        {"artefacts": {"0": None}},
        {"artefacts": [["light"]]},
        {"artefacts": None},
        {"seats": 5},
        [],
    ],
)
def test_r8_an_option_that_breaks_its_rule_is_an_error_that_names_the_place(options: Any) -> None:
    with pytest.raises(BadSetupError, match=r"^options"):
        Table(GAME, Deal("guardians", 0, Raw(encode(options))))


def test_there_is_no_setup_symbols_are_the_seats_own() -> None:
    with pytest.raises(BadSetupError, match=r"^setup"):
        Table(GAME, Deal("guardians", 0, None, Raw(b'{"symbols":{}}')))


def test_there_is_one_variant() -> None:
    assert ["guardians"] == [variant.name for variant in GAME.variants]
