"""`[workers] affinity`: each worker and all that it starts has cores of its own, as the kernel tells of them."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from referee.sandbox.host_machine import Isolation
from tests.builders.bots import write_bot
from tests.builders.programs import start_program
from tests.real_wire.processes import family, until, workers_of

pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two workers need two cores")

BOT = """
import time
from bots.kit import run

print("here", flush=True)

def decide(window):
    time.sleep(60)

run(decide)
"""
CUP = """
game = "mist"
bots = ["one", "two"]
blocks = 2
isolation = "{isolation}"
concurrency = 2
policy.main_ms = 60000
policy.processes = "{processes}"
workers.affinity = {affinity}
"""


def cores(process: str) -> set[int]:
    """Return the cores that a process's threads may run on, each as a mask of bits."""
    tasks = Path(f"/proc/{process}/task").glob("*/status")
    lines = [line for task in tasks for line in task.read_text().splitlines()]
    return {int(line.split()[1].replace(",", ""), 16) for line in lines if line.startswith("Cpus_allowed:")}


def cores_of_workers(folder: Path, isolation: str, processes: str, *, affinity: bool) -> list[set[int]]:
    """Play a tournament until four bots of two matches run; return the cores of each worker and all below it."""
    for name in ("one", "two"):
        write_bot(folder / name, BOT, "keeps = true")
    cup = CUP.format(isolation=isolation, processes=processes, affinity=str(affinity).lower())
    (folder / "cup.toml").write_text(cup)
    words = ("tournament", folder / "cup.toml", "--no-check", "--workers", "2")
    arena = start_program("arena", *words, stdout=None, stderr=subprocess.DEVNULL)

    def begun() -> list[Path]:
        assert arena.poll() is None
        logs = list((folder / "runs/cup/transcripts").glob("*.log"))
        return logs if sum("here" in log.read_text() for log in logs) == 4 else []

    try:
        until(begun)
        workers = workers_of(arena.pid)
        assert 2 == len(workers)
        below = {worker: [each.split()[0] for each in family(worker)] for worker in workers}
        assert all(len(processes) >= 2 for processes in below.values())
        return [set().union(*map(cores, [str(worker), *below[worker]])) for worker in workers]
    finally:
        arena.send_signal(signal.SIGTERM)
        arena.wait()


@pytest.mark.parametrize("processes", ["fresh", "kept"])
def test_a_worker_its_bots_and_what_they_are_forked_from_have_cores_of_their_own(
    tmp_path: Path, processes: str, isolation: Isolation
) -> None:
    """At the best level that this machine has: launchers and starters are among those that inherit."""
    [one], [two] = cores_of_workers(tmp_path, isolation, processes, affinity=True)
    assert one
    assert two
    assert not one & two


def test_without_it_workers_share_all_cores(tmp_path: Path) -> None:
    one, two = cores_of_workers(tmp_path, "none", "fresh", affinity=False)
    assert one == two == cores("self")
