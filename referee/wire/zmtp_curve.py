"""A ZeroMQ connection over an open network: `zmtp` behind the mechanism CURVE. Pure but for the luck of `curve`.

Why our own, and not libzmq's CURVE with an authenticator (ZAP) in front: libzmq bounds each part of a message, and
holds any number of parts, also of one who is in; it does not tell when bytes came; and it grows with those who
knock, at a pace and number that nobody sets. Here what somebody unknown may say is `HANDSHAKE_MOST` bytes at a
time, and what somebody known may say is bounded as for bots on this machine. libsodium does the cryptography. The
other end is any libzmq with CURVE.
"""

from referee.wire.curve import OVERHEAD, Curve, CurveError, error
from referee.wire.keys import KeyPair
from referee.wire.zmtp import GREETING, MORE, Conversation, ZmtpError, framed, framed_command, says_pair

SERVER_GREETING = GREETING[:12] + b"CURVE".ljust(20, b"\0") + b"\1" + bytes(31)
"""As `GREETING`, with this mechanism, as its server."""
HANDSHAKE_MOST = 1_024
"""Every step of the handshake is smaller than this, in bytes."""
_SEALED_COMMAND = 2
"""The flag of a command inside a MESSAGE."""
_SAYS = b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
UNKNOWN = b"400"
"""The status of ZAP for somebody who is not let in; libzmq does not try again then."""


class SecureConversation(Conversation):
    """See `Conversation`. When `client` is set, it is to be let in, or refused, before more is heard."""

    greeting = SERVER_GREETING

    def __init__(self, server: KeyPair, most: int) -> None:
        """`server`: our keys. `most`: how large a message may be once it is let in."""
        super().__init__(b"", HANDSHAKE_MOST)
        self.client: bytes | None = None
        """The public key that the other end has proved to hold."""
        self._curve = Curve(server)
        self._welcomed = False
        self._most_known = most

    def let_in(self) -> None:
        """Opens the conversation: messages may be sent from now on."""
        self._answer += framed_command(self._curve.ready(_SAYS))
        self._most = self._most_known + OVERHEAD
        self.open = True

    def refuse(self) -> None:
        """Tells the other end that its key is not known here."""
        self._answer += framed_command(error(UNKNOWN))

    def only_message(self, data: bytes) -> None:
        """See `Conversation`: what comes here has to be unsealed."""

    def framed(self, message: bytes) -> bytes:
        """See `Conversation`."""
        return framed(self._curve.seal(0, message))

    def framed_command(self, body: bytes) -> bytes:
        """See `Conversation`: within a message, as all that follows on the handshake."""
        return framed(self._curve.seal(_SEALED_COMMAND, body))

    def _greet_back(self) -> None:
        """Sends nothing: the next step is the client's."""

    def _frame(self) -> tuple[int, bytes] | None:
        if self.client is not None and not self.open:
            return None  # Whether to let the client in is decided first.
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
