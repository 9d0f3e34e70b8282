"""Clocks of real processes: one that stands while its process is stopped, and one that is set back."""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from arena.errors import DONE
from tests.builders.programs import start_program
from tests.real_wire.processes import until

ROOT = Path(__file__).parents[2]
PROGRAM = """\
import ctypes, os, subprocess, sys, threading, time
import trio
from referee.linux.awake_clock import AwakeClock

SECONDS = 1.5
MICROSECONDS = int(SECONDS * 1_000_000)
clock = AwakeClock()

def with_the_interpreter():
    ctypes.PyDLL(None).usleep(MICROSECONDS)

def without_it():
    ctypes.CDLL(None).usleep(MICROSECONDS)

def stop(after):
    me = os.getpid()
    subprocess.Popen(["sh", "-c", f"sleep {after}; kill -STOP {me}; sleep {SECONDS}; kill -CONT {me}"])

def work():
    used = time.process_time()
    while time.process_time() - used < 0.4:
        pass

async def trial(what):
    if what == "call":
        without_it()
    elif what == "call with the interpreter":
        with_the_interpreter()
    elif what == "another thread with the interpreter":
        await trio.to_thread.run_sync(with_the_interpreter)
    elif what == "another thread":
        await trio.to_thread.run_sync(without_it)
    elif what == "stop in sleep":
        stop(0.1)
        await trio.sleep(0.6)
    elif what == "stop in work":
        # Started before, the shell's own start is over.
        stop(0.1)
        began = time.monotonic()
        while time.monotonic() - began < 0.1 + SECONDS:
            work()
    elif what == "stop in a call":
        stop(0.1)
        without_it()
        without_it()

async def main():
    began = trio.current_time()
    at = time.monotonic()
    await trial(sys.argv[1])
    print(clock.stopped(began), time.monotonic() - at - (trio.current_time() - began))

trio.run(main, clock=clock)
clock.close()
assert threading.active_count() <= 2  # trio keeps its thread for a while
"""


def stopped_in(what: str) -> float:
    """For how long a process took itself for stopped."""
    done = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
        [sys.executable, "-c", PROGRAM, what], cwd=ROOT, check=True, capture_output=True, text=True
    )
    stopped, missing = map(float, done.stdout.split())
    assert pytest.approx(stopped, abs=0.01) == missing
    return stopped


@pytest.mark.parametrize(
    "what", ["call", "call with the interpreter", "another thread", "another thread with the interpreter"]
)
def test_a_call_that_blocks_is_no_stop(what: str) -> None:
    assert 0.0 == stopped_in(what)


@pytest.mark.parametrize("what", ["stop in sleep", "stop in work", "stop in a call"])
def test_a_stop_is_one_whatever_the_process_does(what: str) -> None:
    assert stopped_in(what) > 1.0


SET_BACK = Path(__file__).with_name("set_back.c")
CUP = """\
game = "mist"
bots = ["mist_random", "mist_cautious"]
blocks = 12
seed = 9
isolation = "standard"
policy.startup_ms = 60000
"""
BLOCKS = 12
DEALT_TWICE = 2
SAID = "this machine's clock was set back"


@pytest.fixture
def preloaded(tmp_path: Path) -> Path:
    """Compile the library that sets a program's wall clock back; skip where that fails."""
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("gcc is not installed")
    library = tmp_path / "set_back.so"
    subprocess.run(  # noqa: S603 - our own words
        [gcc, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SET_BACK, "-ldl"], check=True
    )
    return library


@pytest.fixture
def back(tmp_path: Path, preloaded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """While this file is there, the clocks of programs that are started show a time two days ago."""
    file = tmp_path / "back"
    monkeypatch.setenv("LD_PRELOAD", str(preloaded))
    monkeypatch.setenv("SET_BACK", str(file))
    shown = "import time; print(time.time())"
    now = [subprocess.check_output([sys.executable, "-c", shown], text=True)]  # noqa: S603 - our own interpreter
    file.touch()
    now.append(subprocess.check_output([sys.executable, "-c", shown], text=True))  # noqa: S603 - our own
    file.unlink()
    if float(now[0]) - float(now[1]) < timedelta(days=1).total_seconds():
        pytest.skip("this interpreter does not ask the C library what time it is")
    return file


@pytest.mark.slow
def test_a_tournament_goes_on_when_the_clock_is_set_back(back: Path, tmp_path: Path, sandboxed: None) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP)
    ledger = tmp_path / "runs/cup/ledger.sqlite"
    with start_program("arena", "tournament", "--no-check", "--json", file) as arena:
        until(lambda: arena.poll() is not None or len(_spans(ledger)) >= DEALT_TWICE)
        back.touch()
        output, said = arena.communicate()
    assert DONE == arena.returncode, said
    assert 1 == said.count(SAID), said
    for line in json.loads(output)["standings"]:
        assert (0, 0) == (line["faults"], line["defaults"])
    spans = _spans(ledger)
    assert DEALT_TWICE * BLOCKS == len(spans)
    assert all(began <= ended for began, ended in spans)
    began = [began for began, _ in spans]
    assert began == sorted(began)
    assert began[-1] - began[0] < timedelta(days=1)


def _spans(ledger: Path) -> list[tuple[datetime, datetime]]:
    """When each match began and ended, in the order in which they began; nothing as long as there is no ledger."""
    if not ledger.exists():
        return []
    with closing(sqlite3.connect(ledger)) as book, suppress(sqlite3.OperationalError):
        found = book.execute("SELECT started, ended FROM attempts WHERE ended IS NOT NULL ORDER BY id").fetchall()
        return [(datetime.fromisoformat(began), datetime.fromisoformat(ended)) for began, ended in found]
    return []
