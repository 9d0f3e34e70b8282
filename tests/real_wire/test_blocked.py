"""A clock that stands while its process is stopped, in a real process: it runs on while only a call blocks."""

import subprocess
import sys
from pathlib import Path

import pytest

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
