"""How long a million blocks take to schedule, in every format, beside the least that any schedule must do.

That least, the baseline, is measured in the same run: to hash a number for each block and make its matches. The
formats that depend on results are fed with them, the better bot winning more; reading results is part of the time.
Run as `bench_schedule.py [BLOCKS]`; --quick for a look.
"""

import sys
import time
from collections.abc import Callable, Iterator
from hashlib import shake_128
from random import Random

from arena.formats import Form, schedule_of
from arena.rounds import Fixed, Schedule, rounds_of
from arena.schedule import Block, Match
from arena.standings import Played
from protocol.refusals import Conduct
from protocol.words import Outcome

BLOCKS, QUICK = 1_000_000, 50_000
AT_MOST_SECONDS = 10.0
"""For a million blocks, as asked for."""
CHUNK = 50_000
"""So many blocks between two measurements of the baseline: a machine's speed changes while others use it."""
BOTS = 2_000
FIRST, SECOND = ((0,), (1,)), ((1,), (0,))


def form(format_: str, blocks: int, **more: int | bool) -> Form:
    """A form of about so many blocks: of two seats, with two thousand bots."""
    told = {"seats": 2, "entrants": BOTS, "rotations": None, "filled": False, "heads": None, "rounds": None}
    return Form(format=format_, blocks=blocks, **(told | more))  # type: ignore[arg-type]


def schedules(blocks: int) -> dict[str, Schedule]:
    """Each with about so many blocks."""
    turns = -(-blocks // (BOTS // 2))
    found = {
        "round robin": form("round_robin", -(-blocks // 4_950), entrants=100),
        "gauntlet": form("gauntlet", -(-blocks // (BOTS - 1))),
        # Of a Swiss tournament so many rounds at most: there are more bots in its place.
        "swiss": form("swiss", 1, entrants=2 * max(2, blocks // 20), rounds=min(20, blocks // 4)),
        "knock-out": form("knockout", 8, entrants=max(2, blocks // 8 + 1)),
        "ladder": form("ladder", 1, rounds=turns),
        "5 seats, 100 bots": form("round_robin", blocks // 20, seats=5, entrants=100),
        "5 seats, 48 bots, house": form("round_robin", blocks // 10, seats=5, entrants=48, filled=True),
        "13 seats, 26 bots": form("round_robin", blocks // 2, seats=13, entrants=26),
        "13 seats, 30 bots, 3 rotations": form("round_robin", blocks // 2, seats=13, entrants=30, rotations=3),
    }
    return {name: schedule_of(each) for name, each in found.items()}


def scheduled(schedule: Schedule) -> Iterator[Block]:
    """All its blocks; where it depends on results, with results."""
    luck = Random(1).random
    played: list[Played] = []
    for blocks in rounds_of(schedule.rounds(1), lambda _first: played):
        played.clear()
        for block in blocks():
            if not isinstance(schedule, Fixed):
                played += [_result(match, luck()) for match in block.matches]
            yield block


def _result(match: Match, draw: float) -> Played:
    """The one with the lower number is the better one."""
    one, other = match.entrants
    first = (draw < 0.7) == (one < other)  # noqa: PLR2004 - so often the better one wins
    return Played(
        block=match.block,
        seating=match.seating,
        entrants=match.entrants,
        outcome=Outcome(
            ranking=FIRST if first else SECOND,
            winners=(0,) if first else (1,),
            eliminated=None,
            scores=None,
            reason="",
        ),
        conduct=(Conduct.OK, Conduct.OK),
        charged_us=(0, 0),
        windows=(1, 1),
        defaults=(0, 0),
    )


def baseline(blocks: int) -> Iterator[Block]:
    """Blocks of two matches, of the same two bots."""
    for number in range(blocks):
        drawn = shake_128(b"1/%d" % number).digest(24)
        name, deal = drawn.hex(), int.from_bytes(drawn[:8], "big")
        yield Block(
            number, 0, (Match(name[16:32], number, 0, (0, 1), deal), Match(name[32:], number, 1, (1, 0), deal))
        )


def seconds(blocks: Callable[[], Iterator[Block]]) -> tuple[int, float]:
    """How many blocks there are, and how long they take."""
    began, number = time.perf_counter(), 0
    for _ in blocks():
        number += 1
    return number, time.perf_counter() - began


def main(blocks: int) -> bool:
    """Prints each format's time for a million blocks, and its ratio to the baseline; whether all are in bounds."""
    good = True
    for name, schedule in schedules(blocks).items():
        before = seconds(lambda: baseline(CHUNK))[1]
        number, took = seconds(lambda schedule=schedule: scheduled(schedule))  # type: ignore[misc]
        least = (before + seconds(lambda: baseline(CHUNK))[1]) / 2 / CHUNK * number
        a_million = took / number * 1_000_000
        good &= number < BLOCKS or took <= AT_MOST_SECONDS * number / 1_000_000
        print(
            f"{name:31} {number:9,} blocks {took:6.2f} s  a million {a_million:6.2f} s  ratio {took / least:5.2f}"
        )
    print(f"a million blocks: at most {AT_MOST_SECONDS:.0f} s each (judged from a million on)")
    return good


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(BLOCKS))
    sys.exit(not main(QUICK if given == "--quick" else int(given)))
