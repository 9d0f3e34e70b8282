"""How often `arena regress` errs, and how many matches it takes: its questions, simulated at typical truths.

Prints the tables of docs/regression.md. Exit code 1: a question errs more often than it promises.
Run by hand, `.venv/bin/python scripts/bench_questions.py [--tests N]`: it measures no speed.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from arena.regression import QUESTIONS
from arena.statistics import Anytime, Sprt, UsageLimit, UsageWalk, Verdict, anytime, sprt

TESTS = 400
LIMIT = 40_000
"""Blocks after which a test is undecided, as the command's default."""
NEAR, LOOK = 0.9, 50
"""The exact likelihood ratio is found once its approximation has come so near to a bound, and once in so many
blocks."""
SCORES = np.arange(sprt.RESULTS) / (sprt.RESULTS - 1)
TRUE_ELO = (-20, 0, 10, 20, 40, 60, 100, 200)
TRUE_DIFFERENCES = (-0.05, 0.0, 0.025, 0.05, 0.1, 0.2)
SPREAD = 0.25
"""Standard deviation of a block's difference in a game of more seats."""
TRUE_RATIOS = (1.0, 1.1, 1.2, 1.3, 1.5)
NOISES = (0.08, 0.25)
"""Standard deviations of the logarithm of a block's ratio: as measured on a busy machine, and three times that."""
MOST_RATIO = 1.2


class Simulated(NamedTuple):
    """What many tests came to."""

    accepted: float
    rejected: float
    mean: float
    """Blocks until the decision, or the limit."""
    late: float
    """As many, or fewer, in 95 % of tests."""


def simulated(ends: Sequence[tuple[Verdict, int]]) -> Simulated:
    """Return rates and numbers of blocks."""
    verdicts = [verdict for verdict, _ in ends]
    blocks = np.array([blocks for _, blocks in ends])
    return Simulated(
        verdicts.count(Verdict.ACCEPTED) / len(ends),
        verdicts.count(Verdict.REJECTED) / len(ends),
        float(blocks.mean()),
        float(np.quantile(blocks, 0.95)),
    )


def two_seats(test: Sprt, elo: float, tests: int, rng: np.random.Generator) -> list[tuple[Verdict, int]]:
    """Play many tests of two seats side by side. A block is two independent matches without ties."""
    counts = np.zeros((tests, sprt.RESULTS))
    ends = [(Verdict.UNDECIDED, LIMIT)] * tests
    playing = np.arange(tests)
    for blocks in range(1, LIMIT + 1):
        counts[playing, 2 * rng.binomial(2, sprt.expected(elo), len(playing))] += 1
        if blocks % LOOK and blocks > LOOK:
            near = playing[np.abs(_guessed(test, counts[playing])) > NEAR * test.upper]
        else:
            near = playing
        if len(near):
            ratios = many_llr(test, counts[near])
            for one, ratio in zip(near.tolist(), ratios.tolist(), strict=True):
                if not test.lower < ratio < test.upper:
                    ends[one] = (Verdict.ACCEPTED if ratio > 0 else Verdict.REJECTED, blocks)
            playing = np.array([one for one in playing.tolist() if ends[one][0] is Verdict.UNDECIDED], dtype=int)
            if not len(playing):
                break
    return ends


def _guessed(test: Sprt, counts: np.ndarray) -> np.ndarray:
    """The log-likelihood ratios as if scores were normal: quick, and near enough to tell when to look closely."""
    blocks = counts.sum(axis=1)
    mean = counts @ SCORES / blocks
    deviation = np.sqrt(np.maximum(counts @ SCORES**2 / blocks - mean**2, 1e-9))
    low, high = (elo / sprt.NORMALIZED_ELO * sqrt(2) for elo in (test.elo0, test.elo1))
    found: np.ndarray = blocks * (high - low) * (2 * (mean - 0.5) / deviation - high - low) / 2
    return found


def many_llr(test: Sprt, counts: np.ndarray) -> np.ndarray:
    """`sprt.llr` with normalized Elo of many tests at once."""
    seen = np.where(counts == 0, sprt.UNSEEN, counts)
    total = seen.sum(axis=1, keepdims=True)
    shares = seen / total
    fits = []
    for elo in (test.elo0, test.elo1):
        t_value = elo / sprt.NORMALIZED_ELO * sqrt(2)
        guess = np.full_like(shares, 1 / sprt.RESULTS)
        for _ in range(12):
            mean = (guess @ SCORES)[:, None]
            deviation = np.sqrt((guess * (SCORES - mean) ** 2).sum(axis=1, keepdims=True))
            slopes = SCORES - 0.5 - t_value * deviation * (1 + ((SCORES - mean) / deviation) ** 2) / 2
            low, high = -1 / slopes.max(axis=1, keepdims=True), -1 / slopes.min(axis=1, keepdims=True)
            for _ in range(50):
                middle = (low + high) / 2
                is_below = (shares * slopes / (1 + middle * slopes)).sum(axis=1, keepdims=True) > 0
                low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
            guess = shares / (1 + (low + high) / 2 * slopes)
        fits.append(guess)
    found: np.ndarray = (total[:, 0]) * (shares * np.log(fits[1] / fits[0])).sum(axis=1)
    return found


def more_seats(test: Anytime, mean: float, rng: np.random.Generator) -> tuple[Verdict, int]:
    """Play one test of more seats, or against a field."""
    walk = anytime.Walk(test)
    for difference in np.clip(rng.normal(mean, SPREAD, LIMIT), -1, 1).tolist():
        walk.add(difference)
        if walk.progress.verdict is not Verdict.UNDECIDED:
            break
    return walk.progress.verdict, walk.progress.blocks


def usage(ratio: float, noise: float, rng: np.random.Generator) -> tuple[Verdict, int]:
    """Play one test of time or memory, of 2,000 blocks at most."""
    walk = UsageWalk(UsageLimit(resource="time", most=MOST_RATIO))
    for each in np.exp(rng.normal(log(ratio), noise, LIMIT // 20)).tolist():
        walk.add(each)
        if walk.state.is_over:
            break
    return walk.state.verdict, walk.state.blocks


Play = Callable[[float, int], list[tuple[Verdict, int]]]
"""Plays so many tests at a truth."""


def lines(
    name: str, unit: str, truths: Sequence[float], play: Play, tests: int
) -> Iterator[tuple[float, Simulated]]:
    """Print a line for each truth."""
    print(f"\n{name}\n| truth | accepted | rejected | blocks | 95 % of tests: at most |\n|---|---|---|---|---|")
    for truth in truths:
        found = simulated(play(truth, tests))
        rates = f"{found.accepted:.1%} | {found.rejected:.1%}"
        print(f"| {truth:+zg} {unit} | {rates} | {found.mean:,.0f} | {found.late:,.0f} |", flush=True)
        yield truth, found


def main() -> int:
    """Simulate all questions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=TESTS, help="simulated tests for each line")
    tests = parser.parse_args().tests
    rng = np.random.default_rng(1)
    _check_many(rng)
    # Three standard errors of a rate of 5 %, and a little for what Wald's bounds neglect.
    most = 0.05 + 3 * sqrt(0.05 * 0.95 / tests) + 0.01
    wrong: list[str] = []
    for question, asked in QUESTIONS.items():
        of_two, of_more = Sprt(elo0=asked.elo0, elo1=asked.elo1), Anytime(low=asked.low, high=asked.high)
        meet: Play = partial(_two, of_two, rng)
        against: Play = partial(_more, of_more, rng)
        for elo, found in lines(f"{question}, two seats", "Elo", TRUE_ELO, meet, tests):
            wrong += _beyond(f"{question} at {elo:+zg} Elo", found, elo <= asked.elo0, elo >= asked.elo1, most)
        for mean, found in lines(f"{question}, field", "points", TRUE_DIFFERENCES, against, tests):
            wrong += _beyond(f"{question} at {mean:+zg}", found, mean <= asked.low, mean >= asked.high, most)
    for noise in NOISES:
        name = f"at most {MOST_RATIO} times, noise {noise:.0%}"
        for ratio, found in lines(name, "times", TRUE_RATIOS, partial(_usage, noise, rng), tests):
            wrong += _beyond(f"{name} at {ratio}", found, ratio >= MOST_RATIO, ratio <= MOST_RATIO, most)
    print("\n" + ("\n".join(wrong) or "no question errs more often than it promises"))
    return 1 if wrong else 0


def _check_many(rng: np.random.Generator) -> None:
    """Make sure that the likelihood ratio of many tests is the arena's."""
    test = Sprt(elo0=0, elo1=20)
    counts = rng.integers(0, 60, (5, sprt.RESULTS)).astype(float)
    exact = [sprt.llr(row.astype(int).tolist(), test) for row in counts]
    if not np.allclose(exact, many_llr(test, counts), atol=1e-6):
        raise RuntimeError("the simulation's likelihood ratio is not the arena's")


def _two(test: Sprt, rng: np.random.Generator, elo: float, tests: int) -> list[tuple[Verdict, int]]:
    return two_seats(test, elo, tests, rng)


def _more(test: Anytime, rng: np.random.Generator, mean: float, tests: int) -> list[tuple[Verdict, int]]:
    return [more_seats(test, mean, rng) for _ in range(tests)]


def _usage(noise: float, rng: np.random.Generator, ratio: float, tests: int) -> list[tuple[Verdict, int]]:
    return [usage(ratio, noise, rng) for _ in range(tests)]


def _beyond(name: str, found: Simulated, is_h0: bool, is_h1: bool, most: float) -> list[str]:
    """Say which rate of errors is too high."""
    rates = [found.accepted] * is_h0 + [found.rejected] * is_h1
    return [f"{name}: errs in {rate:.1%}" for rate in rates if rate > most]


if __name__ == "__main__":
    sys.exit(main())
