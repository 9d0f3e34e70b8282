"""Nothing that bots do on their sockets makes the referee grow by more than 1 MiB a line, at any time.

Counted are all bytes that Python holds, at their peak, while many lines are attacked at once: so it is exact, and
the same on a busy machine. What the kernel holds of a connection is bounded by its own limits.
"""

import gc
import socket as kernel
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import cycle
from pathlib import Path

import pytest
import trio

from referee.wire import local
from referee.wire.keys import new_pair, z85
from referee.wire.line import MAX_TAKEN_BYTES, Line
from referee.wire.remote import open_lobby
from referee.wire.zmtp import MOST_PARTS, PING
from tests.long import mostly_slow
from tests.real_wire.peer import GREETING, READY, raw_connection, raw_frame, raw_pair
from tests.real_wire.remote import HERE, Door
from tests.real_wire.seat import open_seat
from tests.real_wire.test_remote_door import by_hand

pytestmark = pytest.mark.xdist_group("memory")

LINES = 8
MOST_BYTES = 1024 * 1024
"""That a line may take at its peak."""
SENT_BYTES = 4 * MOST_BYTES
"""So much an attack says on each line, if it is let."""
SMALL = {"empty frames", "small frames"}
"""Attacks of which Python would hold many times what was sent: a sixteenth of it is plenty, and takes long."""
PINGS = (b"\4%c" % len(PING)) + PING

ATTACKS = {
    "empty frames": raw_frame(b"") * 5_000,
    "small frames": raw_frame(b"{}") * 5_000,
    "frames": raw_frame(bytes(60_000)),
    "largest": raw_frame(bytes(MAX_TAKEN_BYTES)),
    "almost full, then largest": raw_frame(bytes(40_000)) * 13 + raw_frame(bytes(MAX_TAKEN_BYTES)),
    "a part too many": raw_frame(b"", more=True) * MOST_PARTS,
    "parts": (raw_frame(b"x" * 400, more=True) * (MOST_PARTS - 2) + raw_frame(b"")),
    "parts too large": raw_frame(bytes(60_000), more=True),
    "never whole": raw_frame(bytes(MAX_TAKEN_BYTES))[:-1],
    "gigantic": b"\2" + (1 << 62).to_bytes(8, "big") + bytes(60_000),
    "gigantic part": b"\3" + (1 << 62).to_bytes(8, "big") + bytes(60_000),
    "gigantic command": b"\6" + (1 << 62).to_bytes(8, "big") + bytes(60_000),
    "pings": PINGS * 1_000,
    "large commands": b"\6" + (1_024).to_bytes(8, "big") + b"\x04PING" + bytes(1_019),
    "noise": bytes(range(256)) * 200,
}


@asynccontextmanager
async def bounded(lines: int) -> AsyncIterator[None]:
    """So many lines take no more than they may meanwhile."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (peak - before) / lines < MOST_BYTES


async def say(connection: kernel.socket, said: bytes, most: int = SENT_BYTES) -> None:
    """Says it over and over; what the kernel does not take is tried again some times, then let be."""
    connection.setblocking(False)
    sent = tries = 0
    rest = memoryview(said)
    with suppress(ConnectionError):
        while sent < most and tries < 50:
            try:
                count = connection.send(rest)
            except BlockingIOError:
                tries += 1
            else:
                sent, rest = sent + count, rest[count:] or memoryview(said)
            await trio.lowlevel.checkpoint()


def take_all(line: Line) -> None:
    while line.has_more():
        line.receive_nowait()


@asynccontextmanager
async def open_lines(directory: Path) -> AsyncIterator[list[local.LocalLine]]:
    """Lines of one process."""
    async with open_seat(directory) as seat:
        lines = [seat.line]
        for n in range(1, LINES):
            (directory / str(n)).mkdir()
            lines.append(seat.wire.open_line(seat.nursery, seat.bell, directory / str(n)))
        await trio.sleep(0.01)
        yield lines


@pytest.mark.parametrize("heard", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["heard", "not heard"])
@pytest.mark.parametrize("attack", mostly_slow(8, sorted(ATTACKS)))
async def test_whatever_bots_say(tmp_path: Path, attack: str, heard: bool) -> None:
    """Also while the host has no time to hear it."""
    most = SENT_BYTES // 16 if attack in SMALL else SENT_BYTES
    async with open_lines(tmp_path) as lines, bounded(LINES):
        with ExitStack() as sockets:
            connections = [sockets.enter_context(raw_pair(line.path)) for line in lines]
            async with trio.open_nursery() as nursery:
                async with trio.open_nursery() as attacks:
                    if heard:
                        nursery.start_soon(hear, lines)
                    for connection in connections:
                        attacks.start_soon(say, connection, ATTACKS[attack], most)
                for line in lines:
                    await line.settle()
                nursery.cancel_scope.cancel()


async def hear(lines: list[local.LocalLine]) -> None:
    while True:
        for line in lines:
            take_all(line)
        await trio.lowlevel.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize("size", mostly_slow(2, [300, 60_000, 10]))
async def test_bots_that_read_nothing(tmp_path: Path, size: int) -> None:
    """What they were told is kept up to a bound, then they are given up."""
    async with open_lines(tmp_path) as lines:
        with ExitStack() as sockets:
            for line in lines:
                sockets.enter_context(raw_pair(line.path))
            await trio.sleep(0.05)
            async with bounded(LINES):
                while not any(line._not_reading for line in lines):
                    for line in lines:
                        line.send(bytes(size))
                        await trio.lowlevel.checkpoint()


async def test_bots_that_ask_for_answers_and_read_none(tmp_path: Path) -> None:
    async with open_lines(tmp_path) as lines, bounded(LINES):
        with ExitStack() as sockets:
            connections = [sockets.enter_context(raw_pair(line.path)) for line in lines]
            await trio.sleep(0.05)
            async with trio.open_nursery() as attacks:
                for connection, line in zip(connections, lines, strict=True):
                    attacks.start_soon(say, connection, PINGS * 900)
                    for _ in range(7):
                        line.send(bytes(60_000))
            for line in lines:
                await line.settle()


async def test_bots_that_connect_over_and_over(tmp_path: Path) -> None:
    said = cycle((b"", GREETING[:20], GREETING, GREETING + READY, GREETING + READY + raw_frame(bytes(200_000))))
    async with open_lines(tmp_path) as lines, bounded(LINES):
        for _ in range(local.MAX_CONNECTIONS):
            for line in lines:
                with suppress(OSError), raw_connection(line.path) as connection:
                    connection.setblocking(False)
                    connection.send(next(said))
                take_all(line)
            await trio.lowlevel.checkpoint()


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 60_000, MAX_TAKEN_BYTES])
async def test_bots_on_other_machines(size: int) -> None:
    """Sealed messages, by one who knows a key; the host does not hear them."""
    lines = 4
    host, keys = new_pair(), [new_pair() for _ in range(lines)]
    async with open_lobby(HERE, host, [z85(key.public) for key in keys]) as lobby:
        with ExitStack() as sockets:
            said = []
            for key in keys:
                door = Door(lobby, host, key)
                door.line.begin(door.bell, "t")
                connection, bot = await by_hand(door)
                sockets.enter_context(connection)
                count = min(2_000, SENT_BYTES // size)
                said.append((connection, [bot.message(bytes(size)) for _ in range(count)]))
            async with bounded(lines), trio.open_nursery() as attacks:
                for connection, messages in said:
                    attacks.start_soon(say_once, connection, messages)
            for connection, _ in said:
                connection.close()


async def say_once(connection: kernel.socket, messages: list[bytes]) -> None:
    """As `say`: of what was sealed, each is said once."""
    tries = 0
    with suppress(ConnectionError):
        for message in messages:
            rest = memoryview(message)
            while rest and tries < 200:
                try:
                    rest = rest[connection.send(rest) :]
                except BlockingIOError:
                    tries += 1
                await trio.lowlevel.checkpoint()


async def test_a_line_that_kept_more_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else nothing here would prove anything."""
    monkeypatch.setattr("referee.wire.line.INBOX_BYTES", 2 * MOST_BYTES)
    with pytest.raises(ExceptionGroup) as failed:
        await test_whatever_bots_say(tmp_path, "frames", heard=False)
    assert failed.group_contains(AssertionError, match="MOST_BYTES|1048576")
