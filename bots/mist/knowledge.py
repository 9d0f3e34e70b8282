"""The knowledge of a seat of Mist: a memory of its events, and random worlds that agree with it.

Views show the present only. Cells are masks of `protocol.games.mist.board.BOARD`. A world is a possible board,
drawn turn by turn: the number of pieces that the opponent placed, and the cells of the unseen ones. They fit
everything seen in every vision, and the losses of this seat's pairs and triples.
"""

from dataclasses import dataclass
from functools import cache
from random import Random
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
from protocol.games.mist.board import BOARD, CENTRE, SEEN, vision


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
    """Cells of this seat's next turn that pieces of the opponent's turn spotted, each in sight of one at least."""
    missed: int = 0
    """Cells of this seat's next turn that survived, and so were in sight of none of those pieces."""

    @property
    def seen(self) -> int:
        """Number of pieces of the turn that this seat knows of."""
        return (self.stayed | self.destroyed).bit_count()


class SeatMemory:
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
        self.memory = SeatMemory(self.match.seat)

    def event(self, event: MistEvent) -> None:
        """Record an event."""
        self.memory.hear(event)


MAX_PIECES = 3
HABITS = (1.0, 0.7, 2.0)
"""Initial weights of turns with one, two and three pieces."""
NEAR = 8.0
"""Weight of a cell next to the opponent's own pieces; other cells have the weight 1."""


@dataclass(frozen=True)
class PossibleBoard:
    """A possible board."""

    opponent: int
    """All the opponent's pieces."""
    spotting: int
    """Cells in which the pieces of its last turn would spot a pair or triple."""


class Belief:
    """Draws worlds for one moment of a match."""

    def __init__(self, memory: SeatMemory, rng: Random) -> None:
        self.memory = memory
        self._rng = rng
        self._unknown = memory.unknown
        self.open = [self._open_cells(i) for i in range(len(memory.turns))]
        """Cells on which each turn may have left an unseen piece, indexed by turn."""
        self.habits = list(HABITS)
        """Weights of this opponent's turns with one, two and three pieces, updated by its turns."""
        self.counts = [self._count_weights(i) for i in range(len(memory.turns))]
        """Probabilities that a turn had one, two and three pieces, indexed by turn."""
        witnessed = 0
        for turn in memory.turns:
            witnessed |= turn.stayed
        self.found = tuple(BOARD.each(memory.opponent & ~witnessed))
        """Pieces that were first seen some time after they were placed."""

    def draw(self) -> PossibleBoard:
        """Draw one world."""
        found = self._date_found()
        pieces = 0
        last, count = 0, 0
        for i, turn in enumerate(self.memory.turns):
            known = turn.stayed | found.get(i, 0)
            count, hidden = self._draw_turn(i, turn, known, pieces)
            last = known | hidden
            pieces |= last
        return PossibleBoard(opponent=pieces | self.memory.opponent, spotting=vision(last, count))

    def may_date(self, cell: int) -> list[int]:
        """Return the turns in which a piece that was seen later may have been placed."""
        turns = self.memory.turns
        return [
            i
            for i in range(self.memory.empty_at.get(cell, 0), self.memory.found_at.get(cell, len(turns)))
            if not turns[i].watched & cell
            and turns[i].seen < MAX_PIECES
            and not BOARD.grow(cell) & turns[i].stayed
        ]

    def _open_cells(self, i: int) -> int:
        """Return the unknown cells outside this seat's vision at turn i that were never seen empty since."""
        cells = self._unknown & ~self.memory.turns[i].watched
        for cell in BOARD.each(cells):
            if self.memory.empty_at.get(cell, 0) > i:
                cells &= ~cell
        return cells

    def _count_weights(self, i: int) -> tuple[float, ...]:
        """Return the probabilities that turn i had one, two and three pieces; add them to the habits."""
        turn = self.memory.turns[i]
        if turn.public:
            return tuple(float(count == turn.seen) for count in range(1, MAX_PIECES + 1))
        free = (turn.watched | self.open[i]) & ~CENTRE
        covered = (turn.watched & free).bit_count() / max(1, free.bit_count())
        weights = [
            self.habits[count - 1] * _chance(turn.seen, count, covered) * self._agrees(i, turn, count)
            if count >= turn.seen
            else 0.0
            for count in range(1, MAX_PIECES + 1)
        ]
        total = sum(weights)
        if not total:
            return tuple(float(count >= turn.seen) for count in range(1, MAX_PIECES + 1))
        for index, weight in enumerate(weights):
            self.habits[index] += weight / total
        return tuple(weight / total for weight in weights)

    def _agrees(self, i: int, turn: OpponentTurn, count: int) -> float:
        """Return the weight of `count` pieces by the cells of this seat's answer that they spotted or missed."""
        if not turn.hit and not turn.missed:
            return 1.0
        if turn.stayed and vision(turn.stayed, count) & turn.missed:
            return 0.0
        if turn.hit & ~vision(turn.stayed, count) == 0:
            return 1.0 if turn.hit else self._share(i, turn, count) ** (count - turn.seen)
        return self._share(i, turn, count)

    def _share(self, i: int, turn: OpponentTurn, count: int) -> float:
        """Return the share of open cells from which a piece would have spotted exactly the spotted cells."""
        cells = self.open[i]
        return may_hold(cells, turn, count).bit_count() / max(1, cells.bit_count())

    def _date_found(self) -> dict[int, int]:
        """Assign a possible turn to each piece that was seen later; return the cells by turn."""
        dated: dict[int, int] = {}
        memory = self.memory
        for cell in self.found:
            turns = [
                i
                for i in self.may_date(cell)
                if memory.turns[i].seen + dated.get(i, 0).bit_count() < MAX_PIECES
                and not BOARD.grow(cell) & dated.get(i, 0)
            ]
            if turns:
                i = self._rng.choice(turns)
                dated[i] = dated.get(i, 0) | cell
        return dated

    def _draw_turn(self, i: int, turn: OpponentTurn, known: int, pieces: int) -> tuple[int, int]:
        """Draw the number of pieces of a turn and the cells of its unseen pieces."""
        seen = (known | turn.destroyed).bit_count()
        weights = [weight if count >= seen else 0.0 for count, weight in enumerate(self.counts[i], 1)]
        if not any(weights):
            return seen, 0
        count = self._rng.choices(range(1, MAX_PIECES + 1), weights)[0]
        cells = may_hold(self.open[i], turn, count) & ~pieces
        hidden = 0
        for cell in BOARD.each(known):
            cells &= ~BOARD.grow(cell)
        for _ in range(count - seen):
            if not cells:
                break
            cell = self._draw_cell(cells, pieces | known)
            hidden |= cell
            cells &= ~BOARD.grow(cell)
        return count, hidden

    def _draw_cell(self, cells: int, pieces: int) -> int:
        """Draw one of these cells; cells next to the opponent's pieces have a higher weight."""
        near = cells & BOARD.grow(pieces)
        far = cells & ~near
        weight = NEAR * near.bit_count()
        chosen = near if self._rng.random() * (weight + far.bit_count()) < weight else far
        return self._rng.choice(tuple(BOARD.each(chosen)))


def may_hold(cells: int, turn: OpponentTurn, count: int) -> int:
    """Return the cells on which a piece of this turn agrees with what the turn spotted and missed."""
    seen = SEEN[count]
    for cell in BOARD.each(turn.missed):
        cells &= ~seen[cell]
    for cell in BOARD.each(turn.hit & ~vision(turn.stayed, count)):
        cells &= seen[cell]
    return cells


@cache
def _chance(seen: int, count: int, covered: float) -> float:
    """Return the probability that exactly `seen` of `count` pieces were in vision, each with chance `covered`."""
    if seen > count:
        return 0.0
    ways = (1, count, count * (count - 1) // 2, 1)[seen] if seen < count else 1
    return float(ways * covered**seen * (1 - covered) ** (count - seen))
