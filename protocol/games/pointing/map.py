"""Pointing's map of one round: loops, cut pointers, sections, their anonymous shapes and points.

Pure: for rules and bots.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from protocol.codec import encode
from protocol.games.pointing import Section, Tree

CROWD = 9
"""Least number of seats in a section for which all of them score `CROWDED`, whatever its kind."""
CROWDED = -1
FIRST_NODE, LATER_NODE = 1, -2
"""Points of a node for the first time that its seat is one, and for every later time."""

Targets = tuple[int | None, ...]
"""Each seat's target; indexed by seat."""
Kind = Literal["chain", "loop", "node"]


class MapSection(Struct, frozen=True):
    """A section, with its seats."""

    members: tuple[int, ...]
    """Seats: those of a loop in pointing order; otherwise the end first, and each seat after its target."""
    kind: Kind


class Connections(Struct, frozen=True):
    """One round after the disconnect."""

    targets: Targets
    """Remaining pointers."""
    cut: Targets
    """Seat on a loop to which each seat's cut pointer led; indexed by seat."""
    parts: tuple[MapSection, ...]

    def starts(self) -> frozenset[int]:
        """Return the chain seats that no remaining pointer leads to."""
        seats = frozenset([seat for part in self._chains() for seat in part.members])
        return seats.difference(self.targets)

    def ends(self) -> frozenset[int]:
        """Return the ends of chains, including those whose pointer was cut (R7). A node is no chain."""
        return frozenset([part.members[0] for part in self._chains()])

    def nodes(self) -> frozenset[int]:
        """Return the seats that are alone."""
        return frozenset([part.members[0] for part in self.parts if part.kind == "node"])

    def _chains(self) -> list[MapSection]:
        return [part for part in self.parts if part.kind == "chain"]


def connect(pointed: Targets) -> Connections:
    """Follow the pointers, disconnect those into a loop, and find the sections (a round's steps 1 to 3)."""
    loops = _loops(pointed)
    cut: list[int | None] = [None] * len(pointed)
    targets = list(pointed)
    if loops:
        looped = {seat for loop in loops for seat in loop}
        for seat, target in enumerate(pointed):
            if target in looped and seat not in looped:
                cut[seat], targets[seat] = target, None
    sources = _sources(targets)
    parts = [MapSection(loop, "loop") for loop in loops]
    for seat, target in enumerate(targets):
        if target is None:
            members = _tree_members(sources, seat)
            parts.append(MapSection(members, "chain" if len(members) > 1 else "node"))
    return Connections(tuple(targets), tuple(cut), tuple(parts))


def points(connections: Connections, been_node: frozenset[int]) -> tuple[int, ...]:
    """Return each seat's points in the round (step 4).

    `been_node`: the seats that were a node in an earlier round.
    """
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
            # The end is first, so a seat's target has its points already.
            for seat in part.members:
                if (target := targets[seat]) is not None:
                    scored[seat] = scored[target] + 1
    return tuple(scored)


def anonymous(connections: Connections) -> tuple[Section, ...]:
    """Return the public map: it depends on the shape of the connections only, not on the seating (R5)."""
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
    """Return a seat, followed by all whose pointers lead to it."""
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
    """Return the trees with these seats as ends, sorted by text."""
    trees = [_trees(sources, sources[end]) if sources[end] else [] for end in ends]
    if len(trees) > 1:
        trees.sort(key=encode)
    return trees


def _least_rotation(shape: Tree) -> Tree:
    return min((shape[at:] + shape[:at] for at in range(len(shape))), key=encode)
