"""The store of uploads: each archive is a file with the hash of its content as its name.

An upload arrives in pieces, in a part with a lock, and gets its name when it is whole and on the disk. A part
without a lock was left by a process that was killed, and is removed.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self

from msgspec import Struct

from arena.errors import MachineCannot, writing
from referee.bot_folder import MEGABYTE
from referee.linux.files import FOLDER_MODE, for_owner, open_regular

PARTS = "parts"
FREE_MB = 200
"""Megabytes of the disk that uploads leave free, for matches that are played."""
DISK_FULL = "the arena's disk is full: try later. Nothing was counted"
TRY_LATER_SECONDS = 600
YOUNG_SECONDS = 60.0
"""Seconds for which a part without a lock stays: its process may be about to lock it."""
_HASH_DIGITS = 64

Why = Literal["quota", "closed", "full", "large", "bad", "late"]
"""Kind of a refusal: a quota is used up, no entries are taken, the disk is full, the file is too large, the
request is not possible, or it comes too late for what it asks."""


class SubmissionRefused(Exception):  # noqa: N818 - an answer, not a fault
    """A request about a submission or a scrimmage is refused. The text is the reason, for the team."""

    def __init__(self, text: str, why: Why = "bad", retry_after: int | None = None) -> None:
        super().__init__(text)
        self.text = text
        self.why: Why = why
        self.retry_after = retry_after
        """Seconds after which it may be accepted; None: unknown, or never."""


class Upload(Struct, frozen=True):
    """An archive in the store."""

    hash: str
    """SHA-256 of the file, in hexadecimal digits."""
    size: int
    """Number of bytes."""


class UploadPart:
    """An upload that arrives. At the end of its `with` block it is removed, unless it is finished."""

    def __init__(self, store: "UploadStore", path: Path) -> None:
        self.size = 0
        self._store = store
        self._path = path
        self._hash = sha256()
        self._file: BinaryIO = open(path, "xb", buffering=0, opener=for_owner)  # noqa: SIM115 - closed by `close`
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, data: bytes) -> None:
        """Add bytes.

        Raises:
            SubmissionRefused: the upload is too large, or the disk is full.
        """
        self.size += len(data)
        if self.size > self._store.most_bytes:
            raise SubmissionRefused(f"more than {self._store.most_bytes // MEGABYTE} MB, the most here", "large")
        self._hash.update(data)
        # Others may have arrived since this one began.
        self._store.check_room(len(data))
        try:
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        except OSError:
            raise _disk_full() from None

    def finish(self) -> Upload:
        """Keep the upload under its hash; an equal one that is there already stays.

        Raises:
            SubmissionRefused: nothing arrived, or the disk is full.
        """
        if not self.size:
            raise SubmissionRefused("the file is empty")
        upload = Upload(self._hash.hexdigest(), self.size)
        place = self._store.path(upload.hash)
        try:
            os.fsync(self._file.fileno())
            place.parent.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
            self._path.rename(place)
            _sync_folder(place.parent)
        except OSError:
            raise _disk_full() from None
        self._file.close()
        return upload

    def close(self) -> None:
        """Remove the part, unless it is finished."""
        if not self._file.closed:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)
            self._file.close()


class UploadStore:
    """A folder of uploads, private to its owner."""

    def __init__(self, folder: Path, most_bytes: int, *, free_bytes: int = FREE_MB * MEGABYTE) -> None:
        """Open a store.

        Args:
            folder: its folder, which is made if it does not exist.
            most_bytes: maximum bytes of an upload.
            free_bytes: bytes of the disk that uploads leave free.

        Raises:
            WrongUse: the folder cannot be written.
            MachineCannot: there is no space.
        """
        self.most_bytes = most_bytes
        self._folder = folder
        self._parts = folder / PARTS
        self._free_bytes = free_bytes
        with writing(folder):
            self._parts.mkdir(FOLDER_MODE, parents=True, exist_ok=True)

    def begin(self) -> UploadPart:
        """Return a new part for an upload.

        Raises:
            SubmissionRefused: the disk is full.
        """
        self.check_room(self.most_bytes)
        try:
            return UploadPart(self, self._parts / secrets.token_hex(16))
        except OSError:
            raise _disk_full() from None

    def check_room(self, size: int) -> None:
        """Check that the disk has room for so many bytes, beside those that uploads leave free.

        Raises:
            SubmissionRefused: it has not.
        """
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError:
            raise _disk_full() from None
        if free < self._free_bytes + size:
            raise _disk_full()

    def path(self, hash_: str) -> Path:
        """Return the path of an upload, whether it is there or not."""
        if len(hash_) != _HASH_DIGITS or not set(hash_) <= set("0123456789abcdef"):
            raise ValueError("not the hash of an upload")
        return self._folder / hash_[:2] / hash_

    def checked(self, hash_: str) -> Path:
        """Return the path of an upload, after checking that it is as it was received.

        Raises:
            MachineCannot: it was changed.
            OSError: it is missing, or cannot be read.
        """
        path = self.path(hash_)
        with open_regular(path, follow=False) as file:
            found = file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type] # every file has readinto
        if found != hash_:
            raise MachineCannot(f"{path}: is no longer what was received")
        return path

    def open(self, hash_: str) -> BinaryIO:
        """Open an upload for reading.

        Raises:
            SubmissionRefused: it was removed.
        """
        try:
            return open_regular(self.path(hash_), follow=False)
        except FileNotFoundError:
            raise SubmissionRefused("this upload was removed, as older ones are", "late") from None

    def remove(self, hash_: str) -> None:
        """Remove an upload, if it is there."""
        with suppress(OSError):
            self.path(hash_).unlink()

    def sweep(self, known: Collection[str] | None = None, *, older_than: float = 0.0) -> int:
        """Remove the parts of dead processes; return the number of removed files.

        Args:
            known: hashes of the uploads that somebody may need; all others are removed. None removes no upload.
            older_than: time stamp; younger uploads stay, because their submission may not be recorded yet.
        """
        removed = 0
        for path in self._parts.iterdir():
            removed += _remove_dead(path, time.time() - YOUNG_SECONDS)
        if known is None:
            return removed
        for path in self._folder.glob("??/*"):
            if path.name not in known:
                with suppress(OSError):
                    if path.stat().st_mtime < older_than:
                        path.unlink()
                        removed += 1
        return removed


def remove_others(folder: Path, kept: Collection[str]) -> int:
    """Remove the folders in a folder whose names are not among those to keep; return how many."""
    removed = 0
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name not in kept:
                shutil.rmtree(path, ignore_errors=True)
                removed += 1
    return removed


def _disk_full() -> SubmissionRefused:
    return SubmissionRefused(DISK_FULL, "full", TRY_LATER_SECONDS)


def _sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_dead(path: Path, older_than: float) -> bool:
    """Remove a part if it is older and no process has locked it; return whether it was removed."""
    try:
        with open_regular(path, follow=False) as file:
            if os.fstat(file.fileno()).st_mtime >= older_than:
                return False
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    except OSError:
        return False
    return True
