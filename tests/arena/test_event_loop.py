"""The loop in which matches are played: signals end it in order."""

import signal

import pytest
import trio

from arena import event_loop
from arena.errors import Stopped


def test_the_result_of_the_function_is_returned() -> None:
    async def play() -> str:
        await trio.lowlevel.checkpoint()
        return "won"

    assert "won" == event_loop.run(play)


@pytest.mark.parametrize("stop", event_loop.STOPS)
def test_a_signal_ends_what_is_played_and_lets_it_clear_up(stop: signal.Signals) -> None:
    done = []

    async def play() -> None:
        try:
            signal.raise_signal(stop)
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.lowlevel.checkpoint()
            done.append("cleared up")

    # Under `nohup` one of them is ignored.
    outside = signal.signal(stop, signal.SIG_DFL)
    try:
        with pytest.raises(Stopped) as caught:
            event_loop.run(play)
        assert (stop, "stopped", ["cleared up"]) == (caught.value.signal, caught.value.format_message(), done)
        assert signal.SIG_DFL == signal.getsignal(stop)
    finally:
        signal.signal(stop, outside)


def test_a_signal_that_is_ignored_stays_so() -> None:
    """As under `nohup`."""

    async def play() -> str:
        signal.raise_signal(signal.SIGHUP)
        await trio.lowlevel.checkpoint()
        return "won"

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert "won" == event_loop.run(play)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_second_ctrl_c_does_not_wait_for_what_hangs() -> None:
    async def play() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                signal.raise_signal(signal.SIGINT)
                await trio.sleep_forever()

    with pytest.RaisesGroup(KeyboardInterrupt, flatten_subgroups=True):
        event_loop.run(play)


def ctrl_c(*seconds: float) -> str:
    """Return the result if Ctrl-C is pressed after each of these seconds, and two are needed."""

    async def play() -> str:
        for pause in seconds:
            await trio.sleep(pause)
            signal.raise_signal(signal.SIGINT)
        await trio.testing.wait_all_tasks_blocked()
        await trio.lowlevel.checkpoint()
        return "won"

    return event_loop.run(play, ctrl_c=2)


def test_one_ctrl_c_goes_to_a_bot_that_has_the_terminal() -> None:
    assert "won" == ctrl_c(0)


def test_a_second_one_soon_after_ends_all() -> None:
    with pytest.raises(Stopped):
        ctrl_c(0, 0.01)


def test_later_ones_are_the_bots_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "TWICE_SECONDS", 0.0)
    assert "won" == ctrl_c(0, 0.01, 0.01)


def test_another_signal_ends_all_at_once() -> None:
    async def play() -> None:
        signal.raise_signal(signal.SIGTERM)
        await trio.sleep_forever()

    with pytest.raises(Stopped):
        event_loop.run(play, ctrl_c=2)
