"""Every game of the registry keeps the promises of its contract."""

from typing import Any

import pytest

from referee.conformance import Aid, check_game
from referee.games.registry import GAMES
from referee.rules import Game
from tests.referee.games.hive_mind_aid import AID as HIVE_MIND_AID

SEEDS = range(200)
AIDS = {"hive-mind": HIVE_MIND_AID}
"""What games lend to their examination."""


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_registered_game_keeps_every_promise_over_200_seeds(game: Game[Any]) -> None:
    reports = check_game(game, SEEDS, AIDS.get(game.name, Aid()))
    assert [variant.name for variant in game.variants] == [report.variant for report in reports]
    for report in reports:
        assert len(SEEDS) == report.matches
        assert 10 * report.matches < report.twinned + report.forged + report.remembered
        assert 10 * report.matches < report.probes
        assert 0 < report.remembered
