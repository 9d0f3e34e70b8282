"""What was kept from a bot by others than itself, and what the kernel has counted for it."""

import os
import threading
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.host.host import LATER_SECONDS
from referee.sandbox.meter import AGAIN_SECONDS, LOOKED_AT, NOTHING, THREADS, Meter, Reading

MS = 1_000


def reading(cpus: float, *threads: tuple[int, int], ended: int = 0) -> Reading:
    """Of threads that ran and waited so many milliseconds, and others that ended, which ran so many."""
    counted = {number: (ran * MS, waited * MS, 0) for number, (ran, waited) in enumerate(threads)}
    return Reading(
        cpu=ended * MS + sum(ran for ran, _, _ in counted.values()),
        waited=sum(waited for _, waited, _ in counted.values()),
        throttled=0,
        cpus=cpus,
        threads=counted,
    )


@pytest.mark.parametrize(
    ("kept", "counted"),
    [
        (300, reading(1.0, (100, 300))),
        (350, reading(1.0, (100, 300), (0, 150))),  # The second may have waited for the first.
        (900, reading(1.0, (50, 800), (50, 800))),  # It wanted no more than it had a right to.
        (1_500, reading(2.0, (50, 800), (50, 800))),
        (0, reading(1.0, *[(25, 375)] * 16)),  # Sixteen that compute for 400 ms on one core,
        (0, reading(2.0, *[(50, 350)] * 16)),  # or on two.
        (0, reading(1.0, (0, 300), ended=300)),
        (0, reading(1.0)),
        (0, NOTHING),
        (
            0,
            Reading(0, 0, 0, 1.0, {1: (0, 50 * MS, 10_000)}),
        ),  # It slept ten thousand times, and not a moment longer.
        (700, Reading(0, 0, 0, 1.0, {1: (0, 700 * MS + 200, 10)})),  # A few wakings, each of which took long.
        # It slept and woke to no purpose: 20 turns count, and one more for each 1 ms that it ran.
        (60, Reading(0, 0, 0, 1.0, {1: (0, 3_020 * MS, 1_000)})),
        (360, Reading(100 * MS, 0, 0, 1.0, {1: (100 * MS, 3_020 * MS, 1_000)})),
        # Throttled to its own `cpus`, with a dozen threads that wait meanwhile.
        (0, Reading(0, 0, 70 * MS, 1.0, dict.fromkeys(range(12), (0, 70 * MS, 1)))),
        # A stall of 70 ms is no longer by the number of those who wait for its end.
        (140, Reading(0, 0, 0, 1.0, dict.fromkeys(range(12), (0, 70 * MS + 20, 1)))),
        (600, Reading(300 * MS, 0, 0, 1.0, {1: (300 * MS, 602 * MS, 100)})),  # It computed, and was interrupted.
    ],
)
def test_a_bots_own_threads_are_not_others_that_kept_it_waiting(kept: int, counted: Reading) -> None:
    assert kept * MS == counted.withheld(NOTHING, 1.0)


def test_of_a_bot_that_prints_without_end_nothing_was_kept() -> None:
    """On a busy machine it waits for a processor each time that we have read what it printed."""
    before, now = Reading(0, 0, 0, 1.0, {}, 2**20), reading(1.0, (270, 240))
    assert 240 * MS == replace(now, thrown_away=2**20 + 60_000).withheld(before, 1.0)
    assert 0 == replace(now, thrown_away=2**20 + 70_000).withheld(before, 1.0)


def test_only_what_came_since_the_reading_before_counts() -> None:
    before = reading(1.0, (100, 200), (0, 0))
    assert 60 * MS == reading(1.0, (100, 200), (10, 60)).withheld(before, 1.0)


def compute(seconds: float) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_what_threads_used_that_have_ended_is_not_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_of_processes_without_end_only_the_nearest_are_looked_for(
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

    monkeypatch.setattr("referee.linux.process_tree.tasks", with_two_children)
    meter = Meter((1,), None, 1.0)
    assert (THREADS, list(range(1, LOOKED_AT + 1))) == (meter.read().cpu, looked)
    meter.close()
