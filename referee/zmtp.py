"""What ZeroMQ says on a connection (ZMTP 3, rfc.zeromq.org/spec/23), as far as a PAIR socket says it. Pure.

`wire` lets libzmq move the bytes, and `wire_line` has them read here, because libzmq itself sets no bound to a
message: it limits each part, and holds any number of parts until the last one has come. A bot could so make this
process grow without end. Here a message has one bound, all its parts together, and nothing is kept of parts.

The same over an open network, in secret and only with those whose key is known, is `zmtp_curve`'s.
"""

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
"""Signature, version 3.1, mechanism, and filler."""
SIGNATURE_ENDS, VERSION_AT, MECHANISM = 9, 10, slice(12, 32)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
_READY_NAME, _PAIR = b"\x05READY", b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
_PING, _PONG, _TTL_BYTES, _CONTEXT_BYTES = b"\x04PING", b"\x04PONG", 2, 16
PING = _PING + bytes(_TTL_BYTES)
"""Asks the other end for a sign of life."""
MORE, _LONG, COMMAND = 1, 2, 4
_SHORT_HEAD, _LONG_HEAD, _SHORT_MOST = 2, 9, 255
MOST_COMMANDS = 100_000
"""Of ZeroMQ's own after the opening, a connection: a heartbeat each second for a day."""


class NotSpoken(Exception):  # noqa: N818 - a finding about a bot, not an error of ours
    """The other end says what no ZeroMQ PAIR socket says, or a message that is too large."""


def framed(message: bytes) -> bytes:
    """A message of one part, as it goes out."""
    size = len(message)
    if size <= _SHORT_MOST:
        return b"\0%c%b" % (size, message)
    return b"\2%b%b" % (size.to_bytes(8, "big"), message)


def framed_command(body: bytes) -> bytes:
    """What ZeroMQ says for itself, as it goes out."""
    size = len(body)
    if size <= _SHORT_MOST:
        return b"\4%c%b" % (size, body)
    return b"\6%b%b" % (size.to_bytes(8, "big"), body)


def says_pair(body: bytes) -> bool:
    """Whether what an end says of itself names a PAIR socket."""
    return _PAIR.lower() in body.lower()


class Conversation:
    """The other end's bytes of one connection, and the messages they make up. Holds one message's bytes at most.

    Call `hear` with what came, then `next` until it gives nothing; then hear more.
    """

    greeting = GREETING
    """What we open with."""

    def __init__(self, said: bytes, most: int) -> None:
        """Begins with what the other end has said so far.

        `most`: how large a message may be, in bytes, with all its parts and what goes before each.
        """
        self.open = False
        """Whether both ends have said what they are: messages may be sent from now on."""
        self._most = most
        self._held = bytearray(said)
        self._greeted = False
        self._answer = self.greeting
        self._parts = 0  # of the message that is being read, but for the last one
        self._parts_bytes = 0
        self._commands = 0

    def hear(self, data: bytes) -> None:
        """Bytes that came."""
        self._held += data

    def answer(self) -> bytes:
        """What is to be said to the other end now, besides messages; each is told once."""
        answer, self._answer = self._answer, b""
        return answer

    def framed(self, message: bytes) -> bytes:
        """A message to the other end, as it goes out. What this gives goes out in the order it was asked for."""
        return framed(message)

    def framed_command(self, body: bytes) -> bytes:
        """The same of what ZeroMQ says for itself."""
        return framed_command(body)

    def next(self) -> bytes | None:
        """The next message, or None while it is not whole.

        One of several parts, which is no message of the protocol, is told as text that says so and that does not
        decode.

        Raises:
            NotSpoken: see there. Nothing that the other end says afterwards has a meaning.
        """
        if not self._greeted and not self._greeting():
            return None
        while (frame := self._frame()) is not None:
            flags, body = frame
            if flags & COMMAND:
                self._command(body)
            elif not self.open:
                raise NotSpoken("a message before READY")
            elif flags & MORE:
                self._parts += 1
                self._parts_bytes += len(body) + (_SHORT_HEAD if len(body) <= _SHORT_MOST else _LONG_HEAD)
            elif self._parts:
                parts, self._parts, self._parts_bytes = self._parts + 1, 0, 0
                return b"(a message of %d parts)" % parts
            else:
                return body
        return None

    def _frame(self) -> tuple[int, bytes] | None:
        """The next frame's flags and body, once it is there."""
        held = self._held
        if len(held) < _SHORT_HEAD:
            return None
        flags = held[0]
        if flags & _LONG:
            if len(held) < _LONG_HEAD:
                return None
            head, size = _LONG_HEAD, int.from_bytes(held[1:_LONG_HEAD], "big")
        else:
            head, size = _SHORT_HEAD, held[1]
        if flags > COMMAND | _LONG or self._parts_bytes + size > self._most:
            raise NotSpoken("a frame of no kind, or too large")
        end = head + size
        if len(held) < end:
            return None
        body = bytes(held[head:end])
        del held[:end]
        return flags, body

    def _greeting(self) -> bool:
        """Whether the other end's opening is there."""
        held = self._held
        ours = self.greeting
        told = bytes(held[: len(ours)])
        # Each as soon as it is there: the first protocols, and what is none, send less than a whole greeting.
        if told[:1] not in {b"", ours[:1]} or told[SIGNATURE_ENDS:VERSION_AT] not in {b"", b"\x7f"}:
            raise NotSpoken("no greeting")
        if told[VERSION_AT : VERSION_AT + 1] > b"" and told[VERSION_AT] < ours[VERSION_AT]:
            raise NotSpoken("an older protocol")
        if len(told) < len(ours):
            return False
        if told[MECHANISM] != ours[MECHANISM]:
            raise NotSpoken("another mechanism")
        del held[: len(ours)]
        self._greeted = True
        self._greet_back()
        return True

    def _greet_back(self) -> None:
        """What follows on the other end's greeting."""
        self._answer += READY

    def _hear_opening(self, body: bytes) -> None:
        """A command before the conversation is open."""
        if not body.startswith(_READY_NAME) or not says_pair(body):
            raise NotSpoken("no READY of a PAIR socket")
        self.open = True

    def _command(self, body: bytes) -> None:
        """Acts on what ZeroMQ says for itself."""
        self._commands += 1
        if not self.open:
            self._hear_opening(body)
        elif self._commands > MOST_COMMANDS:
            raise NotSpoken("too many commands")
        elif body.startswith(_PING):
            pong = _PONG + body[len(_PING) + _TTL_BYTES :][:_CONTEXT_BYTES]
            self._answer += self.framed_command(pong)
