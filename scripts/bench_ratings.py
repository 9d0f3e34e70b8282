"""How long the numbers of a report take: standings, ratings with intervals and moments, of 100,000 results.

Against a plain walk through the same results that counts who was first, in the same run. In processor time: what
else the machine does is not counted. Exit code 1: more than promised.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from arena.statistics import Played, digest_of
from protocol.refusals import Conduct
from protocol.words import Outcome

RESULTS, QUICK = 100_000, 5_000
ENTRANTS = 26
AT_MOST_SECONDS = 10.0
RANKINGS: dict[int, list[tuple[tuple[int, ...], ...]]] = {
    2: [((0,), (1,)), ((1,), (0,)), ((0, 1),)],
    13: [((0, 1), (2,), (3, 4, 5), *((seat,) for seat in range(6, 13))), tuple((seat,) for seat in range(13))],
}
"""By seats: what results are like."""


def results(seats: int, number: int) -> list[Played]:
    """So many, of blocks that play every seating."""
    luck = np.random.default_rng(seats)
    sitting = [tuple(luck.permutation(ENTRANTS)[:seats].tolist()) for _ in range(1000)]
    outcomes = [
        Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="decided", detail={})
        for ranking in RANKINGS[seats]
    ]
    return [
        Played(
            block=each // seats,
            seating=each % seats,
            entrants=sitting[each % 1000],
            outcome=outcomes[int(luck.integers(len(outcomes)))],
            conduct=(Conduct.OK,) * seats,
            charged_us=(1000,) * seats,
            windows=(10,) * seats,
            defaults=(0,) * seats,
            refused=(0,) * seats,
        )
        for each in range(number)
    ]


def walk(played: Sequence[Played]) -> Counter[int]:
    """Who was first how often."""
    return Counter(each.entrants[seat] for each in played for seat in each.outcome.ranking[0])


def seconds(act: Callable[[], object]) -> float:
    """Of the processor."""
    began = time.process_time()
    act()
    return time.process_time() - began


def main() -> int:
    """Prints both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer results, for a look")
    number = QUICK if parser.parse_args().quick else RESULTS
    good = True
    for seats in RANKINGS:
        played = results(seats, number)
        least = seconds(partial(walk, played))
        took = seconds(partial(digest_of, [str(bot) for bot in range(ENTRANTS)], played))
        good &= took <= AT_MOST_SECONDS
        bound = f"at most {AT_MOST_SECONDS:.0f}"
        print(f"{seats:2} seats: {number:,} results {took:5.2f} s ({bound}), ratio {took / least:.0f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
