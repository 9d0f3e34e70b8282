"""Processor time of real processes: who is charged for what, and who gets none while it owes nothing."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio

from referee.bot_folder.manifest import BotFolder, find_bot
from referee.host.one_match import play
from referee.host.players import SandboxedBot
from referee.linux.processes import descendants, tree_us
from referee.match.records import Ended, Judged, SeatTime, WindowTime
from referee.match.terms import ClockTable
from referee.sandbox.host_machine import Isolation
from referee.transcript.reader import read_transcript
from referee.transcript.replayer import replay
from tests.builders.bots import write_bot
from tests.builders.plans import mist_plan

SLEEPS = """
import time
from bots.kit import run

def decide(window):
    time.sleep(0.6)
    return window.default

run(decide)
"""
WORKS = """
import os, threading, time
from bots.kit import run

def work():
    until = time.thread_time() + 0.05
    while time.thread_time() < until:
        pass

def decide(window):
    # A late look costs a bot nothing: work that is to be charged lies between looks.
    time.sleep(0.1)
    thread = threading.Thread(target=work)
    thread.start()
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    thread.join()
    os.waitpid(child, 0)
    time.sleep(0.3)
    return window.default

run(decide)
"""
NEVER_DONE = """
from bots.kit import run

def decide(window):
    while True:
        pass

run(decide)
"""

NOTHING_TO_DO = """
from bots.kit import run

def decide(window):
    return window.default

run(decide)
"""


def bot(folder: Path, program: str) -> BotFolder:
    return find_bot(str(write_bot(folder, program, "[limits]\ncpus = 4.0")))


async def charged(
    tmp_path: Path, isolation: Isolation, clock: ClockTable, *programs: str, warm: bool = True
) -> list[SeatTime]:
    """Play a match and replay it; return the parts of its windows, in order."""
    plan = mist_plan(4, seed=3, clock=clock, isolation=isolation, warm=warm)
    bots = [SandboxedBot(bot(tmp_path / f"bot-{seat}", program)) for seat, program in enumerate(programs)]
    path = tmp_path / "m.jsonl"
    with trio.fail_after(60):
        await play(plan, bots, transcript=path)
    assert replay(read_transcript(path)).match.over
    return [part for record in read_transcript(path) if isinstance(record, WindowTime) for part in record.seats]


@pytest.mark.parametrize(("isolation", "warm"), [("strict", True), ("strict", False), ("none", False)])
async def test_a_sleeper_is_charged_a_tenth_and_a_worker_all_its_threads_and_processes(
    tmp_path: Path, isolation: Isolation, warm: bool
) -> None:
    clock = ClockTable(kind="cpu", main_ms=500)
    parts = await charged(tmp_path, isolation, clock, SLEEPS, WORKS, warm=warm)
    assert [False] * 4 == [part.by_default for part in parts]
    slept = [part.charged_ms for part in parts if part.seat == 0]
    worked = [part.charged_ms for part in parts if part.seat == 1]
    # 600 ms on the wall are a tenth of that, but for what a stamp errs in the bot's favour: seldom twice by much.
    # Work is 100 ms, but for what a look lags behind, and the bot's own.
    assert max(slept) >= 50, slept
    assert all(each < 300 for each in slept), slept
    assert all(80 <= each < 300 for each in worked), worked


async def test_a_bot_that_computes_without_end_runs_out_of_time_long_before_the_limit_of_wall_time(
    tmp_path: Path,
) -> None:
    clock = ClockTable(kind="cpu", main_ms=200, wall_factor=100)
    with trio.fail_after(15):
        parts = await charged(tmp_path, "strict", clock, NEVER_DONE, SLEEPS)
    assert [(True, 200)] * 2 == [(part.by_default, part.charged_ms) for part in parts if part.seat == 0]


async def test_a_budget_that_is_used_up_is_the_bots_own_fault_in_every_window_that_follows(tmp_path: Path) -> None:
    """No match is void for the referee's microseconds in a window that had no time to begin with."""
    parts = await charged(tmp_path, "strict", ClockTable(budget_ms=400), SLEEPS, NOTHING_TO_DO)
    assert [(True, 400, 0), (True, 0, 0)] == [
        (part.by_default, part.charged_ms, part.reserve_ms) for part in parts if part.seat == 0
    ]
    records = list(read_transcript(tmp_path / "m.jsonl"))
    assert {"bot"} == {record.verdict.value for record in records if isinstance(record, Judged)}
    (ended,) = [record for record in records if isinstance(record, Ended)]
    assert ended.void is None


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that works for a tenth of a second, says so, and waits."""
    script = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen(  # noqa: S603 - our own
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        yield started
        started.kill()


def test_a_process_that_is_gone_has_no_processor_time(worker: subprocess.Popen[bytes]) -> None:
    assert worker.stdout is not None
    worker.stdout.readline()
    assert 100_000 <= tree_us(worker.pid) < 1_000_000
    worker.kill()
    worker.wait()
    assert 0 == tree_us(worker.pid)


THINKS_ALWAYS = """
import os, threading, time
from bots.kit import run

def think():
    while True:
        pass

def used():
    return time.process_time() + sum(os.times()[2:4])

last = None

def decide(window):
    global last
    if last is None:
        if os.fork() == 0:
            think()
        threading.Thread(target=think, daemon=True).start()
    else:
        print("between", round((used() - last) * 1000), flush=True)
    last = used()
    return window.default

run(decide)
"""
THINKS_SLOWLY = """
import time
from bots.kit import run

def decide(window):
    time.sleep(0.2)
    return window.default

run(decide)
"""


async def between(tmp_path: Path, isolation: Isolation, *, ponder: bool) -> list[int]:
    """Return the milliseconds of processor time that a bot got between its own windows."""
    plan = mist_plan(6, seed=3, policy={"ponder": ponder}, isolation=isolation)
    bots = [bot(tmp_path / "always", THINKS_ALWAYS), bot(tmp_path / "slowly", THINKS_SLOWLY)]
    with trio.fail_after(60):
        await play(plan, [SandboxedBot(each) for each in bots], transcript=tmp_path / "m.jsonl")
    log = (tmp_path / "m.seat-0.log").read_text()
    return [int(line.split()[1]) for line in log.splitlines() if line.startswith("between ")]


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["strict", "none"])
async def test_it_gets_none_while_it_owes_nothing(tmp_path: Path, isolation: Isolation) -> None:
    got = await between(tmp_path, isolation, ponder=False)
    # The opponent thinks 200 ms: what is left is from the answer to the freeze, and from the thaw to the window.
    assert 2 == len(got)
    assert 100 > max(got), got


async def test_a_bot_that_may_ponder_gets_all_free_processor_time(tmp_path: Path) -> None:
    got = await between(tmp_path, "strict", ponder=True)
    # A busy machine gives it less than it gives others.
    assert 20 < min(got), got


async def test_without_control_groups_the_whole_tree_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.linux.cgroups.ControlGroup.freeze", lambda _: False)
    monkeypatch.setattr("referee.linux.cgroups.ControlGroup.thaw", lambda _: False)
    got = await between(tmp_path, "strict", ponder=False)
    assert 100 > max(got), got


async def test_a_tree_is_found_whole() -> None:
    script = "sh -c 'sleep 60 & sleep 60 & wait' & wait"
    async with trio.open_nursery() as nursery:
        root = await nursery.start(trio.run_process, ["sh", "-c", script])
        with trio.fail_after(60):
            while len(found := descendants(root.pid)) < 3:  # noqa: ASYNC110 - another process makes them
                await trio.sleep(0.01)
        assert 3 == len(set(found))
        for pid in found:
            os.kill(pid, signal.SIGKILL)
        nursery.cancel_scope.cancel()
