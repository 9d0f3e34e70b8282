"""The traffic between the arena and the workers of a cluster: messages, archives of bots, and transcripts.

Messages are JSON, and MessagePack around files. Dask would carry any Python object, pickled. The arena sends and
accepts only bytes: each reply is decoded as one of these types or refused, so that data written by a bot is never
unpickled.

An archive has all files that count as a bot's content. The receiver computes the content hash again, and refuses
an archive whose hash differs from the announced one.

Transcripts return to the arena, or go to a store: a folder or an object store, accessed through fsspec.
"""

import re
import zlib
from glob import escape
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from arena.errors import WrongUse
from arena.workers.machine import BuildReport
from arena.workers.protocol import Answer, Done, decoded, encoded
from referee.bot_folder import (
    BotFolder,
    BotFolderError,
    ContentError,
    content_hash,
    copied,
    folder_items,
    kept_bot,
    pack,
    unpacked,
)
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
    builds: bool = True
    """False if workers need only have the bots, because one of them is to build them."""


class Arrival(Struct, frozen=True, kw_only=True):
    """A worker's reply to its first request."""

    arena: str
    """Hash of the arena's own code on the worker."""
    calibrated: int | None
    """Calibrated number of concurrent matches of that machine; None if it was not calibrated."""
    missing: tuple[str, ...]
    """Content hashes of the bots that the worker lacks."""


class BuildReply(Struct, frozen=True, kw_only=True):
    """A worker's reply to a build."""

    report: BuildReport | None = None
    lack: str = ""
    """Why the worker could not build, which is no fault of the bot."""


class Ordered(Struct, frozen=True, kw_only=True):
    """A match that a worker should play."""

    arena: str
    """Random name of the arena's connection, which differs between runs."""
    slots: int
    """Maximum number of concurrent matches that this arena will order."""
    isolation: Isolation
    order: Raw
    """An `arena.workers.protocol.MatchOrder` as JSON."""
    store: str | None = None
    """URL of the store for its transcript; None if the transcript is returned."""


class BotsGoneError(Exception):
    """A worker's copies of bots were deleted or changed, so the match does not count."""


class Returned(Struct, frozen=True, kw_only=True):
    """The reply to an `Ordered` match."""

    answer: bytes
    """An `arena.workers.protocol.Answer` as JSON; empty if `bots_gone`."""
    bots_gone: bool = False
    """True if copies of bots were deleted or changed."""
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


_CONTENT = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


def packed_bot(bot: BotFolder) -> bytes:
    """Return a compressed archive of a bot.

    Raises:
        BotFolderError: the folder cannot be read, or its content has changed.
    """
    try:
        archive = pack(folder_items(bot.folder))
        same = content_hash(bot.folder) == bot.content
    except (ContentError, OSError) as error:
        raise BotFolderError(f"{bot.folder}: cannot be sent to another machine: {error}") from None
    if not same:
        raise BotFolderError(f"{bot.folder}: cannot be sent to another machine: it is not as it was made")
    return archive


def store_bot(content: str, archive: bytes) -> None:
    """Unpack a received bot and store it on this machine.

    Raises:
        BotFolderError: the archive is broken, or its content does not match the announced hash.
        OSError: the bot cannot be written.
    """
    if not _CONTENT.fullmatch(content):
        raise BotFolderError(f"{content[:100]!r}: no hash of a content")
    try:
        found, _ = copied(unpacked(archive))
    except ContentError as error:
        raise BotFolderError(f"a bot arrived broken: {error}") from None
    if found != content:
        raise BotFolderError(f"a bot of content {content} was announced, and {found} arrived")


def arrived_bot(bot: BotFolder) -> BotFolder:
    """Return this machine's copy of another machine's bot, found by its content hash, which is checked again.

    Raises:
        BotFolderError: the copy is missing, was changed, or cannot be used on this machine.
    """
    return kept_bot(bot.content, given=bot.given)


INSTALL = "pip install '.[cluster]' in the arena's folder, or of its wheel: pip install 'WHEEL[cluster]'"


class Store:
    """A folder at a URL that fsspec supports: `s3://bucket/cup`, `file:///mnt/cup`, `memory://cup`."""

    def __init__(self, url: str) -> None:
        """Open the store; raise `WrongUse` if fsspec is not installed or does not support the URL."""
        try:
            import fsspec  # noqa: PLC0415 - only stores need it
        except ImportError:
            raise WrongUse(f"transcripts at {url} need fsspec: {INSTALL}") from None
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {url}: {error}") from None

    def prepare(self) -> None:
        """Create the store's folder, if it is missing.

        Raises:
            WrongUse: the folder cannot be created.
        """
        try:
            self._files.makedirs(self._root, exist_ok=True)
        except Exception as error:  # noqa: BLE001 - each kind of store has errors of its own
            raise WrongUse(f"transcripts cannot go to {self._root}: {error}") from None

    def move(self, transcript: Path) -> str:
        """Move a transcript and its bots' logs to the store, and return the transcript's URL.

        Raises:
            TranscriptError: a file cannot be written to the store; no local file is deleted.
        """
        # Only this attempt's files match; another attempt, NAME.2, may be in progress in the same folder.
        files = [transcript, *sorted(transcript.parent.glob(f"{escape(transcript.stem)}.seat-*"))]
        places = {file: self._put(file) for file in files}
        for file in files:
            file.unlink()
        return places[transcript]

    def _put(self, file: Path) -> str:
        """Copy a file to the store and return its URL; append a number to its name if that exists."""
        place = f"{self._root}/{file.name}"
        try:
            self._files.makedirs(self._root, exist_ok=True)
            number = 1
            while self._files.exists(place):
                # The existing file belongs to an attempt whose ledger entry was lost in a power cut; it remains.
                number += 1
                place = f"{self._root}/{file.name}.{number}"
            self._files.put_file(str(file), place)
        except Exception as error:
            raise TranscriptError(f"{type(error).__name__}: {error}", Path(place)) from error
        url: str = self._files.unstrip_protocol(place)
        return url
