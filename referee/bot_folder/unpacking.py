"""The process that unpacks an archive for `archive`, from standard input into a folder and within limits.

The kernel kills it if an archive needs too much time or memory. `content` checks the names of files.
"""

import errno
import os
import resource
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from referee.bot_folder.archive import LONGEST_COMPLAINT, MOST_MEMORY, MOST_SECONDS, SHORTAGE
from referee.bot_folder.content import IGNORED, MEGABYTE, ContentError, check_name

SKIPPED = IGNORED | {b"__MACOSX", b".DS_Store"}
"""Names in archives that are not part of a bot's content."""
OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.EROFS})
"""Errors that no archive causes."""
_BLOCK = MEGABYTE
_ANY_TO_EXECUTE = 0o111


class _NoBotError(ValueError):
    """The archive as a whole cannot be used. The text has the reason."""


class _Member(NamedTuple):
    """A file in an archive."""

    name: str
    executable: bool
    content: IO[bytes]


def _main() -> None:
    """Unpack standard input. If it cannot be used, print a line on standard output and exit with 1."""
    into, most_bytes, most_files = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, MOST_SECONDS),
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_FSIZE, most_bytes + 1),
    ):
        with suppress(ValueError):  # The present limit may be lower.
            resource.setrlimit(what, (most, most))
    try:
        _unpack(sys.stdin.buffer, into, most_bytes, most_files)
    except (ContentError, _NoBotError) as error:
        sys.exit(_said(str(error)))
    except MemoryError:
        sys.exit(2)
    except OSError as error:
        if error.errno in OF_THE_MACHINE:
            sys.stdout.write(str(error.errno))
            sys.exit(SHORTAGE)
        sys.exit(_said(f"cannot be unpacked: {error.strerror or error}"))
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, ValueError, RuntimeError) as error:
        sys.exit(_said(f"cannot be unpacked: {error}"))


def _said(why: str) -> int:
    """Print why the archive cannot be used; return the exit code for that."""
    sys.stdout.write(why.encode(errors="backslashreplace").decode()[:LONGEST_COMPLAINT])
    return 1


def _unpack(archive: IO[bytes], into: Path, most_bytes: int, most_files: int) -> None:
    """Write an archive's files into an empty folder."""
    left = most_bytes
    count = 0
    for member in _members(archive):
        name = member.name.encode(errors="surrogateescape").removeprefix(b"./")
        if not SKIPPED.isdisjoint(name.split(b"/")):
            continue
        check_name(name)
        count += 1
        if count > most_files:
            raise _NoBotError(f"has more than {most_files} files")
        place = into / os.fsdecode(name)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except (FileExistsError, NotADirectoryError):
            raise ContentError(name, "is there twice") from None
        with os.fdopen(descriptor, "wb") as file:
            while block := member.content.read(min(_BLOCK, left + 1)):
                left -= len(block)
                if left < 0:
                    raise _NoBotError(f"has files of more than {most_bytes // MEGABYTE} MB together")
                file.write(block)
        if member.executable:
            place.chmod(0o755)


def _members(archive: IO[bytes]) -> Iterator[_Member]:
    """Yield the files of an archive. Read each before you request the next."""
    if zipfile.is_zipfile(archive):
        archive.seek(0)
        yield from _zipped(archive)
    else:
        archive.seek(0)
        yield from _tarred(archive)


def _zipped(archive: IO[bytes]) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = info.external_attr >> 16
            if info.is_dir():
                continue
            if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
                raise ContentError(info.filename.encode(errors="replace"), "is neither a file nor a folder")
            if info.flag_bits & 1:
                raise ContentError(info.filename.encode(errors="replace"), "is encrypted")
            with opened.open(info) as content:
                yield _Member(info.filename, bool(mode & _ANY_TO_EXECUTE), content)


def _tarred(archive: IO[bytes]) -> Iterator[_Member]:
    with tarfile.open(fileobj=archive, mode="r|*") as opened:
        for info in opened:
            if info.isdir():
                continue
            content = opened.extractfile(info) if info.isreg() else None
            if content is None:
                raise ContentError(info.name.encode(errors="replace"), "is neither a file nor a folder")
            yield _Member(info.name, bool(info.mode & _ANY_TO_EXECUTE), content)


if __name__ == "__main__":
    _main()
