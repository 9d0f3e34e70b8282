"""The messages between the web server and the referee's process of a practice match, and the files in its folder.

They meet at a socket in a folder that only the user may enter. A connection carries one request, in one line of
JSON, and its answer: a line with a status, then the body. The folder's `/proc` path keeps the socket's address
short.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from typing import Annotated, Any, Literal

import trio
from msgspec import Meta, Struct

from arena.practice.order import Terms
from protocol.codec import Refused, decode_untrusted, encode

SOCKET, SEATS, TRANSCRIPT, REPLAY, ERRORS = "socket", "seats.json", "match.jsonl", "replay.html", "errors.txt"
MOST_REQUEST = 20 * 1024
"""Maximum bytes of a request's line."""
MOST_ANSWER = 64 * 1024
"""Maximum bytes of an answer that is no stream."""
MOST_LOG = 8 * 1024 * 1024
"""Maximum bytes of the file with the messages to a seat."""
READ_BYTES = 64 * 1024
REQUEST_SECONDS = 5.0
READY = b"ready\n"
Index = Annotated[int, Meta(ge=-1, le=2**31)]


class Assignment(Struct, frozen=True, kw_only=True):
    """A match to be played, as its process is told on standard input."""

    id: str
    terms: Terms
    holder: str
    """Hash of the secret of the browser that ordered it."""
    address: str
    """Address by which the visitor is counted; "" for this machine's own."""


class SeatsFile(Struct, frozen=True, kw_only=True):
    """The file `seats.json`: to whom the match's seats belong, for as long as its folder lies there."""

    game: str
    title: str
    holders: tuple[str, ...]
    """Hash of the secret of each seat's browser; "" for a bot's seat, and for one that is free."""
    made_by: str
    address: str
    over: bool = False
    """True if the match is over and its replay may be shown."""
    gone: str = ""
    """Why the match ended without a result; "" if it did not."""

    @property
    def has_ended(self) -> bool:
        """True if the match has ended, with a result or without one."""
        return self.over or bool(self.gone)

    def seat_of(self, holder: str) -> int | None:
        """Return the seat of a browser, in constant time for each seat."""
        return seat_in(self.holders, holder)


class Said(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a browser says: the body of a POST to `say`."""

    do: Literal["preview", "submit", "done", "undo", "pause", "resume", "leave", "ping", "invite"]
    window: Index = -1
    text: str = ""
    final: bool = False
    n: float = 0
    seat: Index = -1


class Request(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request of the web server."""

    do: Literal["stream", "say", "join"]
    holder: str = ""
    """Hash of the browser's secret."""
    after: int = -1
    """Number of the last message that the browser has, for a stream."""
    key: str = ""
    """Hash of a link's secret, to join."""
    said: Said | None = None
    """What the browser says."""


class Answer(Struct, frozen=True):
    """An answer that is no stream."""

    status: int
    body: bytes


def answer_of(status: int, **fields: Any) -> Answer:
    """Return an answer with JSON fields."""
    return Answer(status, encode(fields))


def hash_of(secret: str) -> str:
    """Return the hash under which a secret is stored. It has 256 random bits, so it needs no salt."""
    return sha256(secret.encode()).hexdigest()


def seat_in(holders: tuple[str, ...], holder: str) -> int | None:
    """Return the seat of a browser by the hash of its secret; None: it has none."""
    found = None
    for seat, each in enumerate(holders):
        if each and holder and compare_digest(each, holder):
            found = seat
    return found


@contextmanager
def short_address(folder: Path) -> Iterator[str]:
    """Yield the address of a folder's socket, which must be short, while its folder is open."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


def listen(folder: Path) -> trio.SocketListener:
    """Return a socket that listens in a folder."""
    own = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC)
    with short_address(folder) as address:
        with suppress(FileNotFoundError):
            (folder / SOCKET).unlink()
        own.bind(address)
        own.listen(64)
    return trio.SocketListener(trio.socket.from_stdlib_socket(own))


async def connect(folder: Path) -> trio.SocketStream:
    """Connect to the process of a match. Raises OSError if there is none."""
    own = trio.socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_address(folder) as address:
            await own.connect(address)
    except BaseException:
        own.close()
        raise
    return trio.SocketStream(own)


async def read_line(stream: trio.abc.ReceiveStream, most: int, data: bytes = b"") -> tuple[bytes, bytes] | None:
    """Return a line without its end, and what came after it; None if the stream ends, or the line is too long.

    `data`: what was read already.
    """
    while b"\n" not in data:
        if len(data) > most:
            return None
        more = await stream.receive_some(READ_BYTES)
        if not more:
            return None
        data += bytes(more)
    line, _, rest = data.partition(b"\n")
    return line, rest


async def ask(folder: Path, request: Request) -> Answer:
    """Ask the process of a match for an answer that is no stream.

    Raises:
        OSError: there is no such process any more.
        trio.TooSlowError: it does not answer in time.
    """
    with trio.fail_after(REQUEST_SECONDS):
        try:
            async with await connect(folder) as stream:
                await stream.send_all(encode(request) + b"\n")
                found = await read_line(stream, MOST_ANSWER)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise ConnectionResetError from None
    if found is None:
        raise ConnectionResetError
    status, _, body = found[0].partition(b" ")
    return Answer(int(status), body)


def log_file(folder: Path, seat: int) -> Path:
    """Return the file with all messages to a person's seat, which is there when the match has ended."""
    return folder / f"seat-{seat}.events"


def read_seats(folder: Path) -> SeatsFile | None:
    """Return the file `seats.json` of a match; None if there is none."""
    try:
        return decode_untrusted((folder / SEATS).read_bytes(), SeatsFile)
    except (OSError, Refused):
        return None


def write_seats(folder: Path, seats: SeatsFile) -> None:
    """Write the file `seats.json` of a match at once: it is never half there."""
    part = folder / f"{SEATS}.part"
    part.touch(0o600)
    part.write_bytes(encode(seats))
    part.replace(folder / SEATS)
