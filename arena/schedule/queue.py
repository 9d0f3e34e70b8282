"""Queue that chooses the next match for each worker. Pure: the runner starts matches and stores results.

A worker plays whole blocks, so that the matches of one deal have the same conditions. When no new blocks remain,
idle workers take matches of the others' blocks, so that the last block does not occupy one worker alone.
"""

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from arena.schedule.blocks import Block, ScheduledMatch

AHEAD = 32
"""Maximum number of blocks that are held back because none of their matches can be played yet."""
Fits = Callable[[ScheduledMatch], bool]
"""Returns True for a match that can be played now. The queue hands out the first such match."""


def _always(match: ScheduledMatch) -> bool:
    del match
    return True


class NotYetScheduled(Struct, frozen=True):
    """Placeholder for blocks that depend on results of running matches."""


class Ticket(Struct, frozen=True):
    """A match that was handed out to a worker."""

    match: ScheduledMatch
    seatings: int
    """Number of matches in the block."""
    turn: int
    """Number of restarts of the block before the match was handed out."""


class _Begun(Struct):
    """A started block with matches that are running or waiting."""

    block: Block
    worker: int
    waiting: list[ScheduledMatch]
    """Matches to hand out, in order."""
    left: int
    """Number of matches that are running or waiting."""
    turn: int = 0

    def take(self, fits: Fits) -> "Ticket | None":
        """Remove and return the first match that can be played now."""
        for match in self.waiting:
            if fits(match):
                self.waiting.remove(match)
                return Ticket(match, len(self.block.matches), self.turn)
        return None


class MatchQueue:
    """The unplayed part of a schedule."""

    def __init__(
        self,
        blocks: Iterator[Block | NotYetScheduled],
        finished: Collection[tuple[int, int]],
        *,
        aside: Collection[int] = (),
        left_out: Collection[int] = (),
        releases: bool = False,
    ) -> None:
        """Create the queue.

        Args:
            blocks: blocks in schedule order; after `NotYetScheduled`, the queue waits for more matches to end.
            finished: block and seating of finished matches; they are replayed only if their block restarts.
            aside: numbers of blocks that were set aside before.
            left_out: numbers of blocks that are never played.
            releases: True to play blocks that were set aside once no other block remains.
        """
        self._were_aside = aside
        self._left_out = left_out
        self._releases = releases
        self._aside: dict[int, _Begun] = {}
        self._coming = blocks
        self._finished = finished
        self._ahead: list[Block] = []
        """Blocks that could not start yet."""
        self._all_begun = False
        self._next = 0
        """Number after the last block that was started or already finished."""
        self._end: int | None = None
        self._begun: dict[int, _Begun] = {}
        self._left: set[int] = set()

    @property
    def done(self) -> bool:
        """True when every match that is to be played now has ended."""
        return self._all_begun and not self._begun and not (self._releases and self._aside)

    def take(self, worker: int, fits: Fits = _always) -> Ticket | None:
        """Return the next match for a worker; None if there is none now. Ask again until the queue is `done`."""
        return (
            self._waiting_of({worker}, fits)
            or self._waiting_of(self._left, fits)
            or self._begin_next(worker, fits)
            or self._waiting_of(None, fits)
        )

    def end_at(self, change_at: Callable[[int], int]) -> None:
        """Start no block from the one on that `change_at` returns; see `Schedule.change_at`."""
        if self._end is None:
            self._end = change_at(self._next)

    def stop(self, waits: Fits = lambda _: False) -> None:
        """Start no more blocks, and drop waiting matches for which `waits` returns True."""
        self._ahead, self._coming, self._all_begun = [], iter(()), True
        self._aside.clear()
        for number, begun in list(self._begun.items()):
            waiting = [match for match in begun.waiting if not waits(match)]
            begun.left -= len(begun.waiting) - len(waiting)
            begun.waiting = waiting
            if begun.left == 0:
                del self._begun[number]

    def ended(self, ticket: Ticket) -> bool:
        """Record that a match has a result; return False if its block was restarted, so that it does not count."""
        begun = self._current(ticket)
        if begun is None:
            return False
        begun.left -= 1
        if begun.left == 0:
            del self._begun[ticket.match.block]
        return True

    def interrupted(self, ticket: Ticket) -> None:
        """Put a match back after its worker exited; only this match is replayed."""
        begun = self._current(ticket)
        if begun is not None:
            begun.waiting.insert(0, ticket.match)

    def left(self, worker: int) -> None:
        """Record that a worker does not return; others finish its blocks before they start new ones."""
        self._left.add(worker)

    def void(self, ticket: Ticket) -> int | None:
        """Restart the whole block of a void match; return the number of its restarts.

        Return None and change nothing if the block was already restarted after this match was handed out.
        """
        begun = self._current(ticket)
        if begun is None:
            return None
        begun.turn += 1
        begun.waiting = list(begun.block.matches)
        begun.left = len(begun.waiting)
        return begun.turn

    def set_aside(self, block: int) -> None:
        """Hold back all matches of a started block until it is released."""
        self._aside[block] = self._begun.pop(block)

    def take_back(self, blocks: Collection[int]) -> None:
        """Return these blocks to the queue, if they were set aside."""
        for block in blocks:
            if block in self._aside:
                self._begun[block] = self._aside.pop(block)

    def release(self) -> int | None:
        """Return the first block set aside to the queue, if nothing else remains; return its number or None."""
        if not self._releases or self._begun or not self._aside:
            return None
        block = min(self._aside)
        self._begun[block] = self._aside.pop(block)
        return block

    def _current(self, ticket: Ticket) -> _Begun | None:
        """Return the block of a ticket; None if it was restarted or has ended since."""
        begun = self._begun.get(ticket.match.block)
        if begun is not None and begun.turn == ticket.turn:
            return begun
        return None

    def _waiting_of(self, workers: Collection[int] | None, fits: Fits) -> Ticket | None:
        """Hand out the first possible match of blocks that these workers started; None means all workers."""
        if workers is None or workers:
            for begun in self._begun.values():
                if begun.waiting and (workers is None or begun.worker in workers):
                    ticket = begun.take(fits)
                    if ticket is not None:
                        return ticket
        return None

    def _begin_next(self, worker: int, fits: Fits) -> Ticket | None:
        self._ahead = [block for block in self._ahead if self._end is None or block.number < self._end]
        for block in self._ahead:
            ticket = self._begin(block, worker, fits)
            if ticket is not None:
                self._ahead.remove(block)
                return ticket
        while len(self._ahead) < AHEAD:
            coming = next(self._coming, None)
            if isinstance(coming, NotYetScheduled) and self._end is None:
                return None
            # Later blocks have higher numbers than all known ones, so a fixed end is before them.
            if (
                coming is None
                or isinstance(coming, NotYetScheduled)
                or (self._end is not None and coming.number >= self._end)
            ):
                self._all_begun = not self._ahead
                break
            if coming.number in self._left_out or coming.number in self._were_aside:
                self._pass_over(coming, worker)
                continue
            ticket = self._begin(coming, worker, fits)
            if ticket is not None:
                return ticket
            if self._left_of(coming):
                self._ahead.append(coming)
            else:
                self._next = max(self._next, coming.number + 1)
        return None

    def _pass_over(self, block: Block, worker: int) -> None:
        """Skip a block that is left out or was set aside."""
        self._next = max(self._next, block.number + 1)
        if block.number not in self._left_out:
            waiting = list(block.matches)
            self._aside[block.number] = _Begun(block, worker, waiting, len(waiting))

    def _left_of(self, block: Block) -> list[ScheduledMatch]:
        return [match for match in block.matches if (match.block, match.seating) not in self._finished]

    def _begin(self, block: Block, worker: int, fits: Fits) -> Ticket | None:
        """Start a block if one of its matches can be played now; return the ticket of that match."""
        waiting = self._left_of(block)
        begun = _Begun(block, worker, waiting, len(waiting))
        ticket = begun.take(fits)
        if ticket is not None:
            self._begun[block.number] = begun
            self._next = max(self._next, block.number + 1)
        return ticket
