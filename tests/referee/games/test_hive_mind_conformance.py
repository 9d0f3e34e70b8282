"""Hive Mind's own aid to conformance: its secrets really vary, and leaks planted in it are caught.

That it keeps every promise over 200 seeds is tested with all games.
"""

import re
from typing import Any

import pytest

from referee.conformance import ConformanceError, check_game
from referee.games.registry import GAMES
from referee.rules import Game
from tests.referee.games.hive_mind_aid import AID
from tests.referee.games.hive_mind_leaks import LEAKS

FEW = range(20)


def test_its_secrets_are_really_swapped_values_placements_guesses_and_blocks() -> None:
    """Every window of every match but those that few matches open is compared with a forged one."""
    for report in check_game(GAMES["hive-mind"], FEW, AID):
        assert 2 * report.matches < report.forged
        assert report.windows < report.forged + report.twinned


def test_every_window_opens_where_players_are_clumsy_enough_to_tie() -> None:
    reports = check_game(GAMES["hive-mind"], FEW)
    assert [("give_token", "scores"), ("scores",), ("give_token",)] == [report.unopened for report in reports]


@pytest.mark.parametrize("planted", LEAKS, ids=lambda planted: planted.__name__)
def test_what_is_planted_is_caught_and_named(planted: type[Game[Any]]) -> None:
    with pytest.raises(ConformanceError, match=re.escape(LEAKS[planted])):
        check_game(planted(), FEW, AID)
