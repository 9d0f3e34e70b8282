"""Event streams: everybody is told, nobody is waited for."""

from collections import deque
from typing import Any

import pytest
import trio
import trio.testing

from arena.web.events import (
    HEARTBEAT,
    HEARTBEAT_SECONDS,
    MOST_WAITING,
    MOST_WAITING_BYTES,
    PAUSE_SECONDS,
    SECONDS_A_CLIENT,
    Client,
    Stream,
    Streams,
    chunk,
    event,
)


class Browser:
    """Follows a stream; takes what it is told only while it may."""

    def __init__(self, stream: Stream, nursery: trio.Nursery) -> None:
        self.told: list[bytes] = []
        self.reads = trio.Event()
        self.reads.set()
        self.sent: deque[Any] = deque()
        self._leaves = trio.Event()
        nursery.start_soon(stream.serve_client, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        await self._leaves.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        await self.reads.wait()
        self.told.append(message["body"])

    def leave(self) -> None:
        self._leaves.set()


def following(nursery: trio.Nursery, count: int = 1) -> tuple[dict[str, int], Stream, list[Browser]]:
    """A number that is told of, its stream, and those who follow it."""
    state = {"n": 0}
    stream = Stream(nursery, lambda: dict(state))
    return state, stream, [Browser(stream, nursery) for _ in range(count)]


async def test_first_comes_how_things_stand(nursery: trio.Nursery, autojump_clock: object) -> None:
    _, _, (browser,) = following(nursery)
    await trio.testing.wait_all_tasks_blocked()
    assert [b'data: {"n":0}\n\n'] == browser.told


async def test_a_message_after_a_quiet_time_is_sent_at_once(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    _, stream, (browser,) = following(nursery)
    for number in range(3):
        await trio.sleep(10)
        began = trio.current_time()
        stream.publish(number)
        await trio.testing.wait_all_tasks_blocked()
        assert (event(number), began) == (browser.told[-1], trio.current_time())


async def test_messages_that_follow_soon_come_in_one_piece_that_all_share(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    _, stream, browsers = following(nursery, 3)
    await trio.testing.wait_all_tasks_blocked()
    for number in range(1, 4):
        stream.publish(number)
        await trio.sleep(PAUSE_SECONDS / 4)
    assert [event(1)] * 3 == [browser.told[-1] for browser in browsers]
    await trio.sleep(PAUSE_SECONDS / 2)
    assert [b"data: 2\n\ndata: 3\n\n"] * 3 == [browser.told[-1] for browser in browsers]
    assert 1 == len({id(browser.told[-1]) for browser in browsers})


async def test_with_many_who_follow_messages_wait_longer(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    _, stream, browsers = following(nursery, 1_000)
    await trio.testing.wait_all_tasks_blocked()
    stream.publish(1)
    await trio.testing.wait_all_tasks_blocked()
    stream.publish(2)
    await trio.sleep(1_000 * SECONDS_A_CLIENT - 0.01)
    assert {2} == {len(browser.told) for browser in browsers}
    await trio.sleep(0.02)
    assert {3} == {len(browser.told) for browser in browsers}


class Narrow:
    """A connection that has room for a few bytes at once."""

    def __init__(self) -> None:
        self.taken = b""
        self.room = 0

    def write_now(self, data: bytes) -> int:
        self.taken += data[: self.room]
        return min(self.room, len(data))

    async def write(self, data: bytes | memoryview) -> None:
        await trio.sleep(1)
        self.taken += data


async def test_what_a_connection_has_no_room_for_follows_in_order(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """Whatever its room is, and whatever is told while the rest waits."""
    stream, narrow, leaves = Stream(nursery, lambda: "all"), Narrow(), trio.Event()

    async def receive() -> dict[str, Any]:
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        narrow.taken += chunk(message["body"])

    nursery.start_soon(stream.serve_client, receive, send, narrow)
    await trio.testing.wait_all_tasks_blocked()
    for number in range(40):
        narrow.room = number
        stream.publish(number)
        await trio.sleep(PAUSE_SECONDS)
    await trio.sleep(3)
    assert event("all") + b"".join(map(event, range(40))) == unchunked(narrow.taken)
    leaves.set()


async def test_a_client_that_has_just_been_told_is_sent_no_heartbeat(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    stream, narrow, told = Stream(nursery, lambda: "all"), Narrow(), list[Any]()
    narrow.room = 1_000

    async def send(message: dict[str, Any]) -> None:
        told.append((message["body"], trio.current_time()))

    nursery.start_soon(stream.serve_client, trio.sleep_forever, send, narrow)
    await trio.sleep(HEARTBEAT_SECONDS - 1)
    stream.publish("news")
    await trio.sleep(HEARTBEAT_SECONDS + 1)
    assert [(event("all"), 0.0), (HEARTBEAT, 2 * HEARTBEAT_SECONDS - 1)] == told


def unchunked(data: bytes) -> bytes:
    """What the chunks hold; fails if they are no chunks."""
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        length = int(size, 16)
        assert b"\r\n" == data[length : length + 2]
        whole, data = whole + data[:length], data[length + 2 :]
    return whole


async def test_one_that_does_not_read_holds_nobody_up_and_later_learns_how_things_stand(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    state, stream, (slow, quick) = following(nursery, 2)
    await trio.testing.wait_all_tasks_blocked()
    slow.reads = trio.Event()
    for number in range(1, 3 * MOST_WAITING):
        state["n"] = number
        stream.publish(number)
        await trio.sleep(1)
    assert 3 * MOST_WAITING == len(quick.told)
    assert 1 == len(slow.told)
    slow.reads.set()
    await trio.testing.wait_all_tasks_blocked()
    assert event({"n": state["n"]}) in slow.told
    assert len(slow.told) < 5


def test_what_waits_for_a_client_is_bounded_in_number_and_in_bytes() -> None:
    for batch in (b"x", b"x" * (MOST_WAITING_BYTES // 2)):
        client = Client()
        client.behind = False
        for _ in range(2 * MOST_WAITING):
            client.put(batch, chunk(batch), 0.0)
            assert len(client.waiting) <= MOST_WAITING
            assert sum(map(len, client.waiting)) <= MOST_WAITING_BYTES
        assert client.behind


async def test_who_leaves_is_forgotten(nursery: trio.Nursery, autojump_clock: object) -> None:
    _, stream, (browser,) = following(nursery)
    await trio.testing.wait_all_tasks_blocked()
    browser.leave()
    await trio.testing.wait_all_tasks_blocked()
    assert 0 == len(stream)
    stream.publish(1)
    await trio.sleep(1)
    assert 1 == len(browser.told)


async def test_without_news_there_is_a_heartbeat(nursery: trio.Nursery, autojump_clock: object) -> None:
    _, _, (browser,) = following(nursery)
    await trio.sleep(100)
    assert {HEARTBEAT} == set(browser.told[1:])
    assert len(browser.told) > 3


async def test_what_late_clients_are_told_is_made_once_for_all(
    nursery: trio.Nursery, autojump_clock: object
) -> None:
    made: list[int] = []

    def snapshot() -> int:
        made.append(1)
        return len(made)

    stream = Stream(nursery, snapshot)
    browsers = [Browser(stream, nursery) for _ in range(50)]
    await trio.testing.wait_all_tasks_blocked()
    assert [1] == made
    assert {b"data: 1\n\n"} == {told for browser in browsers for told in browser.told}


def test_no_message_can_end_its_event_early() -> None:
    hostile = {"name": "a\n\ndata: forged\r\n\rid: 7\u2028"}
    assert 1 == event(hostile).count(b"\n\n")
    assert event(hostile).endswith(b"\n\n")
    assert b"\r" not in event(hostile)


async def test_there_is_a_bound_on_all_streams_together(nursery: trio.Nursery) -> None:
    streams, (_, stream, _) = Streams(2), following(nursery, 0)

    async def nothing(_: object = None) -> dict[str, Any]:
        return await trio.sleep_forever()

    async def taken(_: object) -> None:
        pass

    for host in ("192.0.2.1", "192.0.2.2"):
        assert not streams.full
        nursery.start_soon(streams.answer, stream, [], host, nothing, taken)
        await trio.testing.wait_all_tasks_blocked()
    assert streams.full


@pytest.mark.parametrize(
    ("first", "same", "other"),
    [
        ("192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"),
        ("fe80::1%eth0", "fe80::2%eth0", "192.0.2.1"),
    ],
)
async def test_there_is_a_bound_on_the_streams_of_an_address(
    nursery: trio.Nursery, first: str, same: str, other: str
) -> None:
    streams, (_, stream, _) = Streams(10, 1), following(nursery, 0)
    leaves = trio.Event()

    async def leave() -> dict[str, Any]:
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def taken(_: object) -> None:
        pass

    for host in (first, "127.0.0.1", "127.0.0.1", "::1", "::1"):
        assert not streams.full_for(host)
        nursery.start_soon(streams.answer, stream, [], host, leave, taken)
        await trio.testing.wait_all_tasks_blocked()
    assert (True, False) == (streams.full_for(same), streams.full_for(other))
    leaves.set()
    await trio.testing.wait_all_tasks_blocked()
    assert not streams.full_for(first)
