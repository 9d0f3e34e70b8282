"""Archives that strangers may have made: takes out files, folders and links that stay inside, nothing elsewhere.

Not by tarfile's own `extractall`: what its filter lets through depends on Python's release, some have none, and
some let an archive write where it liked (CVE-2025-4517). Here nothing is ever written through a link.
"""

import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO, Literal

MOST_MEMBERS = 200_000
LONGEST_NAME = 1_000
"""Bytes of a name, or of where a link leads: far below what the kernel takes as a path."""


class ArchiveError(ValueError):
    """An archive holds what no bot needs, or is none. The text says what and where."""


def unpack(archive: IO[bytes], into: Path, *, mode: Literal["r:", "r:gz"], most: int) -> None:
    """Takes all of an archive out.

    Args:
        archive: where it can be read.
        into: an empty folder that nobody else writes to.
        mode: as tarfile has it, compressed or not.
        most: bytes of all files together.

    Raises:
        ArchiveError: it is refused; what was taken out before lies in `into`.
        OSError: the machine cannot write it.
    """
    taking = _Taking(into, most)
    try:
        with tarfile.open(fileobj=archive, mode=mode) as tar:
            for member in tar:
                taking.take(tar, member)
    except (tarfile.TarError, EOFError, UnicodeError) as error:
        raise ArchiveError(str(error)) from None


class _Taking:
    """One archive, so far."""

    def __init__(self, into: Path, most: int) -> None:
        self._into = into
        self._left = most
        self._folders = {PurePosixPath()}
        self._files: set[PurePosixPath] = set()
        self._links: set[PurePosixPath] = set()

    def take(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """Takes one out."""
        name = _inside(member.name)
        self._make_way(name.parent, member.name)
        if member.isdir():
            self._make_way(name, member.name)
            return
        if name in self._folders or name in self._files or name in self._links:
            raise ArchiveError(f"{member.name!r}: is there twice")
        place = self._into / name
        if member.issym():
            _check_target(name, member)
            place.symlink_to(member.linkname)
            self._links.add(name)
        elif member.islnk():
            other = _inside(member.linkname)
            if other not in self._files:
                raise ArchiveError(f"{member.name!r}: is a link to {member.linkname!r}, no file before it")
            os.link(self._into / other, place, follow_symlinks=False)
            self._files.add(name)
        elif member.isreg() and not member.issparse():
            self._write(tar, member, place)
            self._files.add(name)
        else:
            raise ArchiveError(f"{member.name!r}: neither a file, a folder nor a link")
        if len(self._folders) + len(self._files) + len(self._links) > MOST_MEMBERS:
            raise ArchiveError(f"more than {MOST_MEMBERS} files")

    def _make_way(self, folder: PurePosixPath, name: str) -> None:
        """The folder and those above it, which must be real ones."""
        if folder in self._folders:
            return
        if folder in self._files or folder in self._links:
            raise ArchiveError(f"{name!r}: lies below what is no folder")
        self._make_way(folder.parent, name)
        (self._into / folder).mkdir(mode=0o755)
        self._folders.add(folder)

    def _write(self, tar: tarfile.TarFile, member: tarfile.TarInfo, place: Path) -> None:
        self._left -= member.size
        if self._left < 0:
            raise ArchiveError(f"{member.name!r}: too much")
        source = tar.extractfile(member)
        assert source is not None  # noqa: S101 - it is a file
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        mode = 0o755 if member.mode & 0o100 else 0o644
        with os.fdopen(os.open(place, flags, mode), "wb") as file:
            shutil.copyfileobj(source, file)


def _inside(name: str) -> PurePosixPath:
    """A member's name below the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or len(name.encode()) > LONGEST_NAME:
        raise ArchiveError(f"{name[:LONGEST_NAME]!r}: no name for a file inside")
    return path


def _check_target(name: PurePosixPath, member: tarfile.TarInfo) -> None:
    """A link leads up first, not above the folder, then only down: it ends inside, through other links too."""
    target = PurePosixPath(member.linkname)
    up = 0
    while up < len(target.parts) and target.parts[up] == "..":
        up += 1
    short = len(member.linkname.encode()) <= LONGEST_NAME
    if target.is_absolute() or ".." in target.parts[up:] or up > len(name.parent.parts) or not short:
        raise ArchiveError(f"{member.name!r}: is a link that may lead elsewhere")
