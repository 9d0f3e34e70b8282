"""A file that is called `NAME` only when it is whole: until then it is `NAME.part`. Its calls block.

So `NAME` is always a finished match, and one that was cut short by a crash, a kill or a full disk is still there
to be looked at. Neither is ever written over: what an earlier run left behind its owner must move.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.linux.private_file import for_owner
from referee.transcript.chain import TranscriptError

READ_BYTES = 1024 * 1024
WRITE_BYTES = 1024 * 1024
"""How much is written at once: lines are copied for it, and there may be many megabytes of them."""


def part_of(path: Path) -> Path:
    """Where a file is until it is whole."""
    return path.with_name(f"{path.name}.part")


class PartFile:
    """A file in the making. Every method raises TranscriptError, naming the path, if the machine fails."""

    def __init__(self, path: Path) -> None:
        """Makes `NAME.part`, for its owner alone; refuses if it, or `NAME`, is there."""
        self.path = path
        self.part = part_of(path)
        self._whole = 0
        with self._named():
            if path.exists():
                raise FileExistsError
            self._file = open(self.part, "xb", buffering=0, opener=for_owner)  # noqa: SIM115 - closed by `finish`, `abandon`

    @property
    def size(self) -> int:
        """Bytes of all lines that were added."""
        return self._whole

    def write(self, lines: Sequence[bytes]) -> None:
        """Adds lines. If they do not all fit, none stays half written."""
        with self._named():
            try:
                for batch in _batches(lines):
                    self._write_all(b"".join(batch))
            except OSError:
                with suppress(OSError):
                    self._file.truncate(self._whole)
                raise

    def read_lines(self, offset: int) -> list[bytes]:
        """Lines that were added, from that offset on, a megabyte of them or so; none at the end."""
        with self._named(), self.part.open("rb") as file:
            file.seek(offset)
            return file.readlines(READ_BYTES)

    def finish(self, lines: Sequence[bytes]) -> None:
        """Adds the last lines, makes sure that all is on the disk, and gives the file its name. Idempotent."""
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
                os.fsync(directory)  # Or the new name could be lost with the power.
            finally:
                os.close(directory)

    def abandon(self, lines: Sequence[bytes]) -> None:
        """Adds lines, and leaves the file unfinished, as `NAME.part`."""
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
