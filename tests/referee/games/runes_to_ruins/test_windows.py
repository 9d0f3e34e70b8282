"""The window `round`: what an action may hold, what it costs, and its canonical spelling; options and setup."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.runes_to_ruins.runes import NAMES
from referee.rules.contract import BadSetupError, Illegal
from referee.rules.table import Deal, Table
from tests.referee.games.playing import accepted, plain, rejected
from tests.referee.games.runes_to_ruins.play import GAME, SYMBOLS, UNUSED, opening, put, start

ASSIGN = {"1": UNUSED[0], "2": UNUSED[1], "3": UNUSED[2], "4": UNUSED[3]}
PATTERN = {"groups": ["Box", "Box", "Cross", "Slash", "Straight", "Box"], "seats": [3, 1]}


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
        assert {} == accepted(table, 0, action)
    with_votes = {"votes": {"3": 1}, "visions": {"place": {}, "divine": "Box"}}
    assert {"votes": {"3": 1}, "visions": {"divine": "Box"}} == accepted(table, 0, with_votes)


def test_an_except_that_names_no_runes_keeps_its_empty_list() -> None:
    action = {"visions": {"except": {"seat": 1, "runes": []}}}
    assert action == accepted(start(), 0, action)


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


def test_r5_insight_earned_in_a_round_cannot_pay_for_it() -> None:
    """Being alone with a vision gains 1, after payment."""
    table = start()
    put(table, 0, insight=0)
    assert "this costs 1 insight" in rejected(table, 0, {"visions": {"divine": "Box"}})


def test_r8_the_groups_of_a_pattern_may_mix_orders_and_repeat() -> None:
    pattern = {"groups": ["Box", "Cross", "Box", "Cross", "Box", "Slash"], "seats": [1, 2, 3, 4]}
    assert {"visions": {"pattern": pattern}} == accepted(rich(), 0, {"visions": {"pattern": pattern}})


def test_r8_a_guess_need_not_be_a_legal_symbol_and_may_be_the_own_one() -> None:
    boxes = ["Straight Box", "Torn Box", "Origin Box", "Cross Box", "Angled Box", "Slash Box"]
    assert rejected(opening(), 0, {"symbol": boxes})
    assert accepted(start(), 0, {"guesses": [boxes]})
    assert accepted(start(), 0, {"guesses": [list(SYMBOLS[0])]})


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


@pytest.mark.parametrize(
    "visions",
    [
        {"assign": {**ASSIGN, "0": UNUSED[4]}},
        {"assign": {key: ASSIGN[key] for key in "123"}},
        {"assign": {**ASSIGN, "4": UNUSED[0]}},
        {"assign": {**ASSIGN, "4": "Torn"}},
        {"assign": {**{key: ASSIGN[key] for key in "123"}, "0": UNUSED[3]}},
        {"assign": {**{key: ASSIGN[key] for key in "123"}, "5": UNUSED[3]}},
        {"assign": [UNUSED[0]]},
        {"divine": "Straight"},
        {"divine": "box"},
        {"divine": ""},
        {"mundane": "Box"},
        {"veil": 1},
        {"veil": None},
        {"pattern": {**PATTERN, "seats": []}},
        {"pattern": {**PATTERN, "seats": [0]}},
        {"pattern": {**PATTERN, "seats": [1, 1]}},
        {"pattern": {**PATTERN, "seats": [5]}},
        {"pattern": {**PATTERN, "seats": ["1"]}},
        {"pattern": {**PATTERN, "groups": ["Box"] * 5}},
        {"pattern": {**PATTERN, "groups": ["Box"] * 7}},
        {"pattern": {"groups": PATTERN["groups"]}},
        {"place": {"order": "Divine", "position": 0}},
        {"place": {"order": "divine", "position": 6}},
        {"place": {"order": "divine", "position": -1}},
        {"place": {"order": "divine", "position": 1.0}},
        {"place": {"order": "divine", "position": True}},
        {"place": {"order": "divine"}},
        {"except": {"seat": 0, "runes": []}},
        {"except": {"seat": 1}},
        {"except": {"seat": 1, "runes": list(NAMES[:6])}},
        {"except": {"seat": 1, "runes": [NAMES[0], NAMES[0]]}},
        {"except": {"seat": 1, "runes": None}},
        {"mirror": {"rune": SYMBOLS[1][0], "seat": 1}},
        {"mirror": {"rune": SYMBOLS[0][0], "seat": 0}},
        {"mirror": {"rune": SYMBOLS[0][0], "seat": 5}},
        {"mirror": {"seat": 1}},
        {"window": {"position": 0, "seat": 0}},
        {"window": {"position": 6, "seat": 1}},
        {"window": {"position": 0, "seat": 1, "rune": SYMBOLS[0][0]}},
        {"light": True},
        {"pattern": []},
        {"divine": {}},
    ],
)
def test_a_vision_that_is_not_of_its_form_is_rejected(visions: Any) -> None:
    """Visions are asked of other seats only; runes named in `except`, and seats in `pattern`, differ (R1, R8)."""
    assert rejected(rich(), 0, {"visions": visions})


@pytest.mark.parametrize(
    "learned",
    [
        {},
        {"rune": "Torn"},
        {"rune": "Torn Box", "most": ["Torn Box"]},
        {"rune": "Torn Box", "most": []},
        {"count": {"seat": 0, "group": "Box", "number": 1}},
        {"count": {"seat": 5, "group": "Box", "number": 1}},
        {"count": {"seat": 1, "group": "Torn Box", "number": 1}},
        {"count": {"seat": 1, "group": "Box", "number": 7}},
        {"count": {"seat": 1, "group": "Box", "number": -1}},
        {"count": {"seat": 1, "group": "Box"}},
        {"has": {"seat": 0, "rune": "Torn Box"}},
        {"has": {"seat": True, "rune": "Torn Box"}},
        {"has": {"seat": 1}},
        {"line": {"rune": "Torn Box"}},
        {"line": {"rune": "Torn Box", "row": 0, "column": 0}},
        {"line": {"rune": "Torn Box", "row": 2}},
        {"line": {"rune": "Torn Box", "column": 3}},
        {"line": {"row": 0}},
        {"shared": [1]},
        {"shared": [1, 1]},
        {"shared": [0, 1]},
        {"shared": [1, 2, 3]},
        {"shared": [1, 5]},
        {"most": []},
        {"most": list(NAMES[:7])},
        {"most": [NAMES[0], NAMES[0]]},
        {"most": "Torn Box"},
        {"mirror": "Torn Box"},
        "rune",
        None,
    ],
)
def test_a_learned_insight_that_is_not_of_one_form_is_rejected(learned: Any) -> None:
    """They name other seats only; `number` is 0 to 6; runes of `most` differ (R8)."""
    assert rejected(rich(), 0, {"learned": [learned]})
