"""Writes a match's transcript as it happens: structlog numbers, chains and renders, a thread takes it to the disk.

Reading and verifying is `transcript_reading`; what one seat could know, `transcript_seat`; how the lines hang
together, `transcript_chain`; the file's name and life, `transcript_file`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio
from msgspec.structs import replace
from structlog import BoundLoggerBase
from structlog.typing import EventDict, WrappedLogger

from referee.line import Bell
from referee.records import Footer, Header, Record
from referee.transcript_chain import Chain, TranscriptError
from referee.transcript_file import PartFile
from referee.transcript_seat import SeatChain, fresh_salts

FLUSH_SECONDS = 0.1
"""How long a line may wait in memory. One trip to a thread costs as much as writing a hundred lines."""
MAX_WAITING_BYTES = 64 * 1024 * 1024
"""How much may wait for a disk that does not keep up."""


class Transcript:
    """A transcript under way; made by `open_transcript`."""

    def __init__(self, path: Path, header: Header, sink: "_Sink") -> None:
        self.path = path
        self.head: str | None = None
        """Hash of the last line, once there is one: a transcript that was left unfinished has none."""
        self.seat_heads: tuple[str, ...] = ()
        """By seat: the hash of the last line of its own transcript; in the footer, too."""
        self._chain = Chain()
        self._seats = tuple(SeatChain(seat) for seat in range(len(header.bots)))
        self._sink = sink
        self._log = _RecordLogger(sink, (self._show_seats, self._link), {})
        self.append(header)

    def append(self, record: Record) -> None:
        """Adds a line. Never waits: it takes microseconds, and the disk is reached later, from a thread.

        Raises:
            TranscriptError: the disk has failed, or the record is none that can be written. It is raised again
                for every record that follows, and by `open_transcript`.
        """
        self._sink.check()
        try:
            self._log.append(record)
        except (TypeError, ValueError, RecursionError) as error:
            what = f"line {self._chain.lines + 1} cannot be written: {error}"
            self._sink.error = TranscriptError(what, self.path)
            raise self._sink.error from error

    def seal(self) -> None:
        """Adds the footer; `open_transcript` does so. Nothing may follow."""
        for seat in self._seats:
            seat.close()
        self.seat_heads = tuple(seat.head for seat in self._seats)
        self._sink.write(self._chain.seal(Footer(heads=self.seat_heads)))
        self.head = self._chain.head

    def _show_seats(self, _log: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """A processor of structlog's: lets the seats' own transcripts grow by what is theirs."""
        record = event["record"]
        seat = getattr(record, "seat", None)
        for chain in self._seats if seat is None else (self._seats[seat],):
            chain.take(record)
        return event

    def _link(self, _log: WrappedLogger, _method: str, event: EventDict) -> bytes:
        """The last processor of structlog's: numbers, chains and renders."""
        return self._chain.link(event["record"])


@asynccontextmanager
async def open_transcript(path: Path, header: Header) -> AsyncIterator[Transcript]:
    """A transcript to append to. When its block ends well, it is closed with its footer and gets its name.

    If the block ends by an exception or is cancelled, all that was appended is kept in `NAME.part`. If the disk
    fails meanwhile, the block is cancelled.

    Args:
        path: where it is to be, once finished. Nothing may be there yet, nor at `NAME.part`.
        header: its first line; salts are made for the seats if it has none.

    Raises:
        TranscriptError: it cannot be written. The attempt is void; what has been written stays.
    """
    if not header.salts:
        header = replace(header, salts=fresh_salts(len(header.bots)))
    sink = _Sink(await trio.to_thread.run_sync(PartFile, path))
    try:
        transcript = Transcript(path, header, sink)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sink.keep_writing, nursery.cancel_scope)
                yield transcript
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # The writing task never raises: this is what the block raised, wrapped by our nursery.
            raised = group.exceptions[0]
            if sink.error is not None and isinstance(raised, Exception):
                raise sink.error from raised  # However deep in the block's own nurseries it was met.
            raise raised from None
        sink.check()
        transcript.seal()
        with trio.CancelScope(shield=True):
            await sink.finish()
    except BaseException:
        with trio.CancelScope(shield=True):
            await sink.abandon()
        raise


class _RecordLogger(BoundLoggerBase):
    """The bound logger: one method, no levels, no context."""

    def append(self, record: Record) -> None:
        self._proxy_to_logger("write", None, record=record)


class _Sink:
    """Where the logger leaves its lines until a thread takes them to the disk. `error`: why no more is taken."""

    def __init__(self, file: PartFile) -> None:
        self.error: TranscriptError | None = None
        self._file = file
        self._waiting: list[bytes] = []
        self._bytes = 0
        self._bell = Bell()
        # Of our own: someone else's slow threads must not hold up the disk.
        self._limiter = trio.CapacityLimiter(1)

    def check(self) -> None:
        """Raises the error, if there is one."""
        if self.error is not None:
            raise self.error

    def write(self, line: bytes) -> None:
        """Takes a line. Never waits."""
        self._waiting.append(line)
        self._bytes += len(line)
        if self._bytes > MAX_WAITING_BYTES:
            raise ValueError(f"the disk does not keep up: {self._bytes} bytes wait for it")
        self._bell.ring()

    async def keep_writing(self, match: trio.CancelScope) -> None:
        """Takes what comes to the disk, until it is cancelled. Cancels the match if the disk fails."""
        while True:
            await self._bell.wait()
            await trio.sleep(FLUSH_SECONDS)
            try:
                await self._in_thread(self._file.write)
            except TranscriptError as error:
                self.error = error
                self._take()  # Never written: it would follow on a gap.
                match.cancel()
                return

    async def finish(self) -> None:
        """Takes the rest to the disk, makes sure it is there, and gives the file its name."""
        await self._in_thread(self._file.finish)

    async def abandon(self) -> None:
        """Keeps what there is, under the name of an unfinished file."""
        with suppress(TranscriptError):  # Whoever gets here has an error to report already.
            await self._in_thread(self._file.abandon)

    def _take(self) -> list[bytes]:
        taken, self._waiting, self._bytes = self._waiting, [], 0
        return taken

    async def _in_thread(self, put: Callable[[list[bytes]], None]) -> None:
        await trio.to_thread.run_sync(put, self._take(), limiter=self._limiter)
