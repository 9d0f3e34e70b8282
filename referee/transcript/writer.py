"""Writes a match's transcript as it happens: lines are made and chained between steps, a thread writes them.

`reader` reads and verifies, `seat` has what one seat could know, `chain` says how the lines hang together, and
`part_file` how the file is named and when it is there.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import trio
from msgspec.structs import replace

from protocol.codec import encode
from referee.match import Footer, Header, Record
from referee.transcript.chain import Chain, TranscriptError
from referee.transcript.part_file import PartFile
from referee.transcript.seat import SeatChains, fresh_salts
from referee.wire import Bell

FLUSH_SECONDS = 0.5
"""How long a line may wait in memory. One trip to a thread costs as much as writing a hundred lines, and of many
matches at once each makes its own."""
MAX_WAITING = 200_000
"""How many records may wait for a disk that does not keep up."""
MAX_WAITING_BYTES = 16 * 1024 * 1024
"""How many bytes of lines may: what bots said may be most of a line. Of 250 matches at once, 4 GiB."""
HURRY_BYTES = 1024 * 1024
"""With so many bytes of lines the disk is not made to wait for more: a hostile bot makes them in no time."""
SLICE = 32
"""Records made into lines before other tasks get their turn: a tenth of a millisecond's work."""
SLICE_BYTES = 64 * 1024
"""Of long lines, so many bytes."""


class Transcript:
    """A transcript under way; made by `open_transcript`.

    Records are made into lines after each of the match's steps (`catch_up`), when bots have what it has for them:
    no bot waits for a hash.
    """

    def __init__(self, path: Path, header: Header, file: PartFile) -> None:
        self.path = path
        self.error: TranscriptError | None = None
        """Why no more is taken."""
        self.head: str | None = None
        """Hash of the last line, once there is one: a transcript that was left unfinished has none."""
        self.seat_heads: tuple[str, ...] = ()
        """By seat: the hash of the last line of its own transcript; in the footer, too."""
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
        """Adds a record. Never waits: it is made into a line, and taken to the disk, later.

        Raises:
            TranscriptError: the disk has failed or does not keep up, an earlier record was none that can be
                written, or it was closed. It is raised again for every record that follows, and by
                `open_transcript`.
        """
        if self.error is not None or not 0 < len(self._records) < MAX_WAITING:
            self._begin_step()
        self._records.append(record)

    def _begin_step(self) -> None:
        """What is looked at before the first record of a step, for all of them."""
        if (
            self.error is not None
            or self._ends
            or len(self._records) + len(self._lines) >= MAX_WAITING
            or self._waiting_bytes >= MAX_WAITING_BYTES
        ):
            self._refuse()
        self._bell.ring()

    def catch_up(self) -> None:
        """Makes what was appended into lines, if nothing has gone wrong yet."""
        if self._records and self.error is None:
            try:
                self._make_lines(len(self._records))
            except TranscriptError as error:
                self.error = error
                self._bell.ring()

    @property
    def _waiting_bytes(self) -> int:
        """Of lines that are not yet on the disk, those on their way to it among them.

        Records that are no lines yet are left out: they are those of one step, in which no more is heard of a bot
        than its line holds.
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
        """Raises the error, if there is one."""
        if self.error is not None:
            raise self.error

    async def keep_writing(self, match: trio.CancelScope) -> None:
        """Takes what comes to the disk, until it is cancelled. Cancels the match if that fails."""
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
        """Finishes it when the match is over and its bots still have to end: nobody waits for the disk then.

        What goes wrong is raised by `open_transcript`.
        """
        try:
            await self.finish()
        except TranscriptError as error:
            self.error = error

    async def finish(self) -> None:
        """Seals it, takes the rest to the disk, makes sure it is there, gives the file its name. Idempotent."""
        self.check()
        if self.head is None:
            self._make_lines(len(self._records))
            self._ends = True
            await self._tally()
            self._lines.append(self._chain.seal(Footer(heads=self.seat_heads)))
            self.head = self._chain.head
        await self._in_thread(self._file.finish)

    async def abandon(self) -> None:
        """Keeps what there is, under the name of an unfinished file."""
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
        """`anyway`: also after an error."""
        async with self._at_the_disk:
            if not anyway:
                self.check()  # The last write may have failed meanwhile.
            lines = self._lines[:]
            self._lines.clear()
            try:
                # Shielded: what was taken out must get there, also if the match ends just now.
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(put, lines, limiter=self._limiter)
            except TranscriptError:
                self._lines.clear()  # What was made meanwhile is never written: it would follow on a gap.
                raise

    async def _tally(self) -> None:
        """Takes the seats' own hashes: they are of whole lines, and no decision is to wait for them."""
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
    """Writes the transcript of a match that is over; returns the hash of its last line.

    Raises:
        TranscriptError: it cannot be written, or a file of that name is there.
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
    transcript = Transcript(path, header, await trio.to_thread.run_sync(PartFile, path))
    try:
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(transcript.keep_writing, nursery.cancel_scope)
                yield transcript
                nursery.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # The writing task never raises: this is what the block raised, wrapped by our nursery.
            raised = group.exceptions[0]
            if transcript.error is not None and isinstance(raised, Exception):
                raise transcript.error from raised  # However deep in the block's own nurseries it was met.
            raise raised from None
        with trio.CancelScope(shield=True):
            await transcript.finish()
    except BaseException:
        with trio.CancelScope(shield=True):
            await transcript.abandon()
        raise
