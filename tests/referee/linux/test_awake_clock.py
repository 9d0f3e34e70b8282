"""A clock that stands while its process is stopped, told so by scripted counters of a kernel."""

import math
from functools import partial

import pytest

from referee.linux.awake_clock import EPOCH, LOOK_SECONDS, MISSED_ASLEEP, MISSED_AWAKE, AwakeClock, KernelCounters
from referee.linux.processes import ThreadCounters

about = partial(pytest.approx, abs=1e-4)


class ScriptedThread(ThreadCounters):
    """Counters of a thread that a test moves."""

    def read(self) -> None:
        pass


class Scripted(KernelCounters):
    """Counters that a test moves."""

    def __init__(self) -> None:
        self.now = 5_000.0
        self.suspended = 100.0
        self.used = 0.0
        self.thread = ScriptedThread()
        self.interpreter_look = 0.0055
        self.moved: int | None = 0

    def elapsed(self) -> float:
        return self.now

    def since_boot(self) -> float:
        return self.now + self.suspended

    def ran(self) -> float:
        return self.used

    def moves(self) -> int | None:
        return self.moved

    def close(self) -> None:
        pass


class Process:
    """A process with a clock, and what happens to it."""

    def __init__(self) -> None:
        self.kernel = Scripted()
        self.clock = AwakeClock(lambda: self.kernel)
        self.clock.start_clock()

    @property
    def now(self) -> float:
        return self.clock.current_time() - EPOCH

    def sleep(self, seconds: float, *, oversleeps: float = 0.0, waits: float = 0.0) -> None:
        """Sleeps as trio does, and oversleeps: of that, it waits so long for a processor."""
        asked = self.clock.deadline_to_sleep_time(self.clock.current_time() + seconds)
        self.kernel.now += asked + oversleeps
        self.kernel.thread.waited += waits
        self.clock.current_time()

    def run(self, seconds: float) -> None:
        """Works, and reads the clock now and then."""
        for _ in range(round(seconds * 100)):
            self.kernel.now += 0.01
            self.kernel.used += 0.01
            self.clock.current_time()

    def stop(self, seconds: float) -> None:
        """Is stopped, with all its threads."""
        self.kernel.now += seconds
        if self.kernel.moved is not None:
            self.kernel.moved += 1

    def block(self, seconds: float) -> None:
        """Wait for the kernel; only the calling thread does."""
        self.kernel.now += seconds


def test_time_passes_while_the_process_sleeps_works_or_waits_for_a_processor() -> None:
    process = Process()
    process.sleep(0.04)
    assert about(0.04) == process.now
    process.run(3.0)
    assert about(3.04) == process.now
    process.sleep(0.04, oversleeps=2.0, waits=2.0)
    assert about(5.08) == process.now
    assert 0 == process.clock.stops


@pytest.mark.parametrize("seconds", [MISSED_ASLEEP + 0.001, 1.0, 8.0, 100_000.0])
def test_no_time_passes_while_the_process_is_stopped_in_its_sleep(seconds: float) -> None:
    process = Process()
    process.run(1.0)
    process.sleep(0.03, oversleeps=seconds)
    assert about(1.03) == process.now
    assert about(seconds) == process.clock.stopped(EPOCH)


def test_oversleep_beyond_the_wait_for_a_processor_counts_as_stopped() -> None:
    process = Process()
    process.sleep(0.05, oversleeps=3.0, waits=1.0)
    assert about(1.05) == process.now
    assert about(2.0) == process.clock.stopped(EPOCH)


@pytest.mark.parametrize("seconds", [MISSED_AWAKE + 0.001, 8.0])
def test_no_time_passes_while_the_process_is_stopped_in_its_work(seconds: float) -> None:
    process = Process()
    process.run(0.5)
    process.stop(seconds)
    assert about(0.5) == process.now
    process.run(0.5)
    assert about(1.0) == process.now
    assert about(seconds) == process.clock.stopped(EPOCH)


def test_a_loop_that_never_sleeps_hides_no_stop() -> None:
    process = Process()
    process.run(20.0)
    process.stop(3.0)
    process.run(1.0)
    assert about(21.0) == process.now


def test_two_stops_are_two() -> None:
    process = Process()
    process.sleep(0.05, oversleeps=4.0)
    between = process.clock.current_time()
    process.sleep(0.05, oversleeps=2.0)
    assert about(0.1) == process.now
    assert about(6.0) == process.clock.stopped(EPOCH)
    assert about(2.0) == process.clock.stopped(between + 0.01)
    assert 2 == process.clock.stops


def test_the_clock_never_goes_back() -> None:
    """A stop is found after some of it was told already: that is not taken back."""
    process = Process()
    last = process.now
    for step in range(400):
        process.kernel.now += 0.003
        if step % 7 == 0:
            process.stop(0.7)
        if step % 31 == 0:
            process.stop(1.4)
        process.kernel.used += 0.002 * (step % 3)
        now = process.now
        assert now >= last
        last = now


@pytest.mark.parametrize("oversleeps", [0.001, MISSED_ASLEEP - 0.001])
def test_timers_that_are_not_exact_are_no_stop(oversleeps: float) -> None:
    process = Process()
    for _ in range(100):
        process.sleep(0.05, oversleeps=oversleeps)
        assert process.now > 0
    assert about(100 * (0.05 + oversleeps)) == process.now
    assert 0 == process.clock.stops


@pytest.mark.parametrize("seconds", [0.9, MISSED_AWAKE + 0.001, 60.0])
def test_work_that_waits_for_the_kernel_is_no_stop(seconds: float) -> None:
    process = Process()
    for _ in range(100):
        process.sleep(0.02)
        process.run(0.03)
        process.block(seconds)
        process.run(0.01)
    assert about(100 * (0.06 + seconds)) == process.now
    assert 0 == process.clock.stops


def test_a_stop_before_work_that_waits_for_the_kernel_does_not_make_that_one() -> None:
    process = Process()
    process.stop(8.0)
    process.run(0.01)
    process.block(3.0)
    process.run(0.01)
    assert about(3.02) == process.now
    assert 1 == process.clock.stops


@pytest.mark.parametrize("seconds", [MISSED_ASLEEP + 0.001, 3.0])
def test_a_wait_for_the_interpreter_after_a_sleep_is_no_stop(seconds: float) -> None:
    process = Process()
    asked = process.clock.deadline_to_sleep_time(process.clock.current_time() + 0.05)
    process.kernel.now += asked + seconds
    process.kernel.thread.yields += math.ceil(seconds / process.kernel.interpreter_look)
    assert about(0.05 + seconds) == process.now
    assert 0 == process.clock.stops


def test_a_page_that_is_read_from_a_slow_disk_after_a_sleep_is_no_stop() -> None:
    process = Process()
    process.clock.deadline_to_sleep_time(process.clock.current_time() + 0.05)
    process.kernel.thread.faults += 1
    process.block(2.05)
    assert about(2.05) == process.now
    process.clock.deadline_to_sleep_time(process.clock.current_time() + 0.05)
    process.kernel.thread.faults += 1
    process.stop(8.05)
    assert about(2.10) == process.now
    assert 1 == process.clock.stops


def test_without_a_second_thread_what_is_missing_of_work_is_a_stop() -> None:
    process = Process()
    process.kernel.moved = None
    process.run(0.1)
    process.stop(2.0)
    assert about(0.1) == process.now


def test_a_stop_soon_after_a_short_sleep_is_one_in_its_work() -> None:
    process = Process()
    process.sleep(0.01)
    process.run(0.02)
    process.stop(3.0)
    assert about(0.03) == process.now
    assert about(3.0) == process.clock.stopped(EPOCH)


def test_a_clock_of_coarse_timers_does_not_stand_still() -> None:
    """Each sleep takes too long: what was asked for passes nevertheless."""
    process = Process()
    for _ in range(100):
        process.sleep(0.05, oversleeps=MISSED_ASLEEP + 0.01)
        process.clock.current_time()
    assert about(5.0) == process.now


def test_a_sleep_is_never_long_however_far_the_deadline_is() -> None:
    process = Process()
    assert LOOK_SECONDS == process.clock.deadline_to_sleep_time(math.inf)
    assert LOOK_SECONDS == process.clock.deadline_to_sleep_time(process.clock.current_time() + 60)
    assert 0.0 == process.clock.deadline_to_sleep_time(-math.inf)
    assert about(0.01) == process.clock.deadline_to_sleep_time(process.clock.current_time() + 0.01)


def test_a_suspended_machine_is_seen_though_monotonic_time_stood_too() -> None:
    process = Process()
    process.run(1.0)
    before = process.clock.current_time()
    process.kernel.suspended += 3_600.0
    assert about(1.0) == process.now
    assert about(3_600.0) == process.clock.stopped(before)
    process.run(1.0)
    assert about(2.0) == process.now
    assert 0.0 == process.clock.stopped(before + 0.5)


def test_short_sleeps_do_not_look_at_the_other_thread_each_time() -> None:
    process = Process()
    looks = 0

    def moves() -> int:
        nonlocal looks
        looks += 1
        return 0

    process.kernel.moves = moves  # type: ignore[method-assign]
    for _ in range(100):
        process.sleep(LOOK_SECONDS / 50)
    assert 1 <= looks <= 2


def test_the_real_counters_count() -> None:
    kernel = KernelCounters()
    try:
        before = (kernel.elapsed(), kernel.since_boot(), kernel.ran())
        sum(range(1_000_000))
        after = (kernel.elapsed(), kernel.since_boot(), kernel.ran())
    finally:
        kernel.close()
    assert all(late > early for late, early in zip(after, before, strict=True))


def test_it_closes_what_it_has_opened_if_it_was_started() -> None:
    closed = list[str]()

    class Closing(Scripted):
        def close(self) -> None:
            closed.append("kernel")

    clock = AwakeClock(Closing)
    clock.close()
    assert [] == closed
    clock.start_clock()
    clock.close()
    assert ["kernel"] == closed
