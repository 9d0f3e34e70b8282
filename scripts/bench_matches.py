"""Whole matches a second on the whole machine, as `arena tournament` plays them, against other people's runners.

Mist of 60 turns between two trivial bots, each in a strict sandbox of its own, warm: started for each match, and
kept from match to match. Against: reconchess, which
plays two random bots in one process without isolation; and kaggle-environments' connectx, if a Python that has it
is named with --kaggle. Beside it what a faster referee could gain at most: the same bots in the same sandboxes,
told the same by blocking ZeroMQ, with no rules, clocks or records; and as plain processes that are kept, as
runners of chess engines have them. Then what of a match's time is its
transcript's: the same matches, one after the other, with and without it. Rounds alternate.
Exit code 1: less than promised; 3: nothing to compare with.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from unittest import mock

import bench_yardsticks
import trio
import zmq
from msgspec import Raw

from arena import event_loop
from protocol.codec import encode
from protocol.messages import Invited
from referee import sandbox
from referee.bot_folder import find_bot
from referee.host import Plan, SandboxedBot, play
from referee.match import In, Out
from referee.transcript import read_transcript
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
INVITATION = encode(Invited(token=""))
Script = list[tuple[int, bytes | None]]
"""Of a match: which seat is told which frame, or (None) is to say one."""
SECONDS = 4.0
RATIO_FRESH, RATIO_KEPT, RATIO_KAGGLE, MOST_TRANSCRIPT = 0.62, 1.3, 8.0, 0.10
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
    how = ["--no-check", "--json", "--concurrency", str(at_once)]
    command = [sys.executable, "-m", "arena", "tournament", str(file), *how]
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


async def script_of(folder: Path) -> Script:
    """What the bots of a match say and are told."""
    path = folder / "script.jsonl"
    await play(plan(), players(folder), transcript=path)
    return [
        (record.seat, bytes(record.frame) if isinstance(record, Out) else None)
        for record in read_transcript(path)
        if isinstance(record, In | Out)
    ]


async def unrefereed(folder: Path, script: Script, matches: int, at_once: int) -> float:
    """Matches a second of the same bots, each told what it was told in a match, with nothing in between."""
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
        sockets: list[zmq.Socket[bytes]] = []
        processes: list[sandbox.Process] = []

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


def kept_unrefereed(folder: Path, script: Script, matches: int, at_once: int) -> float:
    """Matches a second of plain processes that are told match after match, so many pairs at once."""
    left = iter(range(matches))

    def lane() -> None:
        with tempfile.TemporaryDirectory() as name, ExitStack() as ends:
            context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
            sockets = []
            for seat, bot in enumerate(("one", "two")):
                sockets.append(context.socket(zmq.PAIR))
                endpoint = f"ipc://{name}/{seat}"
                sockets[seat].bind(endpoint)
                told = {**os.environ, "ARENA_ENDPOINT": endpoint, "ARENA_TOKEN": "", "ARENA_KEPT": "1"}
                process = subprocess.Popen([sys.executable, "bot.py"], cwd=folder / bot, env=told)
                ends.callback(process.wait)
                ends.callback(process.kill)
            for _ in left:
                tell(sockets, script)
                for socket in sockets:
                    socket.send(INVITATION)
            context.destroy(linger=0)

    began = time.perf_counter()
    threads = [threading.Thread(target=lane) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return matches / (time.perf_counter() - began)


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
            with (
                nullcontext() if written else mock.patch("referee.host.one_match.open_transcript", _no_transcript)
            ):
                await play(plan(), both, transcript=path, wire=wire)
        return (time.perf_counter() - began) / matches


def measured(asked: argparse.Namespace) -> dict[str, float]:
    """By what was measured: the median of the rounds."""
    rounds, blocks, single = (1, 50, 20) if asked.quick else (3, 200, 60)
    found: defaultdict[str, list[float]] = defaultdict(list)
    reconchess = bench_yardsticks.python()
    with tempfile.TemporaryDirectory(prefix="bench-matches-") as name:
        folder = Path(name)
        bots(folder)
        script = event_loop.run(partial(script_of, folder))
        for number in range(rounds):
            fresh, kept = 2 * blocks, 2 * KEPT_BLOCKS * blocks
            found["fresh"].append(tournament(folder, number, blocks, asked.at_once, "fresh"))
            found["kept"].append(tournament(folder, number, KEPT_BLOCKS * blocks, asked.at_once, "kept"))
            found["fresh, bare"].append(event_loop.run(partial(unrefereed, folder, script, fresh, asked.at_once)))
            found["kept, bare"].append(kept_unrefereed(folder, script, kept, asked.at_once))
            if reconchess:
                games, turns = bench_yardsticks.numbers(reconchess, "bench_reconchess.py", SECONDS)
                found["reconchess"].append(games)
                found["its turns"].append(turns)
            if asked.kaggle:
                found["kaggle"].append(bench_yardsticks.numbers(asked.kaggle, "bench_kaggle.py", SECONDS)[1])
            for how in ("written", "unwritten"):
                one = partial(one_by_one, folder, single, f"{how}-{number}", written=how == "written")
                found[how].append(event_loop.run(one))
    return {what: median(values) for what, values in found.items()}


def main() -> int:
    """Prints the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer matches, for a look")
    parser.add_argument("--kaggle", metavar="PYTHON", type=Path)
    parser.add_argument("--at-once", type=int, default=4)
    asked = parser.parse_args()
    found = measured(asked)
    fresh, kept = found["fresh"], found["kept"]
    print(f"Mist, {TURNS} turns, strict, {asked.at_once} at once: {fresh:.1f} matches/s")
    print(f"the same with kept bots: {kept:.1f} matches/s, {kept * TURNS:,.0f} moves/s")
    bare, kept_bare = found["fresh, bare"], found["kept, bare"]
    print(f"fresh bots with no referee: {bare:.1f} matches/s; it leaves {fresh / bare:.0%} of that")
    print(f"kept ones with no referee and no sandbox: {kept_bare:.1f}; it leaves {kept / kept_bare:.0%}")
    good = True
    if "reconchess" in found:
        games = found["reconchess"]
        good = good and fresh / games >= RATIO_FRESH and kept / games >= RATIO_KEPT
        print(f"reconchess, one process, no isolation: {games:.1f} games/s, {found['its turns']:,.0f} turns/s")
        print(f"matches to its games: fresh {fresh / games:.2f} (at least {RATIO_FRESH})")
        print(f"                      kept {kept / games:.2f} (at least {RATIO_KEPT})")
        print(f"                      fresh with no referee {bare / games:.2f}")
    if "kaggle" in found:
        moves = found["kaggle"]
        good = good and kept * TURNS / moves >= RATIO_KAGGLE
        print(f"kaggle-environments: {moves:,.0f} moves/s")
        print(f"moves to its moves: kept {kept * TURNS / moves:.1f} (at least {RATIO_KAGGLE:.0f})")
        print(f"                    fresh {fresh * TURNS / moves:.1f}")
    written, unwritten = found["written"], found["unwritten"]
    share = 1 - unwritten / written
    good = good and share <= MOST_TRANSCRIPT
    print(f"one match after the other: {written * 1e3:.1f} ms, {unwritten * 1e3:.1f} without transcripts")
    print(f"a transcript's share of a match: {share:.0%} (at most {MOST_TRANSCRIPT:.0%})")
    if not good:
        return 1
    return 0 if "reconchess" in found else 3


if __name__ == "__main__":
    sys.exit(main())
