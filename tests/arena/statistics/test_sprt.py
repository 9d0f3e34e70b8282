"""The sequential test for two seats: the numbers of fishtest and fastchess, and how often it errs."""

from collections.abc import Iterable
from math import inf, isfinite, nan
from random import Random
from typing import Any

import pytest

from arena.statistics.sprt import MOST_ELO, EloModel, Sprt, SprtState, SprtVerdict, SprtWalk, llr

PENTANOMIAL = [
    # Counts (0 to 2 points), H0, H1, and what fishtest's LLRcalc gives for logistic and for normalized Elo.
    ((365, 16618, 36229, 16974, 390), 0, 2, -0.005920, 2.250368),
    ((127, 4883, 10712, 5150, 104), -1.75, 0.25, 6.862003, 3.010154),
    ((0, 0, 0, 0, 5550), 0, 5, 79.296251, 111.797555),
    ((223, 9863, 21279, 10037, 246), 0.5, 2.5, -3.074126, 0.406799),
    ((871, 26175, 55983, 26678, 821), 0, 2, -4.978673, 0.804451),
    ((10, 20, 40, 25, 12), 0, 20, 0.263235, 0.302845),
    ((12, 0, 5, 0, 30), -10, 10, 1.159515, 1.549753),
    ((0, 0, 0, 0, 7), 0, 100, 1.729143, 2.239364),
    ((0, 3, 9, 4, 1), 0, 50, 0.290198, 0.444521),
]
FASTCHESS = [
    # What fastchess's own tests ask for, to 1 %, of losses, draws and wins.
    ((36027, 68692, 36433), 0, 2, "normalized", 0.92),
    ((10650, 20431, 10871), -1.75, 0.25, "normalized", 2.30),
    ((0, 0, 4250), 0, 10, "normalized", 120.56),
    ((21184, 40708, 21404), 0.5, 2.5, "logistic", -1.57),
    ((57030, 106593, 57433), 0, 2, "logistic", -2.59),
]


def run(test: Sprt, blocks: Iterable[float]) -> SprtState:
    """Return the test after blocks in schedule order, up to the first that decides."""
    walk = SprtWalk(test)
    for block in blocks:
        walk.add(block)
        if walk.progress.verdict is not SprtVerdict.UNDECIDED:
            break
    return walk.progress


@pytest.mark.parametrize(("counts", "elo0", "elo1", "logistic", "normalized"), PENTANOMIAL)
def test_the_same_counts_give_fishtests_ratio_to_four_digits(
    counts: tuple[int, ...], elo0: float, elo1: float, logistic: float, normalized: float
) -> None:
    given = Sprt(elo0=elo0, elo1=elo1, model="logistic")
    assert logistic == pytest.approx(llr(counts, given), abs=2e-6)
    assert normalized == pytest.approx(llr(counts, Sprt(elo0=elo0, elo1=elo1)), abs=2e-6)


@pytest.mark.parametrize(("counts", "elo0", "elo1", "model", "ratio"), FASTCHESS)
def test_the_same_counts_give_the_ratio_of_fastchess_own_tests(
    counts: tuple[int, ...], elo0: float, elo1: float, model: Any, ratio: float
) -> None:
    assert ratio == pytest.approx(llr(counts, Sprt(elo0=elo0, elo1=elo1, model=model)), rel=0.01)


def test_the_limits_are_walds() -> None:
    test = Sprt(alpha=0.05, beta=0.1)
    assert [-2.2513, 2.8904] == pytest.approx([test.lower, test.upper], abs=1e-4)


def test_hypotheses_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="elo0 = 5 must be less than elo1 = 0"):
        Sprt(elo0=5, elo1=0)


@pytest.mark.parametrize("elo", [200.5, -201, inf, -inf, nan])
def test_normalized_elo_that_cannot_be_reckoned_with_is_refused(elo: float) -> None:
    with pytest.raises(ValueError, match=r"elo0 = .* must be from -200 to 200, with normalized Elo"):
        Sprt(elo0=elo, elo1=200)
    with pytest.raises(ValueError, match=r"elo1 = .* must be from -200 to 200, with normalized Elo"):
        Sprt(elo1=elo)


@pytest.mark.parametrize("elo", [1001, -1e9, inf, nan])
def test_logistic_elo_that_cannot_be_reckoned_with_is_refused(elo: float) -> None:
    with pytest.raises(ValueError, match="must be from -1000 to 1000, with logistic Elo"):
        Sprt(elo1=elo, model="logistic")


@pytest.mark.parametrize("model", ["logistic", "normalized"])
def test_within_its_bounds_every_test_can_be_reckoned_whatever_the_blocks_brought(model: EloModel) -> None:
    most = MOST_ELO[model]
    for elo0, elo1 in ((-most, most), (-most, 1 - most), (most - 1, most)):
        test = Sprt(elo0=elo0, elo1=elo1, model=model)
        for result in range(5):
            for blocks in (1, 40_000):
                assert isfinite(llr([blocks * (result == other) for other in range(5)], test))


@pytest.mark.parametrize(("alpha", "beta"), [(0, 0.1), (0.1, 0), (0.5, 0.5), (nan, 0.1), (0.1, inf)])
def test_error_rates_that_mean_nothing_are_refused(alpha: float, beta: float) -> None:
    with pytest.raises(ValueError, match="must be above 0, together below 1"):
        Sprt(alpha=alpha, beta=beta)


def test_it_ends_with_the_first_block_that_decides_whatever_comes_after() -> None:
    test = Sprt(elo0=0, elo1=100)
    progress = run(test, [2] * 30)
    assert SprtVerdict.ACCEPTED is progress.verdict
    assert progress == run(test, [2] * progress.blocks + [0] * 1000)
    assert SprtVerdict.UNDECIDED is run(test, [2] * (progress.blocks - 1)).verdict


def test_without_blocks_it_is_undecided() -> None:
    assert SprtState(SprtVerdict.UNDECIDED, 0, 0.0, (0, 0, 0, 0, 0)) == run(Sprt(), [])


@pytest.mark.slow
@pytest.mark.parametrize(("elo", "wrong"), [(0, SprtVerdict.ACCEPTED), (100, SprtVerdict.REJECTED)])
def test_it_errs_about_as_often_as_it_may(elo: float, wrong: SprtVerdict) -> None:
    """200 tests each at H0 and at H1, where it errs most; 5 % allowed, and their luck: 10 % would be found."""
    test = Sprt(elo0=0, elo1=100, model="logistic")
    rng = Random(f"sprt {elo}")
    win = 1 / (1 + 10 ** (-elo / 400)) - 0.1

    def block() -> float:
        return sum(1 if (draw := rng.random()) < win else 0.5 if draw < win + 0.2 else 0 for _ in range(2))

    wrongs = sum(run(test, (block() for _ in range(5000))).verdict is wrong for _ in range(200))
    assert wrongs <= 200 * 0.05 + 2 * (200 * 0.05 * 0.95) ** 0.5
