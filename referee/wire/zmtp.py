"""What ZeroMQ says on a connection (ZMTP 3, rfc.zeromq.org/spec/23), as far as a PAIR socket says it. Pure.

`socket_line` moves the bytes and has them read here, and not by libzmq, which sets no bound to a message: it
limits each part, and holds any number of parts until the last one has come. A bot could so make this process
grow without end. Here a message has one bound, all its parts together, and nothing is kept of parts.

The same over an open network, in secret and only with those whose key is known, is `zmtp_curve`'s.
"""

import re

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
"""Signature, version 3.1, mechanism, and filler."""
SIGNATURE_ENDS, VERSION_AT, MECHANISM = 9, 10, slice(12, 32)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
_READY_NAME, _PAIR = b"\x05READY", b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
_PING, _PONG, _TTL_BYTES, _CONTEXT_BYTES = b"\x04PING", b"\x04PONG", 2, 16
PING = _PING + bytes(_TTL_BYTES)
"""Asks the other end for a sign of life. What follows it, up to 16 bytes, comes back with the answer."""
MORE, _LONG, COMMAND = 1, 2, 4
_SHORT_HEAD, _LONG_HEAD, _SHORT_MOST = 2, 9, 255
MOST_PARTS = 512
"""Parts of one message. One of fewer is refused by name; one of more costs its sender the connection."""
COMMAND_BYTES = 1_024
"""The size of one command: a heartbeat takes some 25."""
COMMANDS_AT_ONCE = 1_000
"""Commands of a connection that are borne at any time, as far as they have not come back since."""
COMMANDS_A_SECOND = 10
"""So many come back in a second: heartbeats at any sane pace, for as long as a match takes."""
FRAMES_AT_A_TIME = 64
"""`next` looks at so many frames without a message in them, then lets its caller do something else."""


_PARTS = b"(a message of %d parts)"
_PARTS_SAID = re.compile(rb"\(a message of ([1-9][0-9]{0,2}) parts\)")


class ZmtpError(Exception):
    """The other end says what no ZeroMQ PAIR socket says, or a message that is too large. The text says what."""


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


def stands_for_parts(message: bytes) -> bool:
    """Whether this is what `Conversation.next` tells of a message of parts."""
    return _PARTS_SAID.fullmatch(message) is not None


def says_pair(body: bytes) -> bool:
    """Whether what an end says of itself names a PAIR socket."""
    return _PAIR.lower() in body.lower()


class Conversation:
    """The other end's bytes of one connection, and the messages they make up. Holds one message's bytes at most.

    Call `hear` with what came, then `next` until it gives nothing and `unfinished` is false; then hear more.
    """

    greeting = GREETING
    """What we open with."""

    def __init__(self, said: bytes, most: int) -> None:
        """Begins with what the other end has said so far.

        `most`: how large a message may be, in bytes, with all its parts and what goes before each.
        """
        self.open = False
        """Whether both ends have said what they are: messages may be sent from now on."""
        self.size = 0
        """What the last message took on the wire, in bytes: its body; of one of parts, all of them with their
        heads."""
        self.unfinished = False
        """Whether `next` gave nothing although it has not looked at all that came."""
        self._most = most
        self._held = bytearray(said)
        self._greeted = False
        self._answer = self.greeting
        self._parts = 0  # of the message that is being read, but for the last one
        self._parts_bytes = 0
        self._frame_size = 0  # of the last frame, on the wire
        self._commands_left = float(COMMANDS_AT_ONCE)
        self._heard_at = 0.0
        self.pong: bytes | None = None
        """What the last answer to a `PING` gave back; None: nobody has answered since it was last set so."""

    def hear(self, data: bytes, at: float) -> None:
        """Bytes that came, and when: in seconds of any clock that does not go back."""
        more = (at - self._heard_at) * COMMANDS_A_SECOND
        self._commands_left = min(COMMANDS_AT_ONCE, self._commands_left + more)
        self._heard_at = at
        self._held += data

    @property
    def holds_nothing(self) -> bool:
        """Whether nothing was heard that is not a whole message or command yet, or not looked at."""
        return not self._held

    def only_message(self, data: bytes) -> bytes | None:
        """The usual case, which needs neither `hear` nor `next`: the message that these bytes are.

        None: they are something else, or what came before is not done with; they are to be heard.
        """
        if not self.open or self._held or self._parts or len(data) < _SHORT_HEAD:
            return None
        return data[_SHORT_HEAD:] if data[0] == 0 and data[1] == len(data) - _SHORT_HEAD else None

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
        """The next message, or None while it is not whole, or after `FRAMES_AT_A_TIME` frames.

        One of several parts, which is no message of the protocol, is told as text that says so and that does not
        decode.

        Raises:
            ZmtpError: see there. Nothing that the other end says afterwards has a meaning.
        """
        self.unfinished = False
        if not self._greeted and not self._greeting():
            return None
        for _ in range(FRAMES_AT_A_TIME):
            frame = self._frame()
            if frame is None:
                return None
            flags, body = frame
            if flags & COMMAND:
                self._command(body)
            elif not self.open:
                raise ZmtpError("a message before ZeroMQ's READY")
            elif flags & MORE:
                self._part()
            elif self._parts:
                return self._parts_end()
            else:
                self.size = len(body)
                return body
        self.unfinished = True
        return None

    def _part(self) -> None:
        """A part that others follow: counted, and dropped."""
        self._parts += 1
        self._parts_bytes += self._frame_size
        if self._parts >= MOST_PARTS:
            raise ZmtpError(f"a message of more than {MOST_PARTS} parts")

    def _parts_end(self) -> bytes:
        """The last part: what stands for the whole message."""
        self.size = self._parts_bytes + self._frame_size
        parts, self._parts, self._parts_bytes = self._parts + 1, 0, 0
        return _PARTS % parts

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
        if flags > COMMAND | _LONG:
            raise ZmtpError("no frame of ZeroMQ")
        if self._parts_bytes + size > self._most:
            raise ZmtpError(f"a message of {self._parts_bytes + size} bytes, more than {self._most}")
        end = head + size
        if len(held) < end:
            return None
        self._frame_size = end
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
            raise ZmtpError("no greeting of ZeroMQ")
        if told[VERSION_AT : VERSION_AT + 1] > b"" and told[VERSION_AT] < ours[VERSION_AT]:
            raise ZmtpError("an older protocol of ZeroMQ")
        if len(told) < len(ours):
            return False
        if told[MECHANISM] != ours[MECHANISM]:
            raise ZmtpError("another mechanism of ZeroMQ")
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
            raise ZmtpError("no READY of a PAIR socket")
        self.open = True

    def _command(self, body: bytes) -> None:
        """Acts on what ZeroMQ says for itself."""
        self._commands_left -= 1
        if self._commands_left < 0 or len(body) > COMMAND_BYTES:
            raise ZmtpError("too many commands of ZeroMQ, or one too large")
        if not self.open:
            self._hear_opening(body)
        elif body.startswith(_PING):
            pong = _PONG + body[len(_PING) + _TTL_BYTES :][:_CONTEXT_BYTES]
            self._answer += self.framed_command(pong)
        elif body.startswith(_PONG):
            self.pong = body[len(_PONG) :][:_CONTEXT_BYTES]
