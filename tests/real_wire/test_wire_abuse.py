"""Nothing a bot does on its socket raises, stops the line, or makes it grow."""

import socket as kernel
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import trio
import zmq

from arena.stress import resident_bytes
from protocol.codec import Refused, decode_client_message
from protocol.messages import MAX_FRAME_BYTES
from protocol.refusals import Refusal
from referee.wire import local
from referee.wire.line import INBOX_BYTES, INBOX_FRAMES, MAX_TAKEN_BYTES, Arrived, Bell, HandedOver, NotReading
from referee.wire.zmtp import MOST_PARTS
from tests.real_wire.peer import GREETING, raw_connection, raw_frame, raw_pair
from tests.real_wire.seat import BotSocket, Seat, hear, open_seat

Bot = Callable[..., BotSocket]


async def serves(seat: Seat, socket: BotSocket) -> None:
    """Assert that the line carries a frame each way."""
    socket.send(b"hello")
    assert b"hello" == await seat.frame()
    seat.line.send(b"welcome")
    assert b"welcome" == await hear(socket)


def descriptors() -> int:
    """How many this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def refuses_descriptors() -> bool:
    """Whether this kernel can: Linux 6.16."""
    with kernel.socket(kernel.AF_UNIX) as socket:
        try:
            socket.setsockopt(kernel.SOL_SOCKET, local.PASS_RIGHTS, 0)
        except OSError:
            return False
        return True


@pytest.mark.skipif(not refuses_descriptors(), reason="this kernel passes descriptors to every socket")
async def test_no_descriptor_can_be_sent(seat: Seat) -> None:
    """Neither before the connection is accepted nor later: whoever receives one has to free what is behind it."""
    with kernel.socket(kernel.AF_UNIX) as connection:
        connection.connect(str(seat.line.path))
        for _ in range(2):
            with pytest.raises(PermissionError):
                kernel.send_fds(connection, [b"x"], [connection.fileno()])
            connection.sendall(GREETING)
            connection.settimeout(5)
            assert await trio.to_thread.run_sync(connection.recv, 1)


async def test_a_path_that_is_too_long_is_an_error_of_its_own(tmp_path: Path) -> None:
    async with local.open_wire() as opened, trio.open_nursery() as nursery:
        with pytest.raises(OSError, match=r"set TMPDIR to a shorter one: .*referee\.sock"):
            opened.open_line(nursery, Bell(), tmp_path / ("x" * 107))


@pytest.mark.parametrize("size", [100, 60_000])
async def test_a_bot_that_never_reads_is_called_so_and_no_more_is_kept_for_it(
    seat: Seat, bot: Bot, size: int
) -> None:
    socket = bot(seat.line.endpoint, holds=64)
    socket.send(b"hello")
    await seat.frame()
    said = None
    before, sent = resident_bytes(), 0
    while not isinstance(said, NotReading):
        assert sent * size < 30_000_000
        for _ in range(100):
            seat.line.send(bytes(size))
        sent += 100
        await trio.sleep(0.001)
        with suppress(trio.WouldBlock):
            said = seat.line.receive_nowait()
    for _ in range(1000):
        seat.line.send(bytes(size))
    assert 0 == len(seat.line._outbox)
    assert resident_bytes() - before < 60_000_000, "what the bot has not read is in this process, too"
    seat.line.send(b"window", timed=True)
    assert isinstance(seat.line.receive_nowait(), HandedOver), "the host's clock does not wait for it"
    socket.send(b"words that nobody wants any more")
    await seat.line.settle()
    with pytest.raises(trio.WouldBlock):
        seat.line.receive_nowait()


async def test_a_flood_stays_with_its_sender_and_nothing_of_it_is_lost(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    sent = 0
    while socket.poll(50, zmq.POLLOUT):
        socket.send(b"%d" % sent)
        sent += 1
        if sent % 100 == 0:
            await trio.lowlevel.checkpoint()
    with trio.fail_after(60):
        while len(seat.line._inbox._items) < INBOX_FRAMES:  # noqa: ASYNC110 - libzmq's thread may be slow to begin
            await trio.sleep(0.01)
    assert INBOX_FRAMES == len(seat.line._inbox._items)
    assert [b"%d" % n for n in range(sent)] == [await seat.frame() for _ in range(sent)]
    await serves(seat, socket)


async def test_a_flood_of_large_frames_is_held_to_the_inbox_bytes(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    sent = 0
    while socket.poll(50, zmq.POLLOUT):
        socket.send(bytes(MAX_FRAME_BYTES))
        sent += 1
        await trio.lowlevel.checkpoint()
    held = sum(len(item.frame) for item in seat.line._inbox._items if isinstance(item, Arrived))
    assert 0 < held <= INBOX_BYTES + MAX_TAKEN_BYTES
    for _ in range(sent):
        assert MAX_FRAME_BYTES == len(await seat.frame())


async def test_an_oversized_frame_is_handed_up_to_be_refused_by_name(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    for size in (MAX_FRAME_BYTES + 1, MAX_TAKEN_BYTES):
        socket.send(bytes(size))
        frame = await seat.frame()
        assert size == len(frame)
        with pytest.raises(Refused) as refused:
            decode_client_message(frame)
        assert Refusal.OVERSIZED == refused.value.refusal
    await serves(seat, socket)


async def test_a_huge_frame_costs_its_sender_the_connection(seat: Seat, bot: Bot) -> None:
    before = resident_bytes()
    with raw_pair(seat.line.path) as connection:
        connection.sendall(b"\x02" + (1 << 40).to_bytes(8, "big"))
        with suppress(ConnectionResetError):
            while await trio.to_thread.run_sync(connection.recv, 4096):
                pass
    assert resident_bytes() - before < 60_000_000, "what the bot has not read is in this process, too"
    await serves(seat, bot(seat.line.endpoint))


async def test_a_message_of_several_parts_is_one_frame_that_does_not_decode(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    for parts in (2, 3, MOST_PARTS):
        socket.send_multipart([b'{"type":"undo","window":1}', *[b""] * (parts - 1)])
        frame = await seat.frame()
        assert b"(a message of %d parts)" % parts == frame
        with pytest.raises(Refused) as refused:
            decode_client_message(frame)
        assert Refusal.MALFORMED == refused.value.refusal
    await serves(seat, socket)


async def test_a_message_that_never_ends_costs_its_sender_the_connection_and_us_nothing(
    seat: Seat, bot: Bot
) -> None:
    for part in (raw_frame(b"", more=True), raw_frame(b"x" * 1000, more=True)):
        before, sent = resident_bytes(), 0
        with raw_pair(seat.line.path) as connection:
            connection.sendall(raw_frame(b"hello"))
            assert b"hello" == await seat.frame()
            connection.setblocking(False)
            with suppress(ConnectionError), trio.fail_after(5):
                while sent < 100_000_000:
                    with suppress(BlockingIOError):
                        sent += connection.send(part * 50)
                    await trio.lowlevel.checkpoint()
        assert sent < 10_000_000
        assert resident_bytes() - before < 20_000_000
        await trio.sleep(0.05)  # the door opens for the next when this one has left
    await serves(seat, bot(seat.line.endpoint))


async def test_a_ping_of_a_bot_is_answered(seat: Seat) -> None:
    """As bots ask for that set ZeroMQ's heartbeats."""
    context: zmq.Context[BotSocket] = zmq.Context()
    with context, context.socket(zmq.PAIR) as socket:
        socket.set(zmq.LINGER, 0)
        socket.set(zmq.HEARTBEAT_IVL, 20)
        socket.set(zmq.HEARTBEAT_TIMEOUT, 100)
        socket.connect(seat.line.endpoint)
        await serves(seat, socket)
        await trio.sleep(0.5)
        await serves(seat, socket)
        assert 1 == seat.line.connections


async def test_half_a_message_and_gone_is_nothing(seat: Seat, bot: Bot) -> None:
    for whole in (raw_frame(b"part", more=True), raw_frame(b"x" * 1000)[:500], raw_frame(b"")[:4]):
        with raw_pair(seat.line.path) as connection:
            connection.sendall(raw_frame(b"hello") + whole)
            assert b"hello" == await seat.frame()
        await trio.sleep(0.05)  # the door opens for the next when this one has left
    socket = bot(seat.line.endpoint)
    await serves(seat, socket)


async def test_raw_bytes_on_the_socket_are_harmless(tmp_path: Path, bot: Bot) -> None:
    rng = Random(5)
    ready = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
    async with open_seat(tmp_path) as seat:
        for n in range(150):
            await trio.sleep(0.001)
            with suppress(OSError), raw_connection(seat.line.path) as connection:
                connection.sendall(
                    (b"", ready[:10], ready, b"\xff" * 100)[n % 4] + rng.randbytes(rng.randrange(300))
                )
        await trio.sleep(0.05)
        await seat.line.settle()
        with suppress(trio.WouldBlock):
            while True:
                seat.line.receive_nowait()  # ZeroMQ's first protocol had no opening: some of it may be frames
        await serves(seat, bot(seat.line.endpoint))


async def test_further_connections_wait_with_the_kernel_and_cost_no_descriptor(seat: Seat, bot: Bot) -> None:
    socket = bot(seat.line.endpoint)
    await serves(seat, socket)
    before = descriptors()
    others = [kernel.socket(kernel.AF_UNIX, kernel.SOCK_STREAM | kernel.SOCK_NONBLOCK) for _ in range(20)]
    for other in others:
        with suppress(BlockingIOError):
            other.connect(str(seat.line.path))
    await trio.sleep(0.02)
    assert descriptors() == before + len(others), "our ends of none of them"
    await serves(seat, socket)
    for other in others:
        other.close()
    await serves(seat, socket)


async def test_a_line_takes_two_descriptors(tmp_path: Path, seat: Seat) -> None:
    (tmp_path / "other").mkdir()
    before = descriptors()
    other = seat.wire.open_line(seat.nursery, seat.bell, tmp_path / "other")
    await trio.sleep(0.01)
    with raw_pair(other.path):
        await trio.sleep(0.05)
        assert before + 2 + 1 == descriptors(), "and one at the bot's end"


async def test_a_connection_that_says_nothing_keeps_others_out_for_a_while_only(
    tmp_path: Path, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "HANDSHAKE_SECONDS", 0.3)
    async with open_seat(tmp_path) as seat:
        with raw_connection(seat.line.path) as silent, raw_connection(seat.line.path) as breaks_off:
            breaks_off.sendall(b"\xff\x00")
            await trio.sleep(0.05)
            await seat.join(bot(seat.line.endpoint))
            for out in (silent, breaks_off):
                while await trio.to_thread.run_sync(out.recv, 100):
                    pass


async def test_a_slow_connection_that_blocks_no_other_may_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "HANDSHAKE_SECONDS", 0.0)
    async with open_seat(tmp_path) as seat:
        with raw_connection(seat.line.path) as slow:
            await trio.sleep(0.05)
            slow.sendall(GREETING)
            answer = await trio.to_thread.run_sync(slow.recv, 10)
            assert answer.startswith(b"\xff"), "ZeroMQ's greeting, late as it is"


async def test_lines_do_not_wait_for_one_that_is_flooded(tmp_path: Path, bot: Bot, seat: Seat) -> None:
    (tmp_path / "other").mkdir()
    other = seat.wire.open_line(seat.nursery, seat.bell, tmp_path / "other")
    stop = threading.Event()

    def flood() -> None:
        socket = bot(other.endpoint)
        while not stop.is_set():
            if socket.poll(10, zmq.POLLOUT):
                socket.send(b"junk" * 1000)
        socket.close(linger=0)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        socket = bot(seat.line.endpoint)
        for _ in range(50):
            with suppress(trio.WouldBlock):
                while True:
                    other.receive_nowait()
            with trio.fail_after(60):
                await serves(seat, socket)
    finally:
        stop.set()
        await trio.to_thread.run_sync(thread.join)


async def test_a_storm_of_connections_hinders_neither_the_loop_nor_the_line_s_end(tmp_path: Path) -> None:
    stop = threading.Event()
    for n in range(10):
        directory = tmp_path / str(n)
        directory.mkdir()
        stop.clear()

        def storm(path: Path = directory / local.SOCKET_NAME) -> None:
            while not stop.is_set():
                with suppress(OSError):
                    raw_connection(path).close()

        threads = [threading.Thread(target=storm) for _ in range(2)]
        try:
            async with open_seat(directory):
                for thread in threads:
                    thread.start()
                time.sleep(0.02 * (n % 3))  # noqa: ASYNC251 - connections pile up while the loop is held up
                began = trio.current_time()
                await trio.sleep(0.01)
                assert trio.current_time() - began < 3.0, "the loop hangs"
        finally:
            stop.set()
            for thread in threads:
                thread.join()
