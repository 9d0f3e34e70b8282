"""A file that is called `NAME` only when it is complete; until then it is `NAME.part`. Its calls block.

So `NAME` is always a finished match, and the part of one that was cut short by a crash, a kill or a full disk can
still be read. Neither is ever overwritten: the owner must move files of an earlier run.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.linux.private_file import for_owner
from referee.transcript.chain import TranscriptError

READ_BYTES = 1024 * 1024
WRITE_BYTES = 1024 * 1024
"""Bytes written at once. Lines are copied for that, and there may be many megabytes of them."""


def part_of(path: Path) -> Path:
    """Return the path of a file until it is complete."""
    return path.with_name(f"{path.name}.part")


class PartFile:
    """An incomplete file. Every method raises TranscriptError with the path if the machine fails."""

    def __init__(self, path: Path) -> None:
        """Create `NAME.part`, for its owner alone.

        Raises:
            TranscriptError: it cannot be created, or it or `NAME` exists.
        """
        self.path = path
        self.part = part_of(path)
        self._whole = 0
        with self._named():
            if path.exists():
                raise FileExistsError
            self._file = open(self.part, "xb", buffering=0, opener=for_owner)  # noqa: SIM115 - closed by `finish`, `abandon`

    @property
    def size(self) -> int:
        """Number of bytes of all lines written."""
        return self._whole

    def write(self, lines: Sequence[bytes]) -> None:
        """Append lines. If they do not all fit, no partial line remains."""
        with self._named():
            try:
                for batch in _batches(lines):
                    self._write_all(b"".join(batch))
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._whole)
                raise

    def read_lines(self, offset: int) -> list[bytes]:
        """Return written lines from an offset on, about a megabyte of them; none at the end."""
        with self._named(), self.part.open("rb") as file:
            file.seek(offset)
            return file.readlines(READ_BYTES)

    def finish(self, lines: Sequence[bytes]) -> None:
        """Append the last lines, flush the file to the disk, and rename it. Idempotent."""
        self.write(lines)
        if self._file.closed:
            return
        with self._named():
            os.fsync(self._file.fileno())
            self._file.close()
            if self.path.exists():
                raise FileExistsError
            self.part.rename(self.path)
            directory = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(directory)  # Otherwise a power failure could lose the new name.
            finally:
                os.close(directory)

    def abandon(self, lines: Sequence[bytes]) -> None:
        """Append lines, and leave the file incomplete, as `NAME.part`."""
        try:
            self.write(lines)
        finally:
            with self._named():
                self._file.close()

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._whole += len(data)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            path = Path(error.filename) if error.filename else self.path
            there = isinstance(error, FileExistsError)
            why = "there is a file already, and it is not written over" if there else error.strerror or error
            raise TranscriptError(f"cannot be written: {why}", path) from error


def _batches(lines: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    first = size = 0
    for number, line in enumerate(lines, 1):
        size += len(line)
        if size >= WRITE_BYTES:
            yield lines[first:number]
            first, size = number, 0
    yield lines[first:]
