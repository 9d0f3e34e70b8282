"""What a connection says, however its bytes come: the same messages; and nothing of it is kept without bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.wire.zmtp import (
    COMMAND_BYTES,
    COMMANDS_A_SECOND,
    COMMANDS_AT_ONCE,
    FRAMES_AT_A_TIME,
    GREETING,
    MOST_PARTS,
    READY,
    Conversation,
    ZmtpError,
    framed,
    framed_command,
)

MOST = 1_100
OPENING = GREETING + READY


def command(body: bytes) -> bytes:
    return b"\4%c%b" % (len(body), body)


def part(body: bytes) -> bytes:
    return b"\1%c%b" % (len(body), body)


def heard(conversation: Conversation, data: bytes, at: float = 0.0) -> list[bytes]:
    """Return the messages that these bytes complete."""
    conversation.hear(data, at)
    found = []
    while (message := conversation.next()) is not None or conversation.unfinished:
        if message is not None:
            found.append(message)
    return found


def opened() -> Conversation:
    """One whose opening is over."""
    conversation = Conversation(OPENING, MOST)
    assert conversation.next() is None
    assert conversation.open
    conversation.answer()
    return conversation


messages = st.lists(st.one_of(st.binary(max_size=40), st.binary(min_size=250, max_size=300)), max_size=8)


@given(messages, st.lists(st.integers(1, 400)))
def test_however_the_bytes_are_split_the_messages_are_the_same(said: list[bytes], cuts: list[int]) -> None:
    data = OPENING + b"".join(map(framed, said))
    conversation = Conversation(b"", MOST)
    found = []
    for cut in [*cuts, len(data)]:
        found += heard(conversation, data[:cut])
        data = data[cut:]
    assert said == found


@given(st.binary(max_size=600), st.sampled_from([b"", GREETING, OPENING]))
def test_whatever_is_said_is_a_message_or_error(noise: bytes, before: bytes) -> None:
    try:
        found = heard(Conversation(b"", MOST), before + noise)
    except ZmtpError:
        return
    assert all(isinstance(message, bytes) for message in found)


def test_the_greeting_is_answered_at_once_and_its_end_by_ready() -> None:
    conversation = Conversation(GREETING[:10], MOST)
    assert (None, GREETING, False) == (conversation.next(), conversation.answer(), conversation.open)
    assert [] == heard(conversation, GREETING[10:])
    assert (READY, False) == (conversation.answer(), conversation.open)
    assert [] == heard(conversation, READY)
    assert (b"", True) == (conversation.answer(), conversation.open)


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1",
        b"\xff" + bytes(8) + b"\x01",
        GREETING[:10] + b"\x01",
        GREETING.replace(b"NULL", b"PLAIN"),
        GREETING + framed(b"hello"),
        GREETING + command(b"\5HELLO"),
        GREETING + READY.replace(b"PAIR", b"PULL"),
        OPENING + b"\x08\0",
        OPENING + b"\2" + (MOST + 1).to_bytes(8, "big"),
        OPENING + b"\6" + (1 << 63).to_bytes(8, "big"),
    ],
)
def test_bytes_that_no_pair_socket_sends_are_an_error(said: bytes) -> None:
    with pytest.raises(ZmtpError):
        heard(Conversation(b"", MOST), said)


def test_the_largest_message_is_one() -> None:
    assert [bytes(MOST)] == heard(opened(), framed(bytes(MOST)))


def test_a_message_of_parts_is_one_message_that_says_so() -> None:
    assert [b"(a message of 3 parts)", b"next"] == heard(
        opened(), part(b"{}") + part(b"{}") + framed(b"") + framed(b"next")
    )


@pytest.mark.parametrize(("body", "borne"), [(b"", MOST_PARTS - 1), (b"xxxx", MOST // 6)])
def test_parts_without_end_are_error_and_nothing_is_kept_of_them(body: bytes, borne: int) -> None:
    conversation = opened()
    for n in range(borne):
        assert [] == heard(conversation, part(body)), n
        assert b"" == conversation._held
    with pytest.raises(ZmtpError):
        heard(conversation, part(body))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"\x02" + (300_000).to_bytes(8, "big"), f"a message of 300000 bytes, more than {MOST}"),
        (
            part(bytes(100)) + b"\x02" + (MOST).to_bytes(8, "big"),
            f"a message of {MOST + 102} bytes, more than {MOST}",
        ),
        (part(b"") * MOST_PARTS, f"a message of more than {MOST_PARTS} parts"),
        (b"\xff" * 9, "no frame of ZeroMQ"),
    ],
)
def test_an_error_says_what_was_wrong(said: bytes, reason: str) -> None:
    with pytest.raises(ZmtpError, match=f"^{reason}$"):
        list(heard(opened(), said))


def test_many_messages_of_parts_are_each_within_the_bound() -> None:
    conversation = opened()
    for _ in range(10):
        assert [b"(a message of 201 parts)"] == heard(conversation, part(b"xx") * 200 + framed(b""))


def test_a_message_of_parts_counts_every_byte_and_a_whole_one_its_own() -> None:
    conversation = opened()
    for said, size in ((part(b"") * 200 + framed(b""), 402), (part(b"xyz") + framed(bytes(300)), 5 + 309)):
        heard(conversation, said)
        assert size == conversation.size == len(said)
    heard(conversation, framed(bytes(300)))
    assert 300 == conversation.size


def test_after_some_frames_without_a_message_its_caller_has_a_turn() -> None:
    conversation = opened()
    conversation.hear(part(b"") * (FRAMES_AT_A_TIME + 1) + framed(b""), 0.0)
    assert (None, True) == (conversation.next(), conversation.unfinished)
    assert b"(a message of %d parts)" % (FRAMES_AT_A_TIME + 2) == conversation.next()
    assert (None, False) == (conversation.next(), conversation.unfinished)


def test_a_ping_is_answered_by_a_pong_with_its_context() -> None:
    conversation = opened()
    assert [] == heard(conversation, command(b"\4PING\0\x0aabc"))
    assert command(b"\4PONGabc") == conversation.answer()


def test_other_commands_are_passed_over() -> None:
    conversation = opened()
    assert [b"m"] == heard(conversation, command(b"\4PONG") + command(b"\7UNHEARD") + framed(b"m"))
    assert b"" == conversation.answer()


def test_commands_without_end_are_error() -> None:
    conversation = opened()
    with pytest.raises(ZmtpError):
        heard(conversation, command(b"\4PONG") * COMMANDS_AT_ONCE)


def test_no_more_commands_are_borne_at_once_however_long_a_connection_lasts() -> None:
    conversation = opened()
    late = 1_000_000.0
    for _ in range(COMMANDS_AT_ONCE):
        assert [] == heard(conversation, command(b"\4PING\0\0"), late)
    with pytest.raises(ZmtpError):
        heard(conversation, command(b"\4PING\0\0"), late)


def test_the_bytes_of_a_heartbeats_answer_are_returned_and_no_other_command_is_an_answer() -> None:
    conversation = opened()
    assert [] == heard(conversation, command(b"\7UNHEARD") + command(b"\4PING\0\0"))
    assert conversation.pong is None
    assert [] == heard(conversation, command(b"\4PONG" + bytes(range(20))))
    assert bytes(range(16)) == conversation.pong


def test_heartbeats_may_go_on_for_ever() -> None:
    conversation = opened()
    for n in range(3 * COMMANDS_AT_ONCE):
        assert [] == heard(conversation, command(b"\4PING\0\0"), n / COMMANDS_A_SECOND)


def test_a_large_command_is_error() -> None:
    conversation = opened()
    assert [] == heard(conversation, framed_command(bytes(COMMAND_BYTES)))
    with pytest.raises(ZmtpError):
        Conversation(OPENING + framed_command(bytes(COMMAND_BYTES + 1)), 2 * COMMAND_BYTES).next()


@given(st.binary(max_size=300), st.binary(max_size=3))
def test_one_message_that_comes_alone_is_told_at_once_and_nothing_else_is(message: bytes, more: bytes) -> None:
    conversation = opened()
    alone = framed(message)
    for data in (alone, alone + more, alone[: len(alone) - len(more)], b"\1" + alone[1:], b"\4" + alone[1:], more):
        told = conversation.only_message(data)
        if told is not None:
            assert framed(told) == data
            assert heard(opened(), data) == [told]
    assert conversation.only_message(alone) == (message if len(message) <= 255 else None)
    assert [message] == heard(conversation, alone)


def test_bytes_that_follow_on_others_are_no_message_of_their_own() -> None:
    begun = opened()
    begun.hear(framed(b"whole")[:3], 0.0)
    assert not begun.holds_nothing
    parts = opened()
    assert [] == heard(parts, part(b"first"))
    assert parts.holds_nothing
    unopened = Conversation(GREETING, MOST)
    assert unopened.next() is None
    for conversation in (begun, parts, unopened):
        assert conversation.only_message(framed(b"whole")) is None
