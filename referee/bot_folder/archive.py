"""A bot's content as bytes, for another machine. `content` checks it on both ends.

This is a format of the project: tar has more kinds of members, headers and names than a bot needs, and Python's
reader of it has no limits (a pax header of 61 KiB took 45 s).

    packed  = zlib(member*  four zero bytes)
    member  = length of the header (4 bytes, big-endian)  header  the file's bytes, or the link's target
    header  = a `Member` as JSON
"""

import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from referee.bot_folder.content import IGNORED, ContentError, Item, bounded

LONGEST_HEADER = 16 * 1024
"""Maximum bytes of a header. JSON takes at most six bytes per byte of a name."""
BLOCK = 256 * 1024
LEVEL = 6
"""The level of compression. A folder is packed once and sent to each machine."""
_LENGTH = 4
"""Bytes of the field with a header's length."""


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
