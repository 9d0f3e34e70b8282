"""No wake-up is lost: bursts both ways at once, with a bot in a process of its own; and the test can fail."""

from pathlib import Path

import pytest
import trio

from referee.wire.line import Arrived, Bell, Line
from referee.wire.local import LocalLine
from referee.wire.socket_line import LoopProbe
from tests.long import cases
from tests.real_wire import peer, stress
from tests.real_wire.seat import Seat, open_seat

MESSAGES = cases(20_000, 50_000)


@pytest.mark.slow
@pytest.mark.parametrize("impatient", [False, True], ids=["patient", "waits-broken-off"])
async def test_bursts_both_ways_lose_nothing_and_never_stall(seat: Seat, impatient: bool) -> None:
    with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
        await stress.stress(seat.line, seat.bell, MESSAGES, 7, impatient=impatient)
        await stress.ended_well(process)


def reads_once_a_wake(line: LocalLine) -> None:
    """A planted bug: after a turn that was too short for all that had been read, nobody goes on."""
    line._is_to_go_on = False
    connection = line._connection
    if connection is not None:
        line._hear(connection)
        line._watch(connection)


async def test_a_planted_lost_wake_up_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def plants(line: Line, bell: Bell) -> Arrived:
        """With the peer's hello: else a slow machine might stall before it."""
        first = await next_arrival(line, bell)
        monkeypatch.setattr(LocalLine, "_go_on", reads_once_a_wake)
        monkeypatch.setattr(LoopProbe, "turn_ends", lambda _probe, began: began)
        return first

    next_arrival = stress.next_arrival
    monkeypatch.setattr(stress, "next_arrival", plants)
    monkeypatch.setattr(stress, "STALL_SECONDS", 5.0)
    async with open_seat(tmp_path) as seat:
        with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
            with pytest.raises(trio.TooSlowError):
                await stress.stress(seat.line, seat.bell, MESSAGES, 7)
            assert process.poll() is None, "the peer must have stalled too, not failed"
