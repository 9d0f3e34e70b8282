"""A site of 100,000 matches: files a second, memory, the largest page; and replays of real matches.

Files a second are held against a loop that writes as many files of the same sizes in the same way, processor time
against a loop of additions. Run as
`bench_site.py`; --quick for a look (10,000 matches).
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from simulated_results import write_results

from arena.web import HOME

BOTS, BLOCKS, QUICK_BLOCKS = 100, 10, 1
"""Blocks for each pair of so many bots: 99,000 matches."""
AT_MOST_MIB = 400.0
"""Of the process that builds, at its most; with 9,900 matches as with 99,000."""
ADDITIONS = 10_000_000
AT_MOST_ADDITIONS = 83_000
"""Pages of a match may take as long as so many additions in a loop: 4 ms where ten million take 0.48 s."""
AT_MOST_PAGE = 300_000
"""Bytes of the largest page that is not a replay."""
CUPS = {
    "mist": 'bots = ["mist_random", "mist_hunter"]',
    "hive-mind": 'bots = ["hive_mind_random", "hive_mind_counter"]\nfill = "hive_mind_random"',
}
CUP = 'game = "{}"\n{}\nblocks = 8\nseed = 4\nisolation = "none"\n'
"""Of real matches, whose replays are made."""


class Ran(Struct):
    """A command that ended."""

    seconds: float
    cpu: float
    mib: float
    said: Any


def run(*words: object) -> Ran:
    """Runs the arena, and waits for it; `said` is its JSON."""
    began = time.monotonic()
    reading, writing = os.pipe()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "arena", *map(str, words), "--json"],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)],
    )
    os.close(writing)
    with os.fdopen(reading) as output:
        said = output.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"arena {' '.join(map(str, words))}: ended with {os.waitstatus_to_exitcode(status)}")
    seconds = time.monotonic() - began
    return Ran(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(said))


def sizes(out: Path) -> dict[str, int]:
    """Of all files that others see."""
    return {
        str(path.relative_to(out)): path.stat().st_size
        for path in out.rglob("*")
        if path.is_file() and HOME not in path.parts
    }


def plain(folder: Path, written: Iterator[int]) -> float:
    """Seconds that it takes to write files of these sizes, each whole."""
    folder.mkdir()
    began = time.monotonic()
    for number, size in enumerate(written):
        part = folder / "part"
        part.write_bytes(b"x" * size)
        part.replace(folder / str(number))
    return time.monotonic() - began


def addition() -> float:
    """Seconds of processor time that one addition in a loop takes."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return (time.process_time() - began) / ADDITIONS


def pages(scratch: Path, blocks: int) -> bool:
    """Pages of simulated matches; whether they are within bounds."""
    matches = write_results(scratch / "cup", BOTS, blocks=blocks)
    words = ("site", scratch / "out", scratch / "cup", "--no-replays", "--no-transcripts")
    before = addition()
    first = run(*words)
    additions = first.cpu / matches / min(before, addition())
    found = sizes(scratch / "out")
    again = run(*words)
    written = plain(scratch / "plain", iter(found.values()))
    largest = max(found, key=lambda path: found[path])
    print(
        f"{matches:,} matches of {BOTS} bots: {len(found):,} files, {sum(found.values()) / 2**20:,.0f} MiB, in "
        f"{first.seconds:.0f} s ({first.cpu:.0f} s of the processor), {len(found) / first.seconds:,.0f} a second; "
        f"{first.seconds / written:.1f} times as long as to write them\n"
        f"a match: {first.cpu / matches * 1000:.1f} ms of the processor, as long as {additions:,.0f} additions "
        f"(at most {AT_MOST_ADDITIONS:,})\n"
        f"again, with nothing new: {again.seconds:.0f} s, {again.said['written']} files written\n"
        f"memory at the most {first.mib:.0f} MiB, again {again.mib:.0f} (at most {AT_MOST_MIB:.0f})\n"
        f"the largest file is {largest} with {found[largest]:,} bytes (at most {AT_MOST_PAGE:,})"
    )
    in_bounds = first.mib <= AT_MOST_MIB and additions <= AT_MOST_ADDITIONS and found[largest] <= AT_MOST_PAGE
    return in_bounds and again.said["written"] == 0 and len(found) > matches


def replays(scratch: Path) -> None:
    """Replays of matches of two games."""
    for game, bots in CUPS.items():
        folder = scratch / game
        folder.mkdir()
        (folder / "cup.toml").write_text(CUP.format(game, bots))
        run("tournament", folder / "cup.toml")
        made = run("site", folder / "out", folder / "runs", "--jobs", 1)
        found = sizes(folder / "out")
        for kind in ("replay", "transcript"):
            its = [size for path, size in found.items() if path.startswith(kind)]
            print(f"{game}: {len(its)} {kind}s, {statistics.mean(its) / 1000:,.0f} kB each", end="; ")
        print(f"{made.cpu / max(1, len(its)) * 1000:.0f} ms of the processor for each match, pages included")


def main() -> int:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer matches, for a look")
    quick = parser.parse_args().quick
    with TemporaryDirectory(dir=Path.cwd(), prefix="bench-site-") as scratch:
        good = pages(Path(scratch), QUICK_BLOCKS if quick else BLOCKS)
        replays(Path(scratch))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
