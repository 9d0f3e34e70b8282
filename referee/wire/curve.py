"""CurveZMQ (rfc.zeromq.org/spec/26), the server's side: proves who is at the other end, and seals what is said.

Pure but for the luck that keys are made of. Built on NaCl's boxes as libsodium makes them, through PyNaCl; nothing
is computed here by hand. One `Curve` is one connection, so that the cookie need hold no state: it is a number that
only this connection knows, and a replayed INITIATE is another's.
"""

import hmac

from nacl import bindings, exceptions

from referee.wire.keys import KEY_BYTES, KeyPair

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
"""By so much a sealed frame is longer than what is in it."""


class CurveError(Exception):
    """The other end does not say what one who holds the right keys would."""


class Curve:
    """One connection's keys. Call `hello`, `initiate`, `ready` once each, in order; then `seal` and `unseal`."""

    def __init__(self, server: KeyPair) -> None:
        self._server = server
        self._heard = 0  # the largest nonce that was used on this side of the line; one is used once only
        self._said = 0
        self._short: KeyPair
        self._client_short = b""
        self._cookie = b""
        self._shared = b""

    def hello(self, body: bytes) -> bytes:
        """Answers a HELLO: with a WELCOME, which only the sender of that very HELLO can use.

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
        """The public key that the other end proves to hold, and what it says of itself.

        Raises:
            CurveError: it proves to hold none, or not on this connection.
        """
        if len(body) < _INITIATE_LEAST or not body.startswith(INITIATE):
            raise CurveError("no INITIATE")
        at = len(INITIATE)
        cookie, at = body[at : at + _COOKIE], at + _COOKIE
        if not hmac.compare_digest(cookie, self._cookie):
            raise CurveError("not this connection's cookie")
        self._shared = _shared(self._client_short, self._short.secret)
        nonce = self._heard_nonce(body[at : at + _NONCE])
        told = _opened(body[at + _NONCE :], b"CurveZMQINITIATE" + nonce, self._shared)
        client, told = told[:KEY_BYTES], told[KEY_BYTES:]
        vouch_nonce, vouch, about = told[:_LONG_NONCE], told[_LONG_NONCE:][:_VOUCH], told[_LONG_NONCE + _VOUCH :]
        vouched = _opened(vouch, b"VOUCH---" + vouch_nonce, _shared(client, self._short.secret))
        if not hmac.compare_digest(vouched, self._client_short + self._server.public):
            raise CurveError("vouches for something else")
        return client, about

    def ready(self, about: bytes) -> bytes:
        """Lets the other end in: what we say of ourselves."""
        nonce = self._next_nonce()
        return READY + nonce + bindings.crypto_box_afternm(about, b"CurveZMQREADY---" + nonce, self._shared)

    def seal(self, flags: int, said: bytes) -> bytes:
        """A MESSAGE. It must go out in the order in which it was sealed. Flags as in a frame: more, or command."""
        nonce = self._next_nonce()
        box = bindings.crypto_box_afternm(b"%c%b" % (flags, said), b"CurveZMQMESSAGES" + nonce, self._shared)
        return MESSAGE + nonce + box

    def unseal(self, body: bytes) -> tuple[int, bytes]:
        """Flags and content of a MESSAGE.

        Raises:
            CurveError: it was not sealed on this connection, or was heard before.
        """
        if len(body) < _MESSAGE_LEAST or not body.startswith(MESSAGE):
            raise CurveError("no MESSAGE")
        at = len(MESSAGE)
        nonce = self._heard_nonce(body[at : at + _NONCE])
        said = _opened(body[at + _NONCE :], b"CurveZMQMESSAGEC" + nonce, self._shared)
        return said[0], said[1:]

    def _heard_nonce(self, nonce: bytes) -> bytes:
        """Nonces only grow: what was said once cannot be said again."""
        number = int.from_bytes(nonce, "big")
        if number <= self._heard:
            raise CurveError("a nonce that was used")
        self._heard = number
        return nonce

    def _next_nonce(self) -> bytes:
        self._said += 1
        return self._said.to_bytes(_NONCE, "big")


def error(status: bytes) -> bytes:
    """Tells the other end that it does not get in, and why: three digits, which libzmq hands on to its owner."""
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
