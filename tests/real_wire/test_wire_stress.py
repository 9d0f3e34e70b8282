"""No wake-up is lost: bursts both ways at once, with a bot in a process of its own; and the test can fail."""

from pathlib import Path

import pytest
import trio
import zmq

from referee.wire import ZmqLine
from tests.real_wire import peer, stress
from tests.real_wire.seat import open_seat

MESSAGES = 50_000


@pytest.mark.parametrize("impatient", [False, True], ids=["patient", "waits-broken-off"])
async def test_bursts_both_ways_lose_nothing_and_never_stall(tmp_path: Path, impatient: bool) -> None:
    async with open_seat(tmp_path) as seat:
        with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
            await stress.stress(seat.line, seat.bell, MESSAGES, 7, impatient=impatient)
            await stress.ended_well(process)


def events(line: ZmqLine) -> int:
    return int(line._socket.getsockopt(zmq.EVENTS))


def takes_one_frame_a_wake(line: ZmqLine) -> bool:
    """A planted bug: the descriptor is taken for level-triggered."""
    if events(line) & zmq.POLLIN and line._wants():
        line._take_part()
    if line._outbox and events(line) & zmq.POLLOUT:
        line._send_frames()
    line._stamp_timed(line._queued)
    return False


def forgets_that_sending_eats_wake_ups(line: ZmqLine, frame: bytes) -> bool:
    """A planted bug: EVENTS are not looked at after a send in the sleeping owner's place."""
    try:
        line._socket.send(frame, zmq.NOBLOCK)
    except zmq.Again:
        return False
    line._sent_to_peer += 1
    line._stamp_timed(line._queued)
    return True


@pytest.mark.parametrize(
    ("method", "bug"),
    [("_pass", takes_one_frame_a_wake), ("_sent_in_its_sleep", forgets_that_sending_eats_wake_ups)],
)
async def test_a_planted_lost_wake_up_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, bug: object
) -> None:
    monkeypatch.setattr(ZmqLine, method, bug)
    monkeypatch.setattr(stress, "STALL_SECONDS", 2.0)
    for attempt in range(8):  # A wake-up is lost by chance: most runs lose one, not every run.
        folder = tmp_path / str(attempt)
        folder.mkdir()
        if await stalls(folder, seed=attempt):
            return
    pytest.fail("the stress did not catch it")


async def stalls(folder: Path, seed: int) -> bool:
    """Whether a run of the stress loses a wake-up."""
    async with open_seat(folder) as seat:
        with peer.start("stress", seat.line.endpoint, MESSAGES, seed) as process:
            try:
                await stress.stress(seat.line, seat.bell, MESSAGES, seed)
            except* trio.TooSlowError:
                assert process.poll() is None, "the peer must have stalled too, not failed"
                assert seat.line._messages > 0, "the stall must come after the start"
                stalled = True
            else:
                stalled = False
        return stalled
