"""Mean points with their interval, against values worked out by hand and from the tables."""

from math import sqrt

import pytest

from arena.statistics.means import mean_points


def test_blocks_of_one_match_have_the_interval_of_students_t_with_one_degree_of_freedom_less() -> None:
    """Of 0.4, 0.5, 0.6 the standard deviation is 0.1; the tables have 4.3027 for two degrees of freedom."""
    found = mean_points([(0, 0.4), (1, 0.5), (2, 0.6)])
    aside = 4.3027 * 0.1 / sqrt(3)
    assert 3 == found.blocks
    assert 0.5 == pytest.approx(found.mean)
    assert (0.5 - aside, 0.5 + aside) == pytest.approx((found.low, found.high), abs=1e-5)


def test_matches_of_a_block_count_as_one_draw() -> None:
    """A block of two equal matches weighs twice as much, and tells no more of how blocks differ."""
    found = mean_points([(0, 0.4), (0, 0.4), (1, 0.6), (1, 0.6), (2, 0.5), (2, 0.5)])
    alone = mean_points([(0, 0.4), (1, 0.6), (2, 0.5)])
    assert 3 == found.blocks
    assert (alone.low, alone.high) == pytest.approx((found.low, found.high))


def test_blocks_of_unequal_sizes_are_weighed_by_their_matches() -> None:
    """Residuals of the blocks are -0.75 and 0.75 in four matches: 12.7062 errors of sqrt(2 * 1.125) / 4."""
    found = mean_points([(0, 0.0), (0, 0.5), (0, 0.5), (1, 1.0)])
    assert 0.5 == found.mean
    assert (0.0, 1.0) == (found.low, found.high)
    many = mean_points([(block, 0.4 + block % 2 / 5) for block in range(40) for _ in range(1 + block % 2)])
    assert 0.4 * 20 + 0.6 * 40 == pytest.approx(60 * many.mean)
    residual = 20 * (0.4 - many.mean) ** 2 + 20 * (2 * (0.6 - many.mean)) ** 2
    aside = 2.0227 * sqrt(40 / 39 * residual) / 60
    assert many.mean - aside == pytest.approx(many.low, abs=1e-5)
    assert many.mean + aside == pytest.approx(many.high, abs=1e-5)


@pytest.mark.parametrize(("blocks", "aside"), [(1, 0.975), (2, 0.8419), (10, 0.3085)])
def test_the_interval_of_only_wins_or_losses_is_clopper_and_pearsons(blocks: int, aside: float) -> None:
    won = mean_points([(block, 1.0) for block in range(blocks)])
    lost = mean_points([(block, 0.0) for block in range(blocks)])
    assert (1.0, 1 - aside, 1.0) == pytest.approx((won.mean, won.low, won.high), abs=1e-4)
    assert (0.0, 0.0, aside) == pytest.approx((lost.mean, lost.low, lost.high), abs=1e-4)


def test_one_block_that_is_neither_tells_nothing() -> None:
    found = mean_points([(7, 0.0), (7, 1.0)])
    assert (0.5, 0.0, 1.0, 1) == (found.mean, found.low, found.high, found.blocks)
