"""Folders that strangers filled: copied from one place to another, or packed into bytes and unpacked elsewhere.

Every file, folder and link passes the same checks, `_Rules`, before anything is written for it, and all counts,
names and sizes have bounds. The packed form is our own: tar has more kinds of members, headers and names than a
bot needs, and Python's reader of it has no bounds (a pax header of 61 KiB took it 45 s).

    packed  = zlib(member*  four zero bytes)
    member  = length of the header (4 bytes, the highest first)  header  the file's content
    header  = a `Member` as JSON
"""

import hashlib
import io
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta, Struct

from referee.bot_folder import content as bot_content

MOST_MEMBERS = 200_000
"""Files, folders and links together."""
MOST_DEPTH = 64
"""Folders in each other."""
LONGEST_NAME = 1_000
"""Bytes of a path, or of where a link leads: far below what the kernel takes."""
LONGEST_PART = 255
"""Bytes of a name in its folder, as the kernel has it."""
MOST_NAME_BYTES = 32 * 1024**2
"""Of all paths together: they are kept in memory."""
LONGEST_HEADER = 16 * 1024
"""Bytes. JSON takes at most six for one of a name's."""
BLOCK = 256 * 1024
LEVEL = 6
"""Of compression: a folder is packed once, and sent to each machine."""
IGNORED = frozenset(map(os.fsdecode, bot_content.IGNORED))
_LENGTH = 4
"""Bytes of a header's length."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What is no file any more when it is opened must not be waited for.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class ArchiveError(ValueError):
    """What no bot needs, or no archive. The text is one line: what and where."""


class Member(Struct, frozen=True, forbid_unknown_fields=True):
    """A file, folder or link."""

    name: str
    """Its path in the folder, with `/`."""
    kind: Literal["folder", "file", "program", "link"]
    """A program is a file that its owner may execute."""
    size: Annotated[int, Meta(ge=0, le=2**62)] = 0
    """Bytes of a file."""
    target: str = ""
    """Where a link leads."""


class Readable(Protocol):
    """What a file's content is read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many bytes; none at the end."""


NOTHING = io.BytesIO()


def copy(folder: int, into: Path, *, most: int) -> None:
    """Copies what lies in a folder, without what is never part of a bot's content (`bot_content.IGNORED`).

    Nobody may write to it any more. Owners, times, and rights other than to execute are not copied; files that are
    one by hard links become files of their own.

    Args:
        folder: a descriptor of it.
        into: an empty folder that nobody else writes to.
        most: bytes of all files together; holes count.

    Raises:
        ArchiveError: it is refused; of what was packed a part may lie in `into`.
        OSError: the machine cannot write it.
    """
    # All is looked at first: what is refused in the end would be long in writing.
    rules = _Rules(most)
    for member, _ in _walk(folder):
        rules.check(member)
    for member, content in _walk(folder):
        _write(member, content, into)


def fingerprint(folder: Path, *, most: int) -> str:
    """A hash of all that `copy` would copy: `sha256:…`.

    Raises:
        ArchiveError: `copy` would refuse it.
        OSError: it is not there.
    """
    rules = _Rules(most)
    found: list[bytes] = []
    with _opened(folder) as descriptor:
        for member, content in _walk(descriptor):
            rules.check(member)
            digest = hashlib.sha256()
            for block in _blocks(member, content):
                digest.update(block)
            found.append(msgspec.json.encode(member) + digest.digest())
    # The order in which a file system lists a folder is its own.
    return f"sha256:{hashlib.sha256(b''.join(sorted(found))).hexdigest()}"


def pack(folder: Path, *, most: int) -> bytes:
    """All that lies in a folder, as bytes for `unpack`. Arguments and errors as for `copy`."""
    rules = _Rules(most)
    deflater = zlib.compressobj(LEVEL)
    packed = io.BytesIO()
    with _opened(folder) as descriptor:
        for member, content in _walk(descriptor):
            rules.check(member)
            header = msgspec.json.encode(member)
            packed.write(deflater.compress(len(header).to_bytes(_LENGTH) + header))
            for block in _blocks(member, content):
                packed.write(deflater.compress(block))
    packed.write(deflater.compress(bytes(_LENGTH)) + deflater.flush())
    return packed.getvalue()


def unpack(packed: bytes, into: Path, *, most: int) -> None:
    """Writes what was packed into a folder. Arguments and errors as for `copy`."""
    rules = _Rules(most)
    content = _Inflated(packed)
    while (member := _header(content)) is not None:
        rules.check(member)
        _write(member, content, into)
    content.end()


class _Rules:
    """What is let through, in the light of what came before."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most
        self._name_bytes = 0
        self._names: set[str] = set()
        self._folders = {""}

    def check(self, member: Member) -> None:
        """Lets a member through.

        Raises:
            ArchiveError: it may not be written.
        """
        name = member.name
        _check_name(name)
        if name in self._names:
            raise ArchiveError(f"{name!r}: is there twice")
        if name.rpartition("/")[0] not in self._folders:
            raise ArchiveError(f"{name!r}: lies in what is no folder before it")
        if member.size and member.kind not in ("file", "program"):
            raise ArchiveError(f"{name!r}: is no file, and has a content")
        if member.kind == "link":
            _check_target(member)
        elif member.target:
            raise ArchiveError(f"{name!r}: is no link, and leads to {member.target[:LONGEST_NAME]!r}")
        self._left -= member.size
        if self._left < 0:
            raise ArchiveError(f"{name!r}: more than {self._most} bytes in all")
        self._names.add(name)
        self._name_bytes += len(name.encode())
        if len(self._names) > MOST_MEMBERS:
            raise ArchiveError(f"more than {MOST_MEMBERS} files and folders")
        if self._name_bytes > MOST_NAME_BYTES:
            raise ArchiveError(f"more than {MOST_NAME_BYTES} bytes of names")
        if member.kind == "folder":
            self._folders.add(name)


def _check_name(name: str) -> None:
    parts = name.split("/")
    if not _is_text(name) or any(part in ("", ".", "..") for part in parts):
        raise ArchiveError(f"{name[:LONGEST_NAME]!r}: no name for a file inside")
    if len(name.encode()) > LONGEST_NAME or any(len(part.encode()) > LONGEST_PART for part in parts):
        raise ArchiveError(f"{name[:LONGEST_NAME]!r}: too long a name")
    if len(parts) > MOST_DEPTH:
        raise ArchiveError(f"{name!r}: more than {MOST_DEPTH} folders in each other")
    if ignored := IGNORED.intersection(parts):
        raise ArchiveError(f"{name!r}: {min(ignored)} is never part of a bot's content")


def _check_target(member: Member) -> None:
    """A link leads up first, not above the folder, then only down: it ends inside, through other links too."""
    parts = member.target.split("/")
    up = 0
    while up < len(parts) and parts[up] == "..":
        up += 1
    inside = member.target and parts[0] and ".." not in parts[up:] and up <= member.name.count("/")
    if not inside or not _is_text(member.target) or len(member.target.encode()) > LONGEST_NAME:
        raise ArchiveError(
            f"{member.name!r}: is a link to {member.target[:LONGEST_NAME]!r}, which may lead elsewhere"
        )


def _is_text(name: str) -> bool:
    """Whether it is UTF-8 that the kernel takes; other bytes of a name are surrogates in Python's text."""
    return "\0" not in name and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _walk(folder: int, above: str = "") -> Iterator[tuple[Member, Readable]]:
    """All that is in a folder, each folder before what lies in it; whoever stops asking goes no deeper."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name in IGNORED:
                continue
            name = above + entry.name
            try:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    yield Member(name, "folder"), NOTHING
                    below = os.open(entry.name, _FOLDER, dir_fd=folder)
                    try:
                        yield from _walk(below, f"{name}/")
                    finally:
                        os.close(below)
                elif stat.S_ISLNK(status.st_mode):
                    yield Member(name, "link", target=os.readlink(entry.name, dir_fd=folder)), NOTHING
                elif stat.S_ISREG(status.st_mode):
                    with os.fdopen(os.open(entry.name, _FILE, dir_fd=folder), "rb", buffering=0) as content:
                        kind: Literal["program", "file"] = "program" if status.st_mode & stat.S_IXUSR else "file"
                        yield Member(name, kind, size=status.st_size), content
                else:
                    raise ArchiveError(f"{name!r}: neither a file, a folder nor a link")
            except PermissionError:
                raise ArchiveError(f"{name!r}: may not be read") from None


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _blocks(member: Member, content: Readable) -> Iterator[bytes]:
    """A file's content, as long as it was said to be."""
    left = member.size
    while left:
        block = content.read(min(left, BLOCK))
        if not block:
            raise ArchiveError(f"{member.name!r}: ends {left} bytes too early")
        left -= len(block)
        yield block


def _write(member: Member, content: Readable, into: Path) -> None:
    """A member that was let through: all folders above it are real ones, and nothing is in its place."""
    place = into / member.name
    if member.kind == "folder":
        place.mkdir(0o755)
    elif member.kind == "link":
        place.symlink_to(member.target)
    else:
        mode = 0o755 if member.kind == "program" else 0o644
        with os.fdopen(os.open(place, _NEW_FILE, mode), "wb") as file:
            file.writelines(_blocks(member, content))


class _Inflated:
    """What was packed, a bounded piece at a time."""

    def __init__(self, packed: bytes) -> None:
        self._packed = io.BytesIO(packed)
        self._inflater = zlib.decompressobj()

    def read(self, size: int, /) -> bytes:
        """At most so many bytes, and at least one, or none at the end."""
        while not self._inflater.eof:
            given = self._inflater.unconsumed_tail or self._packed.read(BLOCK)
            try:
                found = self._inflater.decompress(given, size)
            except zlib.error as error:
                raise ArchiveError(str(error)) from None
            if found:
                return found
            if not given:
                raise ArchiveError("it ends too early")
        return b""

    def read_all(self, size: int) -> bytes:
        """So many bytes."""
        found = bytearray()
        while len(found) < size:
            piece = self.read(size - len(found))
            if not piece:
                raise ArchiveError("it ends too early")
            found += piece
        return bytes(found)

    def end(self) -> None:
        """Nothing may follow."""
        if self.read(1) or self._inflater.unused_data or self._packed.read(1):
            raise ArchiveError("it goes on after its end")


def _header(content: _Inflated) -> Member | None:
    """The next member; None: there is none."""
    length = int.from_bytes(content.read_all(_LENGTH))
    if length > LONGEST_HEADER:
        raise ArchiveError(f"a header of {length} bytes")
    if not length:
        return None
    try:
        return msgspec.json.decode(content.read_all(length), type=Member)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ArchiveError(f"a header that is none: {error}") from None
