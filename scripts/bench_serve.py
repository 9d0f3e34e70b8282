"""`arena serve` beside a tournament: what a thousand spectators cost the matches, and how long pages take.

A tournament is played all the time. In every other phase it is watched: a server, 1,000 event streams of the
matches being played, 50 pages a second, and some readers that read nothing. Phases without are the baseline, so
that what else the machine does counts for both. Tournament, server and readers have a session each, and so the
priority that each asks for; that of the readers is the least. Let nothing else run: it takes the server's share.
Run as `bench_serve.py`; --quick for a look.
"""

import argparse
import os
import re
import signal
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import msgspec
from msgspec import Struct
from simulated_results import write_results
from web_clients import SOME, Load, Received

from arena.pages import Competition, Website
from arena.tournament import LEDGER, TRANSCRIPTS

STREAMS, RATE, STUCK = 1_000, 50.0, 20
PAIRS, SECONDS, SETTLE = 6, 15.0, 3.0
QUICK_PAIRS, QUICK_SECONDS = 2, 6.0
AT_MOST_FALL = 0.05
AT_MOST_PAGE_MS = 300.0
AT_MOST_KIB = 30.0
CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious", "mist_hunter"]
blocks = 100000
results = "cup"
isolation = "{}"
"""
ARENA = (sys.executable, "-m", "arena")


class Phase(Struct):
    """What came of a phase."""

    matches: float
    """A second."""
    judged: int
    """Windows that were the referee's fault."""
    cpu: float = 0.0
    """Share of one processor that the server took."""
    received: Received | None = None


@contextmanager
def running(*words: object, cwd: Path, ready: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command of the arena, in a session of its own, and what it said when it was ready."""
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
    """That a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_kib(process: int) -> float:
    """Of its memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def ended(results: Path, first: str, last: str) -> int:
    """How many matches ended between two moments of the wall's clock."""
    with closing(sqlite3.connect(f"file:{results / LEDGER}?mode=ro", uri=True)) as ledger:
        query = "SELECT count(*) FROM attempts WHERE played IS NOT NULL AND ended BETWEEN ? AND ?"
        return int(ledger.execute(query, (first, last)).fetchone()[0])


def now() -> str:
    """As the ledger writes it."""
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03}+00:00"


def judged(results: Path, before: set[Path]) -> int:
    """Windows that were the referee's fault, in transcripts that were not there before."""
    found = 0
    for path in set((results / TRANSCRIPTS).glob("*.jsonl")) - before:
        found += path.read_bytes().count(b'"verdict":"referee"')
        before.add(path)
    return found


def measured(results: Path, seconds: float, seen: set[Path]) -> Phase:
    """A phase of the tournament."""
    began = now()
    time.sleep(seconds)
    return Phase(ended(results, began, now()) / seconds, judged(results, seen))


def reading(port: str, load: Load) -> "subprocess.Popen[str]":
    """Readers, in a process of their own."""
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("web_clients.py"), port, msgspec.json.encode(load).decode()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def memory(folder: Path) -> bool:
    """What an event stream takes of the server's memory, with nothing else to do; whether it is within bounds."""
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
    """A phase in which it is watched."""
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
    """Phases in turn; whether all is within bounds."""
    (folder / "cup.toml").write_text(CUP.format(isolation))
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
    """The standings of 1,000 bots; whether they are made in time."""
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


def main() -> int:
    """Prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter phases, for a look")
    parser.add_argument("--isolation", default="strict", help="of the bots")
    asked = parser.parse_args()
    pairs, seconds = (QUICK_PAIRS, QUICK_SECONDS) if asked.quick else (PAIRS, SECONDS)
    with TemporaryDirectory(dir=Path.cwd(), prefix="bench-serve-") as scratch:
        folder = Path(scratch, "served")
        good = standings(Path(scratch))
        write_results(folder / "league", 100)
        good &= memory(folder)
        good &= beside_a_tournament(folder, pairs, seconds, asked.isolation)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
