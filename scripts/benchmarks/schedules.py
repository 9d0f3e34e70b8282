"""Schedules and numbers of results: `schedule`, `ladder`, `ratings`, `questions`."""

import argparse
import os
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from math import log, sqrt
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from arena.regression import QUESTIONS
from arena.schedule import SWAPPED, Block, EndlessLadderState, Fixed, Schedule, ScheduleSpec, format_of
from arena.statistics import (
    START,
    Anytime,
    CountedMatch,
    Sprt,
    SprtVerdict,
    UsageLimit,
    UsageWalk,
    anytime,
    digest_of,
    learn,
    sprt,
)
from arena.tournament import Ledger
from arena.tournament.endless import LadderBlocks, ladder_so_far
from benchmarks.harness import Judgement, bench, option, processor_seconds, yardstick, yardstick_python
from benchmarks.yardsticks import GOAL, MOST, first_wins, rightly_ranked, strengths
from protocol.refusals import Conduct
from protocol.words import Outcome

BLOCKS, QUICK_BLOCKS = 1_000_000, 50_000
MOST_SCHEDULE_SECONDS = 10.0
"""Maximum seconds for a million blocks."""
CHUNK = 50_000
"""Blocks per measurement of the baseline, and of the cost of matches."""
BOTS = 2_000
WON, LOST = (
    Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="")
    for ranking in (((0,), (1,)), ((1,), (0,)))
)
FINE, NONE = (Conduct.OK, Conduct.OK), (0, 0)
BETTER_WINS = 0.7


def schedule_spec(format_: str, blocks: int, **more: int | bool) -> ScheduleSpec:
    """Return a specification, by default of two seats and two thousand bots."""
    told = {"seats": 2, "entrants": BOTS, "rotations": None, "filled": False, "heads": None, "rounds": None}
    return ScheduleSpec(format=format_, blocks=blocks, **(told | more))  # type: ignore[arg-type]


def schedules(blocks: int) -> dict[str, Schedule]:
    """Return schedules of about this number of blocks, by name."""
    found = {
        "round robin": schedule_spec("round_robin", -(-blocks // 4_950), entrants=100),
        "gauntlet": schedule_spec("gauntlet", -(-blocks // (BOTS - 1))),
        # Rounds are few where nobody meets twice: bots are many.
        "swiss": schedule_spec("swiss", 1, entrants=blocks // 10, rounds=20),
        "knock-out": schedule_spec("knockout", 8, entrants=blocks // 8 + 1),
        "ladder": schedule_spec("ladder", 1, rounds=-(-blocks // (BOTS // 2))),
        "5 seats, 100 bots": schedule_spec("round_robin", blocks // 20, seats=5, entrants=100),
        "5 seats, 48 bots, house": schedule_spec("round_robin", blocks // 10, seats=5, entrants=48, filled=True),
        "13 seats, 26 bots": schedule_spec("round_robin", blocks // 2, seats=13, entrants=26),
        "13 seats, 30 bots, 3 rotations": schedule_spec(
            "round_robin", blocks // 2, seats=13, entrants=30, rotations=3
        ),
    }
    return {name: format_of(each).schedule(each) for name, each in found.items()}


def scheduled(schedule: Schedule) -> Iterator[Block]:
    """Yield all blocks of a schedule; one that depends on results receives them."""
    if isinstance(schedule, Fixed):
        yield from schedule.blocks(1)
        return
    rng, rounds = Random(1).random, schedule.rounds(1)
    while rounds.blocks is not None:
        blocks = list(rounds.blocks())
        yield from blocks
        rounds.advance([_result(block, seating, rng()) for block in blocks for seating in block.shifts])


def _result(block: Block, seating: int, draw: float) -> CountedMatch:
    """Return a result. The bot with the lower number is the better one."""
    entrants = block.entrants if seating == 0 else block.entrants[::-1]
    first = (draw < BETTER_WINS) == (entrants[0] < entrants[1])
    return CountedMatch(
        block=block.number,
        seating=seating,
        entrants=entrants,
        outcome=WON if first else LOST,
        conduct=FINE,
        charged_us=NONE,
        windows=NONE,
        defaults=NONE,
        refused=NONE,
    )


def baseline(blocks: int) -> Iterator[Block]:
    """Yield blocks of the same two bots."""
    for number in range(blocks):
        yield Block(number, 0, (0, 1), SWAPPED, 1)


def count_and_seconds(blocks: Iterator[Block]) -> tuple[int, float]:
    """Return the number of blocks, and the processor seconds that they take."""
    began, number = time.process_time(), 0
    for _ in blocks:
        number += 1
    return number, time.process_time() - began


def seconds_of_matches(blocks: Iterator[Block]) -> float:
    """Return the processor seconds for the matches of a million such blocks."""
    those = list(islice(blocks, CHUNK))
    began = time.process_time()
    for block in those:
        _ = block.matches
    return (time.process_time() - began) / len(those) * 1_000_000


@bench("schedule", option("--blocks", type=int, default=BLOCKS))
def schedule(options: argparse.Namespace) -> Judgement:
    """Measure how long a million blocks take to schedule, in every format, against the least work of a schedule.

    That least, the baseline, is measured in the same run: to make a block. A block makes its matches when it is
    played: their cost in all is measured too. Formats that depend on results receive them, the better bot winning
    more often; making and reading results is part of the time. Times are processor times.
    """
    good, blocks = True, QUICK_BLOCKS if options.quick else options.blocks
    for name, each in schedules(blocks).items():
        _, before = count_and_seconds(baseline(CHUNK))
        number, took = count_and_seconds(scheduled(each))
        # The baseline is measured before and after, because a machine's speed changes.
        least = (before + count_and_seconds(baseline(CHUNK))[1]) / 2 / CHUNK * number
        a_million = took / number * 1_000_000
        good &= blocks < BLOCKS or a_million <= MOST_SCHEDULE_SECONDS
        matches = seconds_of_matches(scheduled(each))
        print(
            f"{name:31} {number:9,} blocks {took:6.2f} s  a million {a_million:6.2f} s  ratio {took / least:5.1f}"
            f"  (their matches: {matches:5.1f} s)"
        )
    bound = f"at most {MOST_SCHEDULE_SECONDS:.0f} s in each format"
    print(f"a million blocks: {bound} (judged from {BLOCKS:,} blocks on)")
    return good


SPREADS = (200, 400)
"""Standard deviations of the bots' Elo."""
REPEATS = {20: 21, 200: 5, 2_000: 1}
MATCHES, QUICK_MATCHES = 1_000_000, 20_000
MOST_MS, MOST_SECONDS = 50.0, 10.0
"""Maximum milliseconds for the next wave, and seconds to continue with the copy."""


def ladder_spec(bots: int) -> ScheduleSpec:
    """Return the specification of a ladder of two seats with long periods."""
    period = 10_000_000
    return ScheduleSpec(
        format="ladder", blocks=1, endless=True, accuracy=1, period=period, entrants=bots, seats=2, filled=False
    )


def ladder_results(
    blocks: Sequence[Block], strength: NDArray[np.float64], rng: np.random.Generator
) -> list[CountedMatch]:
    """Return the results of all matches of these blocks."""
    return [
        CountedMatch(
            block=match.block,
            seating=match.seating,
            entrants=match.entrants,
            outcome=WON if first_wins(rng, strength, *match.entrants) else LOST,
            conduct=FINE,
            charged_us=NONE,
            windows=NONE,
            defaults=NONE,
            refused=NONE,
            head=match.name,
        )
        for block in blocks
        for match in block.matches
    ]


def by_ladder(bots: int, spread: float, seed: int) -> float:
    """Return the matches per bot until the goal is reached.

    Results arrive one wave late, as if many cores played.
    """
    strength, rng = strengths(bots, spread, seed), np.random.default_rng(seed + 1)
    waves, late, matches, look = EndlessLadderState(ladder_spec(bots), seed), list[CountedMatch](), 0, 0
    while matches * 2 < MOST * bots:
        wave = waves.next() or []
        waves.hear(late)
        late = ladder_results(wave, strength, rng)
        matches += len(late)
        if matches >= look:
            look = matches + bots
            found = np.array([each.rating for each in waves.ratings()])
            if rightly_ranked(strength, found) >= GOAL:
                break
    return 2 * matches / bots


def by_lot(bots: int, spread: float, seed: int) -> float:
    """Return the same if pairs are drawn by lot, with the same ratings."""
    strength, rng = strengths(bots, spread, seed), np.random.default_rng(seed + 1)
    means, variances, matches = [0.0] * bots, [START] * bots, 0
    while matches * 2 < MOST * bots:
        for one, other in rng.permutation(bots).reshape(-1, 2).tolist():
            for _ in range(2):
                ranking = WON.ranking if first_wins(rng, strength, one, other) else LOST.ranking
                learn(means, variances, (one, other), ranking)
                matches += 1
        if rightly_ranked(strength, np.array(means)) >= GOAL:
            break
    return 2 * matches / bots


def how_soon(sizes: Sequence[int], *, quick: bool) -> bool:
    """Print a line for each size and spread. Return whether the ladder reaches the goal sooner than lots."""
    good, library = True, yardstick_python()
    for bots in sizes:
        repeats = 1 if quick else REPEATS.get(bots, 1)
        for spread in SPREADS:
            ladder = [by_ladder(bots, spread, seed) for seed in range(repeats)]
            lots = [by_lot(bots, spread, seed) for seed in range(repeats)]
            there = (
                [] if library is None else [_by_library(library, bots, spread, seed) for seed in range(repeats)]
            )
            beside = f"{statistics.median(there):5.0f}" if there else "not installed"
            print(
                f"{bots:5,} bots, spread {spread} Elo: matches a bot until {GOAL:.0%} of pairs are right:"
                f" ladder {statistics.median(ladder):5.0f}, by lot {statistics.median(lots):5.0f},"
                f" openskill {beside} (median of {repeats})",
                flush=True,
            )
            good &= quick or statistics.median(ladder) <= statistics.median(lots)
    return good


def _by_library(library: Path, bots: int, spread: float, seed: int) -> float:
    return yardstick(library, "openskill", bots, spread, seed)[0]


def fill(path: Path, matches: int) -> None:
    """Fill a ledger with results of a ladder."""
    strength, rng = strengths(BOTS, 300, 1), np.random.default_rng(2)
    waves, number = EndlessLadderState(ladder_spec(BOTS), 1), 0
    with closing(Ledger(path)) as ledger:
        book = ledger._db  # noqa: SLF001 - a million calls of `finish` would take an hour
        while number < matches:
            found = ladder_results(waves.next() or [], strength, rng)
            waves.hear(found)
            rows = [(number + place, each) for place, each in enumerate(found, start=1)]
            book.execute("BEGIN")
            book.executemany(
                "INSERT INTO attempts (id, block, seating, number, transcript, started, ended, played, reports)"
                " VALUES (?, ?, ?, 1, ?, '', '', ?, '[]')",
                [(id_, one.block, one.seating, one.head, msgspec.json.encode(one).decode()) for id_, one in rows],
            )
            book.executemany(
                "INSERT INTO results VALUES (?, ?, ?, ?)",
                [(one.block, one.seating, id_, one.head) for id_, one in rows],
            )
            book.execute("COMMIT")
            number += len(found)


def costs(matches: int) -> bool:
    """Print the cost of opening and of the next wave. Return whether it is within the bounds."""
    of = ladder_spec(BOTS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        # In another process: its memory is not ours.
        child = os.fork()
        if child == 0:
            fill(path, matches)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print("the ledger could not be filled")
            return False
        with closing(Ledger(path)) as ledger:
            before = _memory()
            whole = processor_seconds(lambda: LadderBlocks.opened(Path(folder), ledger, of, 1, []))
            copied = processor_seconds(lambda: ladder_so_far(ledger, of, 1))
            waves, worst, made = ladder_so_far(ledger, of, 1), 0.0, 0
            strength, rng = strengths(BOTS, 300, 1), np.random.default_rng(3)
            late = ladder_results(list(waves.pending()), strength, rng)
            for _ in range(100):
                waves.hear(late)
                began = time.process_time()
                wave = waves.next() or []
                worst = max(worst, time.process_time() - began)
                made += len(wave)
                late = ladder_results(wave, strength, rng)
        size = path.stat().st_size / 1e6
    print(
        f"{matches:,} matches of {BOTS:,} bots in a ledger of {size:,.0f} MB:"
        f" to go on takes {copied:.2f} s with the copy (at most {MOST_SECONDS:.0f}), {whole:.0f} s without;"
        f" the next wave, of {made / 100:.0f} blocks, takes {worst * 1000:.0f} ms at most of 100"
        f" (at most {MOST_MS:.0f}); memory grew by {_memory() - before:.0f} MB"
    )
    return copied <= MOST_SECONDS and worst * 1000 <= MOST_MS


def _memory() -> float:
    """Return this process's peak memory, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


@bench(
    "ladder",
    option("--matches", type=int, help="in the ledger; 0: no ledger"),
    option("--bots", type=int, nargs="*", help="sizes of ladders"),
)
def ladder(options: argparse.Namespace) -> Judgement:
    """Measure a ladder without an end: how soon it ranks bots rightly, and the cost of its next matches.

    How soon: players of known strength, until nine of ten pairs are in the right order, compared with pairing by
    lot with the same ratings, and with matching by the library openskill. Cost: a ledger is filled with a
    ladder's results, then opened from the copy beside it, and without; the next wave is made, and memory is
    read.
    """
    sizes, matches = options.bots, options.matches
    if sizes is None:
        sizes = [20, 200] if options.quick else list(REPEATS)
    if matches is None:
        matches = QUICK_MATCHES if options.quick else MATCHES
    good = how_soon(sizes, quick=options.quick)
    if matches:
        good &= costs(matches)
    return good


RESULTS, QUICK_RESULTS = 100_000, 5_000
ENTRANTS = 26
MOST_RATING_SECONDS = 10.0
RANKINGS: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    2: [((0,), (1,)), ((1,), (0,)), ((0, 1),)],
    13: [((0, 1), (2,), (3, 4, 5), *((seat,) for seat in range(6, 13))), tuple((seat,) for seat in range(13))],
}
"""Rankings of the results, by number of seats."""


def report_results(seats: int, number: int) -> list[CountedMatch]:
    """Return results of blocks that play every seating."""
    rng = np.random.default_rng(seats)
    sitting = [tuple(rng.permutation(ENTRANTS)[:seats].tolist()) for _ in range(1000)]
    outcomes = [
        Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="decided", detail={})
        for ranking in RANKINGS[seats]
    ]
    return [
        CountedMatch(
            block=each // seats,
            seating=each % seats,
            entrants=sitting[each % 1000],
            outcome=outcomes[int(rng.integers(len(outcomes)))],
            conduct=(Conduct.OK,) * seats,
            charged_us=(1000,) * seats,
            windows=(10,) * seats,
            defaults=(0,) * seats,
            refused=(0,) * seats,
        )
        for each in range(number)
    ]


def count_first(played: Sequence[CountedMatch]) -> Counter[int]:
    """Return the number of first places, by bot."""
    return Counter(each.entrants[seat] for each in played for seat in each.outcome.ranking[0])


@bench("ratings")
def ratings(options: argparse.Namespace) -> Judgement:
    """Measure the numbers of a report: standings, ratings with intervals and moments, of 100,000 results.

    The baseline, in the same run, is a plain loop over the same results that counts who was first. Times are
    processor times.
    """
    number = QUICK_RESULTS if options.quick else RESULTS
    good = True
    for seats in RANKINGS:
        played = report_results(seats, number)
        least = processor_seconds(partial(count_first, played))
        took = processor_seconds(partial(digest_of, [str(bot) for bot in range(ENTRANTS)], played))
        good &= took <= MOST_RATING_SECONDS
        bound = f"at most {MOST_RATING_SECONDS:.0f}"
        print(f"{seats:2} seats: {number:,} results {took:5.2f} s ({bound}), ratio {took / least:.0f}")
    return good


TESTS, QUICK_TESTS = 400, 20
LIMIT = 40_000
"""Blocks after which a test is undecided, as the command's default."""
NEAR, LOOK = 0.9, 50
"""The exact likelihood ratio is calculated if its approximation has reached this share of a bound, and in every
`LOOK`-th block."""
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
    """The outcome of many tests."""

    accepted: float
    rejected: float
    mean: float
    """Blocks until the decision, or the limit."""
    late: float
    """Blocks that 95 % of tests do not exceed."""


def simulated(ends: Sequence[tuple[SprtVerdict, int]]) -> Simulated:
    """Return rates and numbers of blocks."""
    verdicts = [verdict for verdict, _ in ends]
    blocks = np.array([blocks for _, blocks in ends])
    return Simulated(
        verdicts.count(SprtVerdict.ACCEPTED) / len(ends),
        verdicts.count(SprtVerdict.REJECTED) / len(ends),
        float(blocks.mean()),
        float(np.quantile(blocks, 0.95)),
    )


def two_seats(test: Sprt, elo: float, tests: int, rng: np.random.Generator) -> list[tuple[SprtVerdict, int]]:
    """Play many tests of two seats side by side. A block is two independent matches without ties."""
    counts = np.zeros((tests, sprt.RESULTS))
    ends = [(SprtVerdict.UNDECIDED, LIMIT)] * tests
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
                    ends[one] = (SprtVerdict.ACCEPTED if ratio > 0 else SprtVerdict.REJECTED, blocks)
            playing = np.array(
                [one for one in playing.tolist() if ends[one][0] is SprtVerdict.UNDECIDED], dtype=int
            )
            if not len(playing):
                break
    return ends


def _guessed(test: Sprt, counts: np.ndarray) -> np.ndarray:
    """Return the log-likelihood ratios as if scores were normal, which is quick and nearly right."""
    blocks = counts.sum(axis=1)
    mean = counts @ SCORES / blocks
    deviation = np.sqrt(np.maximum(counts @ SCORES**2 / blocks - mean**2, 1e-9))
    low, high = (elo / sprt.NORMALIZED_ELO * sqrt(2) for elo in (test.elo0, test.elo1))
    found: np.ndarray = blocks * (high - low) * (2 * (mean - 0.5) / deviation - high - low) / 2
    return found


def many_llr(test: Sprt, counts: np.ndarray) -> np.ndarray:
    """Return `sprt.llr` with normalized Elo of many tests at once."""
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


def more_seats(test: Anytime, mean: float, rng: np.random.Generator) -> tuple[SprtVerdict, int]:
    """Play one test of more seats, or against a field."""
    walk = anytime.AnytimeWalk(test)
    for difference in np.clip(rng.normal(mean, SPREAD, LIMIT), -1, 1).tolist():
        walk.add(difference)
        if walk.progress.verdict is not SprtVerdict.UNDECIDED:
            break
    return walk.progress.verdict, walk.progress.blocks


def usage(ratio: float, noise: float, rng: np.random.Generator) -> tuple[SprtVerdict, int]:
    """Play one test of time or memory, of 2,000 blocks at most."""
    walk = UsageWalk(UsageLimit(resource="time", most=MOST_RATIO))
    for each in np.exp(rng.normal(log(ratio), noise, LIMIT // 20)).tolist():
        walk.add(each)
        if walk.state.is_over:
            break
    return walk.state.verdict, walk.state.blocks


Play = Callable[[float, int], list[tuple[SprtVerdict, int]]]
"""Plays a number of tests at a truth."""


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


@bench("questions", option("--tests", type=int, default=TESTS, help="simulated tests for each line"))
def questions(options: argparse.Namespace) -> Judgement:
    """Simulate the questions of `arena regress` at typical truths: rates of errors, numbers of matches.

    Prints the tables of docs/regression.md. A question must not err more often than it promises. No speed is
    measured.
    """
    tests = QUICK_TESTS if options.quick else options.tests
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
    return not wrong


def _check_many(rng: np.random.Generator) -> None:
    """Make sure that the likelihood ratio of many tests is the arena's."""
    test = Sprt(elo0=0, elo1=20)
    counts = rng.integers(0, 60, (5, sprt.RESULTS)).astype(float)
    exact = [sprt.llr(row.astype(int).tolist(), test) for row in counts]
    if not np.allclose(exact, many_llr(test, counts), atol=1e-6):
        raise RuntimeError("the simulation's likelihood ratio is not the arena's")


def _two(test: Sprt, rng: np.random.Generator, elo: float, tests: int) -> list[tuple[SprtVerdict, int]]:
    return two_seats(test, elo, tests, rng)


def _more(test: Anytime, rng: np.random.Generator, mean: float, tests: int) -> list[tuple[SprtVerdict, int]]:
    return [more_seats(test, mean, rng) for _ in range(tests)]


def _usage(noise: float, rng: np.random.Generator, ratio: float, tests: int) -> list[tuple[SprtVerdict, int]]:
    return [usage(ratio, noise, rng) for _ in range(tests)]


def _beyond(name: str, found: Simulated, is_h0: bool, is_h1: bool, most: float) -> list[str]:
    """Say which rate of errors is too high."""
    rates = [found.accepted] * is_h0 + [found.rejected] * is_h1
    return [f"{name}: errs in {rate:.1%}" for rate in rates if rate > most]
