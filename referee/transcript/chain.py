"""The chain of a transcript's lines: each has a number and the hash of the one before, and the last one is sealed.

Line 17 reads `{"line":17,"prev":"…","kind":"in",…}`, where `prev` is the SHA-256 of line 16 with its newline, so
that `sed -n 16p FILE | sha256sum` prints it. The last line is the footer. No line follows that could contain its
hash, so it ends with `"seal":"…"`: the SHA-256 of the line without the seal.
"""

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from protocol.codec import encode
from referee.match import Footer

NO_LINE = "0" * 64
"""The hash in the first line, which has no line before it."""
NEWLINE = ord("\n")
MAX_LINE_BYTES = 8 * 1024 * 1024
"""The longest line in bytes, newline included. A reader never needs more in memory, even for a hostile file."""
MOST_LEVELS = 128
"""The deepest nesting of a line: twice that of a bot's message, which may be quoted in a line. The interpreter's
own limit depends on the caller, so that text which was parsed once could fail to be sent or drawn."""
_BEFORE_SEAL, _AFTER_SEAL = b',"seal":"', b'"}\n'
_SEAL_BYTES = len(_BEFORE_SEAL) + len(NO_LINE) + len(_AFTER_SEAL)


class TranscriptError(Exception):
    """A transcript cannot be written or read. `path` is the file, if known; `what` is the error.

    During a match it is a fault of the referee's machine: the attempt is void, and no bot loses by it.
    """

    def __init__(self, what: str, path: Path | None = None) -> None:
        super().__init__(f"{path}: {what}" if path else what)
        self.what = what
        self.path = path


class Broken(TranscriptError):  # noqa: N818 - a finding about a file, not an error of ours
    """A transcript was changed. `line` counts from 1; `what` names it too."""

    def __init__(self, line: int, what: str, path: Path | None = None) -> None:
        super().__init__(what, path)
        self.line = line


class Chain:
    """Makes lines from records, each linked to the one before. `lines` is their number, `size` their bytes."""

    __slots__ = ("_head", "lines", "size")

    def __init__(self) -> None:
        self.lines = self.size = 0
        self._head = NO_LINE.encode()

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._head.decode()

    def link(self, body: bytes) -> bytes:
        """Return the line of a record with its newline, given the record's JSON.

        Raises:
            ValueError: as in `link_all`.
        """
        lines: list[bytes] = []
        self.link_all((body,), lines)
        return lines[0]

    def link_all(self, bodies: Iterable[bytes], lines: list[bytes]) -> None:
        """Append the lines of records to `lines`, up to the first that cannot be written.

        One loop serves a whole step.

        Raises:
            ValueError: a record cannot be written as one line. Errors of `bodies` are passed on.
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
        """Return the line of a record that is a line already, with another time; `after` ends with the newline."""
        line = b'{"line":%d,"prev":"%b",%b%d%b' % (self.lines + 1, self._head, before, number, after)
        self._add(line)
        return line

    def seal(self, footer: Footer) -> bytes:
        """Return the last line, with its seal."""
        line = sealed(opening(self.lines + 1, self.head) + encode(footer)[1:])
        self._add(line)
        return line

    def _add(self, line: bytes) -> None:
        self.lines += 1
        self.size += len(line)
        self._head = sha256(line).hexdigest().encode()


def opening(number: int, prev: str) -> bytes:
    """Return the start of line `number`, given the hash of the line before."""
    return b'{"line":%d,"prev":"%s",' % (number, prev.encode())


def hash_of(line: bytes) -> str:
    """Return the hash of a line with its newline, by which the next line refers to it."""
    return sha256(line).hexdigest()


def seal_holds(line: bytes) -> bool:
    """Return whether a footer's line with its seal is unchanged."""
    return line == sealed(line[:-_SEAL_BYTES] + b"}")


def sealed(unsealed: bytes) -> bytes:
    """Return the last line with its seal, given the line without seal and newline."""
    return unsealed[:-1] + _BEFORE_SEAL + sha256(unsealed).hexdigest().encode() + _AFTER_SEAL
