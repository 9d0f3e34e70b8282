"""Which match is played next, and by which worker. Pure: who plays it and what came of it is the runner's.

A worker plays whole blocks, so that the matches of one deal meet the same conditions. When no blocks are left to
begin, those that are idle help with the others', so that the last block does not keep one worker busy alone.
"""

from collections.abc import Callable, Collection, Iterator

from msgspec import Struct

from arena.schedule.blocks import Block, Match


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


class MatchQueue:
    """What is left of a schedule."""

    def __init__(self, blocks: Iterator[Block], finished: Collection[tuple[int, int]]) -> None:
        """`finished`: block and seating of matches that are not played again unless their block is."""
        self._coming = blocks
        self._finished = finished
        self._all_begun = False
        self._next = 0
        """The number of the block after those that were begun or had been played."""
        self._end: int | None = None
        self._begun: dict[int, _Begun] = {}
        self._left: set[int] = set()

    @property
    def done(self) -> bool:
        """Whether every match has ended."""
        return self._all_begun and not self._begun

    def take(self, worker: int) -> Ticket | None:
        """The next match for a worker; None: there is none now, but there may be again until all is `done`."""
        found = (
            self._waiting_of({worker})
            or self._waiting_of(self._left)
            or self._begin_next(worker)
            or self._waiting_of(None)
        )
        if found is None:
            return None
        return Ticket(found.waiting.pop(0), len(found.block.matches), found.turn)

    def end_at(self, change_at: Callable[[int], int]) -> None:
        """Begins no more blocks than it must: `change_at` says before which block it can stop (`Schedule`)."""
        if self._end is None:
            self._end = change_at(self._next)

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

    def _current(self, ticket: Ticket) -> _Begun | None:
        """The block of a ticket, if it was not begun again since."""
        begun = self._begun.get(ticket.match.block)
        return begun if begun is not None and begun.turn == ticket.turn else None

    def _waiting_of(self, workers: Collection[int] | None) -> _Begun | None:
        """The first block begun by one of these workers, None for any, that has a match to hand out."""
        if workers is None or workers:
            for begun in self._begun.values():
                if begun.waiting and (workers is None or begun.worker in workers):
                    return begun
        return None

    def _begin_next(self, worker: int) -> _Begun | None:
        for block in self._coming:
            if self._end is not None and block.number >= self._end:
                break
            self._next = block.number + 1
            waiting = [match for match in block.matches if (match.block, match.seating) not in self._finished]
            if waiting:
                self._begun[block.number] = begun = _Begun(block, worker, waiting, len(waiting))
                return begun
        self._all_begun = True
        return None
