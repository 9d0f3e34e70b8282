"""A line that stands: one connection for match after match, and nothing of one match in the next."""

from collections.abc import AsyncIterator

import pytest
import trio

from protocol.codec import encode
from protocol.messages import PROTOCOL, Hello, Invited, Undo
from referee.wire import remote, socket_line
from referee.wire.line import Bell, NotReading
from tests.real_wire.remote import Client, Door, open_door
from tests.real_wire.seat import BotSocket, hear
from tests.real_wire.test_remote_door import by_hand, heard

OLD = encode(Undo(window=3))
STUCK = 30_000_000
"""More bytes than the kernel takes for a bot that reads nothing."""


@pytest.fixture
async def door() -> AsyncIterator[Door]:
    async with open_door(stands=True) as opened:
        yield opened


def invited(token: str) -> bytes:
    return encode(Invited(token=token, stands=True))


def hello(token: str) -> bytes:
    return encode(Hello(token=token, name="bot", version="1", protocol=PROTOCOL))


async def in_a_match(door: Door, client: Client) -> BotSocket:
    """Let a bot into its first match."""
    door.line.begin(door.bell, "one")
    socket = client(door.lobby.endpoint, door.host.public, door.bot)
    assert invited("one") == await hear(socket)
    socket.send(hello("one"))
    assert hello("one") == await door.frame()
    return socket


async def test_one_connection_serves_match_after_match(door: Door, client: Client) -> None:
    socket = await in_a_match(door, client)
    for token in ("two", "three"):
        await door.line.rest()
        assert door.line.connected
        door.bell = Bell()
        door.line.begin(door.bell, token)
        assert invited(token) == await hear(socket)
        socket.send(hello(token))
        assert hello(token) == await door.frame()
        await door.serves(socket)
    assert 0 == door.line.cuts


async def test_messages_to_the_last_match_do_not_reach_the_next(door: Door, client: Client) -> None:
    socket = await in_a_match(door, client)
    socket.send(b"unread in the last match")
    with trio.fail_after(30):
        await door.bell.wait()
    await door.line.rest()
    socket.send(OLD)
    door.line.begin(door.bell, "two")
    assert invited("two") == await hear(socket)
    for late in (OLD, hello("one"), b"garbage", bytes(remote.MOST_HELLO_BYTES + 1), hello("two"), OLD):
        socket.send(late)
    assert [hello("two"), OLD] == [await door.frame(), await door.frame()]


@pytest.mark.parametrize("length", [1, 100 * remote.MOST_HELLO_BYTES // 2])
async def test_a_bot_that_sends_too_much_between_two_matches_is_disconnected(
    length: int, door: Door, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "MOST_SAID", 49)
    socket = await in_a_match(door, client)
    await door.line.rest()
    for _ in range(50):
        socket.send(bytes(length))
    await door.left()
    assert 1 == door.line.cuts


async def test_a_disconnected_bot_comes_back_for_the_next_match(door: Door, client: Client) -> None:
    socket = await in_a_match(door, client)
    door.line.hang_up()
    await door.line.rest()
    assert not door.line.ready
    with trio.fail_after(30):
        await door.line.present()
    door.line.begin(door.bell, "two")
    assert invited("two") == await hear(socket)
    socket.send(hello("two"))
    assert hello("two") == await door.frame()


async def test_the_networks_delay_is_known_soon_and_is_no_less_than_it_is(door: Door, client: Client) -> None:
    client(door.lobby.endpoint, door.host.public, door.bot)
    with trio.fail_after(30):
        while not door.line.ready:  # noqa: ASYNC110 - it is told by no event
            await trio.sleep(0.01)
    assert door.line.delay is not None
    assert 0 < door.line.delay < remote.PING_SECONDS


async def test_a_barred_key_is_not_let_in(client: Client) -> None:
    async with open_door(stands=True, barred=True) as door:
        client(door.lobby.endpoint, door.host.public, door.bot)
        assert "its key is not known here" in await door.turned_away()
        assert not door.line.connected


async def test_a_line_is_away_from_its_connections_end_on(door: Door, client: Client) -> None:
    socket = await in_a_match(door, client)
    await trio.sleep(0.05)
    before = trio.current_time()
    socket.close(linger=0)
    await door.left()
    assert before <= door.line.away_since <= trio.current_time()


async def test_messages_between_two_matches_are_reported_once_the_bot_has_left(door: Door) -> None:
    door.line.begin(door.bell, "one")
    connection, _ = await by_hand(door)
    with connection:
        await door.line.rest()
        door.line.tell(bytes(STUCK))
        with trio.move_on_after(0.05) as waiting:
            await door.line.told()
        assert waiting.cancelled_caught, "it is still with us, for the bot reads nothing"
        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:

                async def read() -> None:
                    while await heard(connection):
                        pass

                nursery.start_soon(read)
                await door.line.told()
                nursery.cancel_scope.cancel()


async def test_one_that_reads_nothing_is_hung_up_on_when_its_match_is_over(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the time of a farewell: nothing else is waited for."""
    monkeypatch.setattr(socket_line, "FAREWELL_SECONDS", 0.05)
    monkeypatch.setattr(remote, "FAREWELL_SECONDS", 3_600.0)
    monkeypatch.setattr(remote, "DEAD_SECONDS", 3_600.0)
    door.line.begin(door.bell, "one")
    connection, _ = await by_hand(door)
    with connection, trio.fail_after(30):
        said = None
        while not isinstance(said, NotReading):
            door.line.send(bytes(60_000))
            said = door.line.receive_nowait() if door.line.has_more() else None
        await door.line.rest()
        assert not door.line.connected


async def test_a_new_line_waits_for_its_bot(door: Door) -> None:
    assert door.line.awaited is True
    assert not door.line.connected
