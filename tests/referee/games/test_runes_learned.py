"""Learned insight: what it tells, and the mantra it brings."""

from tests.referee.games.playing import close, rejected
from tests.referee.games.runes_play import SYMBOLS, start


def test_r1_learned_insights_count_discovered_seats_too_and_r7_discovered_seats_may_use_them() -> None:
    table = start()
    close(table, {0: {"guesses": [list(SYMBOLS[1])]}})
    heard = close(table, {0: {"learned": [{"rune": "Torn Box"}]}, 1: {"learned": [{"rune": "Slash Box"}]}})
    assert 1 == heard.event(0, "learned")["answer"] == heard.event(1, "learned")["answer"]


def test_an_insight_about_the_asker_is_rejected() -> None:
    for learned in ({"has": {"seat": 2, "rune": "Torn Box"}}, {"shared": [2, 1]}):
        assert "learned: name other seats only" == rejected(start(), 2, {"learned": [learned]})
