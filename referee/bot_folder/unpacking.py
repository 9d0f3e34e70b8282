"""The process that unpacks an archive for `archive`, from standard input into a folder and within limits.

The kernel kills it if an archive needs too much time or memory. `content` checks the names of files. The first
bytes of a file decide which kind of archive it is. Python's reader of tar takes a broken header for the end, and
checks no checksum of compressed data, so both are checked here: no file of an archive is left out silently.
"""

import bz2
import errno
import gzip
import lzma
import os
import resource
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from referee.bot_folder.archive import COPIES, LONGEST_COMPLAINT, MOST_MEMORY, MOST_SECONDS, SHORTAGE
from referee.bot_folder.content import IGNORED, MEGABYTE, ContentError, check_name

SKIPPED = IGNORED | {b"__MACOSX", b".DS_Store"}
"""Names in archives that are not part of a bot's content."""
OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EROFS})
"""Errors that no archive causes."""
MOST_ENTRIES = 200_000
"""Maximum number of entries of an archive, with folders and those that are skipped."""
SPARE_SECONDS = 5
"""Seconds of processor time between the signal for too much of it and the kernel's SIGKILL."""
_BLOCK = MEGABYTE
_ANY_TO_EXECUTE = 0o111
_TAR_KINDS = {
    tarfile.SYMTYPE: "a link",
    tarfile.LNKTYPE: "a link",
    tarfile.CHRTYPE: "a device",
    tarfile.BLKTYPE: "a device",
    tarfile.FIFOTYPE: "a pipe",
}
_ZIP_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\0", lzma.open),
)
"""First bytes of compressed files, and the functions that open them."""


TOO_SHORT = "the archive ends too early"
NO_ARCHIVE = "this is neither a zip nor a tar archive (tar, tar.gz, tar.bz2 or tar.xz)"


class _NoBotError(ValueError):
    """The archive as a whole cannot be used. The text has the reason."""


class _Member(NamedTuple):
    """A file in an archive."""

    name: str
    executable: bool
    content: IO[bytes]


def _main() -> None:
    """Unpack standard input. If it cannot be used, print a line on standard output and exit with 1."""
    into = Path(sys.argv[1])
    most_bytes, most_files, reserve_bytes = map(int, sys.argv[2:])
    for what, most, at_last in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, MOST_SECONDS, MOST_SECONDS + SPARE_SECONDS),
        (resource.RLIMIT_AS, MOST_MEMORY, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, most_bytes + 1, most_bytes + 1),
    ):
        with suppress(ValueError):  # The present limit may be lower.
            resource.setrlimit(what, (most, at_last))
    try:
        _unpack(sys.stdin.buffer, _Target(into, most_bytes, most_files, reserve_bytes))
    except (ContentError, _NoBotError) as error:
        sys.exit(_said(str(error)))
    except MemoryError:
        sys.exit(2)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            sys.stdout.write(str(error.errno))
            sys.exit(SHORTAGE)
        sys.exit(_said(f"the archive is damaged: {error.strerror or error}"))
    except EOFError:
        sys.exit(_said(TOO_SHORT))
    except NotImplementedError as error:
        sys.exit(_said(f"the archive uses what is not supported here: {error}; pack it with deflate"))
    except Exception as error:  # noqa: BLE001 - Python's readers raise errors of any kind for damaged archives
        sys.exit(_said(f"the archive is damaged: {error}"))


def _said(why: str) -> int:
    """Print why the archive cannot be used; return the exit code for that."""
    sys.stdout.write(why.encode(errors="backslashreplace").decode()[:LONGEST_COMPLAINT])
    return 1


class _Target:
    """The folder that an archive is unpacked into.

    Without room on the disk for a reserve beside the files and their copies, nothing more is written. The bytes
    are counted all the same: an archive that is too large on any disk is refused for that.
    """

    def __init__(self, folder: Path, most_bytes: int, most_files: int, reserve_bytes: int) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._most_files = most_files
        self._reserve = reserve_bytes
        self._bytes = 0
        self._files = 0
        self._entries = 0
        self._is_short = False

    def count_entry(self) -> None:
        """Count an entry of the archive, whatever it is."""
        self._entries += 1
        if self._entries > MOST_ENTRIES:
            raise _NoBotError(f"the archive has more than {MOST_ENTRIES} entries")

    def add(self, member: _Member, name: bytes) -> None:
        """Write a file under a checked name."""
        self._files += 1
        if self._files > self._most_files:
            raise _NoBotError(f"the archive has more than {self._most_files} files")
        place = self._folder / os.fsdecode(name)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, NotADirectoryError):
            raise ContentError(name, "is there twice") from None
        with os.fdopen(descriptor, "wb") as file:
            while block := member.content.read(min(_BLOCK, self._most_bytes - self._bytes + 1)):
                self._bytes += len(block)
                if self._bytes > self._most_bytes:
                    most = self._most_bytes // MEGABYTE
                    raise _NoBotError(f"the archive has files of more than {most} MB together, the most here")
                if self._has_room():
                    file.write(block)
        if member.executable:
            place.chmod(0o755)

    def end(self) -> None:
        """Raise OSError if there was no room for all files."""
        if self._is_short:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _has_room(self) -> bool:
        """Return whether the reserve stays free beside all bytes so far, of which `COPIES` are made later."""
        if not self._is_short:
            disk = os.statvfs(self._folder)
            self._is_short = disk.f_bavail * disk.f_frsize < self._reserve + COPIES * self._bytes
        return not self._is_short


def _unpack(archive: IO[bytes], target: _Target) -> None:
    """Write an archive's files into an empty folder."""
    for member in _members(archive):
        target.count_entry()
        if member is None:
            continue
        name = member.name.encode(errors="surrogateescape").removeprefix(b"./")
        if SKIPPED.isdisjoint(name.split(b"/")):
            check_name(name)
            target.add(member, name)
    target.end()


def _members(archive: IO[bytes]) -> Iterator[_Member | None]:
    """Yield the files of an archive, and None for each folder. Read a file before you request the next."""
    start = archive.read(tarfile.BLOCKSIZE)
    archive.seek(0)
    if start.startswith(_ZIP):
        yield from _zipped(archive)
        return
    for magic, decompressed in _COMPRESSED:
        if start.startswith(magic):
            with decompressed(archive) as content:
                yield from _tarred(content)
            return
    yield from _tarred(archive)


def _zipped(archive: IO[bytes]) -> Iterator[_Member | None]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = info.external_attr >> 16
            if info.is_dir():
                yield None
                continue
            name = info.filename.encode(errors="replace")
            if (kind := stat.S_IFMT(mode)) not in {0, stat.S_IFREG}:
                raise _not_a_file(name, _ZIP_KINDS.get(kind))
            if info.flag_bits & 1:
                raise ContentError(name, "is encrypted")
            with opened.open(info) as content:
                yield _Member(info.filename, bool(mode & _ANY_TO_EXECUTE), content)


class _Header(tarfile.TarInfo):
    """The header of a file in a tar archive. A broken one is an error, and not the end of the archive."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        """Return the next header."""
        try:
            return super().fromtarfile(archive)
        except (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError):  # type: ignore[attr-defined]
            raise _NoBotError(TOO_SHORT if archive.offset else NO_ARCHIVE) from None
        except tarfile.InvalidHeaderError:  # type: ignore[attr-defined]
            raise _NoBotError("the archive is damaged" if archive.offset else NO_ARCHIVE) from None


def _tarred(archive: IO[bytes]) -> Iterator[_Member | None]:
    with tarfile.open(fileobj=archive, mode="r|", tarinfo=_Header) as opened:
        for info in opened:
            if info.isdir():
                yield None
                continue
            content = opened.extractfile(info) if info.isreg() else None
            if content is None:
                raise _not_a_file(info.name.encode(errors="replace"), _TAR_KINDS.get(info.type))
            if info.size < 0:
                raise _NoBotError("the archive is damaged: a file with a negative size")
            yield _Member(info.name, bool(info.mode & _ANY_TO_EXECUTE), content)
        # The checksum of compressed data is read with the bytes behind the end, which are zeros.
        behind: Any = opened.fileobj
        rest = behind.read(_BLOCK + 1)
        if len(rest) > _BLOCK or rest.strip(b"\0"):
            raise _NoBotError("the archive goes on behind its end")


def _not_a_file(name: bytes, kind: str | None) -> ContentError:
    what = f"is {kind}, and neither a file nor a folder" if kind else "is neither a file nor a folder"
    return ContentError(name, what)


if __name__ == "__main__":
    _main()
