"""The window `round`: what an action may hold, what it costs, and its canonical spelling; options and setup."""

from typing import Any

import pytest
from msgspec import Raw

from protocol.codec import encode
from protocol.games.runes import NAMES
from referee.rules.contract import BadSetupError, Illegal
from referee.rules.table import Deal, Table
from tests.referee.games.runes_play import (
    GAME,
    SYMBOLS,
    UNUSED,
    opening,
    plain,
    play,
    put,
    rejected,
    shown,
    start,
    taken_as,
    to_round,
)

ASSIGN = {"1": UNUSED[0], "2": UNUSED[1], "3": UNUSED[2], "4": UNUSED[3]}
PATTERN = {"groups": ["Box", "Box", "Cross", "Slash", "Straight", "Box"], "seats": [3, 1]}
WHOLE: dict[str, Any] = {
    "votes": {"12": 1, "7": 3},
    "more_votes": True,
    "told": True,
    "visions": {
        "assign": dict(reversed(ASSIGN.items())),
        "divine": "Box",
        "mundane": "Cross",
        "veil": True,
        "pattern": PATTERN,
        "place": {"order": "divine", "position": 5},
        "except": {"seat": 4, "runes": ["Torn Box", "Cross Box"]},
        "mirror": {"rune": SYMBOLS[0][0], "seat": 1},
        "window": {"position": 0, "seat": 2},
    },
    "learned": [
        {"rune": "Torn Box"},
        {"count": {"seat": 1, "group": "Box", "number": 0}},
        {"has": {"seat": 2, "rune": "Torn Box"}},
        {"line": {"rune": "Torn Box", "row": 0}},
    ],
    "guesses": [list(UNUSED), list(SYMBOLS[0])],
    "light": True,
    "dark": 0,
}


def rich(**options: Any) -> Table:
    """Round 2 with seat 0 able to pay for anything and to use both artefacts."""
    table = start(artefacts={"0": ["light", "dark"]}, **options)
    put(table, 0, insight=100)
    return table


def test_an_action_may_hold_all_its_parts_at_once() -> None:
    canonical = taken_as(rich(), 0, WHOLE)
    assert {"7": 3, "12": 1} == canonical["votes"]
    assert list(WHOLE) == list(canonical)
    assert 0 == canonical["dark"]


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


@pytest.mark.parametrize(
    "action",
    [
        {"votes": []},
        {"visions": []},
        {"learned": {}},
        {"guesses": {}},
        {"dark": {}},
        {"visions": {"assign": []}},
        {"visions": {"divine": {}}},
        {"visions": {"veil": {}}},
        {"visions": {"mirror": []}},
        {"visions": {"pattern": {"groups": [], "seats": []}}},
        {"learned": [{}]},
        {"learned": [{"count": {}}]},
    ],
)
def test_an_empty_value_of_another_kind_does_not(action: Any) -> None:
    """Our own ruling 2."""
    assert rejected(rich(), 0, action)


def test_lists_are_sorted_unless_their_order_matters() -> None:
    canonical = taken_as(rich(), 0, WHOLE)
    assert ASSIGN == canonical["visions"]["assign"]
    assert list(ASSIGN) == list(canonical["visions"]["assign"])
    assert PATTERN["groups"] == canonical["visions"]["pattern"]["groups"]
    assert [1, 3] == canonical["visions"]["pattern"]["seats"]
    assert ["Cross Box", "Torn Box"] == canonical["visions"]["except"]["runes"]
    assert WHOLE["guesses"] == canonical["guesses"]
    table = start()
    learned = [{"most": ["Torn Box", "Cross Box"]}, {"shared": [4, 1]}, {"rune": "Cross Box"}]
    sorted_ = [{"most": ["Cross Box", "Torn Box"]}, {"shared": [1, 4]}, {"rune": "Cross Box"}]
    assert {"learned": sorted_} == taken_as(table, 0, {"learned": learned})


def test_an_except_that_names_no_runes_keeps_its_empty_list() -> None:
    action = {"visions": {"except": {"seat": 1, "runes": []}}}
    assert action == taken_as(start(), 0, action)


@pytest.mark.parametrize(
    "action", [None, [], 7, "{}", True, {"vote": {"1": 1}}, {"symbol": list(SYMBOLS[0])}, {"": 1}]
)
def test_an_action_is_an_object_of_the_keys_listed(action: Any) -> None:
    assert rejected(start(), 0, action)


@pytest.mark.parametrize("raw", [b"", b"{", b"[" * 5000, b'{"visions":' * 5000, b"\xff", b'{"dark":0}{'])
def test_what_is_no_json_is_rejected(raw: bytes) -> None:
    with pytest.raises(Illegal):
        rich().read(0, raw)


@pytest.mark.parametrize(
    "action",
    [
        {"votes": {"7": 1}},
        {"votes": {"7": 4}, "more_votes": True},
        {"votes": {"7": 2, "1": 1, "15": 1}, "more_votes": True},
        {"votes": {"7": 2}, "more_votes": True},
        {"more_votes": True},
        {"abstain": True},
        {"abstain": True, "told": True},
        {"told": True},
    ],
)
def test_one_vote_or_four_for_one_insight_or_to_abstain_or_neither(action: Any) -> None:
    """They need not be cast; buying the answer is fine for any; neither voting nor abstaining is legal."""
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


def test_a_seat_may_not_abstain_two_rounds_running() -> None:
    table = start()
    play(table, {0: {"abstain": True}})
    assert "a seat may not abstain two rounds running" == rejected(table, 0, {"abstain": True})
    assert taken_as(table, 1, {"abstain": True})
    assert (False, True) == (shown(table, 0)["may_abstain"], shown(table, 1)["may_abstain"])
    play(table)
    assert taken_as(table, 0, {"abstain": True})


@pytest.mark.parametrize(
    ("part", "cost"),
    [
        ({"votes": {"1": 1}}, 0),
        ({"more_votes": True}, 1),
        ({"told": True}, 1),
        ({"visions": {"assign": ASSIGN}}, 1),
        ({"visions": {"divine": "Box"}}, 1),
        ({"visions": {"mundane": "Torn"}}, 1),
        ({"visions": {"veil": True}}, 1),
        ({"visions": {"pattern": PATTERN}}, 2),
        ({"visions": {"place": {"order": "mundane", "position": 0}}}, 2),
        ({"visions": {"except": {"seat": 1, "runes": []}}}, 3),
        ({"visions": {"mirror": {"rune": SYMBOLS[0][0], "seat": 1}}}, 0),
        ({"visions": {"window": {"position": 0, "seat": 1}}}, 0),
        ({"learned": [{"rune": "Torn Box"}]}, 0),
        ({"guesses": [list(UNUSED)]}, 0),
        ({"guesses": [list(UNUSED)] * 2}, 1),
        ({"guesses": [list(UNUSED)] * 3}, 3),
        ({"light": True}, 0),
        ({"dark": 0}, 0),
        (WHOLE, 1 + 1 + 1 + 1 + 1 + 1 + 2 + 2 + 3 + 1),
    ],
)
def test_an_action_that_costs_more_than_the_seat_has_is_rejected_whole(part: Any, cost: int) -> None:
    table = rich()
    put(table, 0, insight=cost)
    assert taken_as(table, 0, part)
    if cost:
        put(table, 0, insight=cost - 1)
        assert f"this costs {cost} insight; you have {cost - 1}" == rejected(table, 0, part)


def test_what_an_action_costs_is_paid() -> None:
    """All nine visions are used by this seat alone, and each gains it 1."""
    table = rich()
    free_of_mantra = {key: WHOLE[key] for key in WHOLE if key not in ("learned", "dark")}
    heard = play(table, {0: free_of_mantra})
    assert {"insight": 100 - 14 + 9, "mantra": 0} == heard.one(0, "purse")


def test_veil_costs_1_then_2_then_3_with_each_use_in_the_match() -> None:
    table = start()
    for cost in (1, 2, 3):
        put(table, 0, insight=cost - 1)
        assert f"this costs {cost} insight" in rejected(table, 0, {"visions": {"veil": True}})
        put(table, 0, insight=cost)
        assert cost == shown(table, 0)["veil_cost"]
        play(table, {0: {"visions": {"veil": True}}})
        play(table)


def test_further_guesses_cost_1_2_3_counting_all_bought_in_the_match() -> None:
    table = start()
    guesses = [list(UNUSED)] * 3
    put(table, 0, insight=3)
    play(table, {0: {"guesses": guesses}})
    assert 3 == shown(table, 0)["guess_cost"]
    put(table, 0, insight=6)
    assert "this costs 7 insight; you have 6" == rejected(table, 0, {"guesses": guesses})
    assert taken_as(table, 0, {"guesses": guesses[:2]})


def test_r5_nothing_earned_in_a_round_pays_for_it() -> None:
    """Being alone with a vision gains 1, after payment."""
    table = start()
    put(table, 0, insight=0)
    assert "this costs 1 insight" in rejected(table, 0, {"visions": {"divine": "Box"}})


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


def test_r8_the_groups_of_a_pattern_may_mix_orders_and_repeat() -> None:
    pattern = {"groups": ["Box", "Cross", "Box", "Cross", "Box", "Slash"], "seats": [1, 2, 3, 4]}
    assert {"visions": {"pattern": pattern}} == taken_as(rich(), 0, {"visions": {"pattern": pattern}})


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


def test_at_most_twice_the_rounds_number_of_learned_insights() -> None:
    table = start()
    insights = [{"rune": "Torn Box"}, {"shared": [1, 2]}, {"most": ["Torn Box"]}] * 3
    for round_ in (2, 3, 4):
        assert round_ == table.state.round
        assert taken_as(table, 0, {"learned": insights[: 2 * round_]})
        assert f"learned: at most {2 * round_} in this round" == rejected(
            table, 0, {"learned": insights[: 2 * round_ + 1]}
        )
        play(table)


def test_at_most_six_learned_insights_of_each_kind() -> None:
    table = to_round(start(), 7)
    for kind in WHOLE["learned"] + [{"shared": [1, 2]}, {"most": ["Torn Box"]}]:
        assert taken_as(table, 0, {"learned": [kind] * 6})
        assert "learned: at most 6 of a kind in a round" == rejected(table, 0, {"learned": [kind] * 7})
    both = [{"line": {"rune": "Torn Box", "row": 0}}] * 3 + [{"line": {"rune": "Torn Box", "column": 0}}] * 4
    assert rejected(table, 0, {"learned": both})
    assert taken_as(table, 0, {"learned": both[1:] + [{"rune": "Torn Box"}] * 6})


@pytest.mark.parametrize(
    "guess",
    [list(UNUSED[:5]), [*UNUSED, "Torn Box"], [*UNUSED[:5], UNUSED[0]], [*UNUSED[:5], "Torn"], [], None, "x"],
)
def test_a_guess_is_a_list_of_six_different_runes(guess: Any) -> None:
    assert rejected(rich(), 0, {"guesses": [guess]})
    assert rejected(rich(), 0, {"guesses": [list(UNUSED), guess]})


def test_r8_a_guess_need_not_be_a_legal_symbol_and_may_be_the_own_one() -> None:
    boxes = ["Straight Box", "Torn Box", "Origin Box", "Cross Box", "Angled Box", "Slash Box"]
    assert rejected(opening(), 0, {"symbol": boxes})
    assert taken_as(start(), 0, {"guesses": [boxes]})
    assert taken_as(start(), 0, {"guesses": [list(SYMBOLS[0])]})


def test_artefacts_are_for_seats_that_have_them() -> None:
    table = start(artefacts={"0": ["light"], "1": ["dark"], "2": []})
    assert taken_as(table, 0, {"light": True})
    assert taken_as(table, 1, {"dark": 0})
    assert "dark: you do not have that artefact" == rejected(table, 0, {"dark": 1})
    for seat in (1, 2, 3):
        assert "light: you do not have that artefact" == rejected(table, seat, {"light": True})


@pytest.mark.parametrize("seat", [5, -1, "0", True, False, 1.0, None, [], {}])
def test_dark_names_one_of_the_five_seats(seat: Any) -> None:
    table = rich()
    assert rejected(table, 0, {"dark": seat})
    for target in range(5):
        assert {"dark": target} == taken_as(table, 0, {"dark": target})


def test_light_may_not_be_used_two_rounds_running() -> None:
    table = rich()
    play(table, {0: {"light": True}})
    assert "light: not two rounds running" == rejected(table, 0, {"light": True})
    assert not shown(table, 0)["may_light"]
    play(table)
    assert taken_as(table, 0, {"light": True})


def test_dark_may_be_used_every_round() -> None:
    table = rich()
    for _ in range(3):
        play(table, {0: {"dark": 1}})
    assert taken_as(table, 0, {"dark": 1})


def test_options_left_out_have_their_defaults() -> None:
    for given in (None, Raw(b"{}"), Raw(b"null")):
        table = Table(GAME, Deal("guardians", 0, given, given))
        assert {"rounds": 30, "artefacts": {}} == plain(table.options)
        assert {} == plain(table.setup)


def test_artefacts_are_told_back_as_given() -> None:
    given = {"3": ["light", "dark"], "1": [], "0": ["dark"]}
    options = plain(start(artefacts=given).options)
    assert given == options["artefacts"]
    assert list(given) == list(options["artefacts"])


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
