"""No wake-up is lost: bursts both ways at once, with a bot in a process of its own; and the test can fail."""

import time
from pathlib import Path

import pytest
import trio

from referee.wire_line import ZmqLine
from tests.real_wire import peer, stress
from tests.real_wire.seat import open_seat

MESSAGES = 50_000


@pytest.mark.parametrize("impatient", [False, True], ids=["patient", "waits-broken-off"])
async def test_bursts_both_ways_lose_nothing_and_never_stall(tmp_path: Path, impatient: bool) -> None:
    async with open_seat(tmp_path) as seat:
        with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
            await stress.stress(seat.line, seat.bell, MESSAGES, 7, impatient=impatient)
            await stress.ended_well(process)


def takes_one_frame_a_wake(line: ZmqLine) -> bool:
    """A planted bug: the descriptor is taken for level-triggered."""
    if line._stream.has_come() and line._wants():
        line._take(can_read=True)
    line._send_frames()
    line._stamp_timed(line._queued)
    return False


async def test_a_planted_lost_wake_up_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZmqLine, "_pass", takes_one_frame_a_wake)
    monkeypatch.setattr(stress, "STALL_SECONDS", 2.0)
    async with open_seat(tmp_path) as seat:
        with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
            with pytest.raises(trio.TooSlowError):
                await stress.stress(seat.line, seat.bell, MESSAGES, 7)
            assert process.poll() is None, "the peer must have stalled too, not failed"
        assert seat.line._door._accepted > 0, "the stall must come after the start"


async def hears_what_comes_before_a_send(directory: Path) -> bool:
    """Whether a frame is found whose wake-up a send in the sleeping owner's place has used up."""
    async with open_seat(directory) as seat:
        with peer.raw_pair(seat.line.path) as connection:
            connection.sendall(peer.raw_frame(b"hello"))
            await seat.frame()
            await trio.sleep(0.01)
            connection.sendall(peer.raw_frame(b"meanwhile"))
            time.sleep(0.02)  # noqa: ASYNC251 - libzmq announces the frame, and the loop is held up
            seat.line.send(b"window")
            with trio.move_on_after(0.5):
                return await seat.frame() == b"meanwhile"
    return False


async def hears_what_comes_in_a_pass(directory: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a frame is found whose wake-up the owner's own send has used up, after its look at EVENTS."""
    async with open_seat(directory) as seat:
        with peer.raw_pair(seat.line.path) as connection:
            connection.sendall(peer.raw_frame(b"hello"))
            await seat.frame()
            send_frames = seat.line._send_frames

            def interrupted() -> bool:
                connection.sendall(peer.raw_frame(b"meanwhile"))
                time.sleep(0.02)  # libzmq announces the frame
                return send_frames()

            monkeypatch.setattr(seat.line, "_send_frames", interrupted)
            seat.line._wake()
            seat.line.send(b"window")
            with trio.move_on_after(0.5):
                return await seat.frame() == b"meanwhile"
    return False


async def test_a_wake_up_that_a_send_uses_up_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await hears_what_comes_before_a_send(tmp_path)
    assert await hears_what_comes_in_a_pass(tmp_path, monkeypatch)


def sends_and_looks_no_more(line: ZmqLine) -> None:
    """A planted bug: EVENTS are not looked at after a send in the sleeping owner's place."""
    line._send_frames()


def looks_before_it_sends(line: ZmqLine) -> bool:
    """A planted bug: EVENTS are looked at before the last call on the socket, not after it."""
    while line._stream.has_come() and line._wants():
        line._take(can_read=True)
    line._send_frames()
    line._stamp_timed(line._queued)
    return False


async def test_such_a_loss_planted_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one try of a few: libzmq looks at its mail in a send only if it has not done so for a while."""
    with monkeypatch.context() as planted:
        planted.setattr(ZmqLine, "_send_in_its_sleep", sends_and_looks_no_more)
        assert not all([await hears_what_comes_before_a_send(tmp_path) for _ in range(5)])
    with monkeypatch.context() as planted:
        planted.setattr(ZmqLine, "_pass", looks_before_it_sends)
        assert not all([await hears_what_comes_in_a_pass(tmp_path, planted) for _ in range(5)])
