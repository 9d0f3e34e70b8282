"""Every game of the registry keeps the promises of its contract."""

import pytest

from referee.games import GAMES
from referee.proofs.conformance import check_game
from referee.rules.contract import AnyGame
from tests.long import LONG, cases
from tests.referee.games.hive_mind.forger import forge

SEEDS = range(cases(2, 100))
pytestmark = [pytest.mark.slow] if LONG else []
"""Then they are the longest of all tests, and are begun first."""
FORGERS = {"hive-mind": forge}


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_registered_game_keeps_every_promise(game: AnyGame) -> None:
    reports = check_game(game, SEEDS, FORGERS.get(game.name), shared=LONG)
    assert [variant.name for variant in game.variants] == [report.variant for report in reports]
    assert len(SEEDS) * (1 if LONG else len(reports)) == sum(report.matches for report in reports)
    for report in reports:
        assert report.windows < 3 * report.twinned
        assert report.windows < report.probes
        # Where what all are told at the start never repeats, the game's own disguises stand in for other matches.
        assert report.remembered + report.disguised or not LONG
