"""Mantra: its settling, the source's worked examples, and the Power of Dark."""

from typing import Any

import pytest

from referee.games.runes_to_ruins.rounds import darken, settle
from tests.referee.games.playing import close
from tests.referee.games.runes_play import SYMBOLS, UNUSED, holding, put, start

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
