"""What a bot can do with a bare socket: half-close, reset, hide, die, come by hundreds. The loop never spins."""

import errno
import os
import signal
import socket as kernel
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
import trio

from referee.wire import local, socket_line
from referee.wire.line import FAREWELL_SECONDS, INBOX_FRAMES, Line, NotReading, OutOf
from referee.wire.zmtp import COMMANDS_AT_ONCE, MOST_PARTS, PING
from tests.real_wire.peer import GREETING, READY, raw_connection, raw_frame, raw_pair
from tests.real_wire.seat import BotSocket, Seat, open_seat, out_of
from tests.real_wire.stress import next_handed_over
from tests.real_wire.test_wire_abuse import descriptors, serves

Bot = Callable[..., BotSocket]
LOOKS = 200
"""A loop that spins looks for I/O many thousand times in the time that is watched; one that rests, some times."""
BIG = raw_frame(bytes(60_000))


class Looks(trio.abc.Instrument):
    """Counts how often the loop looks for I/O."""

    count = 0

    def before_io_wait(self, timeout: float) -> None:
        self.count += 1


@asynccontextmanager
async def resting() -> AsyncIterator[None]:
    """Assert that the loop does not spin meanwhile, nor in the half second that follows."""
    looks = Looks()
    trio.lowlevel.add_instrument(looks)
    yield
    await trio.sleep(0.5)
    trio.lowlevel.remove_instrument(looks)
    assert looks.count < LOOKS


async def hello(seat: Seat, connection: kernel.socket) -> None:
    """Let the bot in, and hear it."""
    connection.sendall(raw_frame(b"hello"))
    assert b"hello" == await seat.frame()


async def ended(connection: kernel.socket) -> bytes:
    """Return what still comes until the referee has closed the connection."""
    came = b""
    with suppress(ConnectionResetError):
        while more := await trio.to_thread.run_sync(connection.recv, 65_536):
            came += more
    return came


def fill(connection: kernel.socket, *, frames: int) -> None:
    """Says more than the inbox holds; the rest stays with the kernel."""
    connection.sendall(b"".join(raw_frame(b"%d" % n) for n in range(frames)))


class TestHalfClosed:
    async def test_one_that_says_no_more_has_left_once_all_it_said_is_read(self, seat: Seat, bot: Bot) -> None:
        """ZeroMQ ends a connection as a whole: nobody hears without speaking."""
        with raw_pair(seat.line.path) as connection:
            async with resting():
                connection.sendall(raw_frame(b"last words"))
                connection.shutdown(kernel.SHUT_WR)
                assert b"last words" == await seat.frame()
                await ended(connection)
            await serves(seat, bot(seat.line.endpoint))

    async def test_one_that_takes_nothing_more_is_heard_on(self, seat: Seat, bot: Bot) -> None:
        with raw_pair(seat.line.path) as connection:
            await hello(seat, connection)
            async with resting():
                connection.shutdown(kernel.SHUT_RD)
                for n in range(10):
                    seat.line.send(b"window", timed=True)
                    await next_handed_over(seat.line)
                    connection.sendall(raw_frame(b"%d" % n))
                    assert b"%d" % n == await seat.frame()
        await serves(seat, bot(seat.line.endpoint))

    async def test_one_that_is_gone_with_the_inbox_full_is_heard_to_the_end_when_there_is_room(
        self, seat: Seat, bot: Bot
    ) -> None:
        for way in (None, kernel.SHUT_RD, kernel.SHUT_WR, kernel.SHUT_RDWR):
            with raw_pair(seat.line.path) as connection:
                fill(connection, frames=3 * INBOX_FRAMES)
                await trio.sleep(0.05)
                async with resting():
                    if way is not None:
                        connection.shutdown(way)
                    else:
                        connection.close()
                    seat.line.send(b"window", timed=True)  # the kernel says then that nobody takes it
            frames = [b"%d" % n for n in range(3 * INBOX_FRAMES)]
            assert frames == [await seat.frame() for _ in frames]
            await trio.sleep(0.05)
        await serves(seat, bot(seat.line.endpoint))

    async def test_the_same_while_something_is_on_its_way_to_it(self, seat: Seat, bot: Bot) -> None:
        with raw_pair(seat.line.path) as connection:
            fill(connection, frames=3 * INBOX_FRAMES)
            await trio.sleep(0.05)
            for _ in range(10):
                seat.line.send(bytes(50_000))  # more than the kernel takes
            async with resting():
                connection.close()
        for _ in range(3 * INBOX_FRAMES):
            await seat.frame()
        await serves(seat, bot(seat.line.endpoint))

    async def test_bytes_that_arrive_with_the_end_are_read(self, seat: Seat) -> None:
        """Before the referee has looked even once: the greeting, words, and half a message."""
        for n in range(20):
            with raw_pair(seat.line.path) as connection:
                connection.sendall(raw_frame(b"%d" % n) + raw_frame(b"half")[:6])
            assert b"%d" % n == await seat.frame()

    async def test_bytes_out_of_band_are_nothing(self, seat: Seat, bot: Bot) -> None:
        """The kernel holds them beside the others, and tells of them."""
        with raw_pair(seat.line.path) as connection:
            await hello(seat, connection)
            async with resting():
                with suppress(OSError):  # where this kernel has none for local sockets
                    connection.send(b"!", kernel.MSG_OOB)
                await seat.line.settle()
                connection.sendall(raw_frame(b"words"))
        await trio.sleep(0.05)
        await seat.line.settle()
        while seat.line.has_more():
            seat.line.receive_nowait()
        await serves(seat, bot(seat.line.endpoint))


class TestGreeting:
    @pytest.mark.parametrize(
        "said",
        [
            b"\x01\x00",  # ZMTP 1.0: an anonymous socket
            b"\xff" + bytes(8) + b"\x7f\x01\x00\x00\x00",  # ZMTP 2.0: PAIR, anonymous
            GREETING.replace(b"NULL", b"PLAIN"[:4]),
            GREETING + READY.replace(b"PAIR", b"PUSH"),
            GREETING + raw_frame(b"a message before READY"),
            GREETING + b"\x06" + (1 << 62).to_bytes(8, "big"),
            GREETING + READY + b"\x02" + (1 << 63).to_bytes(8, "big"),
            GREETING + READY + b"\xff" * 9,
        ],
        ids=["1.0", "2.0", "mechanism", "push", "hasty", "huge command", "huge message", "no kind"],
    )
    async def test_a_peer_that_is_no_zmtp_3_pair_socket_is_disconnected(
        self, seat: Seat, bot: Bot, said: bytes
    ) -> None:
        with raw_connection(seat.line.path) as connection:
            connection.sendall(said)
            await ended(connection)
        assert not seat.line.has_more()
        await serves(seat, bot(seat.line.endpoint))

    @pytest.mark.parametrize("minor", [b"\x00", b"\x01", b"\x09"])
    async def test_zmtp_3_of_any_minor_version_is_spoken_with_also_byte_by_byte(
        self, seat: Seat, minor: bytes
    ) -> None:
        with raw_connection(seat.line.path) as connection:
            for byte in GREETING[:11] + minor + GREETING[12:] + READY + raw_frame(b"hello"):
                connection.sendall(bytes([byte]))
                await trio.lowlevel.checkpoint()
            assert b"hello" == await seat.frame()

    async def test_many_connections_that_end_within_a_message_are_harmless(self, tmp_path: Path, bot: Bot) -> None:
        said = GREETING + READY + raw_frame(b"hello")
        async with open_seat(tmp_path) as seat:
            before = descriptors()
            for n in range(len(said)):
                with suppress(OSError), raw_connection(seat.line.path) as connection:
                    connection.sendall(said[:n])
                await trio.lowlevel.checkpoint()
            await serves(seat, bot(seat.line.endpoint))
            assert descriptors() <= before + 20, "a bot's socket, its ZeroMQ, and ours"

    async def test_the_last_connection_that_is_let_in_may_be_used_and_no_other(self, seat: Seat, bot: Bot) -> None:
        for _ in range(local.MAX_CONNECTIONS - 1):
            with raw_pair(seat.line.path) as connection:
                await hello(seat, connection)
        await serves(seat, bot(seat.line.endpoint))
        with pytest.raises(FileNotFoundError):
            raw_connection(seat.line.path)

    async def test_a_process_that_is_killed_in_its_greeting_makes_room(self, tmp_path: Path, bot: Bot) -> None:
        program = (
            "import socket, sys, time\n"
            "bot = socket.socket(socket.AF_UNIX)\n"
            "bot.connect(sys.argv[1])\n"
            f"bot.sendall({GREETING[:40]!r})\n"
            "print('said', flush=True)\n"
            "time.sleep(600)\n"
        )
        async with open_seat(tmp_path) as seat:
            command = [sys.executable, "-c", program, str(seat.line.path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220, S603 - our own
                assert process.stdout is not None
                assert await trio.to_thread.run_sync(process.stdout.readline)
                process.send_signal(signal.SIGKILL)
            await serves(seat, bot(seat.line.endpoint))


class TestScarcity:
    @pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM])
    async def test_a_shortage_of_the_machine_is_reported_once_and_the_loop_pauses(
        self, seat: Seat, bot: Bot, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        """The match is void then: its bot waits in vain. But between two matches one may still get in."""
        listener, refused = seat.line._listener, list[int]()

        class Exhausted:
            def accept(self) -> Any:
                refused.append(1)
                raise OSError(number, os.strerror(number))

            def __getattr__(self, name: str) -> Any:
                return getattr(listener, name)

        with monkeypatch.context() as scarcity:
            scarcity.setattr(seat.line, "_listener", Exhausted())
            socket = bot(seat.line.endpoint)
            async with resting():
                await seat.line.settle()
            assert 1 < len(refused) < 20
        told = seat.line.receive_nowait()
        assert isinstance(told, OutOf)
        assert f"the machine has run out of something: {os.strerror(number)}" in told.what
        assert not seat.line.has_more()
        await serves(seat, socket)

    @pytest.mark.parametrize("call", ["recv", "send"])
    async def test_a_connection_for_which_the_kernel_has_no_memory_is_not_its_bot_s_to_lose(
        self, seat: Seat, bot: Bot, call: str
    ) -> None:
        socket = bot(seat.line.endpoint)
        await seat.join(socket)
        connection = seat.line._connection
        assert connection is not None
        there_is = connection.socket

        class Exhausted:
            def __getattr__(self, name: str) -> Any:
                if name == call:
                    raise OSError(errno.ENOBUFS, os.strerror(errno.ENOBUFS))
                return getattr(there_is, name)

        connection.socket = Exhausted()  # type: ignore[assignment]
        socket.send(b"answer")
        seat.line.send(b"window")
        told = await out_of(seat)
        assert os.strerror(errno.ENOBUFS) in told.what

    async def test_the_host_is_notified_if_the_kernel_cannot_watch_more_sockets(
        self, seat: Seat, bot: Bot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await trio.sleep(0.05)
        watch = seat.line._poll.watch

        def no_more(descriptor: int, events: int, ready: Any) -> None:
            if events:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            watch(descriptor, events, ready)

        monkeypatch.setattr(seat.line._poll, "watch", no_more)
        bot(seat.line.endpoint)
        told = await out_of(seat)
        assert os.strerror(errno.ENOSPC) in told.what

    async def test_an_admitted_connection_keeps_its_time(
        self, seat: Seat, bot: Bot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """To try again is for when nobody is in."""
        with raw_connection(seat.line.path) as slow, raw_connection(seat.line.path):
            await trio.sleep(0.05)
            seat.line._nursery.start_soon(seat.line._listen_again)
            await trio.sleep(2 * local.NO_DESCRIPTORS_SECONDS)
            slow.sendall(GREETING + READY + raw_frame(b"hello"))
            assert b"hello" == await seat.frame()


class TestReading:
    async def test_one_that_reads_a_byte_now_and_then_is_given_up_as_one_that_reads_nothing(
        self, seat: Seat
    ) -> None:
        with raw_pair(seat.line.path) as connection:
            await hello(seat, connection)
            said: object = None
            sent = 0
            while not isinstance(said, NotReading):
                assert sent < 1_000
                seat.line.send(bytes(5_000))
                sent += 1
                assert connection.recv(1)
                await trio.lowlevel.checkpoint()
                with suppress(trio.WouldBlock):
                    said = seat.line.receive_nowait()
            assert 0 == len(seat.line._outbox)

    async def test_one_that_reads_slowly_and_all_of_it_gets_all_of_it(self, seat: Seat) -> None:
        with raw_pair(seat.line.path) as connection:
            await hello(seat, connection)
            frames = [bytes([n]) * 5_000 for n in range(100)]  # more than the kernel takes
            for frame in frames:
                seat.line.send(frame)
            expected = b"".join(map(raw_frame, frames))
            came = b""
            while len(came) < len(GREETING) + len(READY) + len(expected):
                came += await trio.to_thread.run_sync(connection.recv, 3_000)
            assert came.endswith(expected)


class TestHangingUp:
    async def ended_in_time(self, seat: Seat) -> None:
        with trio.fail_after(FAREWELL_SECONDS + 3):
            while seat.line._connection is not None or seat.line._listener.fileno() >= 0:  # noqa: ASYNC110
                await trio.sleep(0.01)

    async def test_on_one_that_floods_and_reads_nothing_takes_bounded_time(self, seat: Seat) -> None:
        with raw_pair(seat.line.path) as connection:
            connection.setblocking(False)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(flood, connection, BIG)
                assert 60_000 == len(await seat.frame())
                for _ in range(10):
                    seat.line.send(bytes(50_000))
                seat.line.hang_up()
                await self.ended_in_time(seat)
                nursery.cancel_scope.cancel()

    async def test_one_that_is_not_heard_any_more_cannot_hold_up_what_settles_all_lines(
        self, tmp_path: Path
    ) -> None:
        """It says small things faster than they can be read and dropped: there would be no end to it."""
        program = (
            "import socket, sys\n"
            "bot = socket.socket(socket.AF_UNIX)\n"
            "bot.connect(sys.argv[1])\n"
            f"bot.sendall({GREETING + READY!r})\n"
            "while True: bot.sendall(bytes(1_000_000))\n"  # frames of no bytes
        )
        async with open_seat(tmp_path) as seat:
            command = [sys.executable, "-c", program, str(seat.line.path)]
            with subprocess.Popen(command) as process:  # noqa: ASYNC220, S603 - our own
                try:
                    await seat.frame()
                    while not seat.line._not_reading:
                        seat.line.send(bytes(50_000))
                    with trio.fail_after(20):
                        await seat.line.settle()
                finally:
                    process.kill()

    async def test_one_whose_inbox_is_full_may_leave_before_its_time_is_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What it said is read and dropped: else its end would not be seen, nor, over TCP, our last words."""
        monkeypatch.setattr(socket_line, "FAREWELL_SECONDS", 600)
        async with open_seat(tmp_path) as seat:
            with raw_pair(seat.line.path) as connection:
                fill(connection, frames=3 * INBOX_FRAMES)
                await trio.sleep(0.05)
                seat.line.send(b"over")
                seat.line.hang_up()
                assert (await ended(connection)).endswith(b"over")
            await self.ended_in_time(seat)

    async def test_on_one_that_does_not_speak_zeromq_yet(self, seat: Seat) -> None:
        with raw_connection(seat.line.path):
            await trio.sleep(0.05)
            seat.line.hang_up()
            await self.ended_in_time(seat)


async def flood(connection: kernel.socket, said: bytes) -> None:
    """Says it over and over."""
    with suppress(OSError):
        while True:
            await trio.lowlevel.wait_writable(connection)
            connection.send(said)


WORDS = (
    GREETING + READY,
    GREETING,
    GREETING + READY + raw_frame(b"words"),
    raw_frame(b"more"),
    raw_frame(b"part", more=True) * MOST_PARTS,
    raw_frame(b"part", more=True),
    (b"\4%c" % len(PING) + PING) * (COMMANDS_AT_ONCE // 4),
    b"\2" + bytes(7) + b"\xff",
    b"\6" + bytes(2) + b"\xff" * 6,
    BIG,
)


def do_anything(rng: Random, path: Path, open_now: list[kernel.socket]) -> None:
    """Do something at random with one of up to twenty bare sockets of a bot."""
    if len(open_now) < 10 or rng.random() < 0.1:
        open_now.append(kernel.socket(kernel.AF_UNIX, kernel.SOCK_STREAM | kernel.SOCK_NONBLOCK))
        open_now[-1].connect(str(path))
        open_now[-1].send(WORDS[0])
    if len(open_now) > 20:
        open_now.pop(rng.randrange(20)).close()
    connection = rng.choice(open_now)
    match rng.randrange(10):
        case 0:
            connection.shutdown(rng.choice((kernel.SHUT_RD, kernel.SHUT_WR, kernel.SHUT_RDWR)))
        case 1:
            connection.send(b"!", kernel.MSG_OOB)
        case 2:
            connection.recv(rng.choice((1, 100_000)))
        case 3:
            open_now.remove(connection)
            connection.close()
        case 4:
            connection.send(rng.randbytes(rng.randrange(1, 300)))
        case _:
            connection.send(rng.choice(WORDS))


def take_all(line: Line) -> bool:
    """Whether anything was there."""
    found = line.has_more()
    while line.has_more():
        line.receive_nowait()
    return found


class TestAnythingAtAll:
    async def test_whatever_is_done_to_its_sockets_the_poll_of_all_lines_lives(
        self, tmp_path: Path, bot: Bot, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is raised in the poll would end all matches of the process. Descriptors are used again at once."""
        monkeypatch.setattr(local, "HANDSHAKE_SECONDS", 0.01)
        monkeypatch.setattr(local, "MAX_CONNECTIONS", 1_000_000)
        rng = Random(11)
        async with open_seat(tmp_path) as seat:
            lines = [seat.line]
            for n in range(5):
                (tmp_path / str(n)).mkdir()
                lines.append(seat.wire.open_line(seat.nursery, seat.bell, tmp_path / str(n)))
            await trio.sleep(0.01)
            before = descriptors()
            open_now: list[kernel.socket] = []
            for _ in range(800):
                line = rng.choice(lines)
                with suppress(OSError):
                    do_anything(rng, line.path, open_now)
                line.send(bytes(rng.choice((1, 100, 3_000))), timed=rng.random() < 0.5)
                if rng.random() < 0.3:
                    await rng.choice((line.settle, trio.lowlevel.checkpoint))()
                if rng.random() < 0.3:
                    take_all(line)
            for connection in open_now:
                connection.close()
            for line in lines:
                await trio.sleep(0.05)
                await line.settle()
                while take_all(line):
                    with trio.move_on_after(0.02):
                        await seat.bell.wait()
                    await line.settle()
            assert before == descriptors(), "nothing is left open"
            (tmp_path / "new").mkdir()
            fresh = seat.wire.open_line(seat.nursery, seat.bell, tmp_path / "new")
            for line in (fresh, *[line for line in lines if not line._not_reading]):
                await serves(Seat(seat.wire, seat.nursery, line, seat.bell), bot(line.endpoint))
