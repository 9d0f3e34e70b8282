"""Without pondering a bot that would think in its opponent's time gets no processor time then."""

import os
import signal
from pathlib import Path

import pytest
import trio

from referee.bot_folder.manifest import BotFolder, find_bot
from referee.host.one_match import play
from referee.host.players import SandboxedBot
from referee.linux.processes import descendants
from referee.sandbox.host_machine import Isolation
from tests.builders.bots import write_bot
from tests.builders.plans import mist_plan

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


def bot(folder: Path, program: str) -> BotFolder:
    return find_bot(str(write_bot(folder, program, "[limits]\ncpus = 4.0")))


async def between(tmp_path: Path, isolation: Isolation, *, ponder: bool) -> list[int]:
    """The milliseconds of processor time that a bot got between its own windows."""
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


async def test_with_pondering_it_gets_what_there_is(tmp_path: Path) -> None:
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
