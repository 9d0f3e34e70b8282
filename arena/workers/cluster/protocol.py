"""The protocol between the arena and the workers of a cluster: JSON, and MessagePack around files.

Dask would carry any Python object, pickled. The arena sends and accepts only bytes: each reply is decoded as one
of these types or refused, so that data written by a bot is never unpickled.
"""

import zlib
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from arena.workers.protocol import Answer, Done, decoded, encoded
from referee.bot_folder import BotFolder
from referee.linux.files import for_owner
from referee.sandbox import Isolation
from referee.transcript import TranscriptError

LEVEL = 1
"""Compression level: a transcript shrinks to a tenth of its size, at about 100 MB per second."""
MOST_BYTES = 512 * 1024 * 1024
"""Maximum uncompressed size of one returned file, which may be a thousand times its compressed size."""


class Asked(Struct, frozen=True, kw_only=True):
    """The bots and the isolation that a worker needs for a tournament."""

    bots: tuple[BotFolder, ...]
    isolation: Isolation


class Arrival(Struct, frozen=True, kw_only=True):
    """A worker's reply to its first request."""

    arena: str
    """Hash of the arena's own code on the worker."""
    calibrated: int | None
    """Calibrated number of concurrent matches of that machine; None if it was not calibrated."""
    missing: tuple[str, ...]
    """Content hashes of the bots that the worker lacks."""


class Ordered(Struct, frozen=True, kw_only=True):
    """A match that a worker should play."""

    arena: str
    """Random name of the arena's connection, which differs between runs."""
    slots: int
    """Maximum number of concurrent matches that this arena will order."""
    isolation: Isolation
    order: Raw
    """An `arena.workers.protocol.Order` as JSON."""
    store: str | None = None
    """URL of the store for its transcript; None if the transcript is returned."""


class BotsGoneError(Exception):
    """A worker's copies of bots were deleted or changed, so the match does not count."""


class Returned(Struct, frozen=True, kw_only=True):
    """The reply to an `Ordered` match."""

    answer: bytes
    """An `arena.workers.protocol.Answer` as JSON; empty if `bots_gone`."""
    bots_gone: bool = False
    """Whether copies of bots were deleted or changed."""
    files: dict[str, bytes] = {}
    """The returned transcript and bots' logs by file name, compressed with zlib."""


def bots_gone() -> bytes:
    """Return the reply for a match whose copies of bots were deleted or changed."""
    return msgspec.msgpack.encode(Returned(answer=b"", bots_gone=True))


def returned(answer: Answer, files: Path | None = None) -> bytes:
    """Return a reply with an answer and all files of a folder."""
    found = () if files is None else sorted(files.iterdir())
    content = {file.name: zlib.compress(file.read_bytes(), LEVEL) for file in found}
    return msgspec.msgpack.encode(Returned(answer=encoded(answer), files=content))


def received(words: bytes, transcript: Path) -> Answer:
    """Decode a worker's reply, write its files next to the path of the transcript, and return its answer.

    Raises:
        BotsGoneError: copies of bots were deleted or changed; no file is written.
        TranscriptError: a file has a wrong name, is damaged, is larger than `MOST_BYTES` or cannot be written, or
            the transcript does not match the hash in the result.
    """
    message = msgspec.msgpack.decode(words, type=Returned)
    if message.bots_gone:
        raise BotsGoneError
    answer: Answer = decoded(message.answer, Answer)
    for name, content in message.files.items():
        if Path(name).name != name or not name.startswith(f"{transcript.stem}."):
            raise TranscriptError(f"a worker sent a file of another name: {name}", transcript)
        _write(transcript.with_name(name), _inflated(content, transcript.with_name(name)))
    if isinstance(answer, Done) and message.files:
        _check(answer, transcript)
    return answer


def _inflated(content: bytes, path: Path) -> bytes:
    inflating = zlib.decompressobj()
    try:
        # The extra byte shows whether the file exceeds the limit.
        inflated = inflating.decompress(content, MOST_BYTES + 1)
    except zlib.error as error:
        raise TranscriptError(f"a worker sent what cannot be read: {error}", path) from None
    if len(inflated) > MOST_BYTES:
        raise TranscriptError(f"a worker sent a file of more than {MOST_BYTES} bytes", path)
    if not inflating.eof:
        raise TranscriptError("a worker sent a file that is cut short", path)
    return inflated


def _write(path: Path, content: bytes) -> None:
    """Write a file atomically, as the referee does."""
    part = path.with_name(f"{path.name}.part")
    try:
        with open(part, "wb", opener=for_owner) as file:
            file.write(content)
        part.rename(path)
    except OSError as error:
        raise TranscriptError(error.strerror or str(error), path) from error


def _check(answer: Done, transcript: Path) -> None:
    last = transcript.read_bytes().rstrip(b"\n").rpartition(b"\n")[2] + b"\n"
    if sha256(last).hexdigest() != answer.result.head:
        raise TranscriptError("is not what was played: its last line has another hash", transcript)
