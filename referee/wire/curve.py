"""CurveZMQ (rfc.zeromq.org/spec/26), the server's side, and a ZeroMQ connection over an open network that uses it.

Pure but for the random numbers of keys. libsodium does the cryptography, through PyNaCl. A `Curve` serves one
connection, so that the cookie needs no state: it is a number known to this connection only, and an INITIATE
replayed from another connection does not match it.

libzmq's own CURVE with an authenticator (ZAP) is not used: libzmq bounds each part of a message but stores any
number of parts, even of an authenticated client; it hides when bytes arrived; and its memory grows with
unauthenticated connections without a bound. Here an unknown client may send `HANDSHAKE_MOST` bytes at a time, and
a known one is bounded like bots on this machine. The other end is any libzmq with CURVE.
"""

import hmac

from nacl import bindings, exceptions

from referee.wire.keys import KEY_BYTES, KeyPair
from referee.wire.zmtp import GREETING, MORE, Conversation, ZmtpError, framed, framed_command, says_pair

HELLO, WELCOME, INITIATE = b"\x05HELLO", b"\x07WELCOME", b"\x08INITIATE"
READY, MESSAGE, ERROR = b"\x05READY", b"\x07MESSAGE", b"\x05ERROR"
VERSION = b"\x01\x00"
_PADDING, _SIGNED, _BOX = 72, 64, 16
_NONCE, _LONG_NONCE, _COOKIE = 8, 16, 96
_HELLO_BYTES = len(HELLO) + len(VERSION) + _PADDING + KEY_BYTES + _NONCE + _SIGNED + _BOX
_VOUCH = 2 * KEY_BYTES + _BOX
_INITIATE_LEAST = len(INITIATE) + _COOKIE + _NONCE + _BOX + KEY_BYTES + _LONG_NONCE + _VOUCH
_MESSAGE_LEAST = len(MESSAGE) + _NONCE + _BOX + 1
OVERHEAD = _MESSAGE_LEAST
"""Bytes that encryption adds to a frame."""
SERVER_GREETING = GREETING[:12] + b"CURVE".ljust(20, b"\0") + b"\1" + bytes(31)
"""The `GREETING` of a server with this mechanism."""
HANDSHAKE_MOST = 1_024
"""The most bytes of a step of the handshake."""
_SEALED_COMMAND = 2
"""The flag of a command inside a MESSAGE."""
_SAYS = b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
UNKNOWN = b"400"
"""ZAP's status for a rejected client, after which libzmq does not try again."""


class CurveError(Exception):
    """The other end's bytes do not prove that it holds the right keys."""


class Curve:
    """One connection's keys. Call `hello`, `initiate`, `ready` once each, in order; then `seal` and `unseal`."""

    def __init__(self, server: KeyPair) -> None:
        self._server = server
        self._heard = 0  # the largest nonce received so far; each may be used once
        self._said = 0
        self._short: KeyPair
        self._client_short = b""
        self._cookie = b""
        self._shared = b""

    def hello(self, body: bytes) -> bytes:
        """Return the WELCOME for a HELLO. Only the sender of that HELLO can use it.

        Raises:
            CurveError: it is no HELLO to this server's key.
        """
        if len(body) != _HELLO_BYTES or not body.startswith(HELLO + VERSION + bytes(_PADDING)):
            raise CurveError("no HELLO")
        at = len(HELLO) + len(VERSION) + _PADDING
        self._client_short, nonce = body[at : at + KEY_BYTES], body[at + KEY_BYTES : at + KEY_BYTES + _NONCE]
        key = _shared(self._client_short, self._server.secret)
        try:
            _opened(body[-_SIGNED - _BOX :], b"CurveZMQHELLO---" + self._heard_nonce(nonce), key)
        except CurveError:
            raise CurveError("it expects a different host key") from None
        self._short = KeyPair(*bindings.crypto_box_keypair())
        self._cookie = bindings.randombytes(_COOKIE)
        long_nonce = bindings.randombytes(_LONG_NONCE)
        secret = self._short.public + self._cookie
        return WELCOME + long_nonce + bindings.crypto_box_afternm(secret, b"WELCOME-" + long_nonce, key)

    def initiate(self, body: bytes) -> tuple[bytes, bytes]:
        """Return the public key that an INITIATE proves, and its metadata.

        Raises:
            CurveError: it proves no key, or not on this connection.
        """
        if len(body) < _INITIATE_LEAST or not body.startswith(INITIATE):
            raise CurveError("no INITIATE")
        at = len(INITIATE)
        cookie, at = body[at : at + _COOKIE], at + _COOKIE
        if not hmac.compare_digest(cookie, self._cookie):
            raise CurveError("not this connection's cookie")
        self._shared = _shared(self._client_short, self._short.secret)
        nonce = self._heard_nonce(body[at : at + _NONCE])
        inside = _opened(body[at + _NONCE :], b"CurveZMQINITIATE" + nonce, self._shared)
        client, rest = inside[:KEY_BYTES], inside[KEY_BYTES:]
        vouch_nonce, vouch, about = rest[:_LONG_NONCE], rest[_LONG_NONCE:][:_VOUCH], rest[_LONG_NONCE + _VOUCH :]
        vouched = _opened(vouch, b"VOUCH---" + vouch_nonce, _shared(client, self._short.secret))
        if not hmac.compare_digest(vouched, self._client_short + self._server.public):
            raise CurveError("vouches for something else")
        return client, about

    def ready(self, about: bytes) -> bytes:
        """Return the READY that admits the other end, with this end's metadata."""
        nonce = self._next_nonce()
        return READY + nonce + bindings.crypto_box_afternm(about, b"CurveZMQREADY---" + nonce, self._shared)

    def seal(self, flags: int, content: bytes) -> bytes:
        """Return an encrypted MESSAGE.

        Send them in the order of the calls. Flags as in a frame: more, or command.
        """
        nonce = self._next_nonce()
        box = bindings.crypto_box_afternm(b"%c%b" % (flags, content), b"CurveZMQMESSAGES" + nonce, self._shared)
        return MESSAGE + nonce + box

    def unseal(self, body: bytes) -> tuple[int, bytes]:
        """Return the flags and content of a MESSAGE.

        Raises:
            CurveError: it was not encrypted on this connection, or was received before.
        """
        if len(body) < _MESSAGE_LEAST or not body.startswith(MESSAGE):
            raise CurveError("no MESSAGE")
        at = len(MESSAGE)
        nonce = self._heard_nonce(body[at : at + _NONCE])
        inside = _opened(body[at + _NONCE :], b"CurveZMQMESSAGEC" + nonce, self._shared)
        return inside[0], inside[1:]

    def _heard_nonce(self, nonce: bytes) -> bytes:
        """Return a nonce after checking that it is larger than all before, so that no message can be replayed."""
        number = int.from_bytes(nonce, "big")
        if number <= self._heard:
            raise CurveError("a nonce that was used")
        self._heard = number
        return nonce

    def _next_nonce(self) -> bytes:
        self._said += 1
        return self._said.to_bytes(_NONCE, "big")


def error(status: bytes) -> bytes:
    """Return an ERROR, which rejects the other end. libzmq passes its three digits to its owner."""
    return ERROR + b"%c%b" % (len(status), status)


def _shared(public: bytes, secret: bytes) -> bytes:
    try:
        return bindings.crypto_box_beforenm(public, secret)
    except (exceptions.CryptoError, RuntimeError):
        raise CurveError("no key") from None


def _opened(box: bytes, nonce: bytes, key: bytes) -> bytes:
    try:
        return bindings.crypto_box_open_afternm(box, nonce, key)
    except exceptions.CryptoError:
        raise CurveError("a box of another key") from None


class SecureConversation(Conversation):
    """See `Conversation`. When `client` is set, call `let_in` or `refuse` before more bytes are added."""

    greeting = SERVER_GREETING

    def __init__(self, server: KeyPair, most: int) -> None:
        """Set up a conversation with the server's keys, and the largest message in bytes of an admitted client."""
        super().__init__(b"", HANDSHAKE_MOST)
        self.client: bytes | None = None
        """The public key that the other end has proved; None: none yet."""
        self._curve = Curve(server)
        self._welcomed = False
        self._most_known = most

    def let_in(self) -> None:
        """Admit the client. Messages may be sent from now on."""
        self._answer += framed_command(self._curve.ready(_SAYS))
        self._most = self._most_known + OVERHEAD
        self.open = True

    def refuse(self) -> None:
        """Reject the client, whose key is unknown."""
        self._answer += framed_command(error(UNKNOWN))

    def only_message(self, data: bytes) -> None:
        """Return None: messages have to be decrypted first."""

    def framed(self, message: bytes) -> bytes:
        """See `Conversation`."""
        return framed(self._curve.seal(0, message))

    def framed_command(self, body: bytes) -> bytes:
        """See `Conversation`. After the handshake, commands are encrypted inside messages."""
        return framed(self._curve.seal(_SEALED_COMMAND, body))

    def _greet_back(self) -> None:
        """Do nothing: the client takes the next step."""

    def _frame(self) -> tuple[int, bytes] | None:
        if self.client is not None and not self.open:
            return None  # The client must be admitted or rejected first.
        frame = super()._frame()
        if frame is None or not self.open:
            return frame
        if frame[0] & MORE:
            raise ZmtpError("a sealed message of parts")
        try:
            flags, body = self._curve.unseal(frame[1])
        except CurveError as error:
            raise ZmtpError(str(error)) from None
        if flags > MORE | _SEALED_COMMAND:
            raise ZmtpError("a message of no kind")
        return flags & MORE | (flags & _SEALED_COMMAND) << 1, body

    def _hear_opening(self, body: bytes) -> None:
        try:
            if not self._welcomed:
                self._answer += framed_command(self._curve.hello(body))
                self._welcomed = True
                return
            client, about = self._curve.initiate(body)
        except CurveError as error:
            raise ZmtpError(str(error)) from None
        if not says_pair(about):
            raise ZmtpError("no PAIR socket")
        self.client = client
