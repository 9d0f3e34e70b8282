"""A line to a bot over a Unix socket: frames, stamps, ends, and bursts both ways that lose no wake-up."""

import resource
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio

from referee.wire import local
from referee.wire.line import FAREWELL_SECONDS, INBOX_FRAMES, Arrived, Bell, Line
from referee.wire.local import LocalLine, open_wire
from referee.wire.socket_line import LoopProbe
from tests.long import cases
from tests.real_wire import peer, stress
from tests.real_wire.peer import raw_connection, raw_frame, raw_pair
from tests.real_wire.seat import BotSocket, Seat, hear, hear_next, open_seat
from tests.real_wire.stress import next_handed_over, next_item

Bot = Callable[[str], BotSocket]


async def test_frames_go_both_ways_in_order(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    await seat.join(socket)
    for n in range(100):
        seat.line.send(b"to %d" % n)
        socket.send(b"from %d" % n)
    assert b"to 0" == await hear_next(socket)
    assert [b"to %d" % n for n in range(1, 100)] == [await hear(socket) for _ in range(1, 100)]
    assert [b"from %d" % n for n in range(100)] == [await seat.frame() for _ in range(100)]


async def test_a_timed_frame_is_handed_over_once_the_transport_has_it(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    socket.send(b"hello")
    await seat.frame()
    before = trio.current_time()
    seat.line.send(b"event")
    seat.line.send(b"window", timed=True)
    item = await next_handed_over(seat.line)
    assert before <= item.at <= trio.current_time()
    assert [b"event", b"window"] == [await hear(socket), await hear(socket)]


async def test_a_timed_frame_for_a_bot_that_is_not_there_is_said_handed_over_and_not_kept_for_it(
    seat: Seat, bot: Bot
) -> None:
    """What one bot was to be told is no business of the next one, which is started in its place."""
    with trio.fail_after(60):
        for n in range(3):
            seat.line.send(b"window %d" % n, timed=True)
            await next_handed_over(seat.line)
    socket = bot(seat.line.endpoint)
    socket.send(b"hello")
    assert b"hello" == await seat.frame()
    seat.line.send(b"welcome")
    assert b"welcome" == await hear(socket)


async def test_forgotten_frames_are_never_sent(seat: Seat, bot: Bot) -> None:
    seat.line.send(b"old event")
    seat.line.send(b"old window", timed=True)
    seat.line.forget_unsent()
    await next_handed_over(seat.line)
    socket = bot(seat.line.endpoint)
    socket.send(b"hello")
    await seat.frame()
    seat.line.send(b"welcome")
    assert b"welcome" == await hear(socket)


async def test_a_bot_may_go_and_come_back_often(seat: Seat, bot: Bot) -> None:
    for n in range(15):
        socket = bot(seat.line.endpoint)
        await seat.join(socket)
        seat.line.send(b"window %d" % n)
        assert b"window %d" % n == await hear_next(socket)
        socket.close()


async def test_a_bot_that_comes_back_in_a_stall_of_the_loop_gets_in(seat: Seat, bot: Bot) -> None:
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


async def test_a_bot_that_comes_back_before_all_it_said_was_read_gets_in_then(seat: Seat, bot: Bot) -> None:
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
    monkeypatch.setattr(local, "MAX_CONNECTIONS", 10)
    async with open_seat(tmp_path) as seat:
        for _ in range(9):
            with raw_pair(seat.line.path) as connection:
                connection.sendall(raw_frame(b"words"))
                assert b"words" == await seat.frame()
        socket = bot(seat.line.endpoint)
        await seat.join(socket)
        with pytest.raises(FileNotFoundError):
            raw_connection(seat.line.path)
        socket.send(b"still in")
        assert b"still in" == await seat.frame()


async def test_frames_of_a_bot_that_has_left_still_arrive(seat: Seat) -> None:
    frames = [b"%d" % n + bytes(1_000) for n in range(INBOX_FRAMES)]
    with raw_pair(seat.line.path) as connection:
        connection.sendall(b"".join(map(raw_frame, frames)))
    time.sleep(0.02)  # noqa: ASYNC251 - the loop is held up while the bot leaves
    assert frames == [await seat.frame() for _ in frames]


async def test_so_does_more_than_there_is_room_for(seat: Seat) -> None:
    frames = [b"%d" % n for n in range(5 * INBOX_FRAMES)]
    with raw_pair(seat.line.path) as connection:
        connection.sendall(b"".join(map(raw_frame, frames)))
    await trio.sleep(0.05)
    assert frames == [await seat.frame() for _ in frames]


async def test_and_what_it_said_is_heard_although_it_takes_nothing_any_more(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        await seat.frame()
        connection.sendall(raw_frame(b"last words"))
    seat.line.send(b"window", timed=True)
    await next_handed_over(seat.line)
    assert b"last words" == await seat.frame()


async def test_frames_for_one_bot_do_not_reach_the_next_one(seat: Seat, bot: Bot) -> None:
    with raw_pair(seat.line.path) as connection:
        connection.sendall(raw_frame(b"hello"))
        await seat.frame()
        for _ in range(40):
            seat.line.send(b"for the first" + bytes(10_000))  # more than the kernel takes
    await trio.sleep(0.05)
    seat.line.send(b"for the first")
    socket = bot(seat.line.endpoint)
    socket.send(b"hello")
    await seat.frame()
    seat.line.send(b"welcome")
    assert b"welcome" == await hear(socket)


async def test_a_second_bot_is_kept_out_until_the_first_has_gone(seat: Seat, bot: Bot) -> None:
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


async def test_hanging_up_lets_the_last_frames_out_first(seat: Seat, bot: Bot) -> None:
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
        assert trio.current_time() - began < FAREWELL_SECONDS + 0.5


async def test_settling_brings_in_all_that_had_reached_this_machine(seat: Seat) -> None:
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


async def test_a_settling_broken_off_leaves_nothing_behind(seat: Seat) -> None:
    with raw_pair(seat.line.path) as connection:
        for n in range(200):
            with trio.move_on_after(0.000_01 * (n % 20)):
                connection.sendall(raw_frame(b"%d" % n))
                await seat.line.settle()
            assert b"%d" % n == await seat.frame()


async def test_settling_a_line_that_was_hung_up_on_ends(seat: Seat) -> None:
    with trio.fail_after(60):
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


LINES = 200


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Allow as many open files as the lines need: for ordinary users, 1,024 is the usual limit."""
    needed = 8 * LINES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < needed:
        pytest.skip(f"ulimit -Hn is {hard}: this test needs {needed} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("descriptors")
async def test_hundreds_of_lines_live_beside_each_other_and_cost_nothing_while_they_are_silent(
    tmp_path: Path, bot: Bot
) -> None:
    count = LINES
    async with open_wire() as opened, trio.open_nursery() as nursery:
        bell = Bell()
        lines = []
        for n in range(count):
            (tmp_path / str(n)).mkdir()
            lines.append(opened.open_line(nursery, bell, tmp_path / str(n)))
        sockets = [bot(line.endpoint) for line in lines]
        for _ in range(5):
            for socket in sockets:
                socket.send(b"answer")
            for socket, line in zip(sockets, lines, strict=True):
                with trio.fail_after(60):
                    assert b"answer" == (await _first(line, bell)).frame
                line.send(b"window")
                assert b"window" == await hear(socket)
        looks = Looks()
        trio.lowlevel.add_instrument(looks)
        await trio.sleep(0.3)
        trio.lowlevel.remove_instrument(looks)
        assert looks.count < 10
        with trio.fail_after(60):
            async with trio.open_nursery() as settling:
                for line in lines:
                    settling.start_soon(line.settle)
        nursery.cancel_scope.cancel()


async def _first(line: LocalLine, bell: Bell) -> Arrived:
    item = await next_item(line, bell)
    assert isinstance(item, Arrived)
    return item


MESSAGES = cases(20_000, 50_000)


@pytest.mark.slow
@pytest.mark.parametrize("impatient", [False, True], ids=["patient", "waits-broken-off"])
async def test_bursts_both_ways_lose_nothing_and_never_stall(seat: Seat, impatient: bool) -> None:
    with peer.start("stress", seat.line.endpoint, MESSAGES, 7) as process:
        await stress.stress(seat.line, seat.bell, MESSAGES, 7, impatient=impatient)
        await stress.ended_well(process)


def reads_once_a_wake(line: LocalLine) -> None:
    """Read once, a planted bug: after a turn that was too short for all that had been read, nobody goes on."""
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
