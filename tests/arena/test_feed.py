"""How feeds are heard: each gets its share of the server's time, whatever it sends."""

import socket
import time
from collections.abc import Iterator

import pytest
import trio

from arena.feed import Heard
from arena.feed.lines import AT_ONCE, GATHER_SECONDS, REST, TURN_SECONDS, heard, read


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, trio.socket.SocketType]]:
    theirs, ours = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1024 * 1024)
    with theirs, trio.socket.from_stdlib_socket(ours) as line:
        yield theirs, line


@pytest.mark.parametrize(
    ("packet", "topic", "message"),
    [(b"a\n{}", b"a", b"{}"), (b"a\nb\nc", b"a", b"b\nc"), (b"a", b"a", b""), (b"\n", b"", b"")],
)
def test_a_packet_is_a_topic_a_line_end_and_a_message(packet: bytes, topic: bytes, message: bytes) -> None:
    assert Heard(3, topic, message) == heard(3, packet)


@pytest.mark.parametrize(("cost", "taken"), [(0.0, 1 + AT_ONCE), (TURN_SECONDS, 2), (10 * TURN_SECONDS, 1)])
async def test_a_feed_has_a_turn_and_then_rests_in_proportion(
    line: tuple[socket.socket, trio.socket.SocketType],
    cost: float,
    taken: int,
    autojump_clock: trio.testing.MockClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`cost`: processor time that each message takes."""
    spent = 0.0
    at: list[float] = []

    def take(_: Heard) -> None:
        nonlocal spent
        spent += cost
        at.append(trio.current_time())

    monkeypatch.setattr(time, "thread_time", lambda: spent)
    theirs, ours = line
    async with trio.open_nursery() as nursery:
        for _ in range(2 * AT_ONCE + 2):
            theirs.send(b"match/m\n{}")
        theirs.shutdown(socket.SHUT_RDWR)
        nursery.start_soon(read, ours, 0, take)
    first, second = sorted(set(at))[:2]
    assert taken == at.count(first)
    assert pytest.approx(max(GATHER_SECONDS, REST * taken * cost)) == second - first
    assert 2 * AT_ONCE + 2 == len(at)
