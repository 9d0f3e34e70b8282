"""Tournaments and their pages: `scale`, `site`, `serve`, `cluster`."""

import argparse
import json
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlopen

import distributed
import msgspec
import trio
from msgspec import Struct

from arena.pages import Competition, Website
from arena.schedule import ScheduledMatch, round_robin
from arena.stress import resident_bytes
from arena.tournament import LEDGER, TRANSCRIPTS, BlockRunner, Ledger, MatchSetup
from arena.web import HOME
from arena.workers import Worker
from arena.workers.cluster import connected
from benchmarks.harness import HOUSE, SCRIPTS, Judgement, bench, option
from benchmarks.simulated_results import write_results
from benchmarks.web_clients import SOME, Load, Received
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.bot_folder import MEGABYTE
from referee.host import AttemptResult, Plan

SCALE_BLOCKS, QUICK_SCALE_BLOCKS = 100_000, 10_000
SCALE_BOTS = 100
WORKERS, SLOTS = 100, 8
"""Number of workers of the cluster, and of slots of each."""
AT_LEAST_A_SECOND = 500
"""Matches per second that the arena must process: more than some hundred cores play."""
AT_MOST_RESUME_SECONDS = 60
"""Maximum seconds from the start to the next match when a million blocks are half played."""
WON = Outcome(ranking=((0,), (1,)), winners=(0,), eliminated=None, scores=None, reason="three_in_a_row")
HEAD = "c38fa6bdedcbf0eee008efc0de2dea81ba9299faccab4b0d72682f57cc0611ad"


class Counted:
    """Counts the matches that end, and stops the run after a number of them."""

    def __init__(self, stop_after: int, every: int) -> None:
        self.matches = 0
        self.scope = trio.CancelScope()
        self._stop_after, self._every = stop_after, every
        self._mark = 0.0
        self.rates: list[float] = []

    def lost(self, match: ScheduledMatch, reason: str) -> None:
        """See `observers.MatchObserver`."""

    def ended(self, match: ScheduledMatch, result: AttemptResult) -> None:
        """See `observers.MatchObserver`."""
        del match, result
        self._mark = self._mark or time.monotonic()
        self.matches += 1
        if self.matches % self._every == 0:
            now = time.monotonic()
            self.rates.append(self._every / (now - self._mark))
            self._mark = now
            print(
                f"  {self.matches:9,} matches  {self.rates[-1]:7,.0f} a second  {memory_mib():5.0f} MiB",
                flush=True,
            )
        if self.matches == self._stop_after:
            self.scope.cancel()

    def void(self, match: ScheduledMatch, reason: str, set_aside: int) -> None:
        """See `observers.MatchObserver`."""


async def no_time(plan: Plan, players: Sequence[int], *, transcript: Path) -> AttemptResult:
    """Return a result at once."""
    del players
    await trio.lowlevel.checkpoint()
    return AttemptResult(
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


def memory_mib() -> float:
    """Return this process's present memory, in MiB."""
    return resident_bytes() / MEGABYTE


async def play_rest(folder: Path, deals: int, heard: Counted) -> float:
    """Play the remaining matches. Return the seconds until the first one started."""
    began = time.monotonic()
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.give_up_unfinished()
    field = MatchSetup(
        plan=Plan(match="", game="mist", variant="contractual-obligation", seed=0),
        players=tuple(range(SCALE_BOTS)),
        names=tuple(f"some_bot_{number}" for number in range(SCALE_BOTS)),
        transcripts=folder,
    )
    first: list[float] = []

    async def timed(plan: Plan, players: Sequence[int], *, transcript: Path) -> AttemptResult:
        first.append(time.monotonic() - began) if not first else None
        return await no_time(plan, players, transcript=transcript)

    with heard.scope:
        await BlockRunner(
            field,
            partial(round_robin, SCALE_BOTS, deals, 1),
            ledger,
            workers=[Worker(play=timed, slots=SLOTS)] * WORKERS,
            progress=heard,
        ).play()
    ledger.close()
    return first[0]


@bench("scale", option("--blocks", type=int, default=SCALE_BLOCKS, help="a million takes a quarter of an hour"))
def scale(options: argparse.Namespace) -> Judgement:
    """Measure the arena's own work for many blocks: queue, runner and ledger, with matches that take no time.

    No cluster could be faster. Results are as long as real ones. The run is stopped half-way, and then continued.
    Times are wall times, because the ledger waits for a disk.
    """
    blocks = QUICK_SCALE_BLOCKS if options.quick else options.blocks
    deals = max(1, round(blocks / (SCALE_BOTS * (SCALE_BOTS - 1) / 2)))
    blocks = deals * SCALE_BOTS * (SCALE_BOTS - 1) // 2
    matches = 2 * blocks
    print(f"{blocks:,} blocks of two matches, {SCALE_BOTS} bots, {WORKERS} workers of {SLOTS} slots")
    with TemporaryDirectory(dir=Path.cwd()) as scratch:
        folder = Path(scratch)
        before = memory_mib()
        first_half, second_half = Counted(matches // 2, matches // 10), Counted(matches, matches // 10)
        trio.run(play_rest, folder, deals, first_half)
        print("stopped half-way; going on")
        resumed = trio.run(play_rest, folder, deals, second_half)
        size = sum(file.stat().st_size for file in folder.iterdir())
        after = memory_mib()
        ledger = Ledger(folder / "ledger.sqlite")
        began = time.monotonic()
        read = ledger.results()
        results = len(read)
        took = time.monotonic() - began
        whole = memory_mib()
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


SITE_BOTS, SITE_BLOCKS, QUICK_SITE_BLOCKS = 100, 10, 1
"""Blocks for each pair of so many bots: 99,000 matches."""
AT_MOST_MIB = 400.0
"""Maximum peak memory of the process that builds, in MiB; with 9,900 matches as with 99,000."""
ADDITIONS = 10_000_000
AT_MOST_ADDITIONS = 83_000
"""Maximum time for the pages of a match, in additions in a loop: 4 ms if ten million take 0.48 s."""
AT_MOST_PAGE = 300_000
"""Bytes of the largest page that is not a replay."""
REPLAY_CUPS = {
    "mist": 'bots = ["mist_random", "mist_hunter"]',
    "hive-mind": 'bots = ["hive_mind_random", "hive_mind_counter"]\nfill = "hive_mind_random"',
}
REPLAY_CUP = 'game = "{}"\n{}\nblocks = 8\nseed = 4\nisolation = "none"\n'
"""The tournament file of real matches, whose replays are made."""


class Ran(Struct):
    """A command that has exited."""

    seconds: float
    cpu: float
    mib: float
    said: Any


def run_arena(*words: object) -> Ran:
    """Run the arena, and wait for it; `said` is its JSON."""
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
    """Return the sizes of all public files."""
    return {
        str(path.relative_to(out)): path.stat().st_size
        for path in out.rglob("*")
        if path.is_file() and HOME not in path.parts
    }


def plain(folder: Path, written: Iterator[int]) -> float:
    """Return the seconds to write files of these sizes, each atomically."""
    folder.mkdir()
    began = time.monotonic()
    for number, size in enumerate(written):
        part = folder / "part"
        part.write_bytes(b"x" * size)
        part.replace(folder / str(number))
    return time.monotonic() - began


def addition() -> float:
    """Return the processor seconds of one addition in a loop."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return (time.process_time() - began) / ADDITIONS


def pages(scratch: Path, blocks: int) -> bool:
    """Measure pages of simulated matches. Return whether they are within the bounds."""
    matches = write_results(scratch / "cup", SITE_BOTS, blocks=blocks)
    words = ("site", scratch / "out", scratch / "cup", "--no-replays", "--no-transcripts")
    before = addition()
    first = run_arena(*words)
    additions = first.cpu / matches / min(before, addition())
    found = sizes(scratch / "out")
    again = run_arena(*words)
    written = plain(scratch / "plain", iter(found.values()))
    size = sum(found.values())
    largest = max(found, key=lambda path: found[path])
    print(
        f"{matches:,} matches of {SITE_BOTS} bots: {len(found):,} files, {size / 2**20:,.0f} MiB, in "
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
    """Measure replays of matches of two games."""
    for game, bots in REPLAY_CUPS.items():
        folder = scratch / game
        folder.mkdir()
        (folder / "cup.toml").write_text(REPLAY_CUP.format(game, bots))
        run_arena("tournament", folder / "cup.toml")
        made = run_arena("site", folder / "out", folder / "runs", "--jobs", 1)
        found = sizes(folder / "out")
        for kind in ("replay", "transcript"):
            its = [size for path, size in found.items() if path.startswith(kind)]
            print(f"{game}: {len(its)} {kind}s, {statistics.mean(its) / 1000:,.0f} kB each", end="; ")
        print(f"{made.cpu / max(1, len(its)) * 1000:.0f} ms of the processor for each match, pages included")


@bench("site")
def site(options: argparse.Namespace) -> Judgement:
    """Measure a site of 100,000 matches: files per second, memory, the largest page; and replays of real matches.

    Files per second are compared with a loop that writes as many files of the same sizes in the same way,
    processor time with a loop of additions. `--quick` has 10,000 matches.
    """
    blocks = QUICK_SITE_BLOCKS if options.quick else SITE_BLOCKS
    with TemporaryDirectory(dir=Path.cwd(), prefix="bench-site-") as scratch:
        good = pages(Path(scratch), blocks)
        replays(Path(scratch))
    return good


STREAMS, RATE, STUCK = 1_000, 50.0, 20
PAIRS, SECONDS, SETTLE = 6, 15.0, 3.0
QUICK_PAIRS, QUICK_SECONDS = 2, 6.0
AT_MOST_FALL = 0.05
AT_MOST_PAGE_MS = 300.0
AT_MOST_KIB = 30.0
WATCHED_CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious", "mist_hunter"]
blocks = 100000
results = "cup"
isolation = "{}"
"""
ARENA = (sys.executable, "-m", "arena")


class Phase(Struct):
    """The measurements of a phase."""

    matches: float
    """Matches per second."""
    judged: int
    """Number of windows with the verdict `referee`."""
    cpu: float = 0.0
    """Share of one processor that the server used."""
    received: Received | None = None


@contextmanager
def running(*words: object, cwd: Path, ready: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command of the arena in a session of its own. Yield it with its output that matched `ready`."""
    process = subprocess.Popen(
        [*ARENA, *map(str, words)], cwd=cwd, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        if process.stderr is None:
            raise AssertionError
        said: list[str] = []
        for line in process.stderr:
            said.append(line)
            if found := re.search(ready, line):
                yield process, found[0]
                break
        else:
            sys.exit(f"arena {' '.join(map(str, words))}: {''.join(said)}")
    finally:
        ended_itself = process.poll() is not None  # Else we end it.
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=60)
        if ended_itself:
            sys.exit(f"arena {' '.join(map(str, words))} ended with {process.returncode}: {rest}")


def cpu_seconds(process: int) -> float:
    """Return the processor seconds of a process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(process: int) -> float:
    """Return the resident memory of a process, in KiB."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def ended(results: Path, first: str, last: str) -> int:
    """Return the number of matches that ended between two moments of the wall clock."""
    with closing(sqlite3.connect(f"file:{results / LEDGER}?mode=ro", uri=True)) as ledger:
        query = "SELECT count(*) FROM attempts WHERE played IS NOT NULL AND ended BETWEEN ? AND ?"
        return int(ledger.execute(query, (first, last)).fetchone()[0])


def now() -> str:
    """Return the time in the ledger's format."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03}+00:00"


def judged(results: Path, before: set[Path]) -> int:
    """Return the number of windows with the verdict `referee` in new transcripts, and add these to `before`."""
    found = 0
    for path in set((results / TRANSCRIPTS).glob("*.jsonl")) - before:
        found += path.read_bytes().count(b'"verdict":"referee"')
        before.add(path)
    return found


def measured(results: Path, seconds: float, seen: set[Path]) -> Phase:
    """Measure a phase of the tournament."""
    began = now()
    time.sleep(seconds)
    return Phase(ended(results, began, now()) / seconds, judged(results, seen))


def reading(port: str, load: Load) -> "subprocess.Popen[str]":
    """Start the clients, in a process of their own."""
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("web_clients.py"), port, msgspec.json.encode(load).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stream_memory(folder: Path) -> bool:
    """Measure the server's memory per event stream while it is idle. Return whether it is within its bound."""
    words = ("serve", folder, "--port", 0)
    with running(*words, cwd=folder, ready=r"127\.0\.0\.1:(\d+)") as (server, where):
        clients = reading(
            where.rpartition(":")[2], Load(stream="/league/events", streams=STREAMS, stuck=0, pages=[], rate=0)
        )
        try:
            if clients.stdout is None or clients.stdout.readline() != "some\n":
                sys.exit("the streams did not begin")
            with_some = resident_kib(server.pid)
            clients.stdout.readline()
            with_all = resident_kib(server.pid)
        finally:
            clients.kill()
    each = (with_all - with_some) / (STREAMS - SOME)
    print(
        f"memory of the server: {with_some / 1024:.0f} MiB with {SOME} streams, {with_all / 1024:.0f} with "
        f"{STREAMS:,}; {each:.0f} KiB a stream (at most {AT_MOST_KIB:.0f})"
    )
    return each <= AT_MOST_KIB


def watched(folder: Path, seconds: float, seen: set[Path]) -> Phase:
    """Measure a phase in which the tournament is watched."""
    with running("serve", folder, "--port", 0, cwd=folder, ready=r"127\.0\.0\.1:(\d+)") as (server, where):
        port = where.rpartition(":")[2]
        load = Load(
            stream="/cup/live/events",
            streams=STREAMS,
            stuck=STUCK,
            pages=[
                "/",
                "/cup/",
                "/cup/matches.html",
                "/league/",
                "/league/matches-3.html",
                "/league/bot/7.html",
            ],
            rate=RATE,
        )
        for page in load.pages:  # Ledgers are read once.
            with urlopen(f"http://127.0.0.1:{port}{page}") as answer:
                answer.read()
        clients = reading(port, load)
        try:
            if clients.stdout is None or {"some\n", "ready\n"} != {clients.stdout.readline() for _ in range(2)}:
                sys.exit("the streams did not begin")
            time.sleep(SETTLE)
            cpu = cpu_seconds(server.pid)
            phase = measured(folder / "cup", seconds, seen)
            phase.cpu = (cpu_seconds(server.pid) - cpu) / seconds
            said, _ = clients.communicate("\n", timeout=60)
        finally:
            clients.kill()
        phase.received = msgspec.json.decode(said, type=Received)
    return phase


def beside_a_tournament(folder: Path, pairs: int, seconds: float, isolation: str) -> bool:
    """Measure watched and other phases in turn. Return whether all is within the bounds."""
    (folder / "cup.toml").write_text(WATCHED_CUP.format(isolation))
    results, seen = folder / "cup", set[Path]()
    alone: list[Phase] = []
    with_readers: list[Phase] = []
    words = ("tournament", "cup.toml", "--feed", "--no-check")
    with running(*words, cwd=folder, ready="matches"):
        while not (results / LEDGER).exists() or not ended(results, "", now()):
            time.sleep(0.2)
        for number in range(pairs):
            for watching in (False, True) if number % 2 else (True, False):
                time.sleep(SETTLE)
                judged(results, seen)  # What is judged in between counts for none.
                phase = watched(folder, seconds, seen) if watching else measured(results, seconds, seen)
                (with_readers if watching else alone).append(phase)
    ratios = [one.matches / other.matches for one, other in zip(with_readers, alone, strict=True)]
    fall = 1 - statistics.median(ratios)
    for name, phases in (("alone", alone), ("watched", with_readers)):
        rates = ", ".join(f"{phase.matches:.1f}" for phase in phases)
        print(f"{name:8} matches a second {rates}; judged `referee`: {sum(phase.judged for phase in phases)}")
    received = [phase.received for phase in with_readers if phase.received]
    print(
        f"with {STREAMS:,} streams, {STUCK} that read nothing, {RATE:.0f} pages a second: matches fall by "
        f"{fall:.1%} (middle of {pairs} pairs; at most {AT_MOST_FALL:.0%}); the server took "
        f"{statistics.mean(phase.cpu for phase in with_readers):.0%} of one processor of {os.cpu_count()}"
    )
    for said in received:
        print(
            f"  {said.streams:,} streams received {said.events / STREAMS:.0f} events each, the quietest "
            f"{said.quietest}, {said.bytes / 1e6:.0f} MB; {said.pages} pages, "
            f"not answered: {dict(Counter(said.failed))}, "
            f"in ms: {said.page_ms}"
        )
    held_up = any(said.streams < STREAMS or said.quietest < said.events / STREAMS / 2 for said in received)
    worse = sum(phase.judged for phase in with_readers) > sum(phase.judged for phase in alone)
    failed = any(said.failed for said in received)
    return fall <= AT_MOST_FALL and not held_up and not worse and not failed


def standings(folder: Path) -> bool:
    """Measure the standings of 1,000 bots. Return whether the page is within its bound."""
    matches = write_results(folder / "many", 1_000, rounds=10)
    competition = Competition("many", folder / "many")
    began = time.process_time()
    competition.results()
    read = time.process_time() - began
    website = Website((competition,), live=True)
    took = []
    size = 0
    for _ in range(5):
        began = time.process_time()
        page = website.page("many/index.html")
        took.append(1000 * (time.process_time() - began))
        size = len(page.body) if page else 0
    print(
        f"standings of 1,000 bots after {matches:,} matches: {size:,} bytes in {statistics.median(took):.0f} ms "
        f"(at most {AT_MOST_PAGE_MS:.0f}), the first time {took[0]:.0f}; the ledger was read in {read:.1f} s"
    )
    return statistics.median(took) <= AT_MOST_PAGE_MS and size > 0


@bench("serve", option("--isolation", default="strict", help="of the bots"))
def serve(options: argparse.Namespace) -> Judgement:
    """Measure what a thousand spectators of `arena serve` cost a tournament's matches, and how long pages take.

    A tournament is played all the time. In every other phase it is watched: a server, 1,000 event streams of the
    matches being played, 50 pages per second, and some clients that read nothing. Phases without are the
    baseline, so that other load counts for both. Tournament, server and clients have a session each, and so
    the priority that each requests; that of the clients is the lowest. Let nothing else run: it takes the
    server's share.
    """
    pairs, seconds = (QUICK_PAIRS, QUICK_SECONDS) if options.quick else (PAIRS, SECONDS)
    with TemporaryDirectory(dir=Path.cwd(), prefix="bench-serve-") as scratch:
        folder = Path(scratch, "served")
        good = standings(Path(scratch))
        write_results(folder / "league", 100)
        good &= stream_memory(folder)
        good &= beside_a_tournament(folder, pairs, seconds, options.isolation)
    return good


CLUSTER_BLOCKS, QUICK_CLUSTER_BLOCKS = 60, 10
TASKS, AT_ONCE = 2_000, 16
CLUSTER_CUP = """\
game = "mist"
bots = ["mist_cautious", "mist_hunter"]
blocks = {}
seed = 1
isolation = "{}"
"""
LEAST_GAIN = 1.1
"""Minimum gain of a second worker on two or more cores. It is far from 2, because scheduler, arena and bots need
the same cores."""
PATIENCE_SECONDS = 60


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Run a scheduler and workers of one slot each. Yield its address for the arena."""
    file = folder / "scheduler.json"
    here = ("--host", "127.0.0.1", "--no-dashboard")
    processes = [dask("scheduler", *here, "--port", "0", "--scheduler-file", str(file))]
    try:
        wait_for(file.exists, "scheduler")
        slots = ("--no-nanny", "--nthreads", "1", "--resources", "matches=1")
        processes += [dask("worker", *here, "--scheduler-file", str(file), *slots) for _ in range(workers)]
        on = json.loads(file.read_text())["address"].replace("tcp://", "dask://")
        wait_for(lambda: workers_of(on) == workers, "workers")
        yield on
    finally:
        # They keep nothing, and asked to end in order one of them may wait for another.
        for process in reversed(processes):
            process.kill()
        for process in processes:
            process.wait()
        file.unlink(missing_ok=True)


def dask(*arguments: str) -> "subprocess.Popen[bytes]":
    """Start a process of Dask."""
    environment = os.environ | {"PYTHONPATH": f"{HOUSE}{os.pathsep}{SCRIPTS}"}
    return subprocess.Popen([sys.executable, "-m", "dask", *arguments], env=environment, stderr=subprocess.DEVNULL)


def wait_for(there: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not there():
        if time.monotonic() > give_up:
            raise TimeoutError(f"the cluster's {what} did not start")
        time.sleep(0.1)


def workers_of(on: str) -> int:
    """Return the number of workers of a cluster."""
    with distributed.Client(  # type: ignore[no-untyped-call]
        on.replace("dask://", "tcp://"), set_as_default=False
    ) as client:
        return len(client.scheduler_info()["workers"])


def played(file: Path, results: Path, *how: str) -> tuple[float, Any]:
    """Play the tournament. Return the seconds that it took, and its table without times."""
    began = time.monotonic()
    command = [sys.executable, "-m", "arena", "tournament", str(file), "--no-check", "--results", str(results)]
    done = subprocess.run(
        [*command, "--json", *how],
        cwd=HOUSE,
        stdout=subprocess.PIPE,
        check=True,
    )
    table = json.loads(done.stdout)["standings"]
    return time.monotonic() - began, [(line["bot"], line["points"], line["wins"]) for line in table]


def worker_answer(size: int) -> bytes:
    """Return an answer of this size, at once."""
    return bytes(size)


async def carried(on: str, size: int, tasks: int, slots: int) -> float:
    """Return the number of such answers per second that Dask carries, with `slots` requested at once."""
    client = await connected(on)
    try:
        addresses = list(await client.workers())
        left = iter(range(tasks))

        async def ask() -> None:
            for number in left:
                await client.submit(addresses[number % len(addresses)], worker_answer, size, slots=0).outcome()

        began = time.monotonic()
        async with trio.open_nursery() as nursery:
            for _ in range(slots):
                nursery.start_soon(ask)
        return tasks / (time.monotonic() - began)
    finally:
        await trio.to_thread.run_sync(client.close)


def bytes_of(results: Path) -> tuple[float, float]:
    """Return a transcript's mean size in bytes, and its mean size compressed by zlib."""
    files = [file.read_bytes() for file in results.glob("transcripts/*.jsonl")]
    return sum(map(len, files)) / len(files), sum(len(zlib.compress(file, 1)) for file in files) / len(files)


@bench("cluster", option("--blocks", type=int, default=CLUSTER_BLOCKS))
def cluster(options: argparse.Namespace) -> Judgement:
    """Measure a tournament on this machine, and on Dask clusters of one and of two workers here.

    Bots are deterministic, so all play the same matches. Each worker has one slot. On two cores the scheduler, the
    arena and two matches share them, so that two workers cannot be twice as fast as one. Then the rate at
    which Dask carries the results of matches is measured, without the matches.
    """
    blocks = QUICK_CLUSTER_BLOCKS if options.quick else options.blocks
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        file = folder / "cup.toml"
        file.write_text(CLUSTER_CUP.format(blocks, "strict"))
        rates, tables = {}, []
        for name, workers in (("here, one process", 0), ("cluster of 1", 1), ("cluster of 2", 2)):
            results = folder / name
            if workers:
                with dask_cluster(folder, workers) as on:
                    took, table = played(file, results, "--on", on)
            else:
                took, table = played(file, results, "--concurrency", "1", "--workers", "1")
            rates[name] = 2 * blocks / took
            tables.append(table)
            load = Path("/proc/loadavg").read_text().split()[0]
            print(f"{name:18} {took:6.1f} s  {rates[name]:5.2f} matches a second  (load {load})", flush=True)
        size, small = bytes_of(folder / "cluster of 2")
        with dask_cluster(folder, 2) as on:
            through = trio.run(carried, on, round(small), TASKS, AT_ONCE)
    gained = rates["cluster of 2"] / rates["cluster of 1"]
    print(f"a second worker: {gained:.2f} times as many (at least {LEAST_GAIN}, on {os.cpu_count()} cores)")
    print(f"a transcript: {size:,.0f} bytes, {small:,.0f} on the way")
    print(f"Dask carries {through:,.0f} of these a second to one arena")
    same = all(table == tables[0] for table in tables)
    print(f"the same table each time: {'yes' if same else 'NO'}")
    return same and (gained >= LEAST_GAIN or (os.cpu_count() or 1) < 2)  # noqa: PLR2004 - two workers
