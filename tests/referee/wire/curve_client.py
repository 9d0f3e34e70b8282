"""The client's side of CurveZMQ, written from the specification (RFC 26) for tests that need it to lie."""

from dataclasses import dataclass, field

from nacl import bindings

from referee.wire.keys import KeyPair, new_pair
from referee.wire.zmtp import framed, framed_command

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"CURVE".ljust(20, b"\0") + bytes(32)
SAYS_PAIR = b"\x0bSocket-Type\x00\x00\x00\x04PAIR"


def box(said: bytes, nonce: bytes, to: bytes, by: bytes) -> bytes:
    return bindings.crypto_box_afternm(said, nonce, bindings.crypto_box_beforenm(to, by))


def unbox(sealed: bytes, nonce: bytes, of: bytes, by: bytes) -> bytes:
    return bindings.crypto_box_open_afternm(sealed, nonce, bindings.crypto_box_beforenm(of, by))


def commands(heard: bytes) -> list[bytes]:
    """Return the bodies of short frames in order."""
    found = []
    while heard:
        found.append(heard[2 : 2 + heard[1]])
        heard = heard[2 + heard[1] :]
    return found


@dataclass
class Client:
    """One connection. Each method gives the bytes to be sent."""

    server: bytes
    """The host's public key."""
    keys: KeyPair = field(default_factory=new_pair)
    short: KeyPair = field(default_factory=new_pair)
    """The connection's own keys, C' and c'."""
    nonce: int = 0
    server_short: bytes = b""
    cookie: bytes = b""

    def next_nonce(self) -> bytes:
        self.nonce += 1
        return self.nonce.to_bytes(8, "big")

    def hello(self, version: bytes = b"\1\0") -> bytes:
        nonce = self.next_nonce()
        signature = box(bytes(64), b"CurveZMQHELLO---" + nonce, self.server, self.short.secret)
        return framed_command(b"\x05HELLO" + version + bytes(72) + self.short.public + nonce + signature)

    def hear_welcome(self, body: bytes) -> None:
        assert body.startswith(b"\x07WELCOME")
        nonce, sealed = body[8:24], body[24:]
        told = unbox(sealed, b"WELCOME-" + nonce, self.server, self.short.secret)
        self.server_short, self.cookie = told[:32], told[32:]

    def initiate(
        self, *, about: bytes = SAYS_PAIR, vouched: bytes | None = None, voucher: KeyPair | None = None
    ) -> bytes:
        """`vouched`: another content of the vouch. `voucher`: whose key seals it."""
        nonce, vouch_nonce = self.next_nonce(), bytes(range(16))
        content = self.short.public + self.server if vouched is None else vouched
        vouch = box(content, b"VOUCH---" + vouch_nonce, self.server_short, (voucher or self.keys).secret)
        told = self.keys.public + vouch_nonce + vouch + about
        sealed = box(told, b"CurveZMQINITIATE" + nonce, self.server_short, self.short.secret)
        return framed_command(b"\x08INITIATE" + self.cookie + nonce + sealed)

    def message(self, said: bytes, *, flags: int = 0, nonce: bytes | None = None) -> bytes:
        nonce = nonce or self.next_nonce()
        sealed = box(b"%c%b" % (flags, said), b"CurveZMQMESSAGEC" + nonce, self.server_short, self.short.secret)
        return framed(b"\x07MESSAGE" + nonce + sealed)

    def hear(self, body: bytes) -> bytes:
        """Content of a MESSAGE or a READY, flags first where there are any."""
        name, rest = body[1 : 1 + body[0]], body[1 + body[0] :]
        prefix = {b"READY": b"CurveZMQREADY---", b"MESSAGE": b"CurveZMQMESSAGES"}[name]
        return unbox(rest[8:], prefix + rest[:8], self.server_short, self.short.secret)
