"""How long a tournament will take."""

import pytest

from arena.checks.field import forecast
from arena.schedule.blocks import SWAPPED, Block


def test_bots_think_at_the_same_time_or_one_after_the_other() -> None:
    """The first two take 1 s a match beside their own 3 and 5 s; the third was not measured."""
    blocks = [Block(0, 0, (0, 1), SWAPPED, 7), Block(1, 1, (0, 2), SWAPPED, 7)]
    times = {0: (4.0, 3.0), 1: (6.0, 5.0)}
    found = forecast(blocks, 8, times, at_once=2)
    assert found is not None
    first, second = (5 + 1, 4 + 1), (8 + 1, 7 + 1)
    assert 2 * sum(first) * 2 / 2 == pytest.approx(found.lower_seconds)
    assert 2 * sum(second) * 2 / 2 == pytest.approx(found.upper_seconds)


def test_there_is_no_forecast_without_a_measurement() -> None:
    assert forecast([], 8, {}, at_once=2) is None
