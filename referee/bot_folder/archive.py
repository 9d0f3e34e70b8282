"""A bot's content as bytes: packed for another machine, or unpacked from an archive that its author uploaded.

The packed form is a format of the project, which `content` checks on both ends: tar has more kinds of members,
headers and names than a bot needs, and Python's reader of it has no limits (a pax header of 61 KiB took 45 s).

    packed  = zlib(member*  four zero bytes)
    member  = length of the header (4 bytes, big-endian)  header  the file's bytes, or the link's target
    header  = a `Member` as JSON

Authors upload ZIP and tar files, of which Python's readers have no limits either. So a separate process
(`unpacking`) unpacks such an archive, within limits of memory, time and disk that the kernel enforces.
"""

import errno
import io
import os
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from referee.bot_folder.content import IGNORED, MEGABYTE, MOST_FILES, MOST_MB, ContentError, Item, bounded
from referee.bot_folder.manifest import FILE
from referee.display_text import printable
from referee.linux.files import open_regular

LONGEST_HEADER = 16 * 1024
"""Maximum bytes of a header. JSON takes at most six bytes per byte of a name."""
BLOCK = 256 * 1024
LEVEL = 6
"""The level of compression. A folder is packed once and sent to each machine."""
_LENGTH = 4
"""Bytes of the field with a header's length."""
ENDINGS = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""Suffixes of the names of archives."""
MOST_MEMORY = 1_024 * MEGABYTE
MOST_SECONDS = 60
"""Maximum seconds of processor time for unpacking."""
SHORTAGE = 3
"""Exit code of the process that unpacks if the machine lacks a resource; it prints the number of the error."""
COPIES = 2
"""Number of copies that are made of an unpacked bot: in the cache, and among a competition's entries."""
LONGEST_COMPLAINT = 500
_KILLED = (-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP)
"""Return codes of a process that was ended from outside; too much time or memory gives other codes."""
PATIENCE_SECONDS = 300
"""Maximum seconds of wall time for unpacking; generous, since the machine may be busy."""


class Member(Struct, frozen=True, forbid_unknown_fields=True):
    """The header of a file or link; fields as in `content.Item`."""

    name: str
    kind: Literal["f", "x", "l"]
    size: Annotated[int, Meta(ge=0, le=2**62)]


def pack(items: Iterable[Item]) -> bytes:
    """Return a bot's content as bytes for `unpacked`.

    Raises:
        ContentError: the content is not allowed.
    """
    deflater = zlib.compressobj(LEVEL)
    packed = io.BytesIO()
    for item in bounded(items):
        header = msgspec.json.encode(Member(item.name.decode(), item.kind.decode(), item.size))  # type: ignore[arg-type]
        packed.write(deflater.compress(len(header).to_bytes(_LENGTH) + header))
        left = item.size
        for block in item.blocks:
            left -= len(block)
            packed.write(deflater.compress(block))
        if left:
            raise ContentError(item.name, "was changed while it was read")
    packed.write(deflater.compress(bytes(_LENGTH)) + deflater.flush())
    return packed.getvalue()


def unpacked(packed: bytes) -> Iterator[Item]:
    """Yield the items of packed bytes, for `content.copied`, which checks them.

    Raises:
        ContentError: these bytes are no archive.
    """
    content = _Inflated(packed)
    while length := int.from_bytes(content.read_all(_LENGTH)):
        if length > LONGEST_HEADER:
            raise ContentError(b"", f"a header of {length} bytes")
        try:
            member = msgspec.json.decode(content.read_all(length), type=Member)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ContentError(b"", f"a broken header: {error}") from None
        name = member.name.encode(errors="surrogatepass")
        if not IGNORED.isdisjoint(name.split(b"/")):
            raise ContentError(name, "is never part of a bot's content")
        yield Item(name, member.kind.encode(), member.size, content.blocks(member.size))
    content.end()


class _Inflated:
    """A decompressor of packed bytes, in pieces of bounded size."""

    def __init__(self, packed: bytes) -> None:
        self._packed = io.BytesIO(packed)
        self._inflater = zlib.decompressobj()

    def blocks(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes in blocks."""
        while size:
            block = self._read(min(size, BLOCK))
            if not block:
                raise ContentError(b"", "it ends too early")
            size -= len(block)
            yield block

    def read_all(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        return b"".join(self.blocks(size))

    def end(self) -> None:
        """Raise ContentError if more bytes follow."""
        if self._read(1) or self._inflater.unused_data or self._packed.read(1):
            raise ContentError(b"", "it goes on after its end")

    def _read(self, size: int) -> bytes:
        """Return from one to `size` bytes, or none at the end."""
        while not self._inflater.eof:
            given = self._inflater.unconsumed_tail or self._packed.read(BLOCK)
            try:
                found = self._inflater.decompress(given, size)
            except zlib.error as error:
                raise ContentError(b"", str(error)) from None
            if found:
                return found
            if not given:
                raise ContentError(b"", "it ends too early")
        return b""


class UploadError(ValueError):
    """An archive cannot be used. The text is one line with the reason, without the archive's name."""


def label_of_upload(name: str) -> str | None:
    """Return an archive's name without its suffix, or None if it is not the name of an archive."""
    ending = max((each for each in ENDINGS if name.lower().endswith(each)), key=len, default=None)
    return name[: -len(ending)] if ending and len(name) > len(ending) else None


def is_upload(path: Path) -> bool:
    """Return whether a path is a file, or a link to one, with the suffix of an archive."""
    try:
        return label_of_upload(path.name) is not None and path.is_file()
    except OSError:
        return False


@contextmanager
def unpacked_upload(
    archive: Path,
    *,
    most_mb: int = MOST_MB,
    most_files: int = MOST_FILES,
    inside: Path | None = None,
    reserve_mb: int = 0,
) -> Iterator[Path]:
    """Unpack an archive; yield the folder of the bot in it, which is removed when the block ends.

    The bot's folder is the archive's top, or its only folder.

    Args:
        archive: its path; not followed if it is a symbolic link.
        most_mb: the maximum megabytes of all its files together.
        most_files: the maximum number of files.
        inside: the folder in which it is unpacked; None: that for temporary files.
        reserve_mb: the megabytes of that folder's disk that stay free, also when the bot is copied.

    Raises:
        UploadError: it cannot be read, or has content that is not allowed.
        OSError: the machine lacks memory, disk or another resource.
    """
    with tempfile.TemporaryDirectory(prefix="arena-upload-", dir=inside, ignore_cleanup_errors=True) as folder:
        _unpack_apart(archive, Path(folder), (most_mb * MEGABYTE, most_files, reserve_mb * MEGABYTE))
        yield _bot_in(Path(folder))


def _bot_in(folder: Path) -> Path:
    """Return the folder that holds bot.toml."""
    if (folder / FILE).is_file():
        return folder
    inner = [each for each in folder.iterdir() if each.is_dir()]
    if len(inner) == 1 and (inner[0] / FILE).is_file():
        return inner[0]
    raise UploadError(f"the archive has no {FILE}, neither at its top nor in its only folder")


def _unpack_apart(archive: Path, into: Path, bounds: tuple[int, ...]) -> None:
    """Unpack in a separate process, within its bounds. Raises as `unpacked_upload`."""
    try:
        file = open_regular(archive, follow=False)
    except (OSError, ValueError) as error:
        raise UploadError(f"the archive cannot be read: {getattr(error, 'strerror', None) or error}") from None
    command = [sys.executable, "-m", "referee.bot_folder.unpacking", str(into), *map(str, bounds)]
    with file:
        try:
            done = subprocess.run(  # noqa: S603 - our own interpreter, and our own words
                command, stdin=file, capture_output=True, timeout=PATIENCE_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            # Its processor time has a bound of its own, so the machine is too busy.
            raise TimeoutError(errno.ETIMEDOUT, f"took more than {PATIENCE_SECONDS} s to unpack") from None
    if done.returncode == SHORTAGE:
        raise OSError(int(done.stdout), os.strerror(int(done.stdout)), str(into))
    if done.returncode in _KILLED:
        raise InterruptedError(errno.EINTR, "the process that unpacks was ended by a signal", str(into))
    if done.returncode == 1:
        raise UploadError(printable(done.stdout.decode(errors="replace").strip()[:LONGEST_COMPLAINT]))
    if done.returncode != 0:
        most = f"{MOST_SECONDS} s of processor time or {MOST_MEMORY // MEGABYTE} MB of memory"
        raise UploadError(f"the archive takes more than {most} to unpack")
