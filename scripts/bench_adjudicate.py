"""Benchmark of `arena adjudicate`: 500 whole scenarios of each game, against reading and writing their JSON alone.

Run: scripts/bench adjudicate. Exit code 1: slower than the seconds that were promised.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial

from referee.adjudication import adjudicate_line
from tests.referee.adjudication.examples import SCENARIOS, examples

COUNT = 500
SECONDS = 10.0
"""For so many, at most."""


def seconds(work: Callable[[], object]) -> float:
    """Of processor time that it takes."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _adjudicated(lines: list[bytes]) -> None:
    for line in lines:
        adjudicate_line(line)


def _bare(lines: list[bytes], results: list[object]) -> None:
    for line, result in zip(lines, results, strict=True):
        json.loads(line)
        json.dumps(result)


def main() -> int:
    """Prints a line for each game."""
    good = True
    for game in sorted(file.stem for file in SCENARIOS.glob("*.jsonl")):
        found = examples(game)
        scenarios = [json.dumps(found[n % len(found)]["scenario"]).encode() for n in range(COUNT)]
        results = [found[n % len(found)]["result"] for n in range(COUNT)]
        ours = seconds(partial(_adjudicated, scenarios))
        bare = seconds(partial(_bare, scenarios, results))
        good = good and ours <= SECONDS
        print(f"{game}: {COUNT} in {ours:.2f} s (at most {SECONDS:.0f}), {ours / bare:.1f} times their JSON")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
