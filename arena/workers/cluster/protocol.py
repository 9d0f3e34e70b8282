"""What the arena and the workers of a cluster say to each other, as bytes: JSON, and MessagePack around files.

Dask would carry any object of Python's, pickled. Nothing of ours is: what comes back is decoded as one of these
types or refused, so that nothing that a bot wrote is ever made an object by its own wish.
"""

import zlib
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from arena.workers.protocol import Answer, Done, decoded, encoded
from referee.bot_folder import BotFolder
from referee.linux.private_file import for_owner
from referee.sandbox import Isolation
from referee.transcript import TranscriptError

LEVEL = 1
"""Compression level: a transcript shrinks to a tenth, at some 100 MB a second."""
MOST_BYTES = 512 * 1024 * 1024
"""The most of one file that came back: it may be a thousand times as large as what was sent."""


class Asked(Struct, frozen=True, kw_only=True):
    """What a worker needs for a tournament."""

    bots: tuple[BotFolder, ...]
    isolation: Isolation


class Arrival(Struct, frozen=True, kw_only=True):
    """What a worker says when it is first spoken to."""

    arena: str
    """Hash of the arena's own code there."""
    calibrated: int | None
    """How many matches at once that machine was found to carry; None: nobody has tried."""
    missing: tuple[str, ...]
    """The contents of bots that it does not have."""


class Ordered(Struct, frozen=True, kw_only=True):
    """A match for a worker."""

    arena: str
    """Which arena asks: a name of its own for each run."""
    slots: int
    """How many matches that arena will ask for at once."""
    isolation: Isolation
    order: Raw
    """A `workers.protocol.Order`."""
    store: str | None = None
    """Where its transcript goes; None: it comes back."""


class BotsGoneError(Exception):
    """A worker's copies of bots are gone, or were changed: what it played counts for nothing."""


class Returned(Struct, frozen=True, kw_only=True):
    """What came of it."""

    answer: bytes
    """A `workers.protocol.Answer`; empty if `bots_gone`."""
    bots_gone: bool = False
    """Whether copies of bots are not there as they were."""
    files: dict[str, bytes] = {}
    """The transcript and bots' logs that come back: by name, zlib."""


def bots_gone() -> bytes:
    """What is sent where bots are not there any more."""
    return msgspec.msgpack.encode(Returned(answer=b"", bots_gone=True))


def returned(answer: Answer, files: Path | None = None) -> bytes:
    """An answer to be sent, with all the files of a folder."""
    found = () if files is None else sorted(files.iterdir())
    content = {file.name: zlib.compress(file.read_bytes(), LEVEL) for file in found}
    return msgspec.msgpack.encode(Returned(answer=encoded(answer), files=content))


def received(words: bytes, transcript: Path) -> Answer:
    """The answer that came; its files are written beside where the transcript is to be.

    Raises:
        BotsGoneError: bots were not there; nothing is written then.
        TranscriptError: they cannot be written, one is larger than `MOST_BYTES`, or the transcript is not the one
            that was played.
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
        # One byte more tells what is too large from what just fits.
        inflated = inflating.decompress(content, MOST_BYTES + 1)
    except zlib.error as error:
        raise TranscriptError(f"a worker sent what cannot be read: {error}", path) from None
    if len(inflated) > MOST_BYTES:
        raise TranscriptError(f"a worker sent a file of more than {MOST_BYTES} bytes", path)
    if not inflating.eof:
        raise TranscriptError("a worker sent a file that is cut short", path)
    return inflated


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all under its name, as the referee does."""
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
