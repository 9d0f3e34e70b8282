"""A tree search for Mist: turns of this seat, what it would be told, and the turns that it would make then.

An information-set Monte Carlo tree search. Each simulation takes one world as if it were the truth, and goes down
the tree: a turn of this seat, the opponent's answer, and what this seat would be told of both. The nodes are kept
by what it would be told, not by what is true, so no turn is planned on what it could not know. At the end of the
tree the empty cells are dealt out at random, and the better groups win.

There are too many turns to try them all: a node begins with a few, and gets more as it is visited
(progressive widening). The n-th simulation of each turn takes the n-th sample of world, answer and deal, the same
for all turns, so that luck favours none.
"""

from math import log, sqrt
from random import Random
from typing import NamedTuple

from bots.mist_worth import deal_out, wins
from protocol.games.mist_board import BOARD, CENTRE, RADIUS

DEPTH = 2
"""So many turns of this seat are planned."""
WIDTH, WIDENING = 2.0, 0.4
"""A node that was visited n times has tried WIDTH * n**WIDENING turns."""
EXPLORATION = 0.4
"""How much the search prefers turns that it has tried less often."""
TRUST = 300
"""The value that a turn brings counts as much as so many simulations."""
FAR = 0.4
"""How often the opponent keeps a cell that touches none of its pieces, once it thought of it."""


class World(NamedTuple):
    """One way the board may be, as masks."""

    opponent: int
    """All the opponent's pieces."""
    spotting: int
    """Where the pieces of its last turn spot a pair or triple."""


class Sample(NamedTuple):
    """One way the match may go."""

    world: World
    answers: tuple[int, ...]
    """What the opponent names next, turn by turn, as masks."""
    deal: int
    """Who gets the cells that are empty at the end."""


class Position(NamedTuple):
    """The board when this seat is about to place, as masks."""

    own: int
    opponent: int
    spotting: int
    """The opponent's."""


def placed(own: int, other: int, spotting: int, cells: int) -> int:
    """Which pieces of a turn stay on the board.

    Args:
        own: the mover's pieces.
        other: the watcher's.
        spotting: the watcher's.
        cells: the turn.
    """
    taken = own | other | CENTRE
    lost = taken if cells.bit_count() == 1 else taken | spotting
    return cells & ~lost


def play(position: Position, turn: int, answer: int) -> tuple[Position, tuple[int, int]]:
    """A turn of this seat and the opponent's answer, and what this seat is told of them."""
    own, opponent, spotting = position
    stayed = placed(own, opponent, spotting, turn)
    own |= stayed
    radius = RADIUS[turn.bit_count()]
    came = placed(opponent, own, BOARD.ball(stayed, radius), answer)
    opponent |= came
    after = Position(own, opponent, BOARD.ball(came, RADIUS[answer.bit_count()]))
    return after, (stayed, opponent & BOARD.ball(turn, radius))


class Model:
    """How this seat sees the match: its pieces, worlds, what cells are worth, and how the opponent plays."""

    def __init__(self, own: int, worlds: list[World], values: dict[int, float], habits: list[float]) -> None:
        """`habits`: how often the opponent places one, two, three pieces, as weights."""
        self.own = own
        self._worlds = worlds
        self._cells = list(values)
        self._values = [value + 0.02 for value in values.values()]
        self._habits = habits

    def sample(self, number: int, luck: Random) -> Sample:
        """The n-th way the match may go."""
        world = self._worlds[number % len(self._worlds)]
        thought = luck.choices(self._cells, self._values, k=6 * DEPTH)
        counts = luck.choices((1, 2, 3), self._habits, k=DEPTH)
        answers: list[int] = []
        taken = world.opponent
        for count in counts:
            answer = near = 0
            near = BOARD.grow(taken)
            while thought and answer.bit_count() < count:
                cell = thought.pop()
                if not cell & (taken | BOARD.grow(answer)) and (cell & near or luck.random() < FAR):
                    answer |= cell
            answers.append(answer)
            taken |= answer
        return Sample(world, tuple(answers), deal_out(luck))


class Edge:
    """A turn tried at a node."""

    __slots__ = ("beyond", "nodes", "turn", "value", "visits")

    def __init__(self, turn: int, value: float) -> None:
        self.turn = turn
        self.value = value
        """The share of random ends that it wins."""
        self.visits = 0
        self.beyond = 0.0
        """By how much its simulations won more than that, in all."""
        self.nodes: dict[tuple[int, int], Node] = {}
        """By what this seat is told."""


class Node:
    """What this seat may know at one of its turns."""

    __slots__ = ("beyond", "edges", "untried", "visits")

    def __init__(self, turns: list[tuple[float, int]]) -> None:
        """`turns`: those that may be tried, with their values; the best last."""
        self.visits = 0
        self.beyond = 0.0
        self.edges: list[Edge] = []
        self.untried = turns

    def choose(self) -> Edge:
        """The turn to try now."""
        if self.untried and len(self.edges) < WIDTH * (self.visits + 1) ** WIDENING:
            value, turn = self.untried.pop()
            self.edges.append(Edge(turn, value))
            return self.edges[-1]
        bonus, usual = EXPLORATION * sqrt(log(self.visits + 1)), self.beyond / self.visits
        return max(self.edges, key=lambda edge: self.worth(edge, usual) + bonus / sqrt(edge.visits + TRUST))

    def worth(self, edge: Edge, usual: float) -> float:
        """The turn's value, moved by how much better it did than turns here usually do."""
        return edge.value + (edge.beyond - usual * edge.visits) / (edge.visits + TRUST)


class Search:
    """A search at one turn."""

    def __init__(self, model: Model, turns: list[tuple[float, int]], luck: Random) -> None:
        """`turns`: those to think about, with their values; the best first."""
        self._model = model
        self._turns = turns[::-1]
        self._luck = luck
        self._samples: list[Sample] = []
        self.root = Node(self._turns.copy())

    def simulate(self) -> None:
        """One way down the tree, and its end."""
        node: Node | None = self.root
        edge = self.root.choose()
        sample = self._sample(edge.visits)
        position = Position(self._model.own, *sample.world)
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
        """The turn that is worth most."""
        root = self.root
        return max(root.edges, key=lambda edge: root.worth(edge, root.beyond / root.visits)).turn

    def _sample(self, number: int) -> Sample:
        while number >= len(self._samples):
            self._samples.append(self._model.sample(len(self._samples), self._luck))
        return self._samples[number]
