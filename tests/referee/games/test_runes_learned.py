"""Learned insight: what it tells, and the mantra it brings."""

from typing import Any

import pytest

from tests.referee.games.runes_play import SYMBOLS, UNUSED, Json, holding, play, rejected, start

FIVE_OF_ONE = list(SYMBOLS[3][:5])


@pytest.mark.parametrize(
    ("learned", "answer", "mantra"),
    [
        # how many use it; 2 for each that does
        ({"rune": "Slash Divider"}, 2, 4),
        ({"rune": "Torn Box"}, 1, 2),
        ({"rune": UNUSED[0]}, 0, 0),
        ({"rune": "Slash Box"}, 0, 0),  # the asker's own
        ({"rune": "Cross Enclosure"}, 1, 2),  # the asker's own, and seat 4's
        # how many of that group it uses; 3 times the difference
        ({"count": {"seat": 1, "group": "Origin", "number": 3}}, 3, 0),
        ({"count": {"seat": 1, "group": "Origin", "number": 0}}, 3, 9),
        ({"count": {"seat": 1, "group": "Origin", "number": 6}}, 3, 9),
        ({"count": {"seat": 3, "group": "Splitter", "number": 1}}, 3, 6),
        ({"count": {"seat": 3, "group": "Slope", "number": 1}}, 0, 3),
        # whether it uses it; 4 if not
        ({"has": {"seat": 2, "rune": "Cross Box"}}, True, 0),
        ({"has": {"seat": 1, "rune": "Cross Box"}}, False, 4),
        # how many use it in that row or column; 5 if none
        ({"line": {"rune": "Slash Divider", "row": 1}}, 2, 0),
        ({"line": {"rune": "Slash Divider", "row": 0}}, 0, 5),
        ({"line": {"rune": "Slash Divider", "column": 0}}, 2, 0),
        ({"line": {"rune": "Cross Box", "column": 0}}, 1, 0),
        ({"line": {"rune": "Cross Box", "column": 2}}, 1, 0),
        ({"line": {"rune": "Cross Box", "column": 1}}, 0, 5),
        ({"line": {"rune": "Slash Box", "row": 0}}, 0, 5),  # the asker's own is not counted
        # how many runes they share; 6 if none
        ({"shared": [1, 3]}, 2, 0),
        ({"shared": [3, 4]}, 1, 0),
        ({"shared": [1, 2]}, 0, 6),
        # the greatest number in one seat's symbol; 3 for each named rune not in that number
        ({"most": FIVE_OF_ONE}, 5, 0),
        ({"most": [*FIVE_OF_ONE, UNUSED[0]]}, 5, 3),
        ({"most": [SYMBOLS[1][0], SYMBOLS[2][0], SYMBOLS[4][0]]}, 1, 6),
        ({"most": list(UNUSED)}, 0, 18),
        ({"most": list(SYMBOLS[0])}, 2, 12),  # the asker's own symbol is not counted
        ({"most": [UNUSED[0]]}, 0, 3),
    ],
)
def test_what_a_learned_insight_tells_and_costs(learned: Json, answer: Any, mantra: int) -> None:
    table = start()
    heard = play(table, {0: {"learned": [learned]}})
    told = heard.one(0, "learned")
    assert {"index": 0, "answer": answer, "mantra": mantra} == told
    assert type(answer) is type(told["answer"])
    assert mantra == holding(table, 0).received


def test_r1_learned_insights_count_discovered_seats_too_and_r7_discovered_seats_may_use_them() -> None:
    table = start()
    play(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    heard = play(table, {0: {"learned": [{"rune": "Torn Box"}]}, 1: {"learned": [{"rune": "Slash Box"}]}})
    assert 1 == heard.one(0, "learned")["answer"] == heard.one(1, "learned")["answer"]


def test_an_insight_about_the_asker_is_rejected() -> None:
    for learned in ({"has": {"seat": 2, "rune": "Torn Box"}}, {"shared": [2, 1]}):
        assert "learned: name other seats only" == rejected(start(), 2, {"learned": [learned]})
