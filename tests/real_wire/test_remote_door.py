"""Who comes to the open port: libzmq's own clients, strangers, and those who wish it harm."""

import select
import socket as kernel
from contextlib import suppress

import pytest
import trio
import zmq

from arena.stress import resident_bytes
from referee.wire import remote, socket_line
from referee.wire.keys import new_pair
from referee.wire.line import INBOX_FRAMES, MAX_TAKEN_BYTES, HandedOver, NotReading
from referee.wire.socket_line import LoopProbe
from referee.wire.zmtp import COMMAND_BYTES, COMMANDS_AT_ONCE
from tests.real_wire.remote import Client, Door, open_door
from tests.real_wire.seat import hear
from tests.referee.wire import curve_client
from tests.referee.wire.curve_client import commands

INVITED = b'{"type":"invited","token":"t"}'


def raw(door: Door) -> kernel.socket:
    """Open a bare connection."""
    connection = kernel.create_connection(("127.0.0.1", int(door.lobby.endpoint.rpartition(":")[2])), timeout=2)
    connection.setblocking(False)
    return connection


async def heard(connection: kernel.socket) -> bytes:
    """Return what comes next on a bare connection, or nothing at its end."""
    with trio.fail_after(30):
        await trio.lowlevel.wait_readable(connection)
        try:
            return connection.recv(65_536)
        except ConnectionResetError:
            return b""


async def ended(connection: kernel.socket) -> None:
    """Return when the host has closed it."""
    while await heard(connection):
        pass


async def by_hand(door: Door) -> tuple[kernel.socket, curve_client.Client]:
    """Let a bot in whose ZeroMQ does only what a test says."""
    bot, connection = curve_client.Client(door.host.public, keys=door.bot), raw(door)
    connection.send(curve_client.GREETING + bot.hello())
    answer = await heard(connection)
    while len(answer) < 64 + 2 + 168:
        answer += await heard(connection)
    bot.hear_welcome(commands(answer[64:])[0])
    connection.send(bot.initiate())
    assert bot.hear(commands(await heard(connection))[0])
    return connection, bot


async def begun_by_hand(door: Door) -> tuple[kernel.socket, curve_client.Client]:
    """Let such a bot in, and begin its match."""
    door.line.begin(door.bell, "t")
    return await by_hand(door)


class TestKeys:
    async def test_a_bot_with_a_known_key_is_let_in_invited_and_served(self, client: Client, door: Door) -> None:
        socket = client(door.lobby.endpoint, door.host.public, door.bot)
        with trio.fail_after(30):
            await door.line.present()
        door.line.begin(door.bell, "t")
        assert INVITED == await hear(socket)
        await door.serves(socket)

    async def test_a_key_that_is_not_known_does_not_get_in_and_is_told_so(
        self, client: Client, door: Door
    ) -> None:
        door.line.begin(door.bell, "t")
        stranger = client(None, door.host.public, new_pair())
        news = stranger.get_monitor_socket(zmq.EVENT_HANDSHAKE_FAILED_AUTH)
        stranger.connect(door.lobby.endpoint)
        stranger.send(b"let me in")
        assert "its key is not known here" in await door.turned_away()
        with trio.fail_after(30):
            while not news.poll(0):  # noqa: ASYNC110 - libzmq tells no event of trio's
                await trio.sleep(0.01)
        assert not door.line.connected
        assert not door.line.has_more()
        stranger.disable_monitor()
        news.close()

    async def test_no_key_no_entry(self, client: Client, door: Door) -> None:
        client(door.lobby.endpoint).send(b"let me in")
        connection = raw(door)
        connection.send(curve_client.GREETING.replace(b"CURVE", b"NULL\0"))
        assert "another mechanism of ZeroMQ" == await door.turned_away()
        await ended(connection)
        connection.close()
        assert not door.line.connected

    async def test_a_bot_that_expects_another_host_key_does_not_get_in(self, client: Client, door: Door) -> None:
        client(door.lobby.endpoint, new_pair().public, door.bot)
        assert "expects a different host key" in await door.turned_away()
        assert not door.line.connected

    async def test_a_second_connection_with_the_key_gets_nowhere_until_the_first_has_gone(
        self, client: Client, door: Door
    ) -> None:
        door.line.begin(door.bell, "t")
        first = client(door.lobby.endpoint, door.host.public, door.bot)
        assert INVITED == await hear(first)
        second = client(door.lobby.endpoint, door.host.public, door.bot)
        second.send(b"me, too")
        await door.serves(first)
        await trio.sleep(0.3)
        assert not second.poll(0)
        first.close()
        assert INVITED == await hear(second)
        assert b"me, too" == await door.frame()

    async def test_a_recorded_connection_said_again_gets_nowhere(self, door: Door) -> None:
        connection, bot = await begun_by_hand(door)
        connection.send(said := bot.message(b"words"))
        assert b"words" == await door.frame()
        connection.close()
        await door.left()
        again = raw(door)
        client = curve_client.Client(door.host.public, keys=door.bot, short=bot.short)
        again.send(curve_client.GREETING + client.hello())
        await heard(again)
        client.server_short, client.cookie = bot.server_short, bot.cookie
        again.send(client.initiate() + said)
        assert "not this connection's cookie" == await door.turned_away()
        await ended(again)
        again.close()
        assert not door.line.has_more()


class TestStrangers:
    async def test_a_connection_with_no_or_half_a_greeting_is_closed_in_time(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "HANDSHAKE_SECONDS", 0.2)
        async with open_door() as door:
            for said in (b"", curve_client.GREETING[:30], curve_client.GREETING):
                connection = raw(door)
                connection.send(said)
                await ended(connection)
                connection.close()

    async def test_the_number_of_unknown_connections_is_bounded_and_a_known_bot_is_still_served(
        self, client: Client, door: Door
    ) -> None:
        door.line.begin(door.bell, "t")
        bot = client(door.lobby.endpoint, door.host.public, door.bot)
        assert INVITED == await hear(bot)
        before = resident_bytes()
        strangers = []
        for _ in range(remote.BACKLOG):
            with suppress(OSError):
                strangers.append(raw(door))
                strangers[-1].send(curve_client.GREETING)
            await trio.lowlevel.checkpoint()
        for _ in range(20):
            await door.serves(bot)
            assert door.lobby._strangers.total() <= remote.STRANGERS_OF_ONE
            await trio.sleep(0.02)
        assert door.lobby._strangers.total() == remote.STRANGERS_OF_ONE
        assert resident_bytes() - before < 20_000_000
        for each in strangers:
            each.close()

    @pytest.mark.parametrize(
        "said",
        [
            b"GET / HTTP/1.1\r\n\r\n",
            b"\0" * 300,
            curve_client.GREETING + b"\4\xff" + b"\5HELLO" * 50,
            curve_client.GREETING + b"\6" + (1 << 62).to_bytes(8, "big") + bytes(5_000),
        ],
    )
    async def test_garbage_is_hung_up_on(self, said: bytes, door: Door) -> None:
        connection = raw(door)
        with suppress(OSError):
            connection.send(said)
        await ended(connection)
        connection.close()
        assert await door.turned_away()

    async def test_a_bot_that_sends_before_its_invitation_is_disconnected(
        self, client: Client, door: Door
    ) -> None:
        connection, bot = await by_hand(door)
        connection.send(bot.message(b"hello?"))
        await ended(connection)
        connection.close()
        assert not door.line.has_more()
        door.line.begin(door.bell, "t")
        assert INVITED == await hear(client(door.lobby.endpoint, door.host.public, door.bot))


class TestWhoIsIn:
    async def test_a_flood_stays_with_its_sender_and_nothing_of_it_is_lost(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "PING_SECONDS", 600)  # an answer to it must not be what brings on the rest
        async with open_door() as door:
            door.line.begin(door.bell, "t")
            bot = client(door.lobby.endpoint, door.host.public, door.bot)
            assert INVITED == await hear(bot)
            frames, sent = [bytes([n % 256]) * 5_000 for n in range(900)], 0
            before = resident_bytes()
            while sent < len(frames):
                with suppress(zmq.Again):
                    bot.send(frames[sent], zmq.NOBLOCK)
                    sent += 1
                await trio.lowlevel.checkpoint()
                assert door.line._inbox._frames <= INBOX_FRAMES
            assert resident_bytes() - before < 30_000_000
            assert frames == [await door.frame() for _ in frames]

    async def test_a_bot_that_never_reads_is_called_so_and_no_more_is_kept_for_it(self, door: Door) -> None:
        connection, _ = await begun_by_hand(door)
        said, sent, before = None, 0, resident_bytes()
        while not isinstance(said, NotReading):
            assert sent < 1_000
            door.line.send(bytes(60_000), timed=True)
            sent += 1
            await trio.lowlevel.checkpoint()
            while door.line.has_more():
                said = door.line.receive_nowait()
                if isinstance(said, NotReading):
                    break
        assert isinstance(door.line.receive_nowait(), HandedOver), "of the frame that was one too many"
        assert (0, False) == (len(door.line._outbox), door.line.has_more())
        assert resident_bytes() - before < 30_000_000
        door.line.send(b"window", timed=True)
        assert isinstance(door.line.receive_nowait(), HandedOver), "the host's clock does not wait for it"
        connection.close()

    async def test_frames_that_had_arrived_are_there_after_settle_with_the_time_of_the_last_look(
        self, door: Door
    ) -> None:
        connection, bot = await begun_by_hand(door)
        await trio.sleep(0.05)
        connection.send(b"".join(bot.message(b"%d" % n) for n in range(10)))
        current = door.line._connection
        assert current is not None
        select.select([current.socket], [], [])  # a busy kernel takes its time, also on one machine
        looked = trio.current_time()
        await door.line.settle()
        items = [door.line.receive_nowait() for _ in range(10)]
        assert [b"%d" % n for n in range(10)] == [getattr(item, "frame", b"") for item in items]
        assert all(item.at <= looked for item in items)
        connection.close()

    async def test_a_message_that_is_too_large_costs_its_sender_the_connection(self, door: Door) -> None:
        connection, bot = await begun_by_hand(door)
        connection.send(bot.message(bytes(MAX_TAKEN_BYTES + 1))[:100])
        await ended(connection)
        connection.close()

    async def test_pings_without_end_from_one_who_does_not_read_make_nothing_grow(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "KERNEL_BYTES", 4_096)
        monkeypatch.setattr(socket_line, "SEND_BYTES", 4_096)
        async with open_door() as door:
            connection, bot = await begun_by_hand(door)
            connection.setsockopt(kernel.SOL_SOCKET, kernel.SO_RCVBUF, 4_096)
            pings = COMMANDS_AT_ONCE // 2
            flood = b"".join(bot.message(b"\4PING\0\0" + bytes(16), flags=2) for _ in range(pings))
            flood += bot.message(b"all said")
            with trio.fail_after(60):
                while flood:
                    await trio.lowlevel.wait_writable(connection)
                    flood = flood[connection.send(flood) :]
            assert b"all said" == await door.frame()
            current = door.line._connection
            assert current is not None
            assert len(current.leaving) <= socket_line.SEND_BYTES + 2 * socket_line.READ_BYTES
            connection.close()

    @pytest.mark.parametrize("body", [b"", b"\4PING\0\0", bytes(COMMAND_BYTES)], ids=["empty", "pings", "large"])
    async def test_commands_without_end_cost_their_sender_the_connection_and_keep_it_out_for_a_while(
        self, body: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "CUT_SECONDS", 0.3)
        async with open_door() as door:
            connection, bot = await begun_by_hand(door)
            with connection, suppress(OSError), trio.fail_after(60):
                while True:
                    await trio.lowlevel.wait_writable(connection)
                    connection.send(bot.message(body, flags=2))
            assert not door.line.free()
            with trio.fail_after(30):
                while not door.line.free():  # noqa: ASYNC110 - it is told by no event
                    await trio.sleep(0.01)

    async def test_one_that_says_much_at_once_lets_others_have_their_turn(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A turn of no time ends after one move: of what has come, each message takes a turn of its own."""
        monkeypatch.setattr(LoopProbe, "turn_ends", lambda _probe, began: began + 1e-9)
        async with open_door() as door:
            connection, bot = await begun_by_hand(door)
            with connection, trio.fail_after(60):
                connection.send(b"".join(bot.message(b"%d" % n) for n in range(20)))
                before = 0
                while before < 20:
                    await trio.lowlevel.checkpoint()
                    # Two: which of two tasks is first in a turn of trio's is a matter of chance.
                    assert door.line._inbox._frames - before <= 2
                    before = door.line._inbox._frames


class TestACutLine:
    async def test_a_line_that_is_cut_without_a_word_is_noticed_and_the_bot_gets_in_again(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "PING_SECONDS", 0.1)
        monkeypatch.setattr(remote, "DEAD_SECONDS", 0.5)
        async with open_door() as door:
            silent, _ = await begun_by_hand(door)
            bot = client(door.lobby.endpoint, door.host.public, door.bot)
            await door.left()
            assert INVITED == await hear(bot)
            await door.serves(bot)
            silent.close()

    async def test_a_line_that_lives_is_not_taken_for_dead_while_both_are_silent(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "PING_SECONDS", 0.05)
        monkeypatch.setattr(remote, "DEAD_SECONDS", 1.5)
        async with open_door() as door:
            door.line.begin(door.bell, "t")
            bot = client(door.lobby.endpoint, door.host.public, door.bot)
            assert INVITED == await hear(bot)
            first = door.line._connection
            await trio.sleep(2.5)
            assert first is door.line._connection is not None
            await door.serves(bot)

    async def test_the_last_frame_goes_out_before_the_line_is_closed(self, client: Client, door: Door) -> None:
        door.line.begin(door.bell, "t")
        bot = client(door.lobby.endpoint, door.host.public, door.bot)
        assert INVITED == await hear(bot)
        bot.send(b"something that nobody reads any more")
        for _ in range(100):
            door.line.send(bytes(10_000))
        door.line.send(b"over")
        door.line.hang_up()
        assert [bytes(10_000)] * 100 == [await hear(bot) for _ in range(100)]
        assert b"over" == await hear(bot)


class TestAddresses:
    @pytest.mark.parametrize(
        ("origin", "address"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7", "::ffff:192.0.2.7"),
            ("2001:db8:1:2::/64", "2001:db8:1:2::1"),
            ("2001:db8:1:2::/64", "2001:db8:1:2:ffff::9"),
            ("2001:db8:1:3::/64", "2001:db8:1:3::1"),
            ("fe80::/64", "fe80::1%eth0"),
        ],
    )
    def test_strangers_are_counted_by_what_one_of_them_can_have(self, origin: str, address: str) -> None:
        assert origin == remote.origin(address)

    @pytest.mark.parametrize(
        ("text", "endpoint", "loopback"),
        [
            (":5555", "tcp://127.0.0.1:1", True),
            ("127.0.0.1:0", "tcp://127.0.0.1:1", True),
            ("0.0.0.0:5555", "tcp://0.0.0.0:1", False),
            ("[::1]:5555", "tcp://[::1]:1", True),
            ("192.0.2.7:80", "tcp://192.0.2.7:1", False),
            ("192.0.2.7:65535", "tcp://192.0.2.7:1", False),
        ],
    )
    def test_an_address_is_numbers(self, text: str, endpoint: str, loopback: bool) -> None:
        address = remote.read_address(text)
        assert (endpoint, loopback) == (address.endpoint(1), address.loopback)

    @pytest.mark.parametrize(
        "text", ["", "5555", "localhost:5555", "1.2.3:5", "1.2.3.4:x", "1.2.3.4:65536", "*:5"]
    )
    def test_names_and_what_is_no_address_are_refused(self, text: str) -> None:
        with pytest.raises(remote.BadAddressError, match=r"a numeric address|a port"):
            remote.read_address(text)
