"""The sequential sign test of time and memory: its evidence, its answers and its interval."""

from math import comb, inf
from random import Random

import pytest

from arena.statistics.anytime import UsageLimit, UsageWalk, coins, median_interval
from arena.statistics.sprt import SprtVerdict


def walk(ratios: list[float], **given: float) -> UsageWalk:
    found = UsageWalk(UsageLimit(**{"resource": "time", "most": 1.2} | given))  # type: ignore[arg-type]
    for ratio in ratios:
        if not found.state.is_over:
            found.add(ratio)
    return found


@pytest.mark.parametrize(("bets", "won"), [(1, 0), (1, 1), (7, 7), (20, 13), (60, 30)])
def test_coins_are_the_sum_of_binomials_that_the_integral_comes_to(bets: int, won: int) -> None:
    exact = sum(comb(bets + 1, place) for place in range(won + 1)) / ((bets + 1) * comb(bets, won))
    assert exact == pytest.approx(coins(bets, won), rel=1e-9)


def test_bets_at_fair_odds_win_nothing_on_average() -> None:
    """The money is a martingale if each ratio is within the limit with a probability of one half."""
    for bets in (1, 5, 12):
        for won in range(bets + 1):
            assert coins(bets, won) == pytest.approx((coins(bets + 1, won) + coins(bets + 1, won + 1)) / 2)


def test_seven_blocks_on_one_side_decide() -> None:
    assert (SprtVerdict.ACCEPTED, 7) == (walk([1.0] * 20).state.verdict, walk([1.0] * 20).state.blocks)
    assert (SprtVerdict.REJECTED, 7) == (walk([1.3] * 20).state.verdict, walk([1.3] * 20).state.blocks)
    assert SprtVerdict.UNDECIDED is walk([1.0] * 6).state.verdict


def test_a_ratio_at_the_limit_is_within_it() -> None:
    assert SprtVerdict.ACCEPTED is walk([1.2] * 7).state.verdict


def test_one_wild_ratio_counts_no_more_than_any_other() -> None:
    assert SprtVerdict.ACCEPTED is walk([1.0, 900.0, *[1.0] * 12]).state.verdict


def test_it_errs_no_more_often_than_alpha_and_beta_say() -> None:
    """With the median at the limit, 200 tests of 300 blocks: each answer in at most a tenth of them."""
    rng = Random(5)
    ends = [walk([1.2 * rng.lognormvariate(0, 0.1) for _ in range(300)]).state.verdict for _ in range(200)]
    assert ends.count(SprtVerdict.ACCEPTED) <= 20
    assert ends.count(SprtVerdict.REJECTED) <= 20


def test_a_block_without_a_measurement_decides_nothing_and_too_many_end_the_test() -> None:
    found = UsageWalk(UsageLimit(resource="memory", most=2.0))
    for each in (None, 0.0, inf, -1.0):
        found.add(each)
    assert (SprtVerdict.UNDECIDED, 0, 4, False) == (
        found.state.verdict,
        found.state.blocks,
        found.state.unmeasured,
        found.state.is_over,
    )
    for _ in range(4):
        found.add(None)
    assert found.state.is_over
    assert SprtVerdict.UNDECIDED is found.state.verdict


def test_the_interval_holds_the_median_and_is_unbounded_at_first() -> None:
    assert (1.0, 0.0, inf) == median_interval([1.0] * 7)
    assert (1.0, 1.0, 1.0) == median_interval([1.0] * 8)
    rng = Random(2)
    missed = 0
    for _ in range(100):
        _, low, high = median_interval([rng.lognormvariate(0, 0.3) for _ in range(100)])
        missed += not low <= 1.0 <= high
    assert missed <= 5


@pytest.mark.parametrize("most", [0.0, -1.0, float("nan"), float("inf"), 1001.0])
def test_a_limit_that_cannot_be_tested_is_refused(most: float) -> None:
    with pytest.raises(ValueError, match="must be above 0, and 1000 at most"):
        UsageLimit(resource="time", most=most)
