"""Processor time per move of whole matches, compared with other people's runners of matches.

Counts the time of every process, from the command's start to its end: referee, launchers, bots. A control group of
version 2 counts them. What `RUSAGE_CHILDREN` has is printed beside it as "waited for". The two agree for runners
that wait for all their processes. Bots in a process namespace of their own end with it, and nobody waits for them.

Each round measures each runner twice: a short run, and a long one. "A move" is the difference of the two per move,
and "start" is what the short run cost beyond its moves.

- arena: Mist of 60 turns between two bots that do not think, `strict`, with kept bots and with fresh ones.
- fastchess, from PATH or `--fastchess FILE`: `bench_uci_engine.py` against itself, 60 plies a game, no repetition.
  Its engines stay alive from game to game, as kept bots do. No sandbox; a PGN file instead of a transcript.
- Pelita, in .venv-bench: bots that stand still, 300 rounds of four moves. No sandbox, no transcript.
- kaggle-environments, with `--kaggle PYTHON`: connectx, bots in the runner's process.

The number of moves comes from transcripts, the PGN file and the runners' own output, and must be the expected one.
Exit code 1: kept bots take more than the bound; 3: nothing could be compared.
"""

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

import bench_matches
import bench_yardsticks
from bench_matches import TURNS
from msgspec import Struct

MOST = 1.15
"""Times fastchess' processor time per move that kept bots may take."""
HERE = Path(__file__).parent
PELITA_BOT = "TEAM_NAME = 'still'\n\n\ndef move(bot, state):\n    return bot.position\n"
PELITA_ROUNDS, PELITA_MOVES = 300, 4
"""Rounds of a game, unless told otherwise; moves of a round."""
KAGGLE_SECONDS = 4
ROUNDS, QUICK_ROUNDS = 5, 2
BLOCKS, QUICK_BLOCKS = 150, 40
"""Pairs of matches in a long run. Fresh bots play a third of them."""
PATIENCE_SECONDS = 60
"""For processes that end after their command."""


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
    """As RUSAGE_CHILDREN has it."""
    moves: int


class Round(Struct, frozen=True):
    """The cost of a move, in milliseconds, and of a start, in seconds."""

    move: float
    waited_for: float
    start: float
    moves: int
    """Of the long run."""


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
    file.write_text(bench_matches.CUP.format(blocks=blocks, turns=TURNS, processes=processes))
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
        command += ["-engine", f"cmd={sys.executable}", f"args={HERE / 'bench_uci_engine.py'}", f"name={name}"]
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

    return Run([[str(python), str(HERE / "bench_kaggle.py"), str(seconds)]] * at_once, moves)


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
    if python := bench_yardsticks.python():
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


def main() -> int:
    """Print the table and the bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs, for a look")
    parser.add_argument("--fastchess", metavar="FILE", default="fastchess")
    parser.add_argument("--kaggle", metavar="PYTHON", type=Path)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("--at-once", type=int, default=cores, help="matches at once; by default one for each core")
    asked = parser.parse_args()
    found: defaultdict[str, list[Round]] = defaultdict(list)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="bench-peers-") as name:
        folder = Path(name)
        bench_matches.bots(folder)
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
        return 0 if {"Pelita", "kaggle"} & {*found} else 3
    kept = median(ratios(found["kept"], found[base]))
    is_met = kept <= MOST
    print(f"kept of fastchess: {kept:.2f} (at most {MOST}): {'met' if is_met else 'NOT met'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
