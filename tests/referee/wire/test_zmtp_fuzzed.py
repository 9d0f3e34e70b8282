"""Whatever comes on a connection is a message or `ZmtpError`; nothing is kept beyond one message."""

from collections.abc import Callable
from random import Random

import pytest

from arena.stress import resident_bytes
from referee.wire.zmtp import COMMANDS_AT_ONCE, GREETING, MOST_PARTS, READY, Conversation, ZmtpError
from tests.long import cases
from tests.referee.wire.curve_client import Client
from tests.referee.wire.test_zmtp_curve import HOST, let_in

MOST = 4_096
READ = 8_192
"""Bytes that come at once, as libzmq and the kernel give them."""
GROWTH_BYTES = 4_000_000

Frame = Callable[[Random], bytes]


def a_size(rng: Random) -> int:
    """Mostly small, sometimes at a bound or beyond it."""
    return rng.choice(
        (0, 0, 1, 2, 22, 255, 256, 1_024, 1_025, MOST - 9, MOST, MOST + 1, 1 << 31, (1 << 63) - 1, 1 << 63)
    )


def a_head(rng: Random, size: int) -> bytes:
    """Of any flags, with a length that is right, wrong or in the longer spelling."""
    flags = rng.choice((0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 8, 255))
    if flags & 2 or size > 255:
        return bytes((flags | 2,)) + (size % (1 << 64)).to_bytes(8, "big")
    return bytes((flags, size))


def a_body(rng: Random, size: int) -> bytes:
    body = rng.choice((b"", b"\4PING", b"\4PONG", b"\5READY", b"\5ERROR", b'{"type":"hello"}')) + rng.randbytes(8)
    return body[:size] + bytes(max(0, min(size, MOST + 1) - len(body)))


def some_frames(rng: Random) -> bytes:
    """One frame, many small ones of the same kind, or noise."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.randbytes(rng.randrange(600))
    if kind <= 2:
        return rng.choice((b"\1\0", b"\4\0", b"\4\7\4PING\0\0", b"\0\0", b"\1\0\0\0")) * rng.randrange(1, 3_000)
    size = a_size(rng)
    return a_head(rng, size) + a_body(rng, size)


def an_opening(rng: Random) -> bytes:
    opening = bytearray(GREETING + READY)
    if rng.randrange(4) == 0:
        opening[rng.randrange(len(opening))] = rng.randrange(256)
    return bytes(opening[: rng.choice((len(opening), len(opening), len(opening), rng.randrange(len(opening))))])


def listen(conversation: Conversation, said: bytes, rng: Random) -> int:
    """Hears all of it as it would come; how many messages it was."""
    messages = 0
    while said:
        read = rng.choice((1, 2, 9, 64, READ, READ))
        conversation.hear(said[:read], 0.0)
        said = said[read:]
        while True:
            message = conversation.next()
            if message is None and not conversation.unfinished:
                break
            messages += message is not None
            assert message is None or len(message) <= conversation.size or b"parts)" in message
        assert len(conversation._held) <= MOST + READ + 9
        assert len(conversation.answer()) <= len(GREETING) + len(READY) + 24 * COMMANDS_AT_ONCE
    return messages


def fuzz(rng: Random) -> int:
    said = an_opening(rng) + b"".join(some_frames(rng) for _ in range(rng.randrange(12)))
    return listen(Conversation(b"", MOST), said, rng)


def fuzz_sealed(rng: Random) -> int:
    """A client that is let in, and whose frames are right, but for what is in them."""
    client = Client(HOST.public)
    conversation = let_in(client)
    conversation._most = MOST
    said = b""
    for _ in range(rng.randrange(6)):
        body, flags = a_body(rng, min(a_size(rng), MOST)), rng.choice((0, 0, 1, 2, 2, 3, 4, 255))
        said += b"".join(client.message(body, flags=flags) for _ in range(rng.choice((1, 1, 3, MOST_PARTS // 8))))
    if said and rng.randrange(3) == 0:
        spoilt = bytearray(said)
        spoilt[rng.randrange(len(said))] ^= rng.randrange(1, 256)
        said = bytes(spoilt)
    return listen(conversation, said, rng)


@pytest.mark.parametrize(("way", "short", "long"), [(fuzz, 1_000, 2_500), (fuzz_sealed, 80, 200)])
def test_whatever_is_said_is_messages_or_error_and_nothing_grows(
    way: Callable[[Random], int], short: int, long: int
) -> None:
    spoken = refused = 0
    before = 0
    for seed in range(number := cases(short, long)):
        if seed == number // 4:
            before = resident_bytes()
        try:
            spoken += way(Random(seed))
        except ZmtpError:
            refused += 1
    assert spoken > number / 2
    assert number / 10 < refused < number * 9 / 10
    assert resident_bytes() - before < GROWTH_BYTES
