"""Hive Mind keeps every promise of its contract while its secrets really vary; leaks planted in it are caught."""

import re
from typing import Any

import pytest

from referee.conformance import ConformanceError, check_game
from referee.games.registry import GAMES
from referee.rules import Game
from tests.referee.games.hive_mind_aid import AID
from tests.referee.games.hive_mind_leaks import LEAKS

SEEDS = range(200)
FEW = range(20)


def test_it_keeps_every_promise_over_200_seeds_with_forged_values_placements_guesses_and_blocks() -> None:
    reports = check_game(GAMES["hive-mind"], SEEDS, AID)
    assert ["recharged", "tempo-up", "gauntlet"] == [report.variant for report in reports]
    for report in reports:
        assert len(SEEDS) == report.matches
        assert 2 * report.matches < report.forged
        assert 2 * report.matches < report.remembered
        assert 10 * report.matches < report.probes
    assert [("give_token", "scores"), ("scores",), ("give_token",)] == [report.unopened for report in reports]


@pytest.mark.parametrize("planted", LEAKS, ids=lambda planted: planted.__name__)
def test_what_is_planted_is_caught_and_named(planted: type[Game[Any]]) -> None:
    with pytest.raises(ConformanceError, match=re.escape(LEAKS[planted])):
        check_game(planted(), FEW, AID)
