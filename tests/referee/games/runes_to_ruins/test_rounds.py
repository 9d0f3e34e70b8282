"""Rounds of Runes to Ruins: conditions, visions, learned insight, guesses and mantra."""

from typing import Any

import pytest

from referee.games.runes_to_ruins.rounds import darken, settle
from tests.referee.games.playing import Heard, Json, close, rejected
from tests.referee.games.runes_to_ruins.play import SYMBOLS, UNUSED, holding, put, start


def test_r2_a_seat_that_submits_nothing_neither_votes_nor_abstains_what_it_earns_is_told_in_full() -> None:
    told = close(start()).event(None, "insight")
    assert (["0", "1", "2", "3", "4"], {}) == (list(told["earned"]), told["positions"])


ALL = {"1": "Torn Box", "2": "Torn Divider", "3": "Straight Splitter", "4": "Cross Box"}
"""Runes that seats 1 and 3 have, and seats 2 and 4 have not."""


def asked(visions: Json, *, seat: int = 0, others: Any = None) -> Heard:
    """Play a round in which the seat uses these visions; `others` by seat."""
    table = start()
    put(table, seat, insight=20)
    actions = {other: {"visions": each} for other, each in (others or {}).items()}
    return close(table, {seat: {"visions": visions}, **actions})


def answer(visions: Json, *, seat: int = 0, others: Any = None) -> Any:
    """Return the answer to the one vision asked."""
    return asked(visions, seat=seat, others=others).event(seat, "vision")["answer"]


def test_except_tells_a_drawn_rune_of_the_seats_symbol_that_was_not_named() -> None:
    five = [rune for rune in SYMBOLS[2] if rune != "Cross Slope"][:5]
    assert "Cross Slope" == answer({"except": {"seat": 2, "runes": five}})
    seen = set()
    for rounds in range(2, 42):
        table = start(rounds=rounds)
        table.number = rounds
        put(table, 0, insight=3)
        heard = close(table, {0: {"visions": {"except": {"seat": 2, "runes": [*SYMBOLS[2][:2], *UNUSED[:3]]}}}})
        seen.add(heard.event(0, "vision")["answer"])
    assert set(SYMBOLS[2][2:]) == seen


def test_r7_revealing_the_same_rune_twice_is_allowed() -> None:
    table = start()
    for _ in range(2):
        heard = close(table, {0: {"visions": {"mirror": {"rune": "Slash Slope", "seat": 1}}}})
        assert "Slash Slope" == heard.event(None, "revealed")["rune"]


def test_the_only_seat_to_use_a_kind_of_vision_gains_1_insight() -> None:
    """Of all nine kinds: seats 0 and 1 both use `divine`, seat 0 alone `place` and `mirror`, seat 2 `veil`."""
    heard = asked(
        {"divine": "Box", "place": {"order": "divine", "position": 0}, "mirror": {"rune": "Slash Box", "seat": 1}},
        others={1: {"divine": "Slope"}, 2: {"veil": True}, 3: {"window": {"position": 0, "seat": 1}}},
    )
    held = [heard.event(seat, "purse")["insight"] for seat in range(5)]
    assert [20 - 3 + 2, 6 - 1, 6 - 1 + 1, 6 + 1, 6] == held


def test_r1_visions_ask_discovered_seats_too_and_r7_they_may_ask() -> None:
    table = start()
    close(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    assert 2 == holding(table, 1).discovered
    heard = close(table, {0: {"visions": {"assign": ALL}}, 1: {"visions": {"divine": "Box"}}})
    assert heard.event(0, "vision")["answer"]["1"]
    assert ["0", "2", "3", "4"] == list(heard.event(1, "vision")["answer"])


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
    heard = close(table, {0: mirror, 1: {"visions": visions}})
    assert {"type": "mirrored", "of": 1, "kind": kind, "answer": expected} == heard.event(0, "mirrored")


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
    heard = close(table, {0: mirror, 1: {"learned": [learned]}})
    (kind,) = learned
    answer_ = heard.event(0, "mirrored")
    assert {"type": "mirrored", "of": 1, "kind": kind, "answer": expected} == answer_
    assert type(expected) is type(answer_["answer"])


def test_r3_window_mirror_and_veil_are_no_questions_for_mirror() -> None:
    table = start()
    asker = {"window": {"position": 0, "seat": 0}, "mirror": {"rune": "Torn Box", "seat": 0}, "veil": True}
    heard = close(table, {0: {"visions": {"mirror": {"rune": "Slash Box", "seat": 1}}}, 1: {"visions": asker}})
    assert [] == heard.of(0, "mirrored") == heard.of(1, "mirrored")


def test_r1_learned_insights_count_discovered_seats_too_and_r7_discovered_seats_may_use_them() -> None:
    table = start()
    close(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    heard = close(table, {0: {"learned": [{"rune": "Torn Box"}]}, 1: {"learned": [{"rune": "Slash Box"}]}})
    assert 1 == heard.event(0, "learned")["answer"] == heard.event(1, "learned")["answer"]


def test_an_insight_about_the_asker_is_rejected() -> None:
    for learned in ({"has": {"seat": 2, "rune": "Torn Box"}}, {"shared": [2, 1]}):
        assert "learned: name other seats only" == rejected(start(), 2, {"learned": [learned]})


def guess(runes: Any, *, seat: int = 0) -> dict[str, int]:
    """Return the counts told for a guess in round 2, without its index."""
    told = close(start(), {seat: {"guesses": [runes]}}).event(seat, "guess")
    return {key: told[key] for key in told if key not in ("index", "type")}


def test_the_three_counts_right_place_wrong_place_and_another_of_a_shared_group_there() -> None:
    """Against seat 1: Origin Slope in place, Torn Box elsewhere, Origin Divider sharing a group there."""
    runes = ["Origin Slope", "Torn Box", "Slash Slope", "Cross Splitter", "Straight Zig-Zag", "Origin Divider"]
    assert ["Torn Box", "Slash Divider", "Torn Splitter", "Origin Enclosure"] == list(SYMBOLS[1][2:])
    assert {"exact": 1, "moved": 1, "group": 1} == guess(runes)


def found(finders: dict[int, list[Any]]) -> Heard:
    table = start()
    for seat in finders:
        put(table, seat, insight=10)
    return close(table, {seat: {"guesses": guesses} for seat, guesses in finders.items()})


def test_finding_the_same_symbol_twice_gains_once_and_two_symbols_gain_twice() -> None:
    assert 10 - 1 + 10 == found({0: [list(SYMBOLS[3])] * 2}).event(0, "purse")["insight"]
    assert 10 - 1 + 20 == found({0: [list(SYMBOLS[3]), list(SYMBOLS[4])]}).event(0, "purse")["insight"]


def test_r1_guesses_leave_out_seats_discovered_in_an_earlier_round() -> None:
    table = start()
    close(table, {1: {"guesses": [list(SYMBOLS[3])]}})
    told = close(table, {0: {"guesses": [list(SYMBOLS[3])]}}).event(0, "guess")
    assert told["exact"] < 6
    assert [] == close(table, {0: {"guesses": [list(SYMBOLS[3])]}}).of(None, "discovered")


def test_under_light_no_guess_is_compared_with_the_seat_this_round() -> None:
    table = start(artefacts={"3": ["light"]})
    heard = close(table, {3: {"light": True}, 0: {"guesses": [list(SYMBOLS[3])]}})
    assert [] == heard.of(None, "discovered")
    assert heard.event(0, "guess")["exact"] < 6
    assert ((0, 0, 0),) * 5 == holding(table, 3).nearest
    heard = close(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    assert {"type": "discovered", "seats": [3]} == heard.event(None, "discovered")


def test_r7_discovered_seats_go_on_guessing_and_are_paid() -> None:
    table = start()
    close(table, {0: {"guesses": [list(SYMBOLS[3])]}})
    before = holding(table, 3).insight
    heard = close(table, {3: {"guesses": [list(SYMBOLS[4])]}})
    assert before + 10 == heard.event(3, "purse")["insight"]
    assert {"3"} < set(heard.event(None, "insight")["earned"])


DARK = {"0": ["dark"], "1": ["dark"], "2": ["dark"]}


@pytest.mark.parametrize(
    ("insight", "mantra", "left"),
    [
        (3, 17, (2, 4)),
        (0, 17, (0, 11)),
        (6, 100, (0, 0)),
    ],
)
def test_the_sources_three_worked_examples(insight: int, mantra: int, left: tuple[int, int]) -> None:
    assert left == settle(insight, mantra)


@pytest.mark.parametrize(
    ("mantra", "times", "after"),
    [
        (0, 1, 10),
        (9, 1, 19),
        (10, 1, 20),
        (14, 1, 24),
        (15, 1, 30),
        (100, 1, 200),
        (104, 1, 204),
        (17, 2, 62),
        (0, 3, 40),
        (3, 0, 3),
    ],
)
def test_r4_dark_adds_5_for_every_full_5_at_least_10_one_use_after_another(
    mantra: int, times: int, after: int
) -> None:
    assert after == darken(mantra, times)


def test_r4_dark_acts_after_this_rounds_learned_insight_and_before_the_settling() -> None:
    """18 from a learned insight make 33, of which 6 go for free."""
    table = start(artefacts=DARK)
    put(table, 0, insight=0)
    heard = close(table, {0: {"learned": [{"most": list(UNUSED)}]}, 1: {"dark": 0}})
    assert {"type": "purse", "insight": 0, "mantra": 27} == heard.event(0, "purse")


@pytest.mark.parametrize("actions", [{}, {seat: {"guesses": [list(SYMBOLS[seat - 1])]} for seat in (1, 2, 3, 4)}])
def test_dark_is_without_effect_in_the_matchs_last_round_whichever_way_it_ends(actions: Any) -> None:
    table = start(artefacts=DARK, rounds=30 if actions else 2)
    heard = close(table, {0: {"dark": 4}} | actions)
    assert table.outcome is not None
    assert ("discovered" if actions else "rounds") == table.outcome.reason
    assert 0 == heard.event(4, "purse")["mantra"]
    assert 0 == holding(table, 4).received
