"""Pointing's map of one round: loops, what is cut, sections, their anonymous shapes and what they score. Pure."""

from msgspec import Struct

from protocol.codec import encode
from protocol.games.pointing import Section, Tree

CROWD = 9
"""A section of so many seats scores −1 for each, whatever it is."""

Targets = tuple[int | None, ...]
"""By seat: the seat it points at."""


class Part(Struct, frozen=True):
    """A section, with its seats. `members` ascending; `loop` in pointing order, empty for a chain or node."""

    members: tuple[int, ...]
    loop: tuple[int, ...]
    end: int | None
    """The seat that all pointers of a chain lead to; a node's only seat."""

    @property
    def is_node(self) -> bool:
        """Whether it is one seat alone."""
        return len(self.members) == 1


class Connections(Struct, frozen=True):
    """One round after the disconnect."""

    targets: Targets
    """What is left of the pointers."""
    cut: tuple[int | None, ...]
    """By seat: the seat on a loop that its cut pointer hit."""
    parts: tuple[Part, ...]

    def starts(self) -> frozenset[int]:
        """The chain seats that nobody points at."""
        pointed_at = {target for target in self.targets if target is not None}
        return frozenset(
            seat
            for part in self.parts
            if not part.loop and not part.is_node
            for seat in part.members
            if seat not in pointed_at
        )

    def ends(self) -> frozenset[int]:
        """The ends of chains. A node is no chain."""
        return frozenset(part.end for part in self.parts if part.end is not None and not part.is_node)


def connect(pointed: Targets) -> Connections:
    """Follows the pointers, disconnects what points at a loop, and finds the sections (a round's steps 1 to 3)."""
    loops = _loops(pointed)
    on_loop = {seat for loop in loops for seat in loop}
    cut = tuple(
        target if seat not in on_loop and target in on_loop else None for seat, target in enumerate(pointed)
    )
    targets = tuple(None if hit is not None else target for target, hit in zip(pointed, cut, strict=True))
    parts = [Part(tuple(sorted(loop)), loop, None) for loop in loops]
    sources = _sources(targets)
    for seat, target in enumerate(targets):
        if target is None:
            parts.append(Part(tuple(sorted(_upstream(sources, seat))), (), seat))
    return Connections(targets, cut, tuple(parts))


def _loops(pointed: Targets) -> list[tuple[int, ...]]:
    """The cycles, each from its lowest seat on in pointing order."""
    loops = []
    seen: set[int] = set()
    for start in range(len(pointed)):
        path: list[int] = []
        seat: int | None = start
        while seat is not None and seat not in seen:
            seen.add(seat)
            path.append(seat)
            seat = pointed[seat]
        if seat in path:
            loop = path[path.index(seat) :]
            first = loop.index(min(loop))
            loops.append((*loop[first:], *loop[:first]))
    return loops


def _sources(targets: Targets) -> list[list[int]]:
    """By seat: who points at it."""
    sources: list[list[int]] = [[] for _ in targets]
    for seat, target in enumerate(targets):
        if target is not None:
            sources[target].append(seat)
    return sources


def _upstream(sources: list[list[int]], end: int) -> list[int]:
    """A seat and all whose pointers lead to it."""
    found = [end]
    for seat in found:
        found += sources[seat]
    return found


def anonymous(connections: Connections) -> tuple[Section, ...]:
    """The map as it is told: it depends on the connections' shape only, not on who sits where (R5)."""
    sources = _sources(connections.targets)
    hanging: list[list[int]] = [[] for _ in connections.targets]
    for seat, hit in enumerate(connections.cut):
        if hit is not None:
            hanging[hit].append(seat)
    sections = []
    for part in connections.parts:
        if part.end is not None:
            kind, shape = "node" if part.is_node else "chain", _tree(sources, part.end)
            was_cut = connections.cut[part.end] is not None
        else:
            kind, was_cut = "loop", False
            shape = _least_rotation([_by_text([_tree(sources, seat) for seat in hanging[at]]) for at in part.loop])
        sections.append(Section(kind=kind, size=len(part.members), shape=shape, cut=was_cut))  # type: ignore[arg-type]
    return tuple(sorted(sections, key=encode))


def _tree(sources: list[list[int]], end: int) -> Tree:
    return _by_text([_tree(sources, seat) for seat in sources[end]])


def _by_text(trees: list[Tree]) -> Tree:
    return sorted(trees, key=encode)


def _least_rotation(shape: Tree) -> Tree:
    return min((shape[at:] + shape[:at] for at in range(len(shape))), key=encode)


def points(connections: Connections, been_node: frozenset[int]) -> tuple[int, ...]:
    """What each seat scores in the round (step 4). `been_node`: the seats that were a node in an earlier round."""
    scored = [0] * len(connections.targets)
    for part in connections.parts:
        for seat in part.members:
            if len(part.members) >= CROWD:
                scored[seat] = -1
            elif part.loop:
                scored[seat] = 0
            elif part.is_node:
                scored[seat] = -2 if seat in been_node else 1
            else:
                scored[seat] = _steps_to_end(connections.targets, seat)
    return tuple(scored)


def _steps_to_end(targets: Targets, seat: int) -> int:
    steps, target = 0, targets[seat]
    while target is not None:
        steps, target = steps + 1, targets[target]
    return steps
