"""Writes a match's transcript during the match: makes and chains lines between steps, writes them in a thread.

`reader` reads and verifies, `seat` makes the seats' own transcripts, `chain` links lines.

The file is called `NAME` only when it is complete; until then it is `NAME.part`. So `NAME` is always a finished
match, and the part of one that was cut short by a crash, a kill or a full disk can still be read. Neither is ever
overwritten: the owner must move files of an earlier run.
"""

import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from protocol.codec import encode
from referee.linux.files import for_owner
from referee.match import Footer, Header, Record
from referee.transcript.chain import Chain, SeatChains, TranscriptError, fresh_salts
from referee.wire import Bell

READ_BYTES = 1024 * 1024
WRITE_BYTES = 1024 * 1024
"""Bytes written at once. Lines are copied for that, and there may be many megabytes of them."""
FLUSH_SECONDS = 0.5
"""Seconds for which a line may wait in memory. A call in a thread costs as much as writing a hundred lines, and
each match makes its own."""
MAX_WAITING = 200_000
"""The most records that may wait for a slow disk."""
MAX_WAITING_BYTES = 16 * 1024 * 1024
"""The most bytes of lines that may wait: bots' messages may be most of a line. For 250 matches that is 4 GiB."""
HURRY_BYTES = 1024 * 1024
"""Bytes of lines that are written at once, without waiting for more: a hostile bot produces them quickly."""
SLICE = 32
"""Records made into lines before other tasks run: a tenth of a millisecond's work."""
SLICE_BYTES = 64 * 1024
"""Bytes of lines hashed before other tasks run."""


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


class Transcript:
    """A transcript in progress; made by `open_transcript`.

    Records are made into lines after each step of the match (`catch_up`), when bots have their messages: no bot
    waits for a hash.
    """

    def __init__(self, path: Path, header: Header, file: PartFile) -> None:
        self.path = path
        self.error: TranscriptError | None = None
        """The error after which no more records are accepted; None: there was none."""
        self.head: str | None = None
        """The hash of the last line; None: the transcript is not finished."""
        self.seat_heads: tuple[str, ...] = ()
        """Hashes of the last lines of the seats' own transcripts, as in the footer; indexed by seat."""
        self._chain = Chain()
        self._header = header
        self._records: deque[Record] = deque()
        self._lines: list[bytes] = []
        self._bell = Bell()
        self._hurry = Bell()
        self._file = file
        self._ends = False
        # Its own limiter: slow threads of other tasks must not delay writing.
        self._limiter = trio.CapacityLimiter(1)
        self._at_the_disk = trio.Lock()
        self.append(header)

    def append(self, record: Record) -> None:
        """Add a record. Never waits: it is made into a line, and written, later.

        Raises:
            TranscriptError: the disk has failed or is too slow, an earlier record could not be written, or the
                transcript is closed. It is raised again for every later record, and by `open_transcript`.
        """
        if self.error is not None or not 0 < len(self._records) < MAX_WAITING:
            self._begin_step()
        self._records.append(record)

    def _begin_step(self) -> None:
        """Check the limits once for all records of a step."""
        if (
            self.error is not None
            or self._ends
            or len(self._records) + len(self._lines) >= MAX_WAITING
            or self._waiting_bytes >= MAX_WAITING_BYTES
        ):
            self._refuse()
        self._bell.ring()

    def catch_up(self) -> None:
        """Make the added records into lines, unless there was an error."""
        if self._records and self.error is None:
            try:
                self._make_lines(len(self._records))
            except TranscriptError as error:
                self.error = error
                self._bell.ring()

    @property
    def _waiting_bytes(self) -> int:
        """Bytes of lines that are not written yet.

        Records that are no lines yet are excluded: they belong to one step, in which at most the frames that a
        line holds are processed per bot.
        """
        return self._chain.size - self._file.size

    def _refuse(self) -> None:
        if self.error is None:
            waiting = len(self._records) + len(self._lines)
            why = f"the disk does not keep up: {waiting} records, {self._waiting_bytes} bytes wait for it"
            if self._ends:
                why = "nothing can be added after its end"
            self.error = TranscriptError(why, self.path)
        self.check()

    def check(self) -> None:
        """Raise the error, if there is one."""
        if self.error is not None:
            raise self.error

    async def keep_writing(self, match: trio.CancelScope) -> None:
        """Write lines until cancelled. Cancels the match if that fails."""
        try:
            while True:
                await self._bell.wait()
                with trio.move_on_after(FLUSH_SECONDS):
                    await self._hurry.wait()
                self.check()
                while self._make_lines(SLICE):
                    await trio.lowlevel.checkpoint()
                await self._in_thread(self._file.write)
        except TranscriptError as error:
            self.error = error
            match.cancel()

    async def close(self) -> None:
        """Finish the file when the match is over but its bots still have to end: no bot waits for the disk then.

        Errors are raised by `open_transcript`.
        """
        try:
            await self.finish()
        except TranscriptError as error:
            self.error = error

    async def finish(self) -> None:
        """Seal the transcript, write the rest, flush it to the disk, and rename the file. Idempotent."""
        self.check()
        if self.head is None:
            self._make_lines(len(self._records))
            self._ends = True
            await self._tally()
            self._lines.append(self._chain.seal(Footer(heads=self.seat_heads)))
            self.head = self._chain.head
        await self._in_thread(self._file.finish)

    async def abandon(self) -> None:
        """Write the rest, and leave the file under the name of an unfinished one."""
        with suppress(TranscriptError):  # There is an error to report already.
            if self.error is None:
                self._make_lines(len(self._records))
        with suppress(TranscriptError):
            await self._in_thread(self._file.abandon, anyway=True)

    def _make_lines(self, most: int) -> bool:
        if most < len(self._records):
            records = [self._records.popleft() for _ in range(most)]
        else:
            records = list(self._records)
            self._records.clear()
        try:
            self._chain.link_all(map(encode, records), self._lines)
        except (TypeError, ValueError, RecursionError) as error:
            what = f"line {self._chain.lines + 1} cannot be written: {error}"
            raise TranscriptError(what, self.path) from error
        if self._waiting_bytes >= HURRY_BYTES:
            self._hurry.ring()
        return bool(self._records)

    async def _in_thread(self, put: Callable[[list[bytes]], None], *, anyway: bool = False) -> None:
        """Pass all lines to a function in a thread. With `anyway`, also after an error."""
        async with self._at_the_disk:
            if not anyway:
                self.check()  # The last write may have failed since.
            lines = self._lines[:]
            self._lines.clear()
            try:
                # Shielded: the lines must be written even if the match ends just now.
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(put, lines, limiter=self._limiter)
            except TranscriptError:
                self._lines.clear()  # Later lines are never written: they would follow a gap.
                raise

    async def _tally(self) -> None:
        """Compute the hashes of the seats' own transcripts at the end, so that no decision waits for them."""
        async with self._at_the_disk:
            chains, offset = SeatChains(self._header), 0
            waiting = self._lines[:]
            while offset < self._file.size:
                part = await trio.to_thread.run_sync(self._file.read_lines, offset, limiter=self._limiter)
                await self._take(chains, part)
                offset += sum(map(len, part))
            await self._take(chains, waiting)
            self.seat_heads = chains.close()

    async def _take(self, chains: SeatChains, lines: Sequence[bytes]) -> None:
        taken = size = 0
        for line in lines:
            chains.take_line(line)
            taken, size = taken + 1, size + len(line)
            if taken == SLICE or size >= SLICE_BYTES:
                await trio.lowlevel.checkpoint()
                taken = size = 0


def write_transcript(path: Path, header: Header, records: Iterable[Record]) -> str:
    """Write the transcript of a match that is over, and return the hash of its last line.

    Raises:
        TranscriptError: it cannot be written, or the file exists.
    """
    if not header.salts:
        header = replace(header, salts=fresh_salts(len(header.bots)))
    chain, seats, lines = Chain(), SeatChains(header), list[bytes]()
    chain.link_all(map(encode, (header, *records)), lines)
    for line in lines:
        seats.take_line(line)
    lines.append(chain.seal(Footer(heads=seats.close())))
    PartFile(path).finish(lines)
    return chain.head


@asynccontextmanager
async def open_transcript(path: Path, header: Header) -> AsyncIterator[Transcript]:
    """Open a transcript for appending. If its block ends well, it gets its footer and its name.

    If the block raises or is cancelled, all added records are kept in `NAME.part`. If the disk fails, the block is
    cancelled.

    Args:
        path: the path of the finished file. Neither it nor `NAME.part` may exist.
        header: the first line. Salts for the seats are added if it has none.

    Raises:
        TranscriptError: it cannot be written. The attempt is void; written lines are kept.
    """
    if not header.salts:
        header = replace(header, salts=fresh_salts(len(header.bots)))
    transcript = Transcript(path, header, await trio.to_thread.run_sync(PartFile, path))
    try:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(transcript.keep_writing, nursery.cancel_scope)
                yield transcript
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # The writing task never raises: this is the exception of the block, wrapped by the nursery.
            raised = group.exceptions[0]
            if transcript.error is not None and isinstance(raised, Exception):
                raise transcript.error from raised  # It may have been raised deep in the block's own nurseries.
            raise raised from None
        with trio.CancelScope(shield=True):
            await transcript.finish()
    except BaseException:
        with trio.CancelScope(shield=True):
            await transcript.abandon()
        raise
