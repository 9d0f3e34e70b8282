"""Visions: what they answer, veil, mirror, and the insight for being alone with one."""

from typing import Any

import pytest

from tests.referee.games.playing import Heard, Json, close
from tests.referee.games.runes_play import SYMBOLS, UNUSED, holding, put, start

ALL = {"1": "Torn Box", "2": "Torn Divider", "3": "Straight Splitter", "4": "Cross Box"}
"""Runes that seats 1 and 3 have, and seats 2 and 4 have not."""


def asked(visions: Json, *, seat: int = 0, others: Any = None) -> Heard:
    """What a round tells in which the seat uses these visions; `others` by seat."""
    table = start()
    put(table, seat, insight=20)
    actions = {other: {"visions": each} for other, each in (others or {}).items()}
    return close(table, {seat: {"visions": visions}, **actions})


def answer(visions: Json, *, seat: int = 0, others: Any = None) -> Any:
    """The answer to the one vision asked."""
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


def test_whoever_is_the_only_seat_to_use_a_kind_of_vision_gains_1_insight() -> None:
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
