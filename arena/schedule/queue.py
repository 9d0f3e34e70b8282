"""Which match is played next, and by which worker. Pure: who plays it and what came of it is the runner's.

A worker plays whole blocks, so that the matches of one deal meet the same conditions. When no blocks are left to
begin, those that are idle help with the others', so that the last block does not keep one worker busy alone.
"""

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from arena.schedule.blocks import Block, Match

AHEAD = 32
"""Blocks that are looked at and cannot begin yet: so far ahead one is looked for that can."""
Fits = Callable[[Match], bool]
"""Whether a match can be played now. The first for which it says so is handed out."""


def _always(match: Match) -> bool:
    del match
    return True


class Later(Struct, frozen=True):
    """Stands for blocks that depend on results of matches that are being played."""


class Ticket(Struct, frozen=True):
    """One match that was handed out."""

    match: Match
    seatings: int
    """How many matches its block has."""
    turn: int
    """How often its block had been begun again by then."""


class _Begun(Struct):
    """A block of which some matches are being played, or still to be."""

    block: Block
    worker: int
    waiting: list[Match]
    """To be handed out, the first first."""
    left: int
    """Matches that have not ended, being played or waiting."""
    turn: int = 0

    def take(self, fits: Fits) -> "Ticket | None":
        """Its first match that can be played now."""
        for match in self.waiting:
            if fits(match):
                self.waiting.remove(match)
                return Ticket(match, len(self.block.matches), self.turn)
        return None


class MatchQueue:
    """What is left of a schedule."""

    def __init__(
        self,
        blocks: Iterator[Block | Later],
        finished: Collection[tuple[int, int]],
        *,
        aside: Collection[int] = (),
        left_out: Collection[int] = (),
        releases: bool = False,
    ) -> None:
        """Begins.

        Args:
            blocks: in schedule order. `Later`: ask again when more matches have ended.
            finished: block and seating of matches that are not played again unless their block is.
            aside: the numbers of blocks that were set aside before.
            left_out: those of blocks that are not played at all.
            releases: whether blocks that are set aside are to be played once nothing else is left.
        """
        self._were_aside = aside
        self._left_out = left_out
        self._releases = releases
        self._aside: dict[int, _Begun] = {}
        self._coming = blocks
        self._finished = finished
        self._ahead: list[Block] = []
        """Blocks that could not begin yet."""
        self._all_begun = False
        self._next = 0
        """The number of the block after those that were begun or had been played."""
        self._end: int | None = None
        self._begun: dict[int, _Begun] = {}
        self._left: set[int] = set()

    @property
    def done(self) -> bool:
        """Whether every match has ended that is to be played now."""
        return self._all_begun and not self._begun and not (self._releases and self._aside)

    def take(self, worker: int, fits: Fits = _always) -> Ticket | None:
        """The next match for a worker; None: there is none now, but there may be again until all is `done`."""
        return (
            self._waiting_of({worker}, fits)
            or self._waiting_of(self._left, fits)
            or self._begin_next(worker, fits)
            or self._waiting_of(None, fits)
        )

    def end_at(self, change_at: Callable[[int], int]) -> None:
        """Begins no more blocks than it must: `change_at` says before which block it can stop (`Schedule`)."""
        if self._end is None:
            self._end = change_at(self._next)

    def stop(self, waits: Fits = lambda _: False) -> None:
        """Begins no more blocks, and leaves out matches that `waits` says may wait for long."""
        self._ahead, self._coming, self._all_begun = [], iter(()), True
        self._aside.clear()
        for number, begun in list(self._begun.items()):
            waiting = [match for match in begun.waiting if not waits(match)]
            begun.left -= len(begun.waiting) - len(waiting)
            begun.waiting = waiting
            if begun.left == 0:
                del self._begun[number]

    def ended(self, ticket: Ticket) -> bool:
        """A match has its result; whether that counts: not if its block was begun again meanwhile."""
        begun = self._current(ticket)
        if begun is None:
            return False
        begun.left -= 1
        if begun.left == 0:
            del self._begun[ticket.match.block]
        return True

    def interrupted(self, ticket: Ticket) -> None:
        """The worker of a match is gone: the match alone is played again."""
        begun = self._current(ticket)
        if begun is not None:
            begun.waiting.insert(0, ticket.match)

    def left(self, worker: int) -> None:
        """A worker is gone for good: others end its blocks before they begin another, or they would wait long."""
        self._left.add(worker)

    def void(self, ticket: Ticket) -> int | None:
        """An attempt is void: its whole block is begun again. How often it has been by now.

        None: it had been already since the match was handed out, and is not for its sake.
        """
        begun = self._current(ticket)
        if begun is None:
            return None
        begun.turn += 1
        begun.waiting = list(begun.block.matches)
        begun.left = len(begun.waiting)
        return begun.turn

    def set_aside(self, block: int) -> None:
        """Play no match of a block that was begun, until it is released."""
        self._aside[block] = self._begun.pop(block)

    def take_back(self, blocks: Collection[int]) -> None:
        """Have these blocks played, if they were set aside."""
        for block in blocks:
            if block in self._aside:
                self._begun[block] = self._aside.pop(block)

    def release(self) -> int | None:
        """Have a block played that was set aside, if that is asked for and nothing else is left; return which."""
        if not self._releases or self._begun or not self._aside:
            return None
        block = min(self._aside)
        self._begun[block] = self._aside.pop(block)
        return block

    def _current(self, ticket: Ticket) -> _Begun | None:
        """The block of a ticket, if it was not begun again since."""
        begun = self._begun.get(ticket.match.block)
        return begun if begun is not None and begun.turn == ticket.turn else None

    def _waiting_of(self, workers: Collection[int] | None, fits: Fits) -> Ticket | None:
        """The first match to hand out of the blocks begun by one of these workers, None for any."""
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
            if isinstance(coming, Later) and self._end is None:
                return None
            # Blocks that come later come after all that are known: where there is an end, it is before them.
            if (
                coming is None
                or isinstance(coming, Later)
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
        """Do not begin a block that is left out, or that was set aside."""
        self._next = max(self._next, block.number + 1)
        if block.number not in self._left_out:
            waiting = list(block.matches)
            self._aside[block.number] = _Begun(block, worker, waiting, len(waiting))

    def _left_of(self, block: Block) -> list[Match]:
        return [match for match in block.matches if (match.block, match.seating) not in self._finished]

    def _begin(self, block: Block, worker: int, fits: Fits) -> Ticket | None:
        """Begins a block, if one of its matches can be played now; that match."""
        waiting = self._left_of(block)
        begun = _Begun(block, worker, waiting, len(waiting))
        ticket = begun.take(fits)
        if ticket is not None:
            self._begun[block.number] = begun
            self._next = max(self._next, block.number + 1)
        return ticket
