"""What the opponent may have on the board: worlds drawn at random that agree with all that a `Memory` holds.

A world is made turn by turn, as the opponent made it: how many pieces it placed, and where those lie that were not
seen. What is drawn fits what was seen in every vision, and what became of the own pairs and triples.
"""

from dataclasses import dataclass
from functools import cache
from random import Random

from bots.mist_memory import Memory, OpponentTurn
from protocol.games.mist_board import BOARD, CENTRE, SEEN, vision

MAX_PIECES = 3
HABITS = (1.0, 0.7, 2.0)
"""How often an opponent places one, two or three pieces, before anything is known of it: weights."""
NEAR = 8.0
"""How much likelier a cell next to its own pieces is to be played than one that is not."""


@dataclass(frozen=True)
class World:
    """One way the board may be."""

    opponent: int
    """All the opponent's pieces."""
    spotting: int
    """Where the pieces of its last turn would spot a pair or triple."""


class Belief:
    """Draws worlds for one moment of a match."""

    def __init__(self, memory: Memory, luck: Random) -> None:
        self.memory = memory
        self._luck = luck
        self._unknown = memory.unknown
        self.open = [self._open_cells(i) for i in range(len(memory.turns))]
        """By turn: the cells where it may have left a piece that was never seen."""
        self.habits = list(HABITS)
        """How often this opponent places one, two, three pieces, learned from its turns: weights."""
        self.counts = [self._count_weights(i) for i in range(len(memory.turns))]
        """By turn: how likely it was of one, two, three pieces."""
        witnessed = 0
        for turn in memory.turns:
            witnessed |= turn.stayed
        self.found = tuple(BOARD.each(memory.opponent & ~witnessed))
        """Pieces that were found later than placed."""

    def draw(self) -> World:
        """One world."""
        found = self._date_found()
        pieces = 0
        last, count = 0, 0
        for i, turn in enumerate(self.memory.turns):
            known = turn.stayed | found.get(i, 0)
            count, hidden = self._draw_turn(i, turn, known, pieces)
            last = known | hidden
            pieces |= last
        return World(opponent=pieces | self.memory.opponent, spotting=vision(last, count))

    def may_date(self, cell: int) -> list[int]:
        """The turns in which a piece that was found later may have been placed."""
        turns = self.memory.turns
        return [
            i
            for i in range(self.memory.empty_at.get(cell, 0), self.memory.found_at.get(cell, len(turns)))
            if not turns[i].watched & cell
            and turns[i].seen < MAX_PIECES
            and not BOARD.grow(cell) & turns[i].stayed
        ]

    def _open_cells(self, i: int) -> int:
        """Unknown cells out of this seat's vision at turn i, and never seen empty since."""
        cells = self._unknown & ~self.memory.turns[i].watched
        for cell in BOARD.each(cells):
            if self.memory.empty_at.get(cell, 0) > i:
                cells &= ~cell
        return cells

    def _count_weights(self, i: int) -> tuple[float, ...]:
        """How likely turn i was of one, two, three pieces; adds to the habits what it teaches."""
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
        """How well so many pieces agree with what they spotted, and did not, of this seat's answer."""
        if not turn.hit and not turn.missed:
            return 1.0
        if turn.stayed and vision(turn.stayed, count) & turn.missed:
            return 0.0
        if turn.hit & ~vision(turn.stayed, count) == 0:
            return 1.0 if turn.hit else self._share(i, turn, count) ** (count - turn.seen)
        return self._share(i, turn, count)

    def _share(self, i: int, turn: OpponentTurn, count: int) -> float:
        """The share of open cells from which a piece would have spotted what was spotted, and nothing else."""
        cells = self.open[i]
        return may_hold(cells, turn, count).bit_count() / max(1, cells.bit_count())

    def _date_found(self) -> dict[int, int]:
        """Gives each piece that was found later one of the turns in which it may have been placed."""
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
                i = self._luck.choice(turns)
                dated[i] = dated.get(i, 0) | cell
        return dated

    def _draw_turn(self, i: int, turn: OpponentTurn, known: int, pieces: int) -> tuple[int, int]:
        """How many pieces a turn placed, and those of them that were never seen."""
        seen = (known | turn.destroyed).bit_count()
        weights = [weight if count >= seen else 0.0 for count, weight in enumerate(self.counts[i], 1)]
        if not any(weights):
            return seen, 0
        count = self._luck.choices(range(1, MAX_PIECES + 1), weights)[0]
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
        """One of these cells; those next to its pieces are likelier."""
        near = cells & BOARD.grow(pieces)
        far = cells & ~near
        weight = NEAR * near.bit_count()
        chosen = near if self._luck.random() * (weight + far.bit_count()) < weight else far
        return self._luck.choice(tuple(BOARD.each(chosen)))


def may_hold(cells: int, turn: OpponentTurn, count: int) -> int:
    """Those of the cells where a piece of this turn agrees with what it spotted and did not spot."""
    seen = SEEN[count]
    for cell in BOARD.each(turn.missed):
        cells &= ~seen[cell]
    for cell in BOARD.each(turn.hit & ~vision(turn.stayed, count)):
        cells &= seen[cell]
    return cells


@cache
def _chance(seen: int, count: int, covered: float) -> float:
    """The chance that of `count` pieces, each in vision with the chance `covered`, exactly `seen` were."""
    if seen > count:
        return 0.0
    ways = (1, count, count * (count - 1) // 2, 1)[seen] if seen < count else 1
    return float(ways * covered**seen * (1 - covered) ** (count - seen))
