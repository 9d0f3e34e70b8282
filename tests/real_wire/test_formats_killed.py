"""Formats whose rounds depend on results, really killed: run again, the same matches come and the same table."""

from pathlib import Path

import pytest

from tests.real_wire.test_tournament_stopped import STAND_INS, cup, interrupted, killed, start, table

BOTS = ("mist_random", "mist_cautious", "mist_hunter", "mist_tracker", "any_random")
FIVE = f'game = "mist"\nbots = {list(BOTS)}\nseed = 9\n'


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        'format = "swiss"\nrounds = 5\nblocks = 6',
        'format = "knockout"\nblocks = 15',
        'format = "ladder"\nrounds = 30',
    ],
    ids=["swiss", "knockout", "ladder"],
)
def test_killed_at_any_moment_and_run_again_the_rounds_are_the_same(tmp_path: Path, text: str) -> None:
    """Each has some 120 matches: it never comes to its end before it is killed."""
    undisturbed = table(start(*STAND_INS, cup(tmp_path / "a", FIVE + text)))
    file = cup(tmp_path / "b", FIVE + text)
    killed(3, 3_000, 0.002, *STAND_INS[1:], file)
    assert undisturbed == table(start(*STAND_INS, file))
    assert interrupted(file) > 0
