"""Whole matches a second on the whole machine, as `arena tournament` plays them, against other people's runners.

Mist of 60 turns between two trivial bots, each in a strict sandbox of its own, warm: started for each match, and
kept from match to match. Against: reconchess, which
plays two random bots in one process without isolation; and kaggle-environments' connectx, if a Python that has it
is named with --kaggle. Beside it what a faster referee could gain at most: the same bots in the same sandboxes,
told the same by blocking ZeroMQ, with no rules, clocks or records. Then what of a match's time is its
transcript's: the same matches, one after the other, with and without it. Rounds alternate.
Exit code 1: less than promised; 3: nothing to compare with.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from unittest import mock

import bench_yardsticks
import trio
import zmq
from msgspec import Raw

from arena import loop
from referee import sandbox
from referee.bot_folder import find_bot
from referee.plan import Plan
from referee.play import SandboxedBot, play
from referee.records import In, Out
from referee.transcript_reading import read_transcript
from referee.wire import SOCKET_NAME, open_wire

BOT = """\
from bots.kit import run

run(lambda window: {"cells": ["E5"]})
"""
TURNS = 60
CUP = """\
game = "mist"
variant = "contractual-obligation"
bots = ["one", "two"]
blocks = {blocks}
options.first = 0
options.max_turns = {turns}
policy.processes = "{processes}"
"""
Script = list[tuple[int, bytes | None]]
"""Of a match: which seat is told which frame, or (None) is to say one."""
SECONDS = 4.0
RATIO_FRESH, RATIO_KEPT, RATIO_KAGGLE, MOST_TRANSCRIPT = 0.65, 1.4, 8.0, 0.10
KEPT_BLOCKS = 3
"""Times as many blocks with kept bots: their matches take less, and the arena's own start as long."""


def bots(folder: Path) -> None:
    """Two that always say the same."""
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(BOT)
        about = {"name": name, "version": "1", "command": ["python", "bot.py"], "games": ["mist"], "keeps": True}
        (folder / name / "bot.toml").write_text(
            "".join(f"{key} = {json.dumps(value)}\n" for key, value in about.items())
        )


def tournament(folder: Path, number: int, blocks: int, at_once: int, processes: str) -> float:
    """Matches a second of a tournament, its start and its end included."""
    file = folder / f"cup-{processes}-{number}.toml"
    file.write_text(CUP.format(blocks=blocks, turns=TURNS, processes=processes))
    began = time.perf_counter()
    command = [sys.executable, "-m", "arena", "tournament", file, "--json", "--concurrency", str(at_once)]
    subprocess.run(command, check=True, capture_output=True)
    return 2 * blocks / (time.perf_counter() - began)


class _Nothing:
    """Takes records, and keeps none."""

    head = None

    def append(self, _record: object) -> None:
        """Nowhere."""

    def catch_up(self) -> None:
        """Is always."""

    async def close(self) -> None:
        """At once."""


@asynccontextmanager
async def _no_transcript(_path: Path, _header: object) -> AsyncIterator[_Nothing]:
    yield _Nothing()


def plan() -> Plan:
    """One match's."""
    options = Raw(b'{"first":0,"max_turns":%d}' % TURNS)
    return Plan(match="b", game="mist", variant="contractual-obligation", seed=1, options=options)


def players(folder: Path) -> list[SandboxedBot]:
    """By seat."""
    return [SandboxedBot(find_bot(str(folder / name))) for name in ("one", "two")]


async def unrefereed(folder: Path, number: int, matches: int, at_once: int) -> float:
    """Matches a second of the same bots, each told what it was told in a match, with nothing in between."""
    path = folder / f"script-{number}.jsonl"
    await play(plan(), players(folder), transcript=path)
    script: Script = [
        (record.seat, bytes(record.frame) if isinstance(record, Out) else None)
        for record in read_transcript(path)
        if isinstance(record, In | Out)
    ]
    left = iter(range(matches))
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    limiter = trio.CapacityLimiter(at_once)
    both = players(folder)

    async def lane() -> None:
        for _ in left:
            await unrefereed_match(both, script, context, limiter)

    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(lane)
    took = time.perf_counter() - began
    context.destroy(linger=0)
    return matches / took


async def unrefereed_match(
    both: list[SandboxedBot],
    script: Script,
    context: "zmq.Context[zmq.Socket[bytes]]",
    limiter: trio.CapacityLimiter,
) -> None:
    """Starts both bots, tells them what they were told, and waits until they have ended."""
    with tempfile.TemporaryDirectory() as name:
        sockets, processes = [], []

        async def start(bot: SandboxedBot, path: Path) -> None:
            log = path.with_name("log")
            process = await sandbox.start(
                nursery, bot.folder, line=path, token="0" * 32, isolation="strict", log=log, warm=True
            )
            processes.append(process)

        async with trio.open_nursery() as nursery:
            async with trio.open_nursery() as starts:
                for seat, bot in enumerate(both):
                    path = Path(name, str(seat), SOCKET_NAME)
                    path.parent.mkdir(mode=0o700)
                    sockets.append(context.socket(zmq.PAIR))
                    sockets[seat].bind(f"ipc://{path}")
                    starts.start_soon(start, bot, path)
            await trio.to_thread.run_sync(tell, sockets, script, limiter=limiter)
            for process in processes:
                await process.wait()
        for socket in sockets:
            socket.close(linger=0)


def tell(sockets: "list[zmq.Socket[bytes]]", script: Script) -> None:
    """Says and hears all of a match, by calls that wait."""
    for seat, frame in script:
        if frame is None:
            sockets[seat].recv()
        else:
            sockets[seat].send(frame)


async def one_by_one(folder: Path, matches: int, name: str, *, written: bool) -> float:
    """Seconds a match, with its transcript or without."""
    both = players(folder)
    async with open_wire() as wire:
        began = 0.0
        for number in range(matches + 1):
            if number == 1:
                began = time.perf_counter()  # The first one starts what others are forked from.
            path = folder / f"{name}-{number}.jsonl"
            with nullcontext() if written else mock.patch("referee.play.open_transcript", _no_transcript):
                await play(plan(), both, transcript=path, wire=wire)
        return (time.perf_counter() - began) / matches


def main() -> int:
    """Prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer matches, for a look")
    parser.add_argument("--kaggle", metavar="PYTHON", type=Path)
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    rounds, blocks, single = (1, 50, 20) if asked.quick else (3, 200, 60)
    reconchess = bench_yardsticks.python()
    ours: list[float] = []
    kept: list[float] = []
    best: list[float] = []
    theirs: list[tuple[float, float]] = []
    kaggle: list[float] = []
    written: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory(prefix="bench-matches-") as name:
        folder = Path(name)
        bots(folder)
        for number in range(rounds):
            ours.append(tournament(folder, number, blocks, asked.at_once, "fresh"))
            kept.append(tournament(folder, number, KEPT_BLOCKS * blocks, asked.at_once, "kept"))
            best.append(loop.run(partial(unrefereed, folder, number, 2 * blocks, asked.at_once)))
            if reconchess:
                games, turns = bench_yardsticks.numbers(reconchess, "bench_reconchess.py", SECONDS)
                theirs.append((games, turns))
            if asked.kaggle:
                kaggle.append(bench_yardsticks.numbers(asked.kaggle, "bench_kaggle.py", SECONDS)[1])
            written.append(loop.run(partial(one_by_one, folder, single, f"written-{number}", written=True)))
            bare.append(loop.run(partial(one_by_one, folder, single, f"bare-{number}", written=False)))
    matches, stayed, most = median(ours), median(kept), median(best)
    print(f"Mist, {TURNS} turns, strict, {asked.at_once} at once: {matches:.1f} matches/s")
    print(f"the same with kept bots: {stayed:.1f} matches/s, {stayed * TURNS:,.0f} moves/s")
    print(f"fresh bots with no referee: {most:.1f} matches/s; it leaves {matches / most:.0%} of that")
    good = True
    if theirs:
        games, turns = (median(column) for column in zip(*theirs, strict=True))
        good = good and matches / games >= RATIO_FRESH and stayed / games >= RATIO_KEPT
        print(f"reconchess, one process, no isolation: {games:.1f} games/s, {turns:,.0f} turns/s")
        print(f"matches to its games: fresh {matches / games:.2f} (at least {RATIO_FRESH})")
        print(f"                      kept {stayed / games:.2f} (at least {RATIO_KEPT})")
        print(f"                      fresh with no referee {most / games:.2f}")
    if kaggle:
        ratio = stayed * TURNS / median(kaggle)
        good = good and ratio >= RATIO_KAGGLE
        print(
            f"kaggle-environments: {median(kaggle):,.0f} moves/s; kept {ratio:.1f} (at least {RATIO_KAGGLE:.0f}), "
            f"fresh {matches * TURNS / median(kaggle):.1f}"
        )
    share = 1 - median(bare) / median(written)
    good = good and share <= MOST_TRANSCRIPT
    print(
        f"one match after the other: {median(written) * 1e3:.1f} ms, {median(bare) * 1e3:.1f} without transcripts"
    )
    print(f"a transcript's share of a match: {share:.0%} (at most {MOST_TRANSCRIPT:.0%})")
    if not good:
        return 1
    return 0 if theirs else 3


if __name__ == "__main__":
    sys.exit(main())
