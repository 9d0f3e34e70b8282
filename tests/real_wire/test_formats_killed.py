"""A format whose rounds depend on results, really killed: run again, the same matches come and the same table.

`tests/arena/tournament` has the others, whose processes are killed as far as the ledger can tell.
"""

from pathlib import Path

import pytest

from tests.real_wire.test_tournament_stopped import STAND_INS, cup, interrupted, killed, start, table

pytestmark = pytest.mark.timeout(900)
BOTS = ("mist_random", "mist_cautious", "mist_hunter", "mist_tracker", "any_random")
SWISS = f'game = "mist"\nbots = {list(BOTS)}\nseed = 9\nformat = "swiss"\nrounds = 4\nblocks = 4'


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again_the_rounds_are_the_same(tmp_path: Path) -> None:
    """It has some 60 matches, and runs thousands of lines: it never comes to its end before it is killed."""
    undisturbed = table(start(*STAND_INS, cup(tmp_path / "a", SWISS)))
    file = cup(tmp_path / "b", SWISS)
    killed(3, 3_000, 0.002, *STAND_INS[1:], file)
    assert undisturbed == table(start(*STAND_INS, file))
    assert interrupted(file) > 0
