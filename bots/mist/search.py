"""Value of the turns of Mist: random ends of the match, and an information-set Monte Carlo tree search.

For the random ends the empty cells are dealt out many times, and the winner is determined. A decisive cell
belongs to the winner in far more than half of the deals, an unimportant one in about half. So one count per
cell, over all deals, values all cells at once.

Each simulation of the tree search assumes one world and descends the tree: a turn of this seat, the opponent's
answer, and this seat's observation of both. Nodes are identified by observations, not by the true state, so that
no plan uses hidden information. At the end of the tree the empty cells are dealt out at random, and the better
groups win. There are too many turns to try them all: a node starts with a few, and gets more as it is visited
(progressive widening). The n-th simulation of each turn uses the n-th sample of world, answers and deal, the
same for all turns, so that chance favours none.
"""

from math import log, sqrt
from random import Random
from typing import NamedTuple

from protocol.games.mist.board import BOARD, CENTRE, PLAYABLE, RADIUS


class Tally:
    """Counts the masks that contain each cell, for all cells at once.

    Plane i is the i-th binary digit of every cell's count. Adding a mask is an addition with carry for all cells,
    in a few operations on whole numbers instead of a loop over cells.
    """

    def __init__(self) -> None:
        self._planes: list[int] = []

    def add(self, cells: int) -> None:
        """Add 1 to the counts of these cells."""
        for i, plane in enumerate(self._planes):
            self._planes[i] = plane ^ cells
            cells &= plane
            if not cells:
                return
        self._planes.append(cells)

    def count(self, cell: int) -> int:
        """Return the count of a cell."""
        return sum(1 << i for i, plane in enumerate(self._planes) if plane & cell)


def deal_out(rng: Random) -> int:
    """Return a random half of all cells: the empty ones among them will belong to this seat."""
    return rng.getrandbits(BOARD.all.bit_length())


def wins(own: int, opponent: int, deal: int) -> bool:
    """Return True if `own` with the empty cells of `deal` has better groups than `opponent` with the others."""
    empty = PLAYABLE & ~own & ~opponent
    mine, theirs = own | empty & deal, opponent | empty & ~deal
    one, other = BOARD.largest(mine), BOARD.largest(theirs)
    return BOARD.sizes(mine) > BOARD.sizes(theirs) if one == other else one > other


def worth(own: int, worlds: list[int], deals: int, rng: Random) -> dict[int, float]:
    """Return the value of each empty cell: the difference in winning chances between its two owners.

    Args:
        own: this seat's pieces.
        worlds: possible pieces of the opponent.
        deals: number of deals of the empty cells, over all worlds.
        rng: random number generator.
    """
    with_winner, dealt = Tally(), Tally()
    for i in range(deals):
        opponent = worlds[i % len(worlds)]
        empty = PLAYABLE & ~own & ~opponent
        deal = deal_out(rng)
        with_winner.add(empty & (deal if wins(own, opponent, deal) else ~deal))
        dealt.add(empty)
    counts = {cell: (with_winner.count(cell), dealt.count(cell)) for cell in BOARD.each(PLAYABLE & ~own)}
    return {cell: max(0.0, 2 * won / times - 1) for cell, (won, times) in counts.items() if times}


DEPTH = 2
"""Number of this seat's turns that are planned."""
WIDTH, WIDENING = 2.0, 0.4
"""Parameters of widening: a node with n visits has tried WIDTH * n**WIDENING turns."""
EXPLORATION = 0.4
"""Weight of the bonus for turns that were tried less often."""
TRUST = 300
"""Number of simulations that a turn's initial value counts for."""
FAR = 0.4
"""Probability that the opponent accepts a drawn cell that touches none of its pieces."""


class World(NamedTuple):
    """A possible board, as masks."""

    opponent: int
    """All the opponent's pieces."""
    spotting: int
    """Cells in which the pieces of its last turn spot a pair or triple."""


class Sample(NamedTuple):
    """A possible course of the match."""

    world: World
    answers: tuple[int, ...]
    """The opponent's next turns, as masks."""
    deal: int
    """Cells that belong to this seat if they are empty at the end."""


class TurnPosition(NamedTuple):
    """The board before a turn of this seat, as masks."""

    own: int
    opponent: int
    spotting: int
    """Cells in which the opponent spots a pair or triple."""


def placed(own: int, other: int, spotting: int, cells: int) -> int:
    """Return the pieces of a turn that remain on the board.

    Args:
        own: pieces of the seat that moves.
        other: pieces of the other seat.
        spotting: cells in which the other seat spots a pair or triple.
        cells: the turn.
    """
    taken = own | other | CENTRE
    lost = taken if cells.bit_count() == 1 else taken | spotting
    return cells & ~lost


def play(position: TurnPosition, turn: int, answer: int) -> tuple[TurnPosition, tuple[int, int]]:
    """Play a turn of this seat and the opponent's answer; return the new position and the observation."""
    own, opponent, spotting = position
    stayed = placed(own, opponent, spotting, turn)
    own |= stayed
    radius = RADIUS[turn.bit_count()]
    came = placed(opponent, own, BOARD.ball(stayed, radius), answer)
    opponent |= came
    after = TurnPosition(own, opponent, BOARD.ball(came, RADIUS[answer.bit_count()]))
    return after, (stayed, opponent & BOARD.ball(turn, radius))


class Model:
    """Model of the match: this seat's pieces, worlds, values of cells, and the opponent's habits."""

    def __init__(self, own: int, worlds: list[World], values: dict[int, float], habits: list[float]) -> None:
        """Create the model; `habits` are weights of the opponent's turns with one, two and three pieces."""
        self.own = own
        self._worlds = worlds
        self._cells = list(values)
        self._values = [value + 0.02 for value in values.values()]
        self._habits = habits

    def sample(self, number: int, rng: Random) -> Sample:
        """Return sample `number` of the match's course."""
        world = self._worlds[number % len(self._worlds)]
        thought = rng.choices(self._cells, self._values, k=6 * DEPTH)
        counts = rng.choices((1, 2, 3), self._habits, k=DEPTH)
        answers: list[int] = []
        taken = world.opponent
        for count in counts:
            answer = near = 0
            near = BOARD.grow(taken)
            while thought and answer.bit_count() < count:
                cell = thought.pop()
                if not cell & (taken | BOARD.grow(answer)) and (cell & near or rng.random() < FAR):
                    answer |= cell
            answers.append(answer)
            taken |= answer
        return Sample(world, tuple(answers), deal_out(rng))


class Edge:
    """A turn that was tried at a node."""

    __slots__ = ("beyond", "nodes", "turn", "value", "visits")

    def __init__(self, turn: int, value: float) -> None:
        self.turn = turn
        self.value = value
        """Share of random ends that the turn wins."""
        self.visits = 0
        self.beyond = 0.0
        """Sum of the simulations' results less `value`."""
        self.nodes: dict[tuple[int, int], Node] = {}
        """Nodes after the turn, by observation."""


class Node:
    """A state of this seat's knowledge at one of its turns."""

    __slots__ = ("beyond", "edges", "untried", "visits")

    def __init__(self, turns: list[tuple[float, int]]) -> None:
        """Create a node; `turns` are the values and turns to try, the best last."""
        self.visits = 0
        self.beyond = 0.0
        self.edges: list[Edge] = []
        self.untried = turns

    def choose(self) -> Edge:
        """Return the edge to try now; add a new one if the node may widen."""
        if self.untried and len(self.edges) < WIDTH * (self.visits + 1) ** WIDENING:
            value, turn = self.untried.pop()
            self.edges.append(Edge(turn, value))
            return self.edges[-1]
        bonus, usual = EXPLORATION * sqrt(log(self.visits + 1)), self.beyond / self.visits
        return max(self.edges, key=lambda edge: self.worth(edge, usual) + bonus / sqrt(edge.visits + TRUST))

    def worth(self, edge: Edge, usual: float) -> float:
        """Return the turn's value, corrected by its results compared with the average here."""
        return edge.value + (edge.beyond - usual * edge.visits) / (edge.visits + TRUST)


class TurnSearch:
    """A search for one turn."""

    def __init__(self, model: Model, turns: list[tuple[float, int]], rng: Random) -> None:
        """Create the search; `turns` are the values and turns to consider, the best first."""
        self._model = model
        self._turns = turns[::-1]
        self._rng = rng
        self._samples: list[Sample] = []
        self.root = Node(self._turns.copy())

    def simulate(self) -> None:
        """Descend the tree once, and record the result in all edges of the path."""
        node: Node | None = self.root
        edge = self.root.choose()
        sample = self._sample(edge.visits)
        position = TurnPosition(self._model.own, *sample.world)
        path = [(self.root, edge)]
        for answer in sample.answers:
            position, told = play(position, edge.turn, answer)
            if len(path) == DEPTH:
                break
            node = edge.nodes.get(told)
            if node is None:
                known = told[0] | told[1] | edge.turn
                edge.nodes[told] = Node([each for each in self._turns if not each[1] & known])
                break
            if not node.untried and not node.edges:
                break
            edge = node.choose()
            path.append((node, edge))
        won = wins(position.own, position.opponent, sample.deal)
        for node, edge in path:
            beyond = won - edge.value
            node.visits += 1
            node.beyond += beyond
            edge.visits += 1
            edge.beyond += beyond

    def best(self) -> int:
        """Return the turn of the highest value."""
        root = self.root
        return max(root.edges, key=lambda edge: root.worth(edge, root.beyond / root.visits)).turn

    def _sample(self, number: int) -> Sample:
        while number >= len(self._samples):
            self._samples.append(self._model.sample(len(self._samples), self._rng))
        return self._samples[number]
