"""A bot never pays for the referee: what is found late bears the earliest time at which it may have come."""

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from referee.linux.processes import ThreadCounters
from referee.wire.line import INBOX_FRAMES
from tests.real_wire.peer import raw_frame, raw_pair
from tests.real_wire.seat import BotSocket, Seat, open_seat
from tests.real_wire.stress import next_handed_over

Bot = Callable[[str], BotSocket]


def said_during_a_stall(
    seat: Seat, send: Callable[[], None], *, after: float, stall: float
) -> tuple[float, float]:
    """Hold up the loop while a thread sends; return when it was sent and when the stall ended, on trio's clock."""
    offset = trio.current_time() - time.perf_counter()
    sent = []

    def speak() -> None:
        time.sleep(after)
        sent.append(time.perf_counter() + offset)
        send()

    thread = threading.Thread(target=speak)
    thread.start()
    time.sleep(stall)
    thread.join()
    return sent[0], trio.current_time()


async def test_a_frame_that_wakes_a_quiet_loop_is_stamped_when_it_came(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        offset = trio.current_time() - time.perf_counter()
        differences, sent = [], list[float]()

        def send() -> None:
            sent.append(time.perf_counter() + offset)
            connection.sendall(raw_frame(b"answer"))

        for _ in range(20):
            threading.Timer(0.02, send).start()
            arrival = await seat.arrival()
            assert arrival.at <= trio.current_time()
            differences.append(abs(arrival.at - sent[-1]))
        # Not all: where the machine holds up the thread that sends, nobody knows when it was sent.
        assert sorted(differences)[5] < 0.005


async def test_a_frame_that_came_in_a_stall_is_not_stamped_after_it(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        await seat.frame()
        for _ in range(3):
            await trio.sleep(0.01)
            began = trio.current_time()
            sent, _ = said_during_a_stall(seat, lambda: connection.sendall(raw_frame(b"a")), after=0.1, stall=0.2)
            arrival = await seat.arrival()
            assert began - 0.02 <= arrival.at <= sent


async def test_the_same_when_the_frame_is_found_by_settling(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        await seat.frame()
        for _ in range(3):
            await trio.sleep(0.01)
            sent, _ = said_during_a_stall(seat, lambda: connection.sendall(raw_frame(b"a")), after=0.1, stall=0.2)
            await seat.line.settle()
            assert seat.line.receive_nowait().at <= sent


async def test_an_answer_is_never_stamped_before_its_window_was_handed_over(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        await seat.frame()
        for _ in range(50):
            seat.line.send(b"window", timed=True)
            handed_over = await next_handed_over(seat.line)
            connection.sendall(raw_frame(b"answer"))
            time.sleep(0.001)  # noqa: ASYNC251 - the loop is to be held up
            arrival = await seat.arrival()
            assert handed_over.at <= arrival.at <= trio.current_time()


async def test_a_bot_cannot_get_an_old_stamp_by_keeping_its_line_full(seat: Seat, bot: Bot) -> None:
    """What finds no room stays with the sender, and arrives when there is room."""
    stop = threading.Event()

    def flood() -> None:
        socket = bot(seat.line.endpoint)
        while not stop.is_set():
            if socket.poll(10, 2):
                socket.send(b"junk" * 100)
        socket.close(linger=0)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        asked: list[float] = []
        for number in range(2000):
            asked.append(trio.current_time())
            arrival = await seat.arrival()
            assert number < 2 * INBOX_FRAMES or asked[number - 2 * INBOX_FRAMES] <= arrival.at
        await trio.sleep(0.3)  # the host is slow: so many frames have come, the rest must wait
        room = trio.current_time()
        held = [await seat.arrival() for _ in range(2 * INBOX_FRAMES)]
        assert held[0].at < room - 0.2
        later = await seat.arrival()
        assert room <= later.at
    finally:
        stop.set()
        await trio.to_thread.run_sync(thread.join)


class Scripted(ThreadCounters):
    """A thread that waits for a processor for so many seconds between two readings."""

    def __init__(self, waits: float) -> None:
        self.waits = waits
        super().__init__()

    def read(self) -> None:
        before = self.waited
        super().read()
        self.waited = before + self.waits


def never_overslept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no sleep for a stop: beside busy programs it lasts longer than these tests say that it waited."""
    monkeypatch.setattr("referee.wire.socket_line.OVERSLEPT_SECONDS", math.inf)


async def test_only_a_look_that_slept_counts_as_the_time_of_coming(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = seat.line._probe
    monkeypatch.setattr(probe, "_thread", Scripted(waits=0.0))
    never_overslept(monkeypatch)
    await trio.sleep(0.01)
    assert probe.came == probe.looked, "it slept until the timer"
    last = probe.looked
    time.sleep(0.02)  # noqa: ASYNC251 - the loop is to be held up
    await trio.lowlevel.checkpoint()
    assert last == probe.came, "it did not sleep: what it found may have come since the look before"
    assert probe.looked >= last + 0.02


async def slept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, waits: float) -> tuple[float, float, float]:
    """Sleeps 10 ms, in which the kernel counts so much waiting; when it began, the probe's `came` and `looked`."""
    async with open_seat(tmp_path) as seat:
        probe = seat.line._probe
        monkeypatch.setattr(probe, "_thread", Scripted(waits))
        never_overslept(monkeypatch)
        began = trio.current_time()
        await trio.sleep(0.01)
        return began, probe.came, probe.looked


async def test_a_frame_that_woke_the_loop_is_stamped_before_the_wait_for_a_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, came, looked = await slept(tmp_path, monkeypatch, waits=0.004)
    assert abs(looked - came - 0.004) < 1e-6, "asked before and after, and it is so much more"


async def test_but_not_before_it_fell_asleep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, came, looked = await slept(tmp_path, monkeypatch, waits=60.0)
    assert began <= came <= looked - 0.009


def test_the_kernel_counts_how_long_a_thread_waits_for_a_processor() -> None:
    """So many threads as this on one processor: each waits for most of the time."""

    def compute() -> float:
        thread = ThreadCounters()
        before = thread.waited
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass
        thread.read()
        thread.close()
        return thread.waited - before

    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    mine = os.sched_getaffinity(0)
    one = {min(mine)}
    try:
        for process in busy:
            os.sched_setaffinity(process.pid, one)
        os.sched_setaffinity(0, one)
        assert compute() > 0.02
    finally:
        os.sched_setaffinity(0, mine)
        for process in busy:
            process.kill()
            process.wait()
