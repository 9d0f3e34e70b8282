"""Hive Mind's own forger for conformance: its secrets really vary, and leaks planted in it are caught.

That it keeps every promise is tested with all games.
"""

import pytest

from referee.games.registry import GAMES
from referee.proofs.conformance import check_game
from tests.long import mostly_slow
from tests.referee.games.hive_mind_forger import forge
from tests.referee.games.hive_mind_leaks import LEAKS
from tests.referee.proofs.planting import assert_caught

FEW = range(24)


@pytest.mark.slow
def test_its_secrets_are_really_swapped_values_placements_guesses_and_blocks() -> None:
    reports = check_game(GAMES["hive-mind"], FEW, forge)
    assert [("give_token", "scores"), ("scores",), ("give_token",)] == [report.unopened for report in reports]
    for report in reports:
        assert 2 * report.matches < report.forged
        assert report.windows < report.forged + report.twinned


@pytest.mark.parametrize("leak", mostly_slow(5, sorted(LEAKS)))
def test_what_is_planted_is_caught_and_named(leak: str) -> None:
    assert_caught(*LEAKS[leak], FEW, forge)
