"""What a line keeps and for how long, to the last frame and byte; and that it rests when it waits."""

import os
from pathlib import Path

import pytest
import trio

from referee.wire import local
from referee.wire.line import INBOX_FRAMES, OUTBOX_BYTES, OUTBOX_FRAMES, Arrived, Bell, Incoming, NotReading
from referee.wire.local import PATH_BYTES, SOCKET_NAME, open_wire
from referee.wire.socket_line import READ_BYTES
from tests.real_wire.peer import GREETING, READY, raw_connection, raw_frame, raw_pair
from tests.real_wire.seat import Seat, open_seat
from tests.real_wire.test_wire_attacks import resting

STUCK = bytes(1_000_000)
"""More than the kernel takes for a bot that reads nothing."""


def received(seat: Seat) -> list[Incoming]:
    """All that is there, without a turn of the loop."""
    found = []
    while seat.line.has_more():
        found.append(seat.line.receive_nowait())
    return found


async def test_the_longest_path_of_a_socket_is_one(tmp_path: Path) -> None:
    room = PATH_BYTES - len(os.fsencode(tmp_path / SOCKET_NAME)) - 1
    for more, allowed in ((0, True), (1, False)):
        directory = tmp_path / ("x" * (room + more))
        directory.mkdir()
        async with open_wire() as opened, trio.open_nursery() as nursery:
            if allowed:
                line = opened.open_line(nursery, Bell(), directory)
                assert PATH_BYTES == len(os.fsencode(line.path))
            else:
                with pytest.raises(OSError, match="too long a path"):
                    opened.open_line(nursery, Bell(), directory)
            nursery.cancel_scope.cancel()


async def test_a_line_that_was_hung_up_on_ends_with_its_bot_and_waits_for_no_handshake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "HANDSHAKE_SECONDS", 3_600.0)
    with trio.fail_after(60):
        async with open_wire() as opened, trio.open_nursery() as nursery:
            bell = Bell()
            line = opened.open_line(nursery, bell, tmp_path)
            with raw_pair(line.path) as connection:
                connection.sendall(raw_frame(b"hello"))
                await bell.wait()
            line.hang_up()


@pytest.mark.parametrize("is_slow", [False, True])
async def test_the_loop_rests_while_somebody_waits_to_be_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    """Also beside one that took so long to speak ZeroMQ that another would have got its place."""
    monkeypatch.setattr(local, "HANDSHAKE_SECONDS", 0.0 if is_slow else 3_600.0)
    async with open_seat(tmp_path) as seat:
        with raw_connection(seat.line.path) as connection:
            await trio.sleep(0.05)
            connection.sendall(GREETING + READY + raw_frame(b"hello"))
            assert b"hello" == await seat.frame()
            async with resting():
                waits = raw_connection(seat.line.path)
            waits.close()


async def test_frames_before_a_line_moves_to_another_match_are_received_there(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"early"))
        with trio.fail_after(60):
            await seat.bell.wait()
        another = Bell()
        seat.line.turn_to(another)
        with trio.fail_after(60):
            await another.wait()
        assert [b"early"] == [item.frame for item in received(seat) if isinstance(item, Arrived)]
        # With nothing there, nobody is woken.
        seat.line.turn_to(third := Bell())
        with trio.move_on_after(0.05) as waiting:
            await third.wait()
        assert waiting.cancelled_caught


@pytest.mark.parametrize(("frames", "size"), [(OUTBOX_FRAMES, 0), (8, OUTBOX_BYTES // 8)], ids=["frames", "bytes"])
async def test_only_one_that_leaves_more_unread_than_is_kept_counts_as_not_reading(
    seat: Seat, frames: int, size: int
) -> None:
    """What is forgotten takes no room."""
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        assert b"hello" == await seat.frame()
        seat.line.send(STUCK)
        for _ in range(2):
            seat.line.send_burst([(bytes(size), False)] * frames)
            assert [] == received(seat)
            seat.line.forget_unsent()
        seat.line.send_burst([(bytes(size), False)] * frames)
        assert [] == received(seat)
        seat.line.send(b"one more")
        assert [NotReading] == [type(item) for item in received(seat)]


async def test_settling_takes_in_no_more_than_there_is_room_for(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        assert b"hello" == await seat.frame()
        connection.sendall(raw_frame(b"x") * INBOX_FRAMES)
        await seat.line.settle()
        connection.sendall(b"\0\1y")
        await seat.line.settle()
        assert INBOX_FRAMES == len(received(seat))
        assert b"y" == await seat.frame()


async def test_settling_reads_until_nothing_is_with_the_kernel(seat: Seat) -> None:
    """However many reads that takes."""
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        assert b"hello" == await seat.frame()
        connection.setblocking(False)
        frame = raw_frame(bytes(READ_BYTES // 16))
        said = frame * 64
        sent = connection.send(said)
        assert sent > 2 * READ_BYTES
        await seat.line.settle()
        assert sent // len(frame) == len(received(seat))
