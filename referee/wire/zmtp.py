"""ZeroMQ's wire protocol (ZMTP 3, rfc.zeromq.org/spec/23), as far as a PAIR socket needs it. Pure.

`socket_line` moves the bytes, and parses them here instead of with libzmq, which does not bound a message: it
limits each part, and stores any number of parts until the last one has arrived. A bot could make this process grow
without end. Here one bound applies to all parts of a message together, and parts are dropped.

`curve` has the encrypted and authenticated version for open networks.
"""

import re

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
"""Signature, version 3.1, mechanism, and filler."""
SIGNATURE_ENDS, VERSION_AT, MECHANISM = 9, 10, slice(12, 32)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR"
_READY_NAME, _PAIR = b"\x05READY", b"\x0bSocket-Type\x00\x00\x00\x04PAIR"
_PING, _PONG, _TTL_BYTES, _CONTEXT_BYTES = b"\x04PING", b"\x04PONG", 2, 16
PING = _PING + bytes(_TTL_BYTES)
"""A heartbeat request. Up to 16 bytes that follow it are returned with the answer."""
MORE, _LONG, COMMAND = 1, 2, 4
_SHORT_HEAD, _LONG_HEAD, _SHORT_MOST = 2, 9, 255
MOST_PARTS = 512
"""The most parts of a message that is refused by name. One with more parts closes the connection."""
COMMAND_BYTES = 1_024
"""The largest command in bytes. A heartbeat has about 25."""
COMMANDS_AT_ONCE = 1_000
"""The allowance of commands of a connection."""
COMMANDS_A_SECOND = 10
"""Commands added to the allowance per second: enough for heartbeats at any sane rate, however long a match
takes."""
FRAMES_AT_A_TIME = 64
"""Frames without a message that `next` parses before it returns, so that its caller can do other work."""


_PARTS = b"(a message of %d parts)"
_PARTS_SAID = re.compile(rb"\(a message of ([1-9][0-9]{0,2}) parts\)")


class ZmtpError(Exception):
    """The other end sent bytes that no ZeroMQ PAIR socket sends, or too large a message.

    The text names the fault.
    """


def framed(message: bytes) -> bytes:
    """Return a message of one part in its wire format."""
    size = len(message)
    if size <= _SHORT_MOST:
        return b"\0%c%b" % (size, message)
    return b"\2%b%b" % (size.to_bytes(8, "big"), message)


def framed_command(body: bytes) -> bytes:
    """Return a command of ZeroMQ in its wire format."""
    size = len(body)
    if size <= _SHORT_MOST:
        return b"\4%c%b" % (size, body)
    return b"\6%b%b" % (size.to_bytes(8, "big"), body)


def stands_for_parts(message: bytes) -> bool:
    """Return whether this is the text by which `Conversation.next` replaces a message of several parts."""
    return _PARTS_SAID.fullmatch(message) is not None


def says_pair(body: bytes) -> bool:
    """Return whether a READY command declares a PAIR socket."""
    return _PAIR.lower() in body.lower()


class Conversation:
    """Parses the bytes from the other end of a connection into messages. It stores at most one message.

    Call `hear` with received bytes, then `next` until it returns None and `unfinished` is false; then repeat.
    """

    greeting = GREETING
    """The greeting that this end sends."""

    def __init__(self, said: bytes, most: int) -> None:
        """Start with the bytes received so far.

        Args:
            said: bytes from the other end.
            most: the largest message in bytes, with all its parts and their heads.
        """
        self.open = False
        """True if the handshake is complete, so that messages may be sent."""
        self.size = 0
        """The size of the last message on the wire in bytes: its body; for several parts, all parts with their
        heads."""
        self.unfinished = False
        """True if `next` returned None before it had parsed all bytes."""
        self._most = most
        self._held = bytearray(said)
        self._greeted = False
        self._answer = self.greeting
        self._parts = 0  # of the message that is being read, without the last one
        self._parts_bytes = 0
        self._frame_size = 0  # of the last frame, on the wire
        self._commands_left = float(COMMANDS_AT_ONCE)
        self._heard_at = 0.0
        self.pong: bytes | None = None
        """The bytes returned by the last answer to a `PING`; None: no answer since this was last set to None."""

    def hear(self, data: bytes, at: float) -> None:
        """Add bytes received at a time, in seconds of any monotonic clock."""
        more = (at - self._heard_at) * COMMANDS_A_SECOND
        self._commands_left = min(COMMANDS_AT_ONCE, self._commands_left + more)
        self._heard_at = at
        self._held += data

    @property
    def holds_nothing(self) -> bool:
        """True if all bytes added have been parsed."""
        return not self._held

    def only_message(self, data: bytes) -> bytes | None:
        """Return the message if these bytes are exactly one: the usual case, without `hear` and `next`.

        Returns:
            The message; None: the bytes are something else, or earlier ones are not parsed yet. Pass them to
            `hear`.
        """
        if not self.open or self._held or self._parts or len(data) < _SHORT_HEAD:
            return None
        return data[_SHORT_HEAD:] if data[0] == 0 and data[1] == len(data) - _SHORT_HEAD else None

    def answer(self) -> bytes:
        """Return the bytes of the protocol itself to send to the other end now. Each is returned once."""
        answer, self._answer = self._answer, b""
        return answer

    def framed(self, message: bytes) -> bytes:
        """Return a message in its wire format. Send the results in the order of the calls."""
        return framed(message)

    def framed_command(self, body: bytes) -> bytes:
        """Return a command of ZeroMQ in its wire format, as `framed` does a message."""
        return framed_command(body)

    def next(self) -> bytes | None:
        """Return the next message, or None while it is incomplete, or after `FRAMES_AT_A_TIME` frames.

        A message of several parts, which is no message of the protocol, is replaced by a text that gives their
        number and does not decode.

        Raises:
            ZmtpError: see there. Later bytes have no meaning.
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
        """Count and drop a part that others follow."""
        self._parts += 1
        self._parts_bytes += self._frame_size
        if self._parts >= MOST_PARTS:
            raise ZmtpError(f"a message of more than {MOST_PARTS} parts")

    def _parts_end(self) -> bytes:
        """Return the text that replaces a message, at its last part."""
        self.size = self._parts_bytes + self._frame_size
        parts, self._parts, self._parts_bytes = self._parts + 1, 0, 0
        return _PARTS % parts

    def _frame(self) -> tuple[int, bytes] | None:
        """Return the next frame's flags and body; None: it is incomplete."""
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
        """Parse the other end's greeting; return whether it is complete.

        Raises:
            ZmtpError: it is no greeting, or one of another version or mechanism.
        """
        held = self._held
        ours = self.greeting
        theirs = bytes(held[: len(ours)])
        # Each byte at once: the first protocols, and other programs, send less than a whole greeting.
        if theirs[:1] not in {b"", ours[:1]} or theirs[SIGNATURE_ENDS:VERSION_AT] not in {b"", b"\x7f"}:
            raise ZmtpError("no greeting of ZeroMQ")
        if theirs[VERSION_AT : VERSION_AT + 1] > b"" and theirs[VERSION_AT] < ours[VERSION_AT]:
            raise ZmtpError("an older protocol of ZeroMQ")
        if len(theirs) < len(ours):
            return False
        if theirs[MECHANISM] != ours[MECHANISM]:
            raise ZmtpError("another mechanism of ZeroMQ")
        del held[: len(ours)]
        self._greeted = True
        self._greet_back()
        return True

    def _greet_back(self) -> None:
        """Answer the other end's greeting."""
        self._answer += READY

    def _hear_opening(self, body: bytes) -> None:
        """Handle a command during the handshake."""
        if not body.startswith(_READY_NAME) or not says_pair(body):
            raise ZmtpError("no READY of a PAIR socket")
        self.open = True

    def _command(self, body: bytes) -> None:
        """Handle a command of ZeroMQ."""
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
