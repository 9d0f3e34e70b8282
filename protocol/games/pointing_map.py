"""Pointing's map of one round: loops, what is cut, sections, their anonymous shapes and what they score.

Pure: for rules and bots.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from protocol.codec import encode
from protocol.games.pointing import Section, Tree

CROWD = 9
"""In a section of so many seats, or more, every seat scores `CROWDED`, whatever the section is."""
CROWDED = -1
FIRST_NODE, LATER_NODE = 1, -2
"""What a node scores the first time that its seat is one, and every later time."""

Targets = tuple[int | None, ...]
"""By seat: the seat it points at."""
Kind = Literal["chain", "loop", "node"]


class Part(Struct, frozen=True):
    """A section, with its seats."""

    members: tuple[int, ...]
    """A loop's in pointing order; otherwise each seat after the one it points at, the end first."""
    kind: Kind


class Connections(Struct, frozen=True):
    """One round after the disconnect."""

    targets: Targets
    """What is left of the pointers."""
    cut: Targets
    """By seat: the seat on a loop that its cut pointer hit."""
    parts: tuple[Part, ...]

    def starts(self) -> frozenset[int]:
        """The chain seats that nobody points at, now that pointers are cut."""
        seats = frozenset([seat for part in self._chains() for seat in part.members])
        return seats.difference(self.targets)

    def ends(self) -> frozenset[int]:
        """The ends of chains; a node is no chain. One whose pointer was cut is an end like any other (R7)."""
        return frozenset([part.members[0] for part in self._chains()])

    def nodes(self) -> frozenset[int]:
        """The seats that are alone."""
        return frozenset([part.members[0] for part in self.parts if part.kind == "node"])

    def _chains(self) -> list[Part]:
        return [part for part in self.parts if part.kind == "chain"]


def connect(pointed: Targets) -> Connections:
    """Follows the pointers, disconnects what points at a loop, and finds the sections (a round's steps 1 to 3)."""
    loops = _loops(pointed)
    cut: list[int | None] = [None] * len(pointed)
    targets = list(pointed)
    if loops:
        looped = {seat for loop in loops for seat in loop}
        for seat, target in enumerate(pointed):
            if target in looped and seat not in looped:
                cut[seat], targets[seat] = target, None
    sources = _sources(targets)
    parts = [Part(loop, "loop") for loop in loops]
    for seat, target in enumerate(targets):
        if target is None:
            members = _tree_members(sources, seat)
            parts.append(Part(members, "chain" if len(members) > 1 else "node"))
    return Connections(tuple(targets), tuple(cut), tuple(parts))


def points(connections: Connections, been_node: frozenset[int]) -> tuple[int, ...]:
    """What each seat scores in the round (step 4). `been_node`: the seats that were a node in an earlier round."""
    targets = connections.targets
    scored = [0] * len(targets)
    for part in connections.parts:
        if len(part.members) >= CROWD:
            for seat in part.members:
                scored[seat] = CROWDED
        elif part.kind == "node":
            seat = part.members[0]
            scored[seat] = LATER_NODE if seat in been_node else FIRST_NODE
        elif part.kind == "chain":
            # The end comes first, so what a seat points at has its points already.
            for seat in part.members:
                if (target := targets[seat]) is not None:
                    scored[seat] = scored[target] + 1
    return tuple(scored)


def anonymous(connections: Connections) -> tuple[Section, ...]:
    """The map as it is told: it depends on the connections' shape only, not on who sits where (R5)."""
    sources = _sources(connections.targets)
    hanging: list[list[int]] = []
    sections: list[Section] = []
    for part in connections.parts:
        if part.kind == "loop":
            hanging = hanging or _sources(connections.cut)
            shape = _least_rotation([_trees(sources, hanging[seat]) for seat in part.members])
            was_cut = False
        else:
            end = part.members[0]
            shape = _trees(sources, sources[end])
            was_cut = connections.cut[end] is not None
        sections.append(Section(kind=part.kind, size=len(part.members), shape=shape, cut=was_cut))
    return tuple(sorted(sections, key=encode))


def _loops(pointed: Targets) -> list[tuple[int, ...]]:
    loops: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for start in range(len(pointed)):
        if start in seen:
            continue
        path: list[int] = []
        seat: int | None = start
        while seat is not None and seat not in seen:
            seen.add(seat)
            path.append(seat)
            seat = pointed[seat]
        if seat in path:
            loops.append(tuple(path[path.index(seat) :]))
    return loops


def _sources(targets: Sequence[int | None]) -> list[list[int]]:
    sources: list[list[int]] = [[] for _ in targets]
    for seat, target in enumerate(targets):
        if target is not None:
            sources[target].append(seat)
    return sources


def _tree_members(sources: list[list[int]], end: int) -> tuple[int, ...]:
    """A seat, and then all whose pointers lead to it."""
    if not sources[end]:
        return (end,)
    members: list[int] = []
    waiting = [end]
    while waiting:
        seat = waiting.pop()
        members.append(seat)
        waiting += reversed(sources[seat])
    return tuple(members)


def _trees(sources: list[list[int]], ends: list[int]) -> Tree:
    """The trees that these seats are the ends of, sorted by text."""
    trees = [_trees(sources, sources[end]) if sources[end] else [] for end in ends]
    if len(trees) > 1:
        trees.sort(key=encode)
    return trees


def _least_rotation(shape: Tree) -> Tree:
    return min((shape[at:] + shape[:at] for at in range(len(shape))), key=encode)
