"""What can be done to the open port with bare TCP: resets, half-closed connections, urgent bytes, noise."""

import errno
import os
import socket as kernel
import struct
from contextlib import suppress
from random import Random
from typing import Any

import pytest
import trio

from referee.wire import remote
from referee.wire.line import INBOX_FRAMES, OutOf
from tests.real_wire.remote import Client, Door, clients, open_door
from tests.real_wire.seat import hear
from tests.real_wire.test_remote_door import INVITED, begun_by_hand, by_hand, raw
from tests.real_wire.test_wire_abuse import descriptors
from tests.real_wire.test_wire_attacks import resting
from tests.referee.wire import curve_client


def reset(connection: kernel.socket) -> None:
    """End a connection as a crashed machine would: whatever is on its way is lost."""
    connection.setsockopt(kernel.SOL_SOCKET, kernel.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


async def comes_and_plays(door: Door, client: Client) -> None:
    """Assert that a bot gets in and is served."""
    bot = client(door.lobby.endpoint, door.host.public, door.bot)
    assert INVITED == await hear(bot)
    await door.serves(bot)


async def test_a_reset_makes_room_whenever_it_comes(door: Door) -> None:
    door.line.begin(door.bell, "t")
    for said in (b"", curve_client.GREETING[:20], curve_client.GREETING):
        connection = raw(door)
        connection.send(said)
        reset(connection)
    for _ in range(3):
        connection, bot = await by_hand(door)
        connection.send(bot.message(b"words"))
        assert b"words" == await door.frame()
        reset(connection)
        await door.left()
    with clients() as client:
        await comes_and_plays(door, client)


async def test_a_reset_while_the_inbox_is_full_is_seen_when_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PING_SECONDS", 600)
    async with open_door() as door:
        connection, bot = await begun_by_hand(door)
        connection.send(b"".join(bot.message(b"%d" % n) for n in range(2 * INBOX_FRAMES)))
        await trio.sleep(0.1)
        async with resting():
            reset(connection)
            door.line.send(b"window", timed=True)
        heard = [await door.frame() for _ in range(INBOX_FRAMES)]
        assert [b"%d" % n for n in range(INBOX_FRAMES)] == heard
        door.line.send(b"window", timed=True)
        with trio.fail_after(30):
            while door.line.connected:
                with suppress(trio.WouldBlock):
                    door.line.receive_nowait()
                await trio.sleep(0.001)
        while door.line.has_more():
            door.line.receive_nowait()
        with clients() as client:
            await comes_and_plays(door, client)


async def test_one_that_says_no_more_has_left_and_one_that_takes_nothing_is_heard_on(door: Door) -> None:
    connection, bot = await begun_by_hand(door)
    async with resting():
        connection.shutdown(kernel.SHUT_RD)
        for n in range(5):
            door.line.send(b"window", timed=True)
            connection.send(bot.message(b"%d" % n))
            assert b"%d" % n == await door.frame()
    async with resting():
        connection.send(bot.message(b"last words"))
        connection.shutdown(kernel.SHUT_WR)
        assert b"last words" == await door.frame()
        await door.left()
    connection.close()


async def test_urgent_bytes_are_harmless(door: Door) -> None:
    """TCP carries them beside the others."""
    connection, bot = await begun_by_hand(door)
    async with resting():
        connection.send(b"!", kernel.MSG_OOB)
    connection.send(bot.message(b"words"))
    assert b"words" == await door.frame()
    connection.close()


async def test_a_new_connection_waits_if_there_are_no_descriptors(
    monkeypatch: pytest.MonkeyPatch, door: Door
) -> None:
    door.line.begin(door.bell, "t")
    accept, refused = kernel.socket.accept, list[int]()

    def exhausted(listener: kernel.socket) -> Any:
        refused.append(1)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with clients() as client:
        with monkeypatch.context() as scarcity:
            scarcity.setattr(kernel.socket, "accept", exhausted)
            bot = client(door.lobby.endpoint, door.host.public, door.bot)
            async with resting():
                pass
            assert 1 < len(refused) < 20
        # It may be the bot that the match waits for: nobody knows yet.
        told = door.line.receive_nowait()
        assert isinstance(told, OutOf)
        assert os.strerror(errno.EMFILE) in told.what
        assert accept is kernel.socket.accept
        assert INVITED == await hear(bot)
        await door.serves(bot)


async def test_whatever_strangers_and_the_bot_do_the_port_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is raised there would end the matches of all remote seats."""
    monkeypatch.setattr(remote, "ACCEPT_SECONDS", 0.0)
    monkeypatch.setattr(remote, "HANDSHAKE_SECONDS", 0.1)
    monkeypatch.setattr(remote, "CUT_SECONDS", 0.0)
    rng = Random(3)
    async with open_door() as door:
        door.line.begin(door.bell, "t")
        before = descriptors()
        for n in range(150):
            known = rng.random() < 0.3
            if known:
                await door.left()
                connection, bot = await by_hand(door)
                said = bot.message(rng.randbytes(rng.randrange(300)), flags=rng.choice((0, 0, 1, 2, 3, 7)))
            else:
                connection = raw(door)
                bot = curve_client.Client(door.host.public, keys=door.bot)
                said = curve_client.GREETING + rng.choice((b"", bot.hello(), rng.randbytes(300)))
            spoiled = bytearray(said)
            if rng.random() < 0.5:
                spoiled[rng.randrange(len(said))] ^= 1 << rng.randrange(8)
            with suppress(OSError):
                connection.send(spoiled[: rng.randrange(1, len(said) + 1)])
                if rng.random() < 0.2:
                    connection.shutdown(rng.choice((kernel.SHUT_RD, kernel.SHUT_WR, kernel.SHUT_RDWR)))
            door.line.send(b"window %d" % n, timed=True)
            await trio.sleep(0.01 * rng.random())
            rng.choice((reset, kernel.socket.close))(connection)
            while door.line.has_more():
                door.line.receive_nowait()
        with trio.fail_after(30):
            await door.line.missing(0)
            while door.lobby._strangers or descriptors() > before:  # noqa: ASYNC110 - it is told by no event
                await trio.sleep(0.01)
        with clients() as client:
            await comes_and_plays(door, client)
