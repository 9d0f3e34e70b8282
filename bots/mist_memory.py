"""Memory of one seat's events in a match of Mist, because views show the present only.

Cells are masks of `protocol.games.mist_board.BOARD`.
"""

from dataclasses import dataclass
from typing import assert_never

from bots.kit import Bot
from protocol.games.mist import (
    Board,
    FirstChosen,
    FirstMove,
    MistEvent,
    MistView,
    OpponentPlaced,
    Placed,
    Reveal,
    Swapped,
    Vision,
)
from protocol.games.mist_board import BOARD, CENTRE, vision


@dataclass
class OpponentTurn:
    """One turn of the opponent, as far as this seat saw it."""

    watched: int
    """Cells that this seat saw just after the turn."""
    stayed: int
    """Watched cells with pieces of the turn that remain on the board."""
    destroyed: int
    """Watched cells on which the turn placed and lost pieces."""
    public: bool = False
    """True for the first turn of the match, which is fully known."""
    hit: int = 0
    """Cells of this seat's next turn that pieces of the turn spotted; each is in sight of at least one of them."""
    missed: int = 0
    """Cells of this seat's next turn that survived, and so were in sight of none of them."""

    @property
    def seen(self) -> int:
        """Number of pieces of the turn that this seat knows of."""
        return (self.stayed | self.destroyed).bit_count()


class Memory:
    """Everything that a seat knows for certain, with the times at which it learned it."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.own = 0
        """This seat's pieces."""
        self.opponent = 0
        """The opponent's pieces that this seat has seen."""
        self.turns: list[OpponentTurn] = []
        """The opponent's turns so far."""
        self.found_at: dict[int, int] = {}
        """Number of the opponent's turns before a piece was first seen, by cell of `opponent`."""
        self.empty_at: dict[int, int] = {}
        """Number of the opponent's turns before a cell was last seen empty, by cell."""
        self.last_cells = 0
        """The cells of this seat's last turn."""
        self.last_lost = 0
        """Cells of the last turn on which its pieces were destroyed."""
        self._first_cells: int | None = None
        """The opponent's first turn between the events `first_move` and `opponent_placed`."""

    @property
    def unknown(self) -> int:
        """Cells that may be empty: all except E5 and cells with known pieces."""
        return BOARD.all & ~CENTRE & ~self.own & ~self.opponent

    def spotting(self) -> int:
        """Return the cells in which the opponent's next pair or triple would be spotted and destroyed."""
        return vision(self.last_cells & ~self.last_lost, self.last_cells.bit_count())

    def hear(self, event: MistEvent) -> None:
        """Update the memory by an event."""
        match event:
            case FirstMove(seat=seat, cells=cells):
                self._first(seat, BOARD.mask(cells))
            case Swapped(seat=seat):
                self._swap(seat)
            case Placed():
                self._place(event)
            case OpponentPlaced():
                self._watch(event)
            case Vision(visible=visible):
                self._look(visible)
            case FirstChosen() | Reveal():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _first(self, seat: int, cells: int) -> None:
        """Record the public first turn. The mover also receives `placed`, the other seat `opponent_placed`."""
        if seat == self.seat:
            self.own |= cells & ~CENTRE
        else:
            self.opponent |= cells & ~CENTRE
            self._first_cells = cells

    def _swap(self, seat: int) -> None:
        """Exchange pieces and their vision after a swap, which is possible only after the first turn."""
        self.own, self.opponent = self.opponent, self.own
        if seat == self.seat:
            first = self.turns.pop()
            self.last_cells, self.last_lost = first.stayed | first.destroyed, first.destroyed
        else:
            stayed = self.last_cells & ~self.last_lost
            self.turns.append(OpponentTurn(BOARD.all, stayed, self.last_lost, public=True))
            self.last_cells = self.last_lost = 0

    def _place(self, event: Placed) -> None:
        """Record this seat's turn. The losses of a pair or triple show what the opponent's last pieces see."""
        self.last_cells, self.last_lost = BOARD.mask(event.cells), BOARD.mask(event.destroyed)
        self._look(event.visible)
        if len(event.cells) > 1 and self.turns:
            self.turns[-1].hit = self.last_lost & self.unknown
            self.turns[-1].missed = self.last_cells & ~self.last_lost

    def _watch(self, event: OpponentPlaced) -> None:
        """Record the opponent's turn. The first turn is already fully known from `first_move`."""
        if self._first_cells is not None:
            cells, self._first_cells = self._first_cells, None
            self.turns.append(OpponentTurn(BOARD.all, cells & ~CENTRE, cells & CENTRE, public=True))
            return
        turn = OpponentTurn(BOARD.mask(event.visible), 0, BOARD.mask(event.destroyed))
        self.turns.append(turn)
        before = self.opponent
        self._look(event.visible)
        turn.stayed = self.opponent & ~before

    def _look(self, visible: Board) -> None:
        """Record the content of visible cells."""
        for name, holds in visible.items():
            cell = BOARD.mask((name,))
            if holds == "own":
                self.own |= cell
            elif holds == "opponent":
                self.opponent |= cell
                self.found_at.setdefault(cell, len(self.turns))
            else:
                self.empty_at[cell] = len(self.turns)


class Rememberer(Bot[MistView, MistEvent]):
    """A bot with a memory of all events."""

    def welcome(self) -> None:
        """Start the match with an empty memory."""
        self.memory = Memory(self.match.seat)

    def event(self, event: MistEvent) -> None:
        """Record an event."""
        self.memory.hear(event)
