"""What luck draws in fewer steps is what Python's own `random` draws: seeds of old matches lead to the same."""

from random import Random

import pytest

from referee.rules import below, choice, sample, shuffle


@pytest.mark.parametrize("count", [1, 2, 5, 6, 12, 21, 22, 60, 85, 86, 200])
def test_draws_are_those_of_random(count: int) -> None:
    """Also what is left in the stream is the same."""
    for seed in range(20):
        ours, theirs = Random(seed), Random(seed)
        items, others = list(range(count)), list(range(count))
        shuffle(ours, items)
        theirs.shuffle(others)
        assert items == others
        for drawn in {0, 1, min(5, count), min(6, count), count // 2, count}:
            assert sample(ours, items, drawn) == theirs.sample(items, drawn)
        assert choice(ours, items) == theirs.choice(items)
        assert below(ours, count) == theirs.randrange(count)
        assert ours.getstate() == theirs.getstate()
