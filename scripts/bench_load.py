"""Load: 250 matches of Mist at once, 500 bots in strict sandboxes, one referee process; and the soak, for an hour.

    scripts/bench load                 2,000 matches, 250 at once
    scripts/bench load --soak 60       matches for so many minutes, 50 at once; looks for what grows

The bots answer within their time, so no window may be lost by the referee's fault. Its memory at the most, less
what it was before the first match, is shared among the matches at once. In the soak the middle of the looks of the
last quarter is held against that of the second: what was not yet warm in the first is no growth. It looks sixty
times, each time when all matches under way have ended. Exit code 1: a window lost by the referee or the machine,
an attempt void, more memory than wanted, or something that grew.
"""

import argparse
import gc
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, takewhile
from pathlib import Path

import trio
from msgspec import Raw, Struct

from arena import event_loop
from arena.stress import resident_bytes
from referee.bot_folder import find_bot
from referee.host import Plan, SandboxedBot, play
from referee.match import Policy
from referee.wire import Wire, open_wire

MATCHES, AT_ONCE = 2_000, 250
SOAK_AT_ONCE = 50
MOST_KIB = 1024.0
"""Of the referee's memory, a match at once."""
GLANCE_SECONDS = 0.1
ROUNDS = 60
"""In a soak: as often everything is looked at."""
GROWTH = 0.02
"""By so much the middle of what is measured may be off, from one look to the next."""
STARTUP_MS = 120_000
BOTS = ("mist_random", "mist_cautious")


class Look(Struct, frozen=True):
    """What the referee's process has at a moment."""

    memory_kib: int
    descriptors: int
    threads: int
    objects: int
    """That the collector of garbage looks after."""


class Load:
    """Matches at once, for as long as seeds come."""

    def __init__(self, wire: Wire, folder: Path, at_once: int) -> None:
        self._wire, self._folder, self._at_once = wire, folder, at_once
        self._bots = tuple(SandboxedBot(find_bot(name)) for name in BOTS)
        self.played = 0
        self.verdicts = Counter[str]()
        self.voids: list[str] = []

    async def play(self, seeds: Iterator[int]) -> None:
        """Plays one match for each seed."""
        async with trio.open_nursery() as nursery:
            for _ in range(self._at_once):
                nursery.start_soon(self._work, seeds)

    async def _work(self, seeds: Iterator[int]) -> None:
        for seed in seeds:
            plan = Plan(
                match=f"load-{seed}",
                game="mist",
                variant="contractual-obligation",
                seed=seed,
                options=Raw(b'{"max_turns":60}'),
                policy=Policy(startup_ms=STARTUP_MS, unfair="note"),
            )
            path = self._folder / f"{seed}.jsonl"
            result = await play(plan, self._bots, transcript=path, wire=self._wire)
            for file in self._folder.glob(f"{seed}.*"):
                file.unlink()
            self.played += 1
            if result.void is not None:
                self.voids.append(result.void)
            for verdicts in result.verdicts:
                self.verdicts.update(verdicts)


def look() -> Look:
    """Now."""
    return Look(
        resident_bytes() // 1024,
        len([*Path("/proc/self/fd").iterdir()]),
        threading.active_count(),
        len(gc.get_objects()),
    )


async def watched(act: Callable[[], object], seconds: float) -> None:
    """Does something again and again, until it is cancelled."""
    while True:
        act()
        await trio.sleep(seconds)


async def burst(matches: int, at_once: int) -> bool:
    """So many matches; whether all is as it should be."""
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        async with open_wire() as wire, trio.open_nursery() as nursery:
            load = Load(wire, Path(folder), at_once)
            await load.play(iter(range(2)))  # What all matches share is there after the first ones.
            before, most = resident_bytes(), [0]
            nursery.start_soon(watched, lambda: most.append(max(most.pop(), resident_bytes())), GLANCE_SECONDS)
            began, cpu = time.monotonic(), time.process_time()
            await load.play(iter(range(2, matches + 2)))
            seconds, cpu = time.monotonic() - began, time.process_time() - cpu
            nursery.cancel_scope.cancel()
    each = (most[0] - before) / 1024 / at_once
    print(
        f"{matches} matches, {at_once} at once, {2 * at_once} bots: {seconds:.0f} s, {matches / seconds:.1f} a "
        f"second; the referee's processor time {cpu / matches * 1e3:.1f} ms a match"
    )
    print(f"memory: {before / 2**20:.0f} MiB before, {each:.0f} KiB a match at once (at most {MOST_KIB:.0f})")
    return told(load) and each <= MOST_KIB


async def soak(minutes: float, at_once: int) -> bool:
    """Matches for so long; whether nothing grows."""
    looks: list[Look] = []
    with tempfile.TemporaryDirectory(prefix="bench-load-") as folder:
        async with open_wire() as wire:
            load, seeds = Load(wire, Path(folder), at_once), count()
            began = time.monotonic()
            for number in range(1, ROUNDS + 1):
                end = began + 60 * minutes * number / ROUNDS
                await load.play(takewhile(partial(_before, end), seeds))
                looks.append(look())
    print(f"{load.played} matches in {minutes:.0f} minutes, {at_once} at once, {len(looks)} looks between them")
    quarter = len(looks) // 4
    second, last = looks[quarter : 2 * quarter], looks[-quarter:]
    good = told(load)
    for name in Look.__struct_fields__:
        early, late = (statistics.median(getattr(each, name) for each in part) for part in (second, last))
        grew = late > early * (1 + GROWTH)
        print(f"{name:<12} {early:>10.0f} -> {late:>10.0f}{'  grew' if grew else ''}")
        good = good and not grew
    return good


def _before(end: float, _: int) -> bool:
    """Whether there is time for one more; `end` is of the monotonic clock."""
    return time.monotonic() < end


def told(load: Load) -> bool:
    """Prints whose fault lost windows were; whether none was ours."""
    print(f"windows lost or paid for: {dict(load.verdicts) or 'none'}; void: {len(load.voids)} {load.voids[:3]}")
    return not load.voids and not load.verdicts["referee"] and not load.verdicts["host"]


def main() -> int:
    """Prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer matches, for a look")
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    parser.add_argument("--matches", type=int)
    parser.add_argument("--at-once", type=int)
    asked = parser.parse_args()
    if asked.soak:
        return 0 if event_loop.run(lambda: soak(asked.soak, asked.at_once or SOAK_AT_ONCE)) else 1
    matches = asked.matches or (MATCHES // 10 if asked.quick else MATCHES)
    at_once = asked.at_once or (AT_ONCE // 5 if asked.quick else AT_ONCE)
    return 0 if event_loop.run(lambda: burst(matches, at_once)) else 1


if __name__ == "__main__":
    sys.exit(main())
