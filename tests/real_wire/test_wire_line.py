"""A line's promises over a real socket: order, handing over, reconnects, hanging up, cancellation."""

import resource
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from referee import wire_door
from referee.line import FAREWELL_SECONDS, INBOX_FRAMES, Arrived, Bell
from referee.wire import open_wire
from referee.wire_line import ZmqLine
from tests.real_wire.peer import raw_connection, raw_frame, raw_pair
from tests.real_wire.seat import BotSocket, hear, hear_next, open_seat
from tests.real_wire.stress import next_handed_over, next_item

Bot = Callable[[str], BotSocket]


async def test_frames_go_both_ways_in_order(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        for n in range(100):
            seat.line.send(b"to %d" % n)
            socket.send(b"from %d" % n)
        assert [b"to %d" % n for n in range(100)] == [await hear(socket) for _ in range(100)]
        assert [b"from %d" % n for n in range(100)] == [await seat.frame() for _ in range(100)]


async def test_a_timed_frame_is_handed_over_once_the_transport_has_it(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        socket.send(b"hello")
        await seat.frame()
        before = trio.current_time()
        seat.line.send(b"event")
        seat.line.send(b"window", timed=True)
        item = await next_handed_over(seat.line)
        assert before <= item.at <= trio.current_time()
        assert [b"event", b"window"] == [await hear(socket), await hear(socket)]


async def test_a_timed_frame_for_a_bot_that_is_not_there_is_said_handed_over_at_the_first_attempt(
    tmp_path: Path, bot: Bot
) -> None:
    async with open_seat(tmp_path) as seat:
        with trio.fail_after(1):
            for n in range(3):
                seat.line.send(b"window %d" % n, timed=True)
                await next_handed_over(seat.line)
        socket = bot(seat.line.endpoint)
        assert b"window 0" == await hear(socket), "it is still delivered when the bot comes"
        await seat.line.settle()
        with pytest.raises(trio.WouldBlock):
            seat.line.receive_nowait()


async def test_what_is_forgotten_is_never_sent(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        seat.line.send(b"old event")
        seat.line.send(b"old window", timed=True)
        seat.line.forget_unsent()
        await next_handed_over(seat.line)
        seat.line.send(b"welcome")
        assert b"welcome" == await hear(bot(seat.line.endpoint))


async def test_a_bot_may_go_and_come_back_often(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        for n in range(15):
            socket = bot(seat.line.endpoint)
            await seat.join(socket)
            seat.line.send(b"window %d" % n)
            assert b"window %d" % n == await hear_next(socket)
            socket.close()


async def test_a_bot_that_comes_back_in_a_stall_of_the_loop_gets_in(tmp_path: Path, bot: Bot) -> None:
    """Without the door, libzmq would keep its new connection open and unheard for good."""
    async with open_seat(tmp_path) as seat:
        for n in range(5):
            socket = bot(seat.line.endpoint)
            await seat.join(socket)
            socket.close()
            again = bot(seat.line.endpoint)
            time.sleep(0.02)  # noqa: ASYNC251 - the loop is to be held up
            await seat.join(again)
            seat.line.send(b"window %d" % n)
            assert b"window %d" % n == await hear_next(again)
            again.close()


async def test_a_bot_that_comes_back_before_all_it_said_was_read_gets_in_then(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        for n in range(100):
            socket.send(b"%d" % n)
        await trio.sleep(0.02)
        socket.close()
        again = bot(seat.line.endpoint)
        await trio.sleep(0.3)
        assert [b"%d" % n for n in range(100)] == [await seat.frame() for _ in range(100)]
        await seat.join(again)
        seat.line.send(b"window")
        assert b"window" == await hear_next(again)


async def test_a_bot_that_connects_without_end_gets_no_other_connection(
    tmp_path: Path, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire_door, "MAX_CONNECTIONS", 10)
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        await seat.join(socket)
        for _ in range(9):
            raw_connection(seat.line.path).close()
            await trio.sleep(0.01)
        with pytest.raises(FileNotFoundError):
            raw_connection(seat.line.path)
        await seat.join(socket)


async def test_what_a_bot_said_before_it_went_still_arrives(tmp_path: Path) -> None:
    async with open_seat(tmp_path) as seat:
        frames = [b"%d" % n + bytes(2000) for n in range(INBOX_FRAMES)]
        with raw_pair(seat.line.path) as connection:
            connection.sendall(b"".join(map(raw_frame, frames)))
        time.sleep(0.02)  # noqa: ASYNC251 - the loop is held up while the bot leaves
        assert frames == [await seat.frame() for _ in frames]


async def test_a_second_bot_is_kept_out_until_the_first_has_gone(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        first = bot(seat.line.endpoint)
        first.send(b"first")
        assert b"first" == await seat.frame()
        second = bot(seat.line.endpoint)
        second.send(b"me too")
        await trio.sleep(0.3)
        seat.line.send(b"for the first")
        assert b"for the first" == await hear(first)
        assert 0 == second.poll(0), "the second hears nothing of it"
        first.send(b"still there")
        assert b"still there" == await seat.frame()
        first.close()
        await seat.join(second)
        seat.line.send(b"for the second")
        assert b"for the second" == await hear_next(second)


async def test_hanging_up_lets_the_last_frames_out_first(tmp_path: Path, bot: Bot) -> None:
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        socket.send(b"hello")
        await seat.frame()
        for n in range(300):
            seat.line.send(b"%d" % n)
        seat.line.send(b"fault")
        seat.line.hang_up()
        seat.line.hang_up()
        seat.line.send(b"too late")
        heard = [await hear(socket) for _ in range(301)]
        assert [b"%d" % n for n in range(300)] + [b"fault"] == heard
        await trio.sleep(0.05)
        assert 0 == socket.poll(0)
        with pytest.raises(ConnectionRefusedError):
            raw_connection(seat.line.path)


async def test_the_last_frame_goes_out_even_if_the_match_is_cancelled_right_after(
    tmp_path: Path, bot: Bot
) -> None:
    async with open_seat(tmp_path) as seat:
        socket = bot(seat.line.endpoint)
        socket.send(b"hello")
        await seat.frame()
        seat.line.send(b"over")
        seat.line.hang_up()
        seat.nursery.cancel_scope.cancel()
    assert b"over" == await hear(socket)


async def test_hanging_up_on_a_bot_that_is_gone_takes_bounded_time(tmp_path: Path) -> None:
    async with open_wire() as opened:
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            line = opened.open_line(nursery, Bell(), tmp_path)
            line.send(b"over")
            line.hang_up()
        assert FAREWELL_SECONDS <= trio.current_time() - began < FAREWELL_SECONDS + 0.5


async def test_settling_brings_in_all_that_had_reached_this_machine(tmp_path: Path) -> None:
    async with open_seat(tmp_path) as seat:
        with raw_pair(seat.line.path) as connection:
            connection.sendall(raw_frame(b"hello"))
            await seat.frame()
            for n, body in enumerate([b"x", b"x" * 60_000, b"x" * 3000] * 30):
                connection.sendall(raw_frame(b"%d" % n + body))
                await seat.line.settle()
                item = seat.line.receive_nowait()
                assert isinstance(item, Arrived)
                assert b"%d" % n + body == item.frame
            connection.sendall(b"".join(raw_frame(b"%d" % n + bytes(2000)) for n in range(40)))
            await seat.line.settle()
            for n in range(40):
                item = seat.line.receive_nowait()
                assert isinstance(item, Arrived)
                assert b"%d" % n + bytes(2000) == item.frame


async def test_a_settling_broken_off_leaves_nothing_behind(tmp_path: Path) -> None:
    async with open_seat(tmp_path) as seat:
        with raw_pair(seat.line.path) as connection:
            for n in range(200):
                with trio.move_on_after(0.000_01 * (n % 20)):
                    connection.sendall(raw_frame(b"%d" % n))
                    await seat.line.settle()
                assert b"%d" % n == await seat.frame()


async def test_settling_a_line_that_was_hung_up_on_ends(tmp_path: Path) -> None:
    async with open_seat(tmp_path) as seat:
        with trio.fail_after(1):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(seat.line.settle)
                seat.line.hang_up()
            await seat.line.settle()


async def test_the_socket_file_is_its_owners_alone(tmp_path: Path) -> None:
    async with open_wire() as opened, trio.open_nursery() as nursery:
        line = opened.open_line(nursery, Bell(), tmp_path)
        assert 0o600 == stat.S_IMODE(line.path.stat().st_mode)
        nursery.cancel_scope.cancel()


async def test_a_line_that_cannot_be_made_names_the_path(tmp_path: Path) -> None:
    async with open_wire() as opened, trio.open_nursery() as nursery:
        for directory in (tmp_path / "missing", tmp_path / ("long" * 30)):
            with pytest.raises(OSError, match=directory.name):
                opened.open_line(nursery, Bell(), directory)


class Looks(trio.abc.Instrument):
    """Counts how often the loop looks for I/O."""

    count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


async def test_hundreds_of_lines_live_beside_each_other_and_cost_nothing_while_they_are_silent(
    tmp_path: Path, bot: Bot
) -> None:
    count = 200
    needed = 8 * count
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= needed, f"this test needs ulimit -n {needed}"
    async with open_wire() as opened, trio.open_nursery() as nursery:
        bell = Bell()
        lines = []
        for n in range(count):
            (tmp_path / str(n)).mkdir()
            lines.append(opened.open_line(nursery, bell, tmp_path / str(n)))
        sockets = [bot(line.endpoint) for line in lines]
        for _ in range(5):
            for socket, line in zip(sockets, lines, strict=True):
                line.send(b"window")
                socket.send(b"answer")
            for socket, line in zip(sockets, lines, strict=True):
                assert b"window" == await hear(socket)
                with trio.fail_after(3):
                    assert b"answer" == (await _first(line, bell)).frame
        looks = Looks()
        trio.lowlevel.add_instrument(looks)
        await trio.sleep(0.3)
        trio.lowlevel.remove_instrument(looks)
        assert looks.count < 10
        with trio.fail_after(10):
            async with trio.open_nursery() as settling:
                for line in lines:
                    settling.start_soon(line.settle)
        nursery.cancel_scope.cancel()


async def _first(line: ZmqLine, bell: Bell) -> Arrived:
    item = await next_item(line, bell)
    assert isinstance(item, Arrived)
    return item
