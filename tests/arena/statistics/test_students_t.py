"""Student's t, against the tables."""

import numpy as np
import pytest

from arena.statistics.means import NEARLY_NORMAL, cumulative, cumulative_all, reach

TABLE = [
    (1, 12.7062),
    (2, 4.3027),
    (3, 3.1824),
    (4, 2.7764),
    (5, 2.5706),
    (10, 2.2281),
    (30, 2.0423),
    (100, 1.9840),
]


@pytest.mark.parametrize(("freedom", "errors"), TABLE)
def test_the_reach_of_a_95_percent_interval_is_that_of_the_tables(freedom: int, errors: float) -> None:
    assert errors == pytest.approx(reach(freedom, 0.95), abs=5e-5)


@pytest.mark.parametrize("freedom", [1, 2, 7, 8, NEARLY_NORMAL])
def test_below_the_middle_is_one_half_and_both_sides_make_one(freedom: int) -> None:
    assert 0.5 == cumulative(0, freedom)
    assert 1 == pytest.approx(cumulative(1.3, freedom) + cumulative(-1.3, freedom))


@pytest.mark.parametrize("freedom", [1, 2, 7, 8, NEARLY_NORMAL])
def test_many_at_once_are_as_one_by_one(freedom: int) -> None:
    values = np.array([-30.0, -1.3, 0.0, 0.4, 2.0])
    alone = [cumulative(value, freedom) for value in values.tolist()]
    assert alone == pytest.approx(cumulative_all(values, freedom).tolist(), abs=1e-12)


def test_there_is_no_step_at_the_change_to_the_normal_distribution() -> None:
    assert cumulative(2, NEARLY_NORMAL) == pytest.approx(cumulative(2, NEARLY_NORMAL - 1), abs=1e-3)


def test_one_block_reaches_without_end() -> None:
    assert float("inf") == reach(0, 0.95)
