"""A ladder without an end: how soon it ranks bots rightly, and what its next matches cost with a million played.

How soon: players of known strength, until nine of ten pairs are in the right order, beside pairing by lot with the
same ratings, and beside matching by the library openskill. What it costs: a ledger is filled with a ladder's
results, then opened from the copy beside it, and without; the next wave is made, and memory is read.

Run as `bench_ladder.py [--matches N] [--bots N…]`; --quick for a look. Exit code 1: over a bound.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
from bench_openskill import GOAL, MOST, Array, first_wins, rightly_ranked, strengths
from bench_yardsticks import HERE, python

from arena.schedule import Block, EndlessLadderState, ScheduleSpec
from arena.statistics import START, Played, learn
from arena.tournament import Ledger
from arena.tournament.endless import Ladder, ladder_so_far
from protocol.refusals import Conduct
from protocol.words import Outcome

SPREADS = (200, 400)
"""Standard deviations of the bots' Elo."""
REPEATS = {20: 21, 200: 5, 2_000: 1}
MATCHES, QUICK = 1_000_000, 20_000
BOTS = 2_000
MOST_MS, MOST_SECONDS = 50.0, 10.0
"""For the next wave; and to go on, with the copy."""
WON, LOST = (
    Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="")
    for ranking in (((0,), (1,)), ((1,), (0,)))
)
FINE, NONE = (Conduct.OK, Conduct.OK), (0, 0)


def spec(bots: int) -> ScheduleSpec:
    """A ladder of two seats whose periods are long."""
    period = 10_000_000
    return ScheduleSpec(
        format="ladder", blocks=1, endless=True, accuracy=1, period=period, entrants=bots, seats=2, filled=False
    )


def results(blocks: Sequence[Block], strength: Array, luck: np.random.Generator) -> list[Played]:
    """Of all matches of these blocks."""
    return [
        Played(
            block=match.block,
            seating=match.seating,
            entrants=match.entrants,
            outcome=WON if first_wins(luck, strength, *match.entrants) else LOST,
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
    """Matches a bot until the goal is reached; results come one wave late, as when many cores play."""
    strength, luck = strengths(bots, spread, seed), np.random.default_rng(seed + 1)
    waves, late, matches, look = EndlessLadderState(spec(bots), seed), list[Played](), 0, 0
    while matches * 2 < MOST * bots:
        wave = waves.next() or []
        waves.hear(late)
        late = results(wave, strength, luck)
        matches += len(late)
        if matches >= look:
            look = matches + bots
            found = np.array([each.rating for each in waves.ratings()])
            if rightly_ranked(strength, found) >= GOAL:
                break
    return 2 * matches / bots


def by_lot(bots: int, spread: float, seed: int) -> float:
    """The same where everybody may meet anybody, rated in the same way."""
    strength, luck = strengths(bots, spread, seed), np.random.default_rng(seed + 1)
    means, variances, matches = [0.0] * bots, [START] * bots, 0
    while matches * 2 < MOST * bots:
        for one, other in luck.permutation(bots).reshape(-1, 2).tolist():
            for _ in range(2):
                ranking = WON.ranking if first_wins(luck, strength, one, other) else LOST.ranking
                learn(means, variances, (one, other), ranking)
                matches += 1
        if rightly_ranked(strength, np.array(means)) >= GOAL:
            break
    return 2 * matches / bots


def how_soon(sizes: Sequence[int], *, quick: bool) -> bool:
    """Prints a line for each size and spread; whether the ladder is sooner than lots."""
    good, library = True, python()
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
    told = subprocess.run(
        [library, HERE / "bench_openskill.py", str(bots), str(spread), str(seed)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    return float(told)


def fill(path: Path, matches: int) -> None:
    """Fills a ledger with so many results of a ladder."""
    strength, luck = strengths(BOTS, 300, 1), np.random.default_rng(2)
    waves, number = EndlessLadderState(spec(BOTS), 1), 0
    with closing(Ledger(path)) as ledger:
        book = ledger._db  # noqa: SLF001 - a million calls of `finish` would take an hour
        while number < matches:
            found = results(waves.next() or [], strength, luck)
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
    """Prints what opening and the next wave cost; whether that is in bounds."""
    of = spec(BOTS)
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
            whole = _seconds(lambda: Ladder.opened(Path(folder), ledger, of, 1, []))
            copied = _seconds(lambda: ladder_so_far(ledger, of, 1))
            waves, worst, made = ladder_so_far(ledger, of, 1), 0.0, 0
            strength, luck = strengths(BOTS, 300, 1), np.random.default_rng(3)
            late = results(list(waves.pending()), strength, luck)
            for _ in range(100):
                waves.hear(late)
                began = time.process_time()
                wave = waves.next() or []
                worst = max(worst, time.process_time() - began)
                made += len(wave)
                late = results(wave, strength, luck)
        size = path.stat().st_size / 1e6
    print(
        f"{matches:,} matches of {BOTS:,} bots in a ledger of {size:,.0f} MB:"
        f" to go on takes {copied:.2f} s with the copy (at most {MOST_SECONDS:.0f}), {whole:.0f} s without;"
        f" the next wave, of {made / 100:.0f} blocks, takes {worst * 1000:.0f} ms at most of 100"
        f" (at most {MOST_MS:.0f}); memory grew by {_memory() - before:.0f} MB"
    )
    return copied <= MOST_SECONDS and worst * 1000 <= MOST_MS


def _seconds(act: Callable[[], object]) -> float:
    """Of the processor: what else the machine does is not counted."""
    began = time.process_time()
    act()
    return time.process_time() - began


def _memory() -> float:
    """Most that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> int:
    """Measures what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer bots, repeats and matches, for a look")
    parser.add_argument("--matches", type=int, help="in the ledger; 0: no ledger")
    parser.add_argument("--bots", type=int, nargs="*", help="sizes of ladders")
    given = parser.parse_args()
    sizes = given.bots if given.bots is not None else [20, 200] if given.quick else list(REPEATS)
    matches = given.matches if given.matches is not None else QUICK if given.quick else MATCHES
    good = how_soon(sizes, quick=given.quick)
    if matches:
        good &= costs(matches)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
