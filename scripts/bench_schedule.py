"""How long a million blocks take to schedule, in every format, beside the least that any schedule does.

That least, the baseline, is measured in the same run: to make a block. A block makes its matches when it is
played: what they would cost in all is measured too. The formats that depend on results are fed with them, the
better bot winning more; making and reading results is part of the time. Times are the process's own (CPU), so that
others on the machine do not count. Run as `bench_schedule.py [BLOCKS]`; --quick for a look.
"""

import sys
import time
from collections.abc import Iterator
from itertools import islice
from random import Random

from arena.schedule import SWAPPED, Block, Fixed, Schedule, ScheduleSpec, format_of
from arena.statistics import Played
from protocol.refusals import Conduct
from protocol.words import Outcome

BLOCKS, QUICK = 1_000_000, 50_000
AT_MOST_SECONDS = 10.0
"""For a million blocks, as asked for."""
CHUNK = 50_000
"""So many blocks make a measurement of the baseline, and of what matches cost."""
BOTS = 2_000
WON, LOST = (
    Outcome(ranking=ranking, winners=ranking[0], eliminated=None, scores=None, reason="")
    for ranking in (((0,), (1,)), ((1,), (0,)))
)
FINE, NONE = (Conduct.OK, Conduct.OK), (0, 0)
BETTER_WINS = 0.7


def spec(format_: str, blocks: int, **more: int | bool) -> ScheduleSpec:
    """A spec of two seats and two thousand bots, unless it says otherwise."""
    told = {"seats": 2, "entrants": BOTS, "rotations": None, "filled": False, "heads": None, "rounds": None}
    return ScheduleSpec(format=format_, blocks=blocks, **(told | more))  # type: ignore[arg-type]


def schedules(blocks: int) -> dict[str, Schedule]:
    """Each with about so many blocks."""
    found = {
        "round robin": spec("round_robin", -(-blocks // 4_950), entrants=100),
        "gauntlet": spec("gauntlet", -(-blocks // (BOTS - 1))),
        # Rounds are few where nobody meets twice: bots are many.
        "swiss": spec("swiss", 1, entrants=blocks // 10, rounds=20),
        "knock-out": spec("knockout", 8, entrants=blocks // 8 + 1),
        "ladder": spec("ladder", 1, rounds=-(-blocks // (BOTS // 2))),
        "5 seats, 100 bots": spec("round_robin", blocks // 20, seats=5, entrants=100),
        "5 seats, 48 bots, house": spec("round_robin", blocks // 10, seats=5, entrants=48, filled=True),
        "13 seats, 26 bots": spec("round_robin", blocks // 2, seats=13, entrants=26),
        "13 seats, 30 bots, 3 rotations": spec("round_robin", blocks // 2, seats=13, entrants=30, rotations=3),
    }
    return {name: format_of(each).schedule(each) for name, each in found.items()}


def scheduled(schedule: Schedule) -> Iterator[Block]:
    """All its blocks; where it depends on results, with results."""
    if isinstance(schedule, Fixed):
        yield from schedule.blocks(1)
        return
    luck, rounds = Random(1).random, schedule.rounds(1)
    blocks = list(next(rounds)())
    while blocks:
        yield from blocks
        results = [_result(block, seating, luck()) for block in blocks for seating in block.shifts]
        try:
            blocks = list(rounds.send(results)())
        except StopIteration:
            return


def _result(block: Block, seating: int, draw: float) -> Played:
    """The one with the lower number is the better one."""
    entrants = block.entrants if seating == 0 else block.entrants[::-1]
    first = (draw < BETTER_WINS) == (entrants[0] < entrants[1])
    return Played(
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
    """Blocks of the same two bots, one after the other."""
    for number in range(blocks):
        yield Block(number, 0, (0, 1), SWAPPED, 1)


def seconds(blocks: Iterator[Block]) -> tuple[int, float]:
    """How many blocks there are, and how long they take."""
    began, number = time.process_time(), 0
    for _ in blocks:
        number += 1
    return number, time.process_time() - began


def seconds_of_matches(blocks: Iterator[Block]) -> float:
    """How long a million of these would take to make their matches."""
    those = list(islice(blocks, CHUNK))
    began = time.process_time()
    for block in those:
        _ = block.matches
    return (time.process_time() - began) / len(those) * 1_000_000


def main(blocks: int) -> bool:
    """Prints each format's time, and its ratio to the baseline; whether all are in bounds."""
    good = True
    for name, schedule in schedules(blocks).items():
        _, before = seconds(baseline(CHUNK))
        number, took = seconds(scheduled(schedule))
        # Before and after: a machine's speed changes.
        least = (before + seconds(baseline(CHUNK))[1]) / 2 / CHUNK * number
        a_million = took / number * 1_000_000
        good &= blocks < BLOCKS or a_million <= AT_MOST_SECONDS
        matches = seconds_of_matches(scheduled(schedule))
        print(
            f"{name:31} {number:9,} blocks {took:6.2f} s  a million {a_million:6.2f} s  ratio {took / least:5.1f}"
            f"  (their matches: {matches:5.1f} s)"
        )
    print(f"a million blocks: at most {AT_MOST_SECONDS:.0f} s in each format (judged from {BLOCKS:,} blocks on)")
    return good


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(BLOCKS))
    sys.exit(not main(QUICK if given == "--quick" else int(given)))
