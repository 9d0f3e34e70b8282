"""Visions: what they answer, veil, mirror, and the insight for being alone with one."""

from typing import Any

import pytest

from tests.referee.games.runes_play import SYMBOLS, UNUSED, Heard, Json, holding, play, put, rejected, start

ALL = {"1": "Torn Box", "2": "Torn Divider", "3": "Straight Splitter", "4": "Cross Box"}
"""Runes that seats 1 and 3 have, and seats 2 and 4 have not."""


def asked(visions: Json, *, seat: int = 0, others: Any = None) -> Heard:
    """What a round tells in which the seat uses these visions; `others` by seat."""
    table = start()
    put(table, seat, insight=20)
    actions = {other: {"visions": each} for other, each in (others or {}).items()}
    return play(table, {seat: {"visions": visions}, **actions})


def answer(visions: Json, *, seat: int = 0, others: Any = None) -> Any:
    """The answer to the one vision asked."""
    return asked(visions, seat=seat, others=others).one(seat, "vision")["answer"]


def test_assign_tells_of_each_other_seat_whether_it_uses_the_rune_assigned_to_it() -> None:
    assert {"1": True, "2": False, "3": True, "4": False} == answer({"assign": ALL})


def test_assign_answers_by_seat_whatever_the_order_it_was_asked_in() -> None:
    assert ["1", "2", "3", "4"] == list(answer({"assign": dict(reversed(ALL.items()))}))


@pytest.mark.parametrize(
    ("visions", "expected"),
    [
        ({"divine": "Zig-Zag"}, {"1": True, "2": True, "3": True, "4": True}),
        ({"divine": "Divider"}, {"1": True, "2": True, "3": False, "4": True}),
        ({"mundane": "Cross"}, {"1": False, "2": True, "3": True, "4": True}),
        ({"mundane": "Straight"}, {"1": False, "2": False, "3": True, "4": True}),
    ],
)
def test_divine_and_mundane_tell_which_other_seats_use_a_rune_of_the_group(visions: Json, expected: Json) -> None:
    assert expected == answer(visions)


@pytest.mark.parametrize(
    ("visions", "straight"),
    [
        ({"assign": ALL}, {"1": True, "2": False, "3": True, "4": False}),
        ({"divine": "Divider"}, {"1": True, "2": True, "3": False, "4": True}),
        ({"mundane": "Cross"}, {"1": False, "2": True, "3": True, "4": True}),
    ],
)
def test_veil_turns_the_answers_of_these_three_about_its_seat_this_round(visions: Json, straight: Json) -> None:
    turned = answer(visions, others={3: {"veil": True}, 2: {"veil": True}})
    assert straight | {"3": not straight["3"], "2": not straight["2"]} == turned


def test_veil_turns_no_other_answer_and_none_of_a_later_round() -> None:
    """R3: it turns booleans only."""
    table = start()
    put(table, 0, insight=20)
    visions = {
        "pattern": {"groups": ["Origin"] * 6, "seats": [1]},
        "place": {"order": "divine", "position": 0},
        "except": {"seat": 1, "runes": list(SYMBOLS[1][:5])},
        "window": {"position": 2, "seat": 1},
    }
    heard = play(
        table,
        {
            0: {"visions": visions, "learned": [{"has": {"seat": 1, "rune": "Torn Box"}}]},
            1: {"visions": {"veil": True}},
        },
    )
    answers = [each["answer"] for each in heard.of(0, "vision")]
    assert [[1, 1, 0, 0, 0, 1], ["Box", "Slope", "Splitter"], "Origin Enclosure", "Torn Box"] == answers
    assert heard.one(0, "learned")["answer"] is True
    heard = play(table, {0: {"visions": {"divine": "Divider"}}})
    assert {"1": True, "2": True, "3": False, "4": True} == heard.one(0, "vision")["answer"]


def test_veil_itself_is_told_nothing_and_is_told_to_nobody() -> None:
    quiet, veiled = asked({}), asked({}, others={1: {"veil": True}})
    assert [] == veiled.of(1, "vision")
    assert quiet.public == veiled.public
    assert all(quiet.seats[seat] == veiled.seats[seat] for seat in (0, 2, 3, 4))


def test_pattern_tells_for_each_position_how_many_of_the_named_seats_have_the_group_there() -> None:
    groups = ["Origin", "Splitter", "Box", "Divider", "Zig-Zag", "Cross"]
    one = [1, 0, 1, 1, 0, 0]
    two = [0, 1, 0, 0, 1, 1]
    three = [0, 1, 0, 0, 1, 1]
    four = [0, 0, 0, 1, 0, 0]
    for seats, expected in (
        ([1], one),
        ([2], two),
        ([3], three),
        ([4], four),
        ([1, 2, 3, 4], [sum(each) for each in zip(one, two, three, four, strict=True)]),
        ([4, 1], [sum(each) for each in zip(one, four, strict=True)]),
    ):
        assert expected == answer({"pattern": {"groups": groups, "seats": seats}})


def test_place_tells_the_groups_any_other_seat_has_there_sorted_but_not_how_often() -> None:
    """In position 4 the others have Torn Splitter, Slash Zig-Zag, Origin Zig-Zag and Origin Splitter."""
    assert ["Splitter", "Zig-Zag"] == answer({"place": {"order": "divine", "position": 4}})
    assert ["Origin", "Slash", "Torn"] == answer({"place": {"order": "mundane", "position": 4}})
    assert ["Origin", "Slash"] == answer({"place": {"order": "mundane", "position": 4}}, seat=1)


def test_except_tells_a_drawn_rune_of_the_seats_symbol_that_was_not_named() -> None:
    five = [rune for rune in SYMBOLS[2] if rune != "Cross Slope"][:5]
    assert "Cross Slope" == answer({"except": {"seat": 2, "runes": five}})
    seen = set()
    for rounds in range(2, 42):
        table = start(rounds=rounds)
        table.number = rounds
        put(table, 0, insight=3)
        heard = play(table, {0: {"visions": {"except": {"seat": 2, "runes": [*SYMBOLS[2][:2], *UNUSED[:3]]}}}})
        seen.add(heard.one(0, "vision")["answer"])
    assert set(SYMBOLS[2][2:]) == seen


def test_window_tells_the_rune_there_and_reveals_the_own_one_with_its_position_to_all() -> None:
    heard = asked({"window": {"position": 3, "seat": 4}})
    assert {"kind": "window", "answer": "Slash Divider"} == heard.one(0, "vision")
    assert {"seat": 0, "rune": "Straight Divider", "position": 3} == heard.one(None, "revealed")


def test_window_is_for_once_a_match_and_not_when_discovered() -> None:
    table = start()
    play(table, {0: {"visions": {"window": {"position": 3, "seat": 4}}}})
    assert "window: once a match" == rejected(table, 0, {"visions": {"window": {"position": 1, "seat": 2}}})
    play(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    window = {"visions": {"window": {"position": 1, "seat": 2}}}
    assert "window: not for a seat that has been discovered" == rejected(table, 1, window)


def test_mirror_reveals_an_own_rune_without_its_position_to_all() -> None:
    heard = asked({"mirror": {"rune": "Slash Slope", "seat": 1}})
    assert {"seat": 0, "rune": "Slash Slope", "position": None} == heard.one(None, "revealed")
    assert [] == heard.of(0, "vision") == heard.of(0, "mirrored")


def test_revealed_is_told_by_seat_mirror_before_window() -> None:
    both = {"mirror": {"rune": SYMBOLS[0][5], "seat": 1}, "window": {"position": 0, "seat": 1}}
    heard = asked(
        both, others={3: {"window": {"position": 5, "seat": 1}}, 1: {"window": {"position": 1, "seat": 0}}}
    )
    assert [(0, None), (0, 0), (1, 1), (3, 5)] == [
        (each["seat"], each["position"]) for each in heard.of(None, "revealed")
    ]


def test_r7_revealing_the_same_rune_twice_is_allowed() -> None:
    table = start()
    for _ in range(2):
        heard = play(table, {0: {"visions": {"mirror": {"rune": "Slash Slope", "seat": 1}}}})
        assert "Slash Slope" == heard.one(None, "revealed")["rune"]


def test_whoever_is_the_only_seat_to_use_a_kind_of_vision_gains_1_insight() -> None:
    """Of all nine kinds: seats 0 and 1 both use `divine`, seat 0 alone `place` and `mirror`, seat 2 `veil`."""
    heard = asked(
        {"divine": "Box", "place": {"order": "divine", "position": 0}, "mirror": {"rune": "Slash Box", "seat": 1}},
        others={1: {"divine": "Slope"}, 2: {"veil": True}, 3: {"window": {"position": 0, "seat": 1}}},
    )
    held = [heard.one(seat, "purse")["insight"] for seat in range(5)]
    assert [20 - 3 + 2, 6 - 1, 6 - 1 + 1, 6 + 1, 6] == held


def test_visions_are_answered_in_their_order_whatever_order_they_were_asked_in() -> None:
    heard = asked(
        {
            "window": {"position": 0, "seat": 1},
            "except": {"seat": 1, "runes": []},
            "mundane": "Torn",
            "mirror": {"rune": "Slash Box", "seat": 1},
            "veil": True,
            "divine": "Box",
            "place": {"order": "divine", "position": 0},
            "assign": ALL,
            "pattern": {"groups": ["Box"] * 6, "seats": [1]},
        }
    )
    kinds = [each["kind"] for each in heard.of(0, "vision")]
    assert ["assign", "divine", "mundane", "pattern", "place", "except", "window"] == kinds


def test_r1_visions_ask_discovered_seats_too_and_r7_they_may_ask() -> None:
    table = start()
    play(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    assert 2 == holding(table, 1).discovered
    heard = play(table, {0: {"visions": {"assign": ALL}}, 1: {"visions": {"divine": "Box"}}})
    assert heard.one(0, "vision")["answer"]["1"]
    assert ["0", "2", "3", "4"] == list(heard.one(1, "vision")["answer"])


@pytest.mark.parametrize(
    ("visions", "kind", "expected"),
    [
        ({"assign": {"0": "Torn Box", "2": "Cross Box", "3": UNUSED[0], "4": UNUSED[1]}}, "assign", True),
        ({"assign": {"0": "Cross Box", "2": "Torn Box", "3": UNUSED[0], "4": UNUSED[1]}}, "assign", False),
        ({"divine": "Box"}, "divine", True),
        ({"mundane": "Straight"}, "mundane", False),
        ({"pattern": {"groups": ["Origin"] * 6, "seats": [0, 2]}}, "pattern", [1, 1, 0, 0, 0, 1]),
        ({"place": {"order": "mundane", "position": 3}}, "place", ["Slash"]),
        ({"except": {"seat": 0, "runes": list(SYMBOLS[1][1:])}}, "except", "Origin Slope"),
    ],
)
def test_r6_mirrored_visions_are_answered_about_the_asker_and_keep_their_shape(
    visions: Json, kind: str, expected: Any
) -> None:
    """Seat 1 asks, seat 0 mirrors it."""
    table = start()
    mirror = {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}
    heard = play(table, {0: mirror, 1: {"visions": visions}})
    assert {"of": 1, "kind": kind, "answer": expected} == heard.one(0, "mirrored")


@pytest.mark.parametrize(
    ("learned", "expected"),
    [
        ({"rune": "Torn Box"}, 1),
        ({"rune": "Cross Box"}, 0),
        ({"count": {"seat": 0, "group": "Origin", "number": 6}}, 3),
        ({"has": {"seat": 0, "rune": "Torn Splitter"}}, True),
        ({"has": {"seat": 0, "rune": "Cross Box"}}, False),
        ({"line": {"rune": "Torn Box", "row": 0}}, 1),
        ({"line": {"rune": "Torn Box", "column": 2}}, 1),
        ({"line": {"rune": "Torn Box", "row": 1}}, 0),
        ({"most": ["Torn Box", "Origin Slope", "Cross Box", "Slash Box"]}, 2),
    ],
)
def test_r6_mirrored_learned_insights_are_answered_about_the_asker(learned: Json, expected: Any) -> None:
    table = start()
    mirror = {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}
    heard = play(table, {0: mirror, 1: {"learned": [learned]}})
    (kind,) = learned
    answer_ = heard.one(0, "mirrored")
    assert {"of": 1, "kind": kind, "answer": expected} == answer_
    assert type(expected) is type(answer_["answer"])


def test_r6_a_mirrored_shared_is_the_number_of_runes_the_asker_shares_with_the_mirroring_seat() -> None:
    """Seat 3 asks about 1 and 2, and shares two runes with 1 and one with 2; it is told of 1 and 2 themselves."""
    table = start()
    mirrors = {seat: {"visions": {"mirror": {"rune": SYMBOLS[seat][0], "seat": 3}}} for seat in (0, 1, 2)}
    heard = play(table, mirrors | {3: {"learned": [{"shared": [1, 2]}]}})
    assert 0 == heard.one(3, "learned")["answer"]
    assert 2 == heard.one(1, "mirrored")["answer"]
    assert 1 == heard.one(2, "mirrored")["answer"]
    assert [] == heard.of(0, "mirrored")


def test_a_question_that_neither_names_nor_covers_the_mirroring_seat_is_not_mirrored() -> None:
    table = start()
    put(table, 1, insight=20)
    elsewhere = {
        "visions": {"pattern": {"groups": ["Box"] * 6, "seats": [2, 3]}, "except": {"seat": 2, "runes": []}},
        "learned": [
            {"count": {"seat": 2, "group": "Box", "number": 1}},
            {"has": {"seat": 3, "rune": "Torn Box"}},
            {"shared": [2, 3]},
        ],
    }
    heard = play(table, {0: {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}, 1: elsewhere})
    assert [] == heard.of(0, "mirrored")


def test_r3_window_mirror_and_veil_are_no_questions_for_mirror() -> None:
    table = start()
    asker = {"window": {"position": 0, "seat": 0}, "mirror": {"rune": "Torn Box", "seat": 0}, "veil": True}
    heard = play(table, {0: {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}, 1: {"visions": asker}})
    assert [] == heard.of(0, "mirrored") == heard.of(1, "mirrored")


def test_r3_mirror_answers_are_never_turned() -> None:
    table = start()
    put(table, 1, insight=20)
    asker = {"veil": True, "divine": "Box", "mundane": "Straight"}
    heard = play(
        table, {0: {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}, "veil": True}}, 1: {"visions": asker}}
    )
    assert [True, False] == [each["answer"] for each in heard.of(0, "mirrored")]


def test_the_asker_is_not_told_that_it_was_mirrored_but_for_the_rune_that_all_see() -> None:
    table, other = start(), start()
    action = {"visions": {"divine": "Box"}, "learned": [{"rune": "Torn Box"}]}
    mirror = {"mirror": {"rune": "Slash Box", "seat": 1}}
    heard = play(table, {0: {"visions": mirror}, 1: action})
    elsewhere = play(other, {0: {"visions": {"mirror": {**mirror["mirror"], "seat": 2}}}, 1: action})
    assert elsewhere.seats[1] == heard.seats[1]
    assert elsewhere.public == heard.public


def test_mirrored_answers_come_visions_first_then_learned_as_given() -> None:
    table = start()
    put(table, 1, insight=20)
    action = {
        "learned": [{"most": ["Torn Box"]}, {"shared": [0, 2]}, {"rune": "Torn Box"}],
        "visions": {
            "except": {"seat": 0, "runes": []},
            "place": {"order": "divine", "position": 0},
            "divine": "Box",
        },
    }
    heard = play(table, {0: {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}, 1: action})
    kinds = [each["kind"] for each in heard.of(0, "mirrored")]
    assert ["divine", "place", "except", "most", "shared", "rune"] == kinds
    assert heard.of(0, "mirrored")[2]["answer"] in SYMBOLS[1]


def test_a_seat_is_told_condition_visions_learned_mirrored_guesses_purse_in_this_order() -> None:
    table = start()
    put(table, 0, insight=20)
    heard = play(
        table,
        {
            0: {
                "guesses": [list(UNUSED)] * 2,
                "learned": [{"rune": "Torn Box"}],
                "visions": {"mirror": {"rune": "Slash Box", "seat": 1}, "divine": "Box"},
                "told": True,
            },
            1: {"learned": [{"rune": "Torn Box"}]},
        },
    )
    told = [event["type"] for event in heard.seats[0]]
    assert ["condition", "vision", "learned", "mirrored", "guess", "guess", "purse"] == told
