"""How a transcript's lines hang together: numbered, each with the hash of the one before, the last one sealed.

Line 17 reads `{"line":17,"prev":"…","kind":"in",…}`, where `prev` is the SHA-256 of line 16 with its newline, so
that `sed -n 16p FILE | sha256sum` gives it. The last line is the footer. No line follows that could carry its
hash, so it ends with `"seal":"…"`: the SHA-256 of itself as it was before the seal was put in.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from protocol.codec import encode
from referee.match import Footer

NO_LINE = "0" * 64
"""What the first line carries as the hash of the one before."""
NEWLINE = ord("\n")
MAX_LINE_BYTES = 8 * 1024 * 1024
"""The longest line, newline included. A reader need not keep more in memory, whatever it is given."""
MOST_LEVELS = 128
"""How deep a line may be nested: twice as deep as a bot's message, which may be told back in a line. How deep the
interpreter can read depends on who reads: what was read could not be sent, or drawn."""
_BEFORE_SEAL, _AFTER_SEAL = b',"seal":"', b'"}\n'
_SEAL_BYTES = len(_BEFORE_SEAL) + len(NO_LINE) + len(_AFTER_SEAL)


class TranscriptError(Exception):
    """A transcript cannot be written or read. `path` names it, where it is known; `what` says what is wrong.

    While a match is written it is a fault of the referee's machine: the attempt is void, and no bot's loss.
    """

    def __init__(self, what: str, path: Path | None = None) -> None:
        super().__init__(f"{path}: {what}" if path else what)
        self.what = what
        self.path = path


class Broken(TranscriptError):  # noqa: N818 - a finding about a file, not an error of ours
    """A transcript is not as it was written. `line` counts from 1; `what` names it, too."""

    def __init__(self, line: int, what: str, path: Path | None = None) -> None:
        super().__init__(what, path)
        self.line = line


class Chain:
    """Makes lines out of records, each linked to the one before. `lines`: how many there are; `size`: in bytes."""

    __slots__ = ("_head", "lines", "size")

    def __init__(self) -> None:
        self.lines = self.size = 0
        self._head = NO_LINE.encode()

    @property
    def head(self) -> str:
        """Hash of the last line."""
        return self._head.decode()

    def link(self, body: bytes) -> bytes:
        """The line of a record, newline included; `body` is its JSON. Raises as `link_all`."""
        lines: list[bytes] = []
        self.link_all((body,), lines)
        return lines[0]

    def link_all(self, bodies: Iterable[bytes], lines: list[bytes]) -> None:
        """Adds the lines of records to `lines`, up to the first that cannot be one. One loop for all of a step.

        Raises:
            ValueError: a record cannot be written as one line, or what `bodies` raises.
        """
        number, size, head = self.lines, self.size, self._head
        try:
            for body in bodies:
                line = b'{"line":%d,"prev":"%b",%b\n' % (number + 1, head, body[1:])
                if len(line) > MAX_LINE_BYTES:
                    raise ValueError(f"{len(line)} bytes are too long for a line; {MAX_LINE_BYTES} are allowed")
                if NEWLINE in body:
                    raise ValueError("JSON that was given as it stands spans lines")
                number += 1
                size += len(line)
                head = sha256(line).hexdigest().encode()
                lines.append(line)
        finally:
            self.lines, self.size, self._head = number, size, head

    def link_parts(self, before: bytes, number: int, after: bytes) -> bytes:
        """The line of a record that was one already, with another number in it; `after` ends with the newline."""
        line = b'{"line":%d,"prev":"%b",%b%d%b' % (self.lines + 1, self._head, before, number, after)
        self._add(line)
        return line

    def seal(self, footer: Footer) -> bytes:
        """The last line."""
        line = sealed(opening(self.lines + 1, self.head) + encode(footer)[1:])
        self._add(line)
        return line

    def _add(self, line: bytes) -> None:
        self.lines += 1
        self.size += len(line)
        self._head = sha256(line).hexdigest().encode()


def opening(number: int, prev: str) -> bytes:
    """How line `number` begins, given the hash of the line before."""
    return b'{"line":%d,"prev":"%s",' % (number, prev.encode())


def hash_of(line: bytes) -> str:
    """The hash by which the next line refers to this one, newline included."""
    return sha256(line).hexdigest()


def seal_holds(line: bytes) -> bool:
    """Whether a footer's line, its seal included, is byte for byte as it was written."""
    return line == sealed(line[:-_SEAL_BYTES] + b"}")


def sealed(unsealed: bytes) -> bytes:
    """The last line, given what it is before its seal is put in, without an end of line."""
    return unsealed[:-1] + _BEFORE_SEAL + sha256(unsealed).hexdigest().encode() + _AFTER_SEAL
