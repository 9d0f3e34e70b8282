"""When the loop's looks began and ended, and from when on what they found may have been there."""

import pytest
import trio

from referee.linux.awake_clock import AwakeClock
from referee.wire.socket_line import LoopProbe
from tests.referee.linux.test_awake_clock import Process, Scripted


class Plain(trio.abc.Clock):
    """A clock that runs on while its process is stopped."""

    def __init__(self, kernel: Scripted) -> None:
        self._kernel = kernel

    def start_clock(self) -> None:
        pass

    def current_time(self) -> float:
        return self._kernel.now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return deadline - self._kernel.now


class Probed(Process):
    """A process whose loop is watched by a probe."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, awake: bool) -> None:
        super().__init__()
        self.is_awake = awake
        clock: AwakeClock | Plain = self.clock if awake else Plain(self.kernel)
        monkeypatch.setattr(trio.lowlevel, "current_clock", lambda: clock)
        monkeypatch.setattr("referee.wire.socket_line.ThreadCounters", lambda: self.kernel.thread)
        self.probe = LoopProbe()

    def look(self, seconds: float, *, takes: float, waits: float = 0.0) -> None:
        """A look that asks for some seconds of sleep, and takes some."""
        asked = seconds
        if self.is_awake:
            asked = self.clock.deadline_to_sleep_time(self.clock.current_time() + seconds)
        self.probe.before_io_wait(asked)
        self.kernel.now += takes
        self.kernel.thread.waited += waits
        self.kernel.thread.yields += 1
        self.probe.after_io_wait(asked)


@pytest.fixture(params=[True, False], ids=["awake clock", "plain clock"])
def process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Probed:
    return Probed(monkeypatch, awake=request.param)


def test_the_event_that_woke_a_look_is_dated_before_the_wait_for_a_processor(process: Probed) -> None:
    began = process.probe.now()
    process.look(0.05, takes=0.03)
    assert pytest.approx(began + 0.03) == process.probe.came
    process.look(0.05, takes=0.04, waits=0.01)
    assert pytest.approx(began + 0.06) == process.probe.came


def test_a_look_that_ends_when_it_asked_to_is_none_that_overslept(process: Probed) -> None:
    began = process.probe.now()
    process.look(0.05, takes=0.0515)
    assert pytest.approx(began + 0.0515) == process.probe.came


@pytest.mark.parametrize("stopped", [0.003, 0.03, 8.0])
def test_events_found_by_a_stopped_look_are_dated_at_its_start(process: Probed, stopped: float) -> None:
    began = process.probe.now()
    process.look(0.05, takes=0.05 + stopped)
    assert pytest.approx(began) == process.probe.came


def test_a_wait_for_a_processor_is_no_stop(process: Probed) -> None:
    began = process.probe.now()
    process.look(0.05, takes=2.05, waits=2.0)
    assert pytest.approx(began + 0.05) == process.probe.came
    assert 0.0 == process.probe.stopped(began)


def test_a_stop_does_not_count_as_a_busy_loop(process: Probed) -> None:
    began = process.probe.now()
    process.look(0.05, takes=8.0)
    process.look(0.05, takes=0.01)
    assert 0.0 == process.probe.behind(began)


def test_a_stop_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    process = Probed(monkeypatch, awake=True)
    began = process.probe.now()
    process.look(0.05, takes=8.0)
    # Falling asleep, the thread gave up its processor once: that may have been a wait for the interpreter.
    assert pytest.approx(7.95, abs=0.01) == process.probe.stopped(began)
    process.look(0.05, takes=0.05)
    process.look(0.05, takes=0.05)
    assert 0.0 == process.probe.stopped(process.probe.now() - 0.05)
