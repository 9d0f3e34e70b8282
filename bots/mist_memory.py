"""What one seat has learned in a match of Mist, kept from its events: views show the present only.

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
    """One turn of the opponent, as far as this seat could see it."""

    watched: int
    """The cells that this seat saw just after the turn."""
    stayed: int
    """Pieces in them that the turn left on the board."""
    destroyed: int
    """Pieces in them that the turn placed and lost."""
    public: bool = False
    """The first turn of the match: all of it is known."""
    hit: int = 0
    """Cells of this seat's answer that its pieces spotted: from one of them at least, each was in its sight."""
    missed: int = 0
    """Cells of this seat's answer that they did not spot, though they would have destroyed what they spotted."""

    @property
    def seen(self) -> int:
        """How many pieces of the turn this seat knows of."""
        return (self.stayed | self.destroyed).bit_count()


class Memory:
    """Everything that a seat knows for certain, and since when."""

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.own = 0
        """This seat's pieces."""
        self.opponent = 0
        """The opponent's pieces that this seat has seen."""
        self.turns: list[OpponentTurn] = []
        """The opponent's turns so far."""
        self.found_at: dict[int, int] = {}
        """Cell of `opponent` to how many of the opponent's turns had been played when it was found."""
        self.empty_at: dict[int, int] = {}
        """Cell to how many of the opponent's turns had been played when it was last seen empty."""
        self.last_cells = 0
        """The cells of this seat's last turn."""
        self.last_lost = 0
        """Those of them that were destroyed."""
        self._first_cells: int | None = None
        """The opponent's first turn, while only `first_move` has told of it."""

    @property
    def unknown(self) -> int:
        """Cells that may be empty: not E5, and nobody's piece has been seen there."""
        return BOARD.all & ~CENTRE & ~self.own & ~self.opponent

    def spotting(self) -> int:
        """The cells in which the opponent's next pair or triple would be spotted and destroyed."""
        return vision(self.last_cells & ~self.last_lost, self.last_cells.bit_count())

    def hear(self, event: MistEvent) -> None:
        """Learns from an event."""
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
        """The first turn, told to all. Its mover hears `placed` as well, its watcher `opponent_placed`."""
        if seat == self.seat:
            self.own |= cells & ~CENTRE
        else:
            self.opponent |= cells & ~CENTRE
            self._first_cells = cells

    def _swap(self, seat: int) -> None:
        """Pieces and the vision that came with them change owner. Only the first turn lies behind."""
        self.own, self.opponent = self.opponent, self.own
        if seat == self.seat:
            first = self.turns.pop()
            self.last_cells, self.last_lost = first.stayed | first.destroyed, first.destroyed
        else:
            stayed = self.last_cells & ~self.last_lost
            self.turns.append(OpponentTurn(BOARD.all, stayed, self.last_lost, public=True))
            self.last_cells = self.last_lost = 0

    def _place(self, event: Placed) -> None:
        """This seat has placed. What became of a pair or triple tells what the opponent's last pieces see."""
        self.last_cells, self.last_lost = BOARD.mask(event.cells), BOARD.mask(event.destroyed)
        self._look(event.visible)
        if len(event.cells) > 1 and self.turns:
            self.turns[-1].hit = self.last_lost & self.unknown
            self.turns[-1].missed = self.last_cells & ~self.last_lost

    def _watch(self, event: OpponentPlaced) -> None:
        """The opponent has placed. On the first turn `first_move` has said all there is to know."""
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
        """Learns what visible cells hold."""
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
    """A bot that knows all that it was told."""

    def welcome(self) -> None:
        """A match begins with nothing known."""
        self.memory = Memory(self.match.seat)

    def event(self, event: MistEvent) -> None:
        """All that is told is remembered."""
        self.memory.hear(event)
