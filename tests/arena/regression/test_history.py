"""A regression test's way, from the matches in its ledger alone: the same as the test itself went."""

from itertools import pairwise
from random import Random

import pytest

from arena.regression import history_of
from arena.regression.model import BASE, FIELD, HEAD, BlockTally, SeatedResult
from arena.statistics import Played, Progress, Verdict
from tests.arena.regression.test_model import asked
from tests.arena.simulated import result

TERMS = {"test.elo0": 0.0, "test.elo1": 30.0, "test.alpha": 0.05, "test.beta": 0.05, "test.model": "normalized"}


def head_to_head(blocks: int, share: float) -> list[Played]:
    rng = Random(3)
    rankings = [[[1], [0]], [[0], [1]]]
    return [
        result(block, seating, ((BASE, HEAD), (HEAD, BASE))[seating], rankings[seating ^ (rng.random() > share)])
        for block in range(blocks)
        for seating in (0, 1)
    ]


@pytest.mark.parametrize(("share", "verdict"), [(0.8, Verdict.ACCEPTED), (0.2, Verdict.REJECTED)])
def test_it_ends_where_the_test_ends(share: float, verdict: Verdict) -> None:
    played = head_to_head(600, share)
    tally = BlockTally(asked(elo1=30.0))
    for match in played:
        tally.ended(match.block, match.seating, SeatedResult(match.entrants, match.outcome))
    # Some blocks were under way when it was decided.
    found = history_of(TERMS, played[: 2 * (tally.state.blocks + 20)])
    assert (verdict, tally.state) == (found.state.verdict, found.state)
    assert tally.state.blocks == len(found.differences)
    assert found.decided


def test_of_a_long_one_some_states_are_kept_and_the_last() -> None:
    found = history_of(TERMS | {"test.elo1": 0.5}, head_to_head(2_000, 0.5))
    assert not found.decided
    assert 2_000 == found.state.blocks
    assert len(found.states) < 600
    assert all(before.blocks < after.blocks for before, after in pairwise(found.states))
    assert isinstance(found.state, Progress)
    assert 2_000 == sum(found.state.counts)


def test_blocks_behind_one_that_is_missing_wait() -> None:
    played = [match for match in head_to_head(10, 0.8) if match.block != 4]
    assert 4 == history_of(TERMS, played).state.blocks


def test_nothing_played_says_nothing() -> None:
    found = history_of(TERMS, [])
    assert (0, 0.0, None) == (found.state.blocks, found.mean, found.interval)


def test_of_more_seats_it_goes_by_differences() -> None:
    """Head is first in every match and base last."""
    seated = [(HEAD, FIELD, FIELD + 1), (BASE, FIELD, FIELD + 1)]
    played = [
        result(block, seating, seated[seating], [[0], [1], [2]] if seating == 0 else [[1], [2], [0]])
        for block in range(30)
        for seating in (0, 1)
    ]
    terms = {"test.low": 0.0, "test.high": 0.05, "test.alpha": 0.05, "test.beta": 0.05}
    found = history_of(terms, played)
    assert Verdict.ACCEPTED is found.state.verdict
    assert 1.0 == found.mean
