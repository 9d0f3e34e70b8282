"""The arena's own work for so many blocks: agenda, runner and ledger as they are, with matches that take no time.

No cluster could be faster. Results are as long as real ones. The run is stopped half-way, and then gone on with.
Times are of the clock on the wall, for the ledger waits for a disk. Run as `bench_scale.py [BLOCKS]` (a million
takes a quarter of an hour); --quick for a look.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from arena.schedule import Match, round_robin
from arena.stress import resident_bytes
from arena.tournament import BlockRunner, Ledger, MatchSetup
from arena.workers import Worker
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.bot_folder import MEGABYTE
from referee.host import Plan, Result

BLOCKS, QUICK = 100_000, 10_000
BOTS = 100
WORKERS, SLOTS = 100, 8
"""A cluster of so many workers, with so many slots each."""
AT_LEAST_A_SECOND = 500
"""Matches that the arena must get through: more than some hundred cores play."""
AT_MOST_RESUME_SECONDS = 60
"""From where a million blocks are half played to the next match."""
WON = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores=None, reason="three_in_a_row")
HEAD = "c38fa6bdedcbf0eee008efc0de2dea81ba9299faccab4b0d72682f57cc0611ad"


class Counted:
    """Counts what ends, and stops the run after so many."""

    def __init__(self, stop_after: int, every: int) -> None:
        self.matches = 0
        self.scope = trio.CancelScope()
        self._stop_after, self._every = stop_after, every
        self._mark = 0.0
        self.rates: list[float] = []

    def lost(self, match: Match, reason: str) -> None:
        """See `runner.Progress`."""

    def ended(self, match: Match, result: Result) -> None:
        """See `runner.Progress`."""
        del match, result
        self._mark = self._mark or time.monotonic()
        self.matches += 1
        if self.matches % self._every == 0:
            now = time.monotonic()
            self.rates.append(self._every / (now - self._mark))
            self._mark = now
            print(f"  {self.matches:9,} matches  {self.rates[-1]:7,.0f} a second  {memory():5.0f} MiB", flush=True)
        if self.matches == self._stop_after:
            self.scope.cancel()

    def void(self, match: Match, reason: str, set_aside: int) -> None:
        """See `runner.Progress`."""


async def no_time(plan: Plan, players: Sequence[int], *, transcript: Path) -> Result:
    """A match."""
    del players
    await trio.lowlevel.checkpoint()
    return Result(
        match=plan.match,
        outcome=WON,
        conduct=(Conduct.OK, Conduct.OK),
        void=None,
        charged_us=(1_234_567, 2_345_678),
        windows=(31, 30),
        defaults=(0, 0),
        transcript=str(transcript),
        head=HEAD,
    )


def memory() -> float:
    """This process's own now, in MiB."""
    return resident_bytes() / MEGABYTE


async def play(folder: Path, deals: int, heard: Counted) -> float:
    """Plays what is left; seconds to the first match that ended."""
    began = time.monotonic()
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.give_up_unfinished()
    field = MatchSetup(
        plan=Plan(match="", game="mist", variant="contractual-obligation", seed=0),
        players=tuple(range(BOTS)),
        names=tuple(f"some_bot_{number}" for number in range(BOTS)),
        transcripts=folder,
    )
    first: list[float] = []

    async def timed(plan: Plan, players: Sequence[int], *, transcript: Path) -> Result:
        first.append(time.monotonic() - began) if not first else None
        return await no_time(plan, players, transcript=transcript)

    with heard.scope:
        await BlockRunner(
            field,
            partial(round_robin, BOTS, deals, 1),
            ledger,
            workers=[Worker(play=timed, slots=SLOTS)] * WORKERS,
            progress=heard,
        ).play()
    ledger.close()
    return first[0]


def main(blocks: int) -> bool:
    """Prints what was measured; whether it is in bounds."""
    deals = max(1, round(blocks / (BOTS * (BOTS - 1) / 2)))
    blocks = deals * BOTS * (BOTS - 1) // 2
    matches = 2 * blocks
    print(f"{blocks:,} blocks of two matches, {BOTS} bots, {WORKERS} workers of {SLOTS} slots")
    with TemporaryDirectory(dir=Path.cwd()) as scratch:
        folder = Path(scratch)
        before = memory()
        first_half, second_half = Counted(matches // 2, matches // 10), Counted(matches, matches // 10)
        trio.run(play, folder, deals, first_half)
        print("stopped half-way; going on")
        resumed = trio.run(play, folder, deals, second_half)
        size = sum(file.stat().st_size for file in folder.iterdir())
        after = memory()
        ledger = Ledger(folder / "ledger.sqlite")
        began = time.monotonic()
        read = ledger.results()
        results = len(read)
        took = time.monotonic() - began
        whole = memory()
        del read
        ledger.close()
    rates = first_half.rates + second_half.rates
    mean = len(rates) / sum(1 / rate for rate in rates)
    print(
        f"{mean:,.0f} matches a second ({2 * mean:,.0f} transactions), in the slowest tenth {min(rates):,.0f}, "
        f"in the last {rates[-1] / rates[0]:.2f} times as many as in the first\n"
        f"ledger {size / MEGABYTE:,.0f} MiB, {size / results:,.0f} bytes a match\n"
        f"memory {before:.0f} MiB before, {after:.0f} at the end; {whole:.0f} with all {results:,} results, "
        f"read in {took:.1f} s\n"
        f"half-way, it took {resumed:.1f} s from the ledger's opening to the next match"
    )
    print(f"at least {AT_LEAST_A_SECOND} a second; goes on within {AT_MOST_RESUME_SECONDS} s")
    return mean >= AT_LEAST_A_SECOND and resumed <= AT_MOST_RESUME_SECONDS and results == matches


if __name__ == "__main__":
    given = dict(enumerate(sys.argv)).get(1, str(BLOCKS))
    sys.exit(not main(QUICK if given == "--quick" else int(given)))
