"""Ratings that move with each match: Glicko's for two seats, and what goes for any number."""

from collections.abc import Sequence
from math import exp, pi, sqrt

import numpy as np
import pytest

from arena.statistics.ratings import ELO
from arena.statistics.running import MIDDLE, START, START_ERROR, learn, shown, widened


def after(means: Sequence[float], variances: Sequence[float], *ranking: Sequence[int]) -> tuple[list[float], ...]:
    """Means and variances after a match of all in their order."""
    found = list(means), list(variances)
    learn(*found, range(len(means)), ranking)
    return found


def test_for_two_seats_it_is_glickos_rule() -> None:
    """Glickman 1999, equations 7, 9 and 10, in log-strengths."""
    means, variances = (0.4, -0.3), (0.5, 0.2)
    flat = 1 / sqrt(1 + 3 * variances[1] / pi**2)
    expected = 1 / (1 + exp(-flat * (means[0] - means[1])))
    variance = 1 / (1 / variances[0] + flat**2 * expected * (1 - expected))
    mean = means[0] + variance * flat * (1 - expected)
    found = after(means, variances, (0,), (1,))
    assert (mean, variance) == pytest.approx((found[0][0], found[1][0]))


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_a_tie_of_equal_bots_moves_none_and_reduces_all_errors(seats: int) -> None:
    means, variances = after([0.0] * seats, [START] * seats, range(seats))
    assert means == pytest.approx([0.0] * seats)
    assert max(variances) < START
    assert variances == pytest.approx([variances[0]] * seats)


@pytest.mark.parametrize("seats", [2, 5, 13])
def test_a_bot_ranked_before_others_rises_and_known_ratings_move_less(seats: int) -> None:
    order = [(seat,) for seat in range(seats)]
    means, variances = after([0.0] * seats, [START] * seats, *order)
    assert sorted(means, reverse=True) == means
    assert all(each < START for each in variances)
    known, _ = after([0.0] * seats, [START / 9] * seats, *order)
    assert abs(known[0]) < abs(means[0]) / 3


def test_one_in_several_seats_is_one_player() -> None:
    """As the house may be: first and last among three equals tells nothing of it."""
    means, variances = [0.0, 0.0], [START, START]
    learn(means, variances, (0, 1, 0), ((0,), (1,), (2,)))
    assert abs(means[0]) < 0.3 < abs(means[0]) + START
    assert max(variances) < START


def test_many_matches_find_strengths_and_their_errors() -> None:
    """Five seats, drawn by the model: what is missing is of the size that the errors say."""
    rng = np.random.default_rng(5)
    true = rng.normal(0, 1, 15)
    means, variances = [0.0] * 15, [START] * 15
    for _ in range(600):
        table = rng.permutation(15)[:5].tolist()
        form = true[table] + rng.gumbel(size=5)
        learn(means, variances, table, [[int(seat)] for seat in np.argsort(-form)])
    missing = (np.array(means) - np.mean(means) - true + true.mean()) / np.sqrt(variances)
    assert 0.5 < np.sqrt(np.mean(missing**2)) < 1.6


def test_no_number_of_wins_leaves_the_scale() -> None:
    means, variances = [0.0, 0.0], [START, START]
    for _ in range(20_000):
        learn(means, variances, (0, 1), ((0,), (1,)))
    assert 2 < means[0] - means[1] < 40
    assert 0 < min(variances)


def test_errors_grow_with_time_but_not_beyond_the_prior() -> None:
    assert shown(0.0, START, 3).error == pytest.approx(START_ERROR)
    assert MIDDLE + ELO == pytest.approx(shown(1.0, START, 3).rating)
    assert sqrt(widened((30 / ELO) ** 2, 40)) == pytest.approx(50 / ELO)
    assert START == widened(START, 40)
