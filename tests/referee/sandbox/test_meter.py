"""What was kept from a bot by others than itself, and what the kernel has counted for it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.host.evidence import LATER_SECONDS
from referee.sandbox.meter import AGAIN_SECONDS, CARRIERS, FLOOD_BYTES, NOTHING, THREADS, Meter, Reading

MS = 1_000
MAIN, CARRIER, OTHER = 100, 101, 102
"""Numbers of threads: the first of a reading is the main one."""


def reading(cpus: float, *threads: tuple[int, int], ended: int = 0) -> Reading:
    """Of threads that ran and waited so many milliseconds, and others that ended, which ran so many."""
    counted = {number: (ran * MS, waited * MS, 0) for number, (ran, waited) in enumerate(threads, MAIN)}
    return Reading(
        cpu=ended * MS + sum(ran for ran, _, _ in counted.values()),
        waited=sum(waited for _, waited, _ in counted.values()),
        throttled=0,
        cpus=cpus,
        threads=counted,
        main=MAIN,
    )


def one_thread(ran: int, waited: int, turns: int, cpu: int = 0, throttled: int = 0) -> Reading:
    """Of a bot with a main thread alone, in microseconds."""
    return Reading(cpu, 0, throttled, 1.0, {MAIN: (ran, waited, turns)}, main=MAIN)


@pytest.mark.parametrize(
    ("kept", "counted"),
    [
        (300, reading(1.0, (100, 300))),
        (300, reading(1.0, (100, 300), (0, 150))),  # What other threads waited is no excuse.
        (0, reading(1.0, (0, 0), (50, 800), (50, 800))),
        (150, reading(2.0, (105, 410), (110, 410))),  # It may have waited for the other one, half of the time.
        # Twenty that compute, on a machine that others use: it waits as long for others as all of them together.
        (45, reading(1.0, (15, 1_190), (140, 1_190), (150, 1_190))),
        (0, reading(1.0, (0, 1_000), ended=250)),
        (700, reading(1.0, (0, 705), ended=5)),  # The sandbox's own, for example.
        (950, reading(1.0, (50, 2_000))),  # No more than it was short of its `cpus`.
        (0, reading(1.0, *[(25, 375)] * 16)),  # Sixteen that compute for 400 ms on one core,
        (0, reading(2.0, *[(50, 350)] * 16)),  # or on two.
        (0, reading(1.0, (0, 300), ended=300)),
        (0, reading(1.0)),
        (0, NOTHING),
        (0, replace(reading(1.0, (100, 300)), main=0)),  # Nobody knows which thread would have answered.
        # It slept ten thousand times, and not a moment longer.
        (0, one_thread(0, 50 * MS, 10_000)),
        (700, one_thread(0, 700 * MS + 100, 5)),  # A few wakings, each of which took long.
        # It slept and woke to no purpose: five turns count, and one more for each 1 ms that it ran.
        (15, one_thread(0, 3_020 * MS, 1_000)),
        (315, one_thread(100 * MS, 3_020 * MS, 1_000, cpu=100 * MS)),
        (0, one_thread(0, 70 * MS, 1, throttled=70 * MS)),  # Throttled to its own `cpus`.
        (600, one_thread(300 * MS, 602 * MS, 100, cpu=300 * MS)),  # It computed, and was interrupted.
    ],
)
def test_a_bots_own_threads_are_not_others_that_kept_it_waiting(kept: int, counted: Reading) -> None:
    assert kept * MS == counted.withheld(NOTHING, 1.0)


def test_a_wait_of_a_bot_that_prints_without_end_is_not_withheld_time() -> None:
    """On a busy machine it waits for a processor each time that we have read what it printed."""
    before, now = Reading(0, 0, 0, 1.0, {}, 2**20, MAIN), reading(1.0, (270, 240))
    assert 240 * MS == replace(now, thrown_away=2**20 + 60_000).withheld(before, 1.0)
    assert 0 == replace(now, thrown_away=2**20 + 70_000).withheld(before, 1.0)
    assert 0 == replace(now, thrown_away=2**20 + FLOOD_BYTES).withheld(before, 1.0)


def test_only_what_came_since_the_reading_before_counts() -> None:
    before = reading(1.0, (100, 200))
    assert 60 * MS == reading(1.0, (110, 260)).withheld(before, 1.0)
    throttled = replace(before, throttled=150 * MS)
    assert 60 * MS == replace(reading(1.0, (110, 260)), throttled=150 * MS).withheld(throttled, 1.0)
    assert 40 * MS == replace(reading(1.0, (110, 260)), throttled=170 * MS).withheld(throttled, 1.0)


def carried(turns: int) -> Reading:
    """Of a bot whose main thread slept, while one that carries messages waited for 100 ms in all."""
    threads = {MAIN: (0, 0, 1), CARRIER: (0, 100 * MS + turns * 20, turns), OTHER: (0, 100 * MS, 1)}
    return Reading(0, 0, 0, 1.0, threads, main=MAIN, carriers=(CARRIER,))


def test_few_turns_of_a_carrier_thread_count() -> None:
    assert 100 * MS == carried(4).withheld(NOTHING, 1.0)
    assert 1 * MS == pytest.approx(carried(400).withheld(NOTHING, 1.0), abs=100)


def test_an_ended_thread_does_not_count() -> None:
    before = Reading(0, 0, 0, 1.0, {MAIN: (10 * MS, 300 * MS, 50)}, main=MAIN)
    gone = Reading(0, 0, 0, 1.0, {}, main=MAIN)
    assert (0, 0) == (gone.withheld(before, 1.0), gone.active(before))
    assert (0, 0, 0) == gone.since(gone, MAIN)


def test_while_a_bot_starts_its_bridge_computes_too() -> None:
    counted = Reading(90 * MS, 0, 0, 1.0, {CARRIER: (90 * MS, 300 * MS, 60)}, main=MAIN, carriers=(CARRIER,))
    assert (299 * MS, 1 * MS) == pytest.approx(
        (counted.withheld(NOTHING, 1.0, starting=True), counted.withheld(NOTHING, 1.0)), abs=MS
    )


def test_a_bot_is_active_while_what_answers_runs_or_waits() -> None:
    assert 101 * MS == pytest.approx(carried(4).active(NOTHING), abs=MS)
    assert 400 * MS == reading(1.0, (100, 300), (500, 500)).active(NOTHING)
    assert None is replace(carried(4), main=0).active(NOTHING)


BECOMES_MAIN = """
import os, sys, threading, time
def work():
    until = time.thread_time() + 0.2
    while time.thread_time() < until: pass
    print("worked", flush=True)
    sys.stdin.readline()
    os.execv(sys.executable, [sys.executable, "-c", "print('here', flush=True); input()"])
threading.Thread(target=work).start()
time.sleep(60)
"""


def test_a_thread_that_makes_itself_the_main_one_brings_no_waits_with_it() -> None:
    """The kernel counts on for it under the main thread's number."""
    with subprocess.Popen(  # noqa: S603 - ours
        [sys.executable, "-c", BECOMES_MAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as bot:
        assert bot.stdin is not None
        assert bot.stdout is not None
        meter = Meter((bot.pid,), None, 1.0, program=bot.pid)
        assert b"worked" in bot.stdout.readline()
        before = meter.read()
        bot.stdin.write(b"\n")
        bot.stdin.flush()
        assert b"here" in bot.stdout.readline()
        now = meter.read()
        meter.close()
        bot.kill()
    assert 100 * MS < now.since(before, bot.pid)[0]
    assert (0, 0) == (now.withheld(before, 10.0), now.active(before))


def test_a_program_that_starts_another_in_its_place_goes_on_waiting() -> None:
    before = replace(reading(1.0, (0, 0)), stack=1)
    now = replace(reading(1.0, (100, 300)), stack=2)
    assert (300 * MS, 400 * MS) == (now.withheld(before, 1.0), now.active(before))
    had_others = replace(before, has_threads=True)
    assert (0, 0) == (now.withheld(had_others, 1.0), now.active(had_others))


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_time_used_by_ended_threads_still_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests leave threads in this process that wait for work.
    monkeypatch.setattr("referee.sandbox.meter.THREADS", 1_000)
    monkeypatch.setattr("referee.sandbox.meter.LOOKED_AT", 1_000)
    meter = Meter((os.getpid(),), None, 1.0)
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        compute(0.06)
        done.set()
        go.wait()

    thread = threading.Thread(target=work)
    before = meter.read()
    thread.start()
    done.wait()
    working = meter.read()
    go.set()
    thread.join()
    compute(0.03)
    after = meter.read()
    meter.close()
    assert working.cpu - before.cpu >= 59 * MS
    assert after.cpu - working.cpu >= 29 * MS
    assert thread.native_id in working.threads
    assert thread.native_id not in after.threads


def test_threads_are_looked_for_at_the_first_readings_and_then_now_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meter, looks, now = Meter((os.getpid(),), None, 1.0), list[int](), 1_000.0
    monkeypatch.setattr("referee.sandbox.meter.monotonic", lambda: now)
    monkeypatch.setattr(meter, "_look", lambda: looks.append(meter._readings))
    for _ in range(16):
        meter.read()
        now += 0.0625
    assert [0, 1, 5, 9, 13] == looks


def test_no_thread_is_missing_when_the_counters_of_a_missed_window_are_read() -> None:
    assert AGAIN_SECONDS < LATER_SECONDS


def test_only_the_nearest_of_very_many_processes_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def with_two_children(process: int) -> list[str]:
        task = tmp_path / str(process)
        task.mkdir()
        (task / "children").write_text(f"{2 * process} {2 * process + 1}")
        (task / "schedstat").write_text("1000 2000 3\n")
        looked.append(process)
        return [str(task)]

    monkeypatch.setattr("referee.linux.processes.tasks", with_two_children)
    meter = Meter((1,), None, 1.0)
    assert (THREADS, list(range(1, THREADS + 2))) == (meter.read().cpu, looked)
    meter.close()


@pytest.mark.parametrize("threads", [{}, {7: (10, 10, 1)}])
def test_nothing_is_known_about_an_ended_main_thread(threads: dict[int, tuple[int, int, int]]) -> None:
    """Its bot has ended, or was started again under the same number."""
    before = Reading(900, 900, 0, 1.0, {7: (900, 900, 9)}, main=7)
    after = Reading(900, 900, 0, 1.0, threads, main=7)
    assert 0 == after.active(before) == after.withheld(before, 1.0)


@contextmanager
def threads_called(*names: str) -> Iterator[dict[str, int]]:
    """Threads of this process under these names, each with its number."""
    named, over = threading.Barrier(len(names) + 1), threading.Event()
    numbers = dict[str, int]()

    def work(name: str) -> None:
        numbers[name] = threading.get_native_id()
        Path(f"/proc/self/task/{numbers[name]}/comm").write_text(name)
        named.wait()
        over.wait()

    workers = [threading.Thread(target=work, args=[name]) for name in names]
    for worker in workers:
        worker.start()
    named.wait()
    try:
        yield numbers
    finally:
        over.set()
        for worker in workers:
            worker.join()


def test_threads_named_as_zeromqs_count_as_carriers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Other tests leave threads in this process, ZeroMQ's among them.
    for bound in ("THREADS", "LOOKED_AT", "CARRIERS"):
        monkeypatch.setattr(f"referee.sandbox.meter.{bound}", 1_000)
    meter = Meter((os.getpid(),), None, 1.0, program=os.getpid())
    with threads_called("ZMQbg/IO/0", "worker") as numbers, closing(meter):
        found = meter.read()
    assert os.getpid() == found.main
    assert numbers["ZMQbg/IO/0"] in found.carriers
    assert not {os.getpid(), numbers["worker"]} & {*found.carriers}


def test_a_bot_that_calls_all_its_threads_so_has_few_that_carry_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("THREADS", "LOOKED_AT"):
        monkeypatch.setattr(f"referee.sandbox.meter.{bound}", 1_000)
    meter = Meter((os.getpid(),), None, 1.0, program=os.getpid())
    with threads_called(*[f"ZMQbg/IO/{number}" for number in range(CARRIERS + 3)]), closing(meter):
        assert CARRIERS == len(meter.read().carriers)


def test_the_bridges_thread_carries_the_messages_of_the_program_that_it_starts() -> None:
    with subprocess.Popen(["/bin/sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE) as bridge:
        assert bridge.stdout is not None
        program = int(bridge.stdout.readline())
        meter = Meter((bridge.pid,), None, 1.0, program=bridge.pid, bridged=True)
        try:
            found = meter.read()
        finally:
            meter.close()
            os.kill(program, signal.SIGKILL)
    assert (program, (bridge.pid,)) == (found.main, found.carriers)
