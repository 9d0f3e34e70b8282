"""Where the time of a match of 13 seats goes, over the real wire, with 13 random bots in sandboxes.

Start: from the call until the last bot has said `hello`. Thinking: while some bot has a window and has not
answered, as its handing over and its answer's arrival are stamped. Referee: the rest until the last window has
closed; that is rules, views, transcript and wire. Ending: until the bots have ended and the transcript is sealed.
Exit code 1: the start of processes is not the largest part. Run as `bench_seats.py [RUNS]`; --quick for a look.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from arena import event_loop
from referee.bot_folder import find_bot
from referee.host import Plan, SandboxedBot, play
from referee.match import WindowTime
from referee.transcript import read_transcript
from referee.wire import Wire, open_wire

SEATS = 13
RUNS, QUICK = 20, 5
GAMES = {"pointing": ("tempo-up", "pointing_random"), "fight-for-a-name": ("guardians", "fight_for_a_name_random")}
"""The games of 13 seats: variant, and the random bot."""
PARTS = ("start", "thinking", "referee", "ending")


async def one_match(game: str, seed: int, wire: Wire, folder: Path) -> tuple[dict[str, float], float]:
    """Seconds of each part of a match, and of the arena's own processor time while windows were open."""
    variant, name = GAMES[game]
    players = [SandboxedBot(find_bot(name))] * SEATS
    told: list[tuple[float, float]] = []

    def note(*_: Any) -> None:
        """What is told first is told when the last has said `hello`; what is told last, when all is over."""
        told.append((time.perf_counter(), time.process_time()))

    called = time.perf_counter()
    result = await play(
        Plan(match=f"bench-{seed}", game=game, variant=variant, seed=seed),
        players,
        transcript=folder / f"{game}-{seed}.jsonl",
        watch=note,
        wire=wire,
    )
    ended = time.perf_counter()
    if result.void is not None:
        raise RuntimeError(result.void)
    (began, cpu_began), (closed, cpu_closed) = told[0], told[-1]
    thinking = thinking_of(read_transcript(Path(result.transcript)))
    parts = (began - called, thinking, closed - began - thinking, ended - closed)
    return dict(zip(PARTS, parts, strict=True)), cpu_closed - cpu_began


def thinking_of(records: Iterable[Any]) -> float:
    """Seconds in which some bot had a window and had not answered it."""
    return (
        sum(
            max(seat.opened if seat.arrived is None else seat.arrived for seat in record.seats)
            - min(seat.opened for seat in record.seats)
            for record in records
            if isinstance(record, WindowTime)
        )
        / 1e6
    )


async def measured(game: str, runs: int, folder: Path) -> list[tuple[dict[str, float], float]]:
    """So many matches, one after the other; a first one warms what later ones find warm."""
    async with open_wire() as wire:
        return [await one_match(game, seed, wire, folder) for seed in range(runs + 1)][1:]


def told_of(game: str, runs: Sequence[tuple[dict[str, float], float]]) -> bool:
    """Prints the medians; whether starting processes is the largest part."""
    medians = {part: statistics.median(parts[part] for parts, _ in runs) for part in PARTS}
    total = sum(medians.values())
    print(f"{game}, {SEATS} seats: {total * 1e3:.0f} ms a match (medians of {len(runs)})")
    for part, seconds in medians.items():
        print(f"  {part:9} {seconds * 1e3:z8.1f} ms  {100 * seconds / total:z4.0f}%")
    own = statistics.median(cpu for _, cpu in runs)
    print(f"  the arena's own processor time while windows were open: {own * 1e3:.1f} ms")
    return max(medians, key=medians.__getitem__) == "start"


def main() -> int:
    """Measures, prints, judges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=RUNS)
    parser.add_argument("--quick", action="store_true", help="fewer matches, for a look")
    given = parser.parse_args()
    runs = QUICK if given.quick else given.runs
    good = True
    for game in GAMES:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            runs_of_it = event_loop.run(lambda: measured(game, runs, Path(folder)))  # noqa: B023 - run at once
        good &= told_of(game, runs_of_it)
    print("start is the largest part" if good else "start is NOT the largest part")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
