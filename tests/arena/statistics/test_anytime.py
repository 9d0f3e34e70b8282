"""The test for many seats: it may be looked at after every block, and errs as seldom as it says."""

from collections.abc import Callable, Iterable
from math import log
from random import Random
from statistics import NormalDist, fmean

import pytest

from arena.statistics import anytime
from arena.statistics.anytime import Anytime, AnytimeProgress, AnytimeWalk, Gambler, interval
from arena.statistics.sprt import SprtVerdict

SIMULATIONS = 500
"""Of a test that errs twice as often as it may, so many of kind `bell` tell."""
LONGEST = 1500
NEAR = 0.05
"""What the tests below call better."""


def run(test: Anytime, blocks: Iterable[float]) -> AnytimeProgress:
    """Return the test after blocks in schedule order, up to the first that decides."""
    walk = AnytimeWalk(test)
    for block in blocks:
        walk.add(block)
        if walk.progress.verdict is not SprtVerdict.UNDECIDED:
            break
    return walk.progress


def bell(rng: Random, mean: float) -> float:
    """Differences of many seats and rotations: near the mean, most of them."""
    return min(1.0, max(-1.0, rng.gauss(mean, 0.25)))


def seldom(rng: Random, mean: float) -> float:
    """Versions that mostly do the same, and then win or lose a whole place."""
    draw = rng.random()
    return 0.5 if draw < 0.1 + mean else -0.5 if draw > 0.9 + mean else 0.0


def lopsided(rng: Random, mean: float) -> float:
    """Nine small gains for one large loss."""
    return mean + (0.05 if rng.random() < 0.9 else -0.45)


KINDS = (bell, seldom, lopsided)
Kind = Callable[[Random, float], float]


def courses(kind: Kind, mean: float, tests: int = SIMULATIONS) -> list[AnytimeProgress]:
    rng = Random(f"{kind.__name__} {mean}")
    return [run(Anytime(high=NEAR), (kind(rng, mean) for _ in range(LONGEST))) for _ in range(tests)]


def share(found: list[AnytimeProgress], verdict: SprtVerdict) -> float:
    return sum(course.verdict is verdict for course in found) / len(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_difference_it_errs_at_most_in_alpha_when_looked_at_after_every_block(kind: Kind) -> None:
    found = courses(kind, 0)
    assert share(found, SprtVerdict.ACCEPTED) <= 0.05 + 2 * (0.05 * 0.95 / SIMULATIONS) ** 0.5
    assert share(found, SprtVerdict.REJECTED) >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_difference_that_is_there_is_missed_at_most_in_beta(kind: Kind) -> None:
    found = courses(kind, NEAR)
    assert share(found, SprtVerdict.REJECTED) <= 0.05 + 2 * (0.05 * 0.95 / SIMULATIONS) ** 0.5


@pytest.mark.slow
def test_on_average_it_needs_two_thirds_of_the_blocks_of_a_test_of_fixed_size_or_fewer() -> None:
    """Fixed size for 5 % and 5 %: (2 x 1.645 x 0.25 / 0.05)², 271 blocks."""
    fixed = (2 * NormalDist().inv_cdf(0.95) * 0.25 / NEAR) ** 2
    assert 271 == round(fixed)
    for mean in (0, NEAR):
        assert fmean(course.blocks for course in courses(bell, mean, 200)) < fixed * 2 / 3
    assert fmean(course.blocks for course in courses(bell, 3 * NEAR, 200)) < fixed / 5


@pytest.mark.slow
def test_peeking_at_a_test_of_fixed_size_would_err_far_more_often() -> None:
    """The test of the test: a one-sided 5 % z-test, looked at after every block from the tenth on."""
    rng, wrong = Random("peeking"), 0
    for _ in range(300):
        total = 0.0
        for blocks in range(1, 272):
            total += rng.gauss(0, 0.25)
            if blocks >= 10 and total / (0.25 * blocks**0.5) > 1.645:
                wrong += 1
                break
    assert wrong / 300 > 0.15


def test_it_ends_with_the_first_block_that_decides_whatever_comes_after() -> None:
    course = run(Anytime(), [0.2] * 500)
    assert SprtVerdict.ACCEPTED is course.verdict
    assert course == run(Anytime(), [0.2] * course.blocks + [-1.0] * 500)
    assert SprtVerdict.UNDECIDED is run(Anytime(), [0.2] * (course.blocks - 1)).verdict


def test_versions_that_play_alike_are_found_not_to_be_better() -> None:
    course = run(Anytime(), [0.0] * 500)
    assert SprtVerdict.REJECTED is course.verdict
    assert course.blocks < 100


def test_without_blocks_it_is_undecided_and_has_its_coins() -> None:
    assert AnytimeProgress(SprtVerdict.UNDECIDED, 0, 0.0, 1.0, 1.0) == run(Anytime(), [])


def test_no_block_can_ruin_a_gambler() -> None:
    gambler = Gambler(0.0, 0.05)
    for _ in range(50):
        gambler.bet(-1.0)
    assert gambler.log_money >= 50 * log(0.25)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_intervals_after_all_blocks_hold_the_mean_together_in_95_of_a_hundred(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last is the intersection of all. A fifth of the means will do to tell whether it holds one of them."""
    monkeypatch.setattr(anytime, "GRID", 401)
    rng = Random(f"interval {kind.__name__}")
    missed = 0
    for _ in range(100):
        low, high = interval([kind(rng, 0.02) for _ in range(200)])
        missed += not low <= 0.02 <= high
    assert missed <= 5


def test_the_interval_only_becomes_narrower() -> None:
    rng = Random("narrower")
    seen = [bell(rng, 0.1) for _ in range(400)]
    few, more, all_of_them = interval(seen[:20]), interval(seen[:100]), interval(seen)
    assert few[0] <= more[0] <= all_of_them[0] < 0.1 < all_of_them[1] <= more[1] <= few[1]
    assert all_of_them[1] - all_of_them[0] < 0.12


def test_hypotheses_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match=r"low = 0 must be below high = -0\.1"):
        Anytime(high=-0.1)


def test_error_rates_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        Anytime(alpha=0)


def test_the_mean_difference_so_far_is_that_of_the_blocks_that_were_added() -> None:
    walk = AnytimeWalk(Anytime())
    for number, block in enumerate((0.25, -0.5, 1.0), 1):
        walk.add(block)
        assert number == walk.progress.blocks
    assert 0.25 == walk.progress.mean


def test_an_interval_around_differences_that_hardly_scatter_is_narrow() -> None:
    """Its stakes rest on the variance about the mean, not about zero."""
    low, high = interval([0.5 + (-1) ** number / 100 for number in range(400)])
    assert 0.47 < low <= 0.5 <= high < 0.53
