"""A ZeroMQ connection over an open network: `zmtp` with the mechanism CURVE.

Pure but for `curve`'s random numbers.

libzmq's own CURVE with an authenticator (ZAP) is not used: libzmq bounds each part of a message but stores any
number of parts, even of an authenticated client; it hides when bytes arrived; and its memory grows with
unauthenticated connections without a bound. Here an unknown client may send `HANDSHAKE_MOST` bytes at a time, and
a known one is bounded like bots on this machine. libsodium does the cryptography. The other end is any libzmq with
CURVE.
"""

from referee.wire.curve import OVERHEAD, Curve, CurveError, error
from referee.wire.keys import KeyPair
from referee.wire.zmtp import GREETING, MORE, Conversation, ZmtpError, framed, framed_command, says_pair

SERVER_GREETING = GREETING[:12] + b"CURVE".ljust(20, b"\0") + b"\1" + bytes(31)
"""The `GREETING` of a server with this mechanism."""
HANDSHAKE_MOST = 1_024
"""The most bytes of a step of the handshake."""
_SEALED_COMMAND = 2
"""The flag of a command inside a MESSAGE."""
_SAYS = b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
UNKNOWN = b"400"
"""ZAP's status for a rejected client, after which libzmq does not try again."""


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
