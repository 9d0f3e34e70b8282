"""What stands in for parts of NumPy."""

import numpy as np
import pytest

from arena.arrays import distinct


@pytest.mark.parametrize("values", [[], [3], [2, 0, 2, -1, 0], [[5, 1], [1, 5]]])
def test_distinct_values_are_those_that_numpy_finds(values: list[int]) -> None:
    given = np.array(values, dtype=np.int64)
    assert np.unique(given).tolist() == distinct(given).tolist()
