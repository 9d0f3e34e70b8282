"""Who holds no key that is known gets no further than the handshake, whatever it says; RFC 26 is the rule book."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.wire.curve import HANDSHAKE_MOST, SERVER_GREETING, SecureConversation
from referee.wire.keys import KeyPair, new_pair
from referee.wire.zmtp import MOST_PARTS, ZmtpError, framed, framed_command
from tests.referee.wire.curve_client import GREETING, Client, commands

MOST = 5_000
HOST = new_pair()


def host() -> SecureConversation:
    return SecureConversation(HOST, MOST)


def heard(conversation: SecureConversation, data: bytes) -> list[bytes]:
    """Return the messages that these bytes complete."""
    conversation.hear(data, 0.0)
    found = []
    while (message := conversation.next()) is not None:
        found.append(message)
    return found


def welcomed(client: Client) -> SecureConversation:
    """Return a conversation up to its WELCOME."""
    conversation = host()
    assert [] == heard(conversation, GREETING + client.hello())
    answer = conversation.answer()
    assert SERVER_GREETING == answer[:64]
    client.hear_welcome(commands(answer[64:])[0])
    return conversation


def let_in(client: Client) -> SecureConversation:
    """One whose handshake is over."""
    conversation = welcomed(client)
    assert [] == heard(conversation, client.initiate())
    assert client.keys.public == conversation.client
    conversation.let_in()
    (ready,) = commands(conversation.answer())
    assert b"\x0bSocket-Type\x00\x00\x00\x04PAIR" == client.hear(ready)
    return conversation


def refused(conversation: SecureConversation, said: bytes) -> str:
    with pytest.raises(ZmtpError) as why:
        heard(conversation, said)
    return str(why.value)


class TestTheHandshake:
    def test_a_peer_is_identified_by_its_proved_key_and_admitted_before_more_is_read(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        assert [] == heard(conversation, client.initiate() + client.message(b"too early"))
        assert (client.keys.public, False) == (conversation.client, conversation.open)
        conversation.let_in()
        assert [b"too early"] == heard(conversation, b"")

    @given(st.lists(st.binary(max_size=600), max_size=5), st.lists(st.integers(1, 300), max_size=30))
    @settings(max_examples=30)
    def test_however_the_bytes_are_split_the_messages_are_the_same(
        self, said: list[bytes], cuts: list[int]
    ) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        data, found = b"".join(map(client.message, said)), []
        for cut in [*cuts, len(data)]:
            found += heard(conversation, data[:cut])
            data = data[cut:]
        assert said == found

    def test_messages_to_the_bot_are_encrypted_for_it_alone(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        sealed = conversation.framed(b"your secret")
        assert b"your secret" not in sealed
        assert b"\0your secret" == client.hear(commands(sealed)[0])

    def test_a_key_that_is_not_known_is_told_so_by_the_status_of_zap(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        heard(conversation, client.initiate())
        conversation.refuse()
        assert [b"\x05ERROR\x03400"] == commands(conversation.answer())
        assert not conversation.open

    def test_a_ping_inside_is_answered_by_a_pong_inside(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        assert [] == heard(conversation, client.message(b"\4PING\0\x0aabc", flags=2))
        (pong,) = commands(conversation.answer())
        assert b"\2\4PONGabc" == client.hear(pong)


class TestReplays:
    def test_a_hello_said_again_by_somebody_else_leads_to_a_welcome_that_is_of_no_use_to_them(self) -> None:
        client = Client(HOST.public)
        said = GREETING + client.hello()
        first, second = host(), host()
        for conversation in (first, second):
            heard(conversation, said)
        client.hear_welcome(commands(first.answer()[64:])[0])
        assert "not this connection's cookie" == refused(second, client.initiate())

    def test_a_recorded_handshake_is_of_no_use_on_another_connection(self) -> None:
        client = Client(HOST.public)
        recorded = GREETING + client.hello()
        conversation = host()
        heard(conversation, recorded)
        client.hear_welcome(commands(conversation.answer()[64:])[0])
        recorded += client.initiate()
        assert "not this connection's cookie" == refused(host(), recorded)

    def test_an_initiate_is_not_heard_twice(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        initiate = client.initiate()
        heard(conversation, initiate)
        conversation.let_in()
        assert "no MESSAGE" == refused(conversation, initiate)

    def test_a_hello_is_not_heard_twice(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        assert "no INITIATE" == refused(conversation, client.hello())

    def test_a_message_is_not_heard_twice(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        message = client.message(b"once")
        assert [b"once"] == heard(conversation, message)
        assert "a nonce that was used" == refused(conversation, message)

    @pytest.mark.parametrize("nonce", [0, 1, 2])
    def test_no_nonce_is_used_twice_not_even_one_of_the_handshake(self, nonce: int) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        assert "a nonce that was used" == refused(
            conversation, client.message(b"x", nonce=nonce.to_bytes(8, "big"))
        )

    def test_nor_is_that_of_hello_in_initiate(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        client.nonce = 0
        assert "a nonce that was used" == refused(conversation, client.initiate())

    def test_a_message_of_one_connection_is_none_of_another(self) -> None:
        one, other = Client(HOST.public), Client(HOST.public)
        let_in(one)
        conversation = let_in(other)
        assert "a box of another key" == refused(conversation, one.message(b"x"))


class TestImposters:
    def test_a_peer_that_expects_another_host_key_is_not_answered(self) -> None:
        conversation = host()
        why = refused(conversation, GREETING + Client(new_pair().public).hello())
        assert "expects a different host key" in why
        assert SERVER_GREETING == conversation.answer()

    def test_a_peer_without_the_secret_key_cannot_prove_the_public_one(self) -> None:
        known = new_pair()
        client = Client(HOST.public, keys=KeyPair(known.public, new_pair().secret))
        assert "a box of another key" == refused(welcomed(client), client.initiate())

    def test_a_vouch_for_another_connection_is_none(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        vouched = new_pair().public + HOST.public
        assert "vouches for something else" == refused(conversation, client.initiate(vouched=vouched))

    def test_a_vouch_to_another_host_is_none(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        vouched = client.short.public + new_pair().public
        assert "vouches for something else" == refused(conversation, client.initiate(vouched=vouched))

    def test_a_key_of_small_order_is_none(self) -> None:
        client = Client(HOST.public)
        hello = bytearray(client.hello())
        hello[2 + 80 : 2 + 112] = bytes(32)
        assert "no key" == refused(host(), GREETING + bytes(hello))

    def test_another_kind_of_socket_is_not_let_in(self) -> None:
        client = Client(HOST.public)
        conversation = welcomed(client)
        about = b"\x0bSocket-Type\x00\x00\x00\x06DEALER"
        assert "no PAIR socket" == refused(conversation, client.initiate(about=about))


class TestHostileBytes:
    @pytest.mark.parametrize(
        "said",
        [
            b"GET / HTTP/1.1",
            b"\xff" + bytes(8) + b"\x01",
            GREETING[:10] + b"\x01",
            GREETING.replace(b"CURVE", b"NULL\0"),
            GREETING.replace(b"CURVE", b"PLAIN"),
            GREETING + framed(b"a message at once"),
            GREETING + framed_command(b"\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"),
            GREETING + framed_command(b"\x05HELLO"),
            GREETING + framed_command(b"\x05HELLO" + bytes(193)),
            GREETING + Client(HOST.public).hello(version=b"\2\0"),
            GREETING + b"\4\xff" + bytes(255),
            GREETING + b"\6" + (HANDSHAKE_MOST + 1).to_bytes(8, "big"),
            GREETING + b"\6" + (1 << 63).to_bytes(8, "big"),
        ],
    )
    def test_bytes_that_no_client_sends_are_an_error(self, said: bytes) -> None:
        refused(host(), said)

    def test_half_a_greeting_is_waited_for_and_answered_by_ours_only(self) -> None:
        conversation = host()
        assert [] == heard(conversation, GREETING[:40])
        assert SERVER_GREETING == conversation.answer()

    def test_at_most_one_step_of_the_handshake_is_stored_for_an_unknown_peer(self) -> None:
        for said in (b"\6" + (1 << 40).to_bytes(8, "big"), b"\4\xff" + bytes(10)):
            conversation = host()
            with pytest.raises(ZmtpError):
                for _ in range(1_000):
                    heard(conversation, GREETING + said)
            assert len(conversation._held) <= HANDSHAKE_MOST + len(GREETING)

    @given(st.binary(max_size=400), st.integers(0, 3))
    def test_whatever_is_said_at_any_step_is_answered_or_error(self, noise: bytes, step: int) -> None:
        client = Client(HOST.public)
        make: list[Callable[[], SecureConversation]] = [
            host,
            _after_greeting,
            lambda: welcomed(client),
            lambda: let_in(client),
        ]
        conversation = make[step]()
        try:
            assert [] == heard(conversation, noise)
        except ZmtpError:
            return
        assert conversation.open is (step == 3)

    @given(st.integers(0, 10_000), st.integers(1, 255), st.sampled_from(["hello", "initiate", "message"]))
    def test_one_changed_byte_anywhere_in_a_step_and_it_is_error(self, at: int, by: int, step: str) -> None:
        client = Client(HOST.public)
        if step == "hello":
            conversation, said = _after_greeting(), bytearray(client.hello())
        elif step == "initiate":
            conversation = welcomed(client)
            said = bytearray(client.initiate())
        else:
            conversation = let_in(client)
            said = bytearray(client.message(b"words"))
        head = 9 if said[0] & 2 else 2  # a changed length is waited for, or too large
        said[head + at % (len(said) - head)] ^= by
        refused(conversation, bytes(said))

    def test_the_largest_message_is_one_and_a_larger_one_is_error(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        assert [bytes(MOST)] == heard(conversation, client.message(bytes(MOST)))
        refused(conversation, client.message(bytes(MOST + 1)))

    def test_sealed_parts_without_end_are_error_and_nothing_is_kept_of_them(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        sealed = len(client.message(b"", flags=1))
        client = Client(HOST.public)
        conversation = let_in(client)
        for n in range(min(MOST_PARTS - 1, MOST // sealed)):
            assert [] == heard(conversation, client.message(b"", flags=1)), n
            assert b"" == conversation._held
        refused(conversation, client.message(b"", flags=1) * 3)

    def test_a_sealed_message_of_parts_is_one_message_that_says_so(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        said = client.message(b"{}", flags=1) + client.message(b"{}") + client.message(b"next")
        assert [b"(a message of 2 parts)", b"next"] == heard(conversation, said)

    def test_an_encrypted_message_of_parts_counts_every_byte_of_the_wire(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        said = client.message(b"{}", flags=1) + client.message(b"{}")
        heard(conversation, said)
        assert len(said) == conversation.size

    def test_flags_that_mean_nothing_are_error(self) -> None:
        client = Client(HOST.public)
        refused(let_in(client), client.message(b"x", flags=4))

    def test_commands_without_end_are_error(self) -> None:
        client = Client(HOST.public)
        conversation = let_in(client)
        conversation._commands_left = 1.0
        assert [] == heard(conversation, client.message(b"\4PONG", flags=2))
        refused(conversation, client.message(b"\4PONG", flags=2))


def _after_greeting() -> SecureConversation:
    conversation = host()
    heard(conversation, GREETING)
    conversation.answer()
    return conversation
