"""What a cluster gives: the same tournament on this machine, and on Dask clusters of one and of two workers here.

Bots are deterministic: all play the same matches. Each worker has one slot. On two cores the scheduler, the arena
and two matches share them, so that two workers cannot be twice as fast as one. Then, what Dask carries: a match's
answer, without the match. Run as `bench_cluster.py [BLOCKS]`; --quick for a look.
"""

import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import distributed
import trio

from arena.workers.cluster import connected

ROOT = Path(__file__).parents[1]
BLOCKS, QUICK = 60, 10
TASKS, AT_ONCE = 2_000, 16
CUP = """\
game = "mist"
bots = ["mist_cautious", "mist_hunter"]
blocks = {}
seed = 1
isolation = "{}"
"""
AT_LEAST = 1.1
"""Times as many matches a second with two workers as with one, where there are two cores or more. Far from 2: the
scheduler, the arena and the bots need the same cores."""
PATIENCE_SECONDS = 60


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """A scheduler and workers of one slot each; its address for the arena."""
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
    """A process of Dask's."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-m", "dask", *arguments], env=environment, stderr=subprocess.DEVNULL)


def wait_for(there: Callable[[], bool], what: str) -> None:
    """Until something is there."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not there():
        if time.monotonic() > give_up:
            raise TimeoutError(f"the cluster's {what} did not start")
        time.sleep(0.1)


def workers_of(on: str) -> int:
    """How many workers a cluster has."""
    with distributed.Client(  # type: ignore[no-untyped-call]
        on.replace("dask://", "tcp://"), set_as_default=False
    ) as client:
        return len(client.scheduler_info()["workers"])


def played(file: Path, results: Path, *how: str) -> tuple[float, Any]:
    """Plays the tournament; seconds that it took, and its table without times."""
    began = time.monotonic()
    command = [sys.executable, "-m", "arena", "tournament", str(file), "--no-check", "--results", str(results)]
    done = subprocess.run(
        [*command, "--json", *how],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    table = json.loads(done.stdout)["standings"]
    return time.monotonic() - began, [{key: line[key] for key in ("bot", "points", "wins")} for line in table]


def answer(size: int) -> bytes:
    """What a worker gives, in no time."""
    return bytes(size)


async def carried(on: str, size: int, tasks: int, slots: int) -> float:
    """How many such answers a second come back through Dask, with so many asked for at once."""
    client = await connected(on)
    try:
        addresses = list(await client.workers())
        left = iter(range(tasks))

        async def ask() -> None:
            for number in left:
                await client.submit(addresses[number % len(addresses)], answer, size, slots=0).outcome()

        began = time.monotonic()
        async with trio.open_nursery() as nursery:
            for _ in range(slots):
                nursery.start_soon(ask)
        return tasks / (time.monotonic() - began)
    finally:
        await trio.to_thread.run_sync(client.close)


def bytes_of(results: Path) -> tuple[float, float]:
    """A transcript's size on average, and how small zlib makes it."""
    files = [file.read_bytes() for file in results.glob("transcripts/*.jsonl")]
    return sum(map(len, files)) / len(files), sum(len(zlib.compress(file, 1)) for file in files) / len(files)


def main(arguments: Sequence[str]) -> bool:
    """Prints what was measured; whether two workers were enough faster than one, and all tables are the same."""
    blocks = QUICK if "--quick" in arguments else int(dict(enumerate(arguments)).get(0, str(BLOCKS)))
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        file = folder / "cup.toml"
        file.write_text(CUP.format(blocks, "strict"))
        rates, tables = {}, []
        for name, workers in (("here, one process", 0), ("cluster of 1", 1), ("cluster of 2", 2)):
            results = folder / name
            if workers:
                with cluster(folder, workers) as on:
                    took, table = played(file, results, "--on", on)
            else:
                took, table = played(file, results, "--concurrency", "1", "--workers", "1")
            rates[name] = 2 * blocks / took
            tables.append(table)
            load = Path("/proc/loadavg").read_text().split()[0]
            print(f"{name:18} {took:6.1f} s  {rates[name]:5.2f} matches a second  (load {load})", flush=True)
        size, small = bytes_of(folder / "cluster of 2")
        with cluster(folder, 2) as on:
            through = trio.run(carried, on, round(small), TASKS, AT_ONCE)
    gained = rates["cluster of 2"] / rates["cluster of 1"]
    print(f"a second worker: {gained:.2f} times as many (at least {AT_LEAST}, on {os.cpu_count()} cores)")
    print(f"a transcript: {size:,.0f} bytes, {small:,.0f} on the way")
    print(f"Dask carries {through:,.0f} of these a second to one arena")
    same = all(table == tables[0] for table in tables)
    print(f"the same table each time: {'yes' if same else 'NO'}")
    return same and (gained >= AT_LEAST or (os.cpu_count() or 1) < 2)  # noqa: PLR2004 - two workers


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
