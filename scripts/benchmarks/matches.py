"""Whole matches on the whole machine, against other people's runners: `matches`, `peers`."""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from unittest import mock

import trio
import zmq
from msgspec import Raw, Struct

from arena import event_loop
from benchmarks.harness import YARDSTICKS, Judgement, bench, option, yardstick, yardstick_python
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
"""The frames of a match, in order: a seat and the frame that it receives, or None if it sends one."""
SECONDS = 4.0
RATIO_FRESH, RATIO_KEPT, RATIO_KAGGLE, MOST_TRANSCRIPT = 0.62, 1.3, 8.0, 0.10
KEPT_BLOCKS = 3
"""Factor for the blocks of kept bots: their matches are shorter, and the arena's own start is not."""


def bots(folder: Path) -> None:
    """Write two bots that always give the same answer."""
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "bot.py").write_text(BOT)
        about = {"name": name, "version": "1", "command": ["python", "bot.py"], "games": ["mist"], "keeps": True}
        (folder / name / "bot.toml").write_text(
            "".join(f"{key} = {json.dumps(value)}\n" for key, value in about.items())
        )


def tournament(folder: Path, number: int, blocks: int, at_once: int, processes: str) -> float:
    """Return the matches per second of a tournament, including its start and its end."""
    file = folder / f"cup-{processes}-{number}.toml"
    file.write_text(CUP.format(blocks=blocks, turns=TURNS, processes=processes))
    began = time.perf_counter()
    how = ["--no-check", "--json", "--concurrency", str(at_once)]
    command = [sys.executable, "-m", "arena", "tournament", str(file), *how]
    subprocess.run(command, check=True, capture_output=True)
    return 2 * blocks / (time.perf_counter() - began)


class _Nothing:
    """A transcript that discards its records."""

    head = None

    def append(self, _record: object) -> None:
        """Discard a record."""

    def catch_up(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


@asynccontextmanager
async def _no_transcript(_path: Path, _header: object) -> AsyncIterator[_Nothing]:
    yield _Nothing()


def plan() -> Plan:
    """Return the plan of one match."""
    options = Raw(b'{"first":0,"max_turns":%d}' % TURNS)
    return Plan(match="b", game="mist", variant="contractual-obligation", seed=1, options=options)


def players(folder: Path) -> list[SandboxedBot]:
    """Return the players, by seat."""
    return [SandboxedBot(find_bot(str(folder / name))) for name in ("one", "two")]


async def script_of(folder: Path) -> Script:
    """Play a match, and return the frames that its bots send and receive."""
    path = folder / "script.jsonl"
    await play(plan(), players(folder), transcript=path)
    return [
        (record.seat, bytes(record.frame) if isinstance(record, Out) else None)
        for record in read_transcript(path)
        if isinstance(record, In | Out)
    ]


async def unrefereed(folder: Path, script: Script, matches: int, at_once: int) -> float:
    """Return the matches per second of the same bots that receive a match's frames, without a referee."""
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
    """Start both bots, exchange a match's frames with them, and wait until they have exited."""
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
    """Return the matches per second of plain processes that receive match after match, some pairs at once."""
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
    """Send and receive all frames of a match, by blocking calls."""
    for seat, frame in script:
        if frame is None:
            sockets[seat].recv()
        else:
            sockets[seat].send(frame)


async def one_by_one(folder: Path, matches: int, name: str, *, written: bool) -> float:
    """Return the seconds per match, with its transcript or without."""
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
    """Return the medians of all rounds, by name."""
    rounds, blocks, single = (1, 50, 20) if asked.quick else (3, 200, 60)
    found: defaultdict[str, list[float]] = defaultdict(list)
    reconchess = yardstick_python()
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
                games, turns = yardstick(reconchess, "reconchess", SECONDS)
                found["reconchess"].append(games)
                found["its turns"].append(turns)
            if asked.kaggle:
                found["kaggle"].append(yardstick(asked.kaggle, "kaggle", SECONDS)[1])
            for how in ("written", "unwritten"):
                one = partial(one_by_one, folder, single, f"{how}-{number}", written=how == "written")
                found[how].append(event_loop.run(one))
    return {what: median(values) for what, values in found.items()}


@bench(
    "matches",
    option("--kaggle", metavar="PYTHON", type=Path, help="of an environment that has kaggle-environments"),
    option("--at-once", type=int, default=4),
)
def matches(options: argparse.Namespace) -> Judgement:
    """Measure whole matches per second on the whole machine, as `arena tournament` plays them.

    Mist of 60 turns between two trivial bots, each in a strict sandbox of its own, warm: started for each match,
    and kept from match to match. They are compared with reconchess, which plays two random bots in one process
    without isolation; with kaggle-environments' connectx; and with what a faster referee could gain at most:
    the same bots in the same sandboxes, with the same frames over blocking ZeroMQ, without rules, clocks or
    records, and as plain processes that are kept, as runners of chess engines do. Then the transcript's share
    of a match is measured: the same matches, one after the other, with and without it. Rounds alternate.
    """
    found = measured(options)
    fresh, kept = found["fresh"], found["kept"]
    print(f"Mist, {TURNS} turns, strict, {options.at_once} at once: {fresh:.1f} matches/s")
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
    if good and "reconchess" not in found:
        return None
    return good


MOST = 1.15
"""Times fastchess' processor time per move that kept bots may take."""
PELITA_BOT = "TEAM_NAME = 'still'\n\n\ndef move(bot, state):\n    return bot.position\n"
PELITA_ROUNDS, PELITA_MOVES = 300, 4
"""Rounds of a game, unless told otherwise; moves of a round."""
KAGGLE_SECONDS = 4
ROUNDS, QUICK_ROUNDS = 5, 2
BLOCKS, QUICK_BLOCKS = 150, 40
"""Pairs of matches in a long run. Fresh bots play a third of them."""
PATIENCE_SECONDS = 60
"""Seconds to wait for processes that exit after their command."""


class Run(Struct, frozen=True):
    """Commands that run side by side."""

    commands: list[list[str]]
    moves: Callable[[str], int]
    """Return the number of moves, given the commands' output; see `expect`."""


class Runner(Struct, frozen=True):
    """A runner of matches, and how much it plays in a short and in a long run."""

    name: str
    run: Callable[[int], Run]
    short: int
    long: int


class Cost(Struct, frozen=True):
    """The processor time of a run, in seconds, and its moves."""

    seconds: float
    waited_for: float
    """Seconds in `RUSAGE_CHILDREN`."""
    moves: int


class Round(Struct, frozen=True):
    """The cost of a move, in milliseconds, and of a start, in seconds."""

    move: float
    waited_for: float
    start: float
    moves: int
    """Moves of the long run."""


def expect(number: int, found: int, runner: str) -> int:
    """Return the number of moves found.

    Raises:
        RuntimeError: it is not the expected one, so a time per move would be wrong.
    """
    if found != number:
        raise RuntimeError(f"{runner}: {found} moves instead of {number}")
    return found


def arena(folder: Path, processes: str, at_once: int, blocks: int) -> Run:
    """Return a tournament of the arena."""
    results, file = folder / processes, folder / f"{processes}.toml"
    file.write_text(CUP.format(blocks=blocks, turns=TURNS, processes=processes))
    options = ["--no-check", "--json", "--results", str(results), "--concurrency", str(at_once)]

    def moves(_output: str) -> int:
        found = 0
        for transcript in (results / "transcripts").iterdir():
            for line in transcript.read_bytes().splitlines():
                found += b'"kind":"window"' in line and b'"by_default":false' in line
        shutil.rmtree(results)
        return expect(2 * blocks * TURNS, found, processes)

    return Run([[sys.executable, "-m", "arena", "tournament", str(file), *options]], moves)


def fastchess(folder: Path, program: str, at_once: int, pairs: int) -> Run:
    """Return a match of fastchess: pairs of games with colours swapped, as the arena's blocks are."""
    games = folder / "games.pgn"
    command = [program]
    for name in ("one", "two"):
        command += ["-engine", f"cmd={sys.executable}", f"args={YARDSTICKS} engine", f"name={name}"]
    command += ["-each", "tc=60+1", "-rounds", str(pairs), "-games", "2", "-maxmoves", str(TURNS // 2)]
    command += ["-concurrency", str(at_once), "-force-concurrency", "-pgnout", f"file={games}", "append=false"]

    def moves(_output: str) -> int:
        plies = [int(each) for each in re.findall(r'\[PlyCount "(\d+)"\]', games.read_text())]
        if {*plies} != {TURNS}:
            raise RuntimeError(f"fastchess: games of {sorted({*plies})} plies instead of {TURNS}")
        return expect(2 * pairs * TURNS, sum(plies), "fastchess")

    return Run([command], moves)


def pelita(folder: Path, python: Path, at_once: int, rounds: int) -> Run:
    """Return games of Pelita, each a command of its own."""
    bot = folder / "pelita_bot.py"
    bot.write_text(PELITA_BOT)
    options = ["--null", "--no-timeout", "--seed", "1", "--rounds", str(rounds)]

    def moves(output: str) -> int:
        played = sum(int(each) for each in re.findall(r"^Finished after (\d+) round", output, re.MULTILINE))
        return expect(at_once * rounds * PELITA_MOVES, played * PELITA_MOVES, "Pelita")

    command = [str(python), "-m", "pelita.scripts.pelita_main", *options, str(bot), str(bot)]
    return Run([command] * at_once, moves)


def kaggle(python: Path, at_once: int, seconds: int) -> Run:
    """Return as many seconds of connectx, one process for each match at once."""

    def moves(output: str) -> int:
        # Other lines are its own log.
        return sum(int(each) for each in re.findall(r"^\S+ \S+ (\d+)$", output, re.MULTILINE))

    return Run([[str(python), str(YARDSTICKS), "kaggle", str(seconds)]] * at_once, moves)


def runners(folder: Path, asked: argparse.Namespace) -> Iterator[Runner]:
    """Yield the runners that this machine has. Prints their versions, and why others are skipped."""
    blocks, at_once = QUICK_BLOCKS if asked.quick else BLOCKS, asked.at_once
    yield Runner("kept", partial(arena, folder, "kept", at_once), at_once, blocks)
    yield Runner("fresh", partial(arena, folder, "fresh", at_once), at_once, blocks // 3)
    if program := shutil.which(asked.fastchess):
        print(subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip())
        yield Runner("fastchess", partial(fastchess, folder, program, at_once), at_once, blocks)
    else:
        print(f"fastchess: skipped: there is no program {asked.fastchess}; --fastchess FILE names it")
    if python := yardstick_python():
        print(f"Pelita {version(python, 'pelita')}")
        yield Runner("Pelita", partial(pelita, folder, python, at_once), 1, PELITA_ROUNDS)
    else:
        print("Pelita: skipped: .venv-bench could not be made; the reason is above")
    if asked.kaggle:
        print(f"kaggle-environments {version(asked.kaggle, 'kaggle-environments')}")
        yield Runner("kaggle", partial(kaggle, asked.kaggle, at_once), 0, KAGGLE_SECONDS)
    else:
        print("kaggle-environments: skipped: it takes 1.6 GB; --kaggle PYTHON names an environment that has it")


def version(python: Path, package: str) -> str:
    """Return the version of a package in another environment."""
    ask = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def control_group() -> Iterator[Path]:
    """Make a control group of version 2 inside our own, and remove it with those that were made in it.

    Raises:
        OSError: none may be made here.
    """
    own = re.search(r"^0::(/.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
    mount = re.search(r" / (\S+) .* - cgroup2 ", Path("/proc/self/mountinfo").read_text())
    if own is None or mount is None:
        raise OSError("no control groups of version 2 are mounted")
    group = Path(f"{mount[1]}{own[1]}", f"bench-peers-{os.getpid()}")
    group.mkdir()
    try:
        yield group
    finally:
        for inner in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
            inner.rmdir()
        group.rmdir()


def measure(run: Run, folder: Path) -> Cost:
    """Run the commands and count their processor time, with that of processes which end later.

    Raises:
        OSError: there may be no control group.
        RuntimeError: a command failed, processes stayed or left the group, or moves are missing.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    waited_for = -children_seconds()
    with control_group() as group:
        enter = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs")]
        start = partial(subprocess.Popen, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        processes = [start([*enter, *each], cwd=folder, env=environment) for each in run.commands]
        output = "".join(process.communicate()[0] for process in processes)
        waited_for += children_seconds()
        give_up = time.monotonic() + PATIENCE_SECONDS
        while "populated 1" in (group / "cgroup.events").read_text():
            if time.monotonic() > give_up:
                raise RuntimeError(f"processes stayed: {' '.join(run.commands[0])}")
            time.sleep(0.01)
        seconds = int((group / "cpu.stat").read_text().split()[1]) / 1e6
    if any(process.returncode for process in processes):
        raise RuntimeError(f"failed: {' '.join(run.commands[0])}")
    if seconds < 0.98 * waited_for:
        raise RuntimeError(f"processes left the group: it has {seconds:.2f} s, waited for were {waited_for:.2f}")
    return Cost(seconds, waited_for, run.moves(output))


def children_seconds() -> float:
    """Return the processor time of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one_round(runner: Runner, folder: Path) -> Round:
    """Measure a short run and a long one."""
    short, long = (measure(runner.run(amount), folder) for amount in (runner.short, runner.long))
    moves = long.moves - short.moves
    move = (long.seconds - short.seconds) / moves
    waited_for = (long.waited_for - short.waited_for) / moves
    return Round(move * 1000, waited_for * 1000, short.seconds - short.moves * move, long.moves)


def ratios(rounds: list[Round], others: list[Round]) -> list[float]:
    """Return the ratio of a move's cost in each round."""
    return [one.move / other.move for one, other in zip(rounds, others, strict=True)]


def spread(values: list[float], digits: int) -> str:
    """Return the median, and in brackets the least and the most."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f}-{max(values):.{digits}f})"


@bench(
    "peers",
    option("--fastchess", metavar="FILE", default="fastchess"),
    option("--kaggle", metavar="PYTHON", type=Path, help="of an environment that has kaggle-environments"),
    option(
        "--at-once",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="matches at once; by default one for each core",
    ),
)
def peers(asked: argparse.Namespace) -> Judgement:
    """Measure the processor time per move of whole matches, compared with other people's runners of matches.

    Counts the time of every process, from the command's start to its end: referee, launchers, bots. A control
    group of version 2 counts them. What `RUSAGE_CHILDREN` has is printed beside it as "waited for". The two
    agree for runners that wait for all their processes. Bots in a process namespace of their own end with it,
    and no process waits for them.

    Each round measures each runner twice: a short run, and a long one. "A move" is the difference of the two per
    move, and "start" is what the short run cost beyond its moves. The number of moves comes from transcripts,
    the PGN file and the runners' own output, and must be the expected one.

    - arena: Mist of 60 turns between two bots that do not think, `strict`, with kept bots and with fresh ones.
    - fastchess: the engine of `yardsticks.py` against itself, 60 plies a game, no repetition. Its engines stay
      alive from game to game, as kept bots do. No sandbox; a PGN file instead of a transcript.
    - Pelita, in .venv-bench: bots that stand still, 300 rounds of four moves. No sandbox, no transcript.
    - kaggle-environments: connectx, bots in the runner's process.
    """
    found: defaultdict[str, list[Round]] = defaultdict(list)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-peers-") as name:
        folder = Path(name)
        bots(folder)
        there = list(runners(folder, asked))
        for runner in there:
            measure(runner.run(runner.short), folder)  # Modules are compiled, and the disk's cache is warm.
        for _ in range(QUICK_ROUNDS if asked.quick else ROUNDS):
            for runner in there:
                found[runner.name].append(one_round(runner, folder))
    print(f"{asked.at_once} matches at once; load {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    base = "fastchess" if "fastchess" in found else "kept"
    print(f"{'':9} {'ms a move':>21} {'waited for':>11} {'start, s':>9} {'moves':>6} {'of ' + base:>19}")
    for name, rounds in found.items():
        waited_for, start = median(each.waited_for for each in rounds), median(each.start for each in rounds)
        move, ratio = spread([each.move for each in rounds], 3), spread(ratios(rounds, found[base]), 2)
        print(f"{name:9} {move:>21} {waited_for:11.3f} {start:9.2f} {rounds[0].moves:6} {ratio:>19}")
    if base == "kept":
        print(f"kept of fastchess (at most {MOST}): not measured")
        return True if {"Pelita", "kaggle"} & {*found} else None
    kept = median(ratios(found["kept"], found[base]))
    is_met = kept <= MOST
    print(f"kept of fastchess: {kept:.2f} (at most {MOST}): {'met' if is_met else 'NOT met'}")
    return is_met
