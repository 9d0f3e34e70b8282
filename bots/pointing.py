"""Maps of Pointing: points and places, the shape of the pointers, and the changes possible between two rounds.

Places are numbers for the unnamed seats of a map, in one arrangement of it. A bot has to infer which seat is at
which place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from math import factorial, prod
from typing import Any

from msgspec import Struct

from protocol.games.pointing.map import CROWD, Targets


class Fate(Struct, frozen=True):
    """The role of one seat in a round, and its points."""

    points: int
    """Points for the role, without those for being a node."""
    node: bool = False
    is_end: bool = False
    """True at the end of a chain."""
    is_start: bool = False
    """True at a start of a chain: no seat points at it."""


def fates(targets: Sequence[int | None]) -> list[Fate]:
    """Return the fate of each seat. `targets` is indexed by seat."""
    on_loop = on_loops(targets)
    # A pointer that hits a loop from outside is cut.
    ways = [
        None if target is None or (target in on_loop and seat not in on_loop) else target
        for seat, target in enumerate(targets)
    ]
    ends, after = _ends(ways, on_loop)
    sizes: dict[int, int] = {}
    for end in ends:
        sizes[end] = sizes.get(end, 0) + 1
    pointed_at = set(ways)
    return [
        _fate(sizes[ends[seat]], after[seat], seat in on_loop, seat in pointed_at) for seat in range(len(targets))
    ]


def final_place(rounds: Sequence[Targets], seat: int) -> float:
    """Return the share of the other seats that have fewer points after these three rounds; a tie counts half."""
    found = [_fates(targets) for targets in rounds]
    totals: list[int] = []
    for each in zip(*found, strict=True):
        nodes = sum(fate.node for fate in each)
        total = sum(fate.points for fate in each)
        if nodes:
            total += 3 - 2 * nodes
        totals.append(total + all(fate.is_end for fate in each) - 2 * all(fate.is_start for fate in each))
    behind = sum(1.0 if total < totals[seat] else 0.5 for total in totals if total <= totals[seat]) - 0.5
    return behind / (len(totals) - 1)


@lru_cache(maxsize=4096)
def _fates(targets: Targets) -> list[Fate]:
    return fates(targets)


def _fate(size: int, after: int, is_looped: bool, is_pointed_at: bool) -> Fate:
    if is_looped:
        return Fate(-1 if size >= CROWD else 0)
    if size == 1:
        return Fate(0, node=True)
    return Fate(-1 if size >= CROWD else after, is_end=after == 0, is_start=not is_pointed_at)


def on_loops(targets: Sequence[int | None]) -> set[int]:
    """Return the seats that are on a loop."""
    known: dict[int, int] = {}
    on_loop: set[int] = set()
    for first in range(len(targets)):
        at: int | None = first
        while at is not None and at not in known:
            known[at] = first
            at = targets[at]
        if at is not None and known[at] == first:
            while at not in on_loop:
                on_loop.add(at)
                following = targets[at]
                assert following is not None  # noqa: S101 - it is on a loop
                at = following
    return on_loop


def _ends(ways: Sequence[int | None], on_loop: set[int]) -> tuple[list[int], list[int]]:
    """Return the end of each seat's chain (for a loop, its lowest seat), and each seat's distance to that end."""
    ends: list[int] = []
    after: list[int] = []
    for seat in range(len(ways)):
        at, steps = seat, 0
        if seat in on_loop:
            around = {seat}
            while (following := ways[at]) not in around:
                assert following is not None  # noqa: S101 - it is on a loop
                at = following
                around.add(at)
            ends.append(min(around))
            after.append(0)
            continue
        while (following := ways[at]) is not None:
            at, steps = following, steps + 1
        ends.append(at)
        after.append(steps)
    return ends, after


Tree = tuple[int, tuple[Any, ...]]
"""The mark of a place, and the trees of those that point at it."""
Loop = tuple[Tree, ...]
Shape = tuple[tuple[Tree, ...], tuple[Loop, ...]]
"""The trees of all places that do not point, and the loops: equal for equal maps."""

Future = tuple[Shape, ...]


def shape(targets: Targets, marked: Sequence[int] = ()) -> Shape:
    """Return the shape of the pointers, independent of the order of seats; marked places stay distinguishable."""
    looped = on_loops(targets)
    sources: list[list[int]] = [[] for _ in targets]
    for place, target in enumerate(targets):
        if target is not None and place not in looped:
            sources[target].append(place)
    marks = {place: number for number, place in enumerate(marked, 1)}

    def tree(place: int) -> Tree:
        return marks.get(place, 0), tuple(sorted(map(tree, sources[place])))

    loops: list[Loop] = []
    while looped:
        around = [looped.pop()]
        while (at := targets[around[-1]]) in looped:
            looped.remove(at)
            around.append(at)
        loops.append(min(_rotations(tuple(map(tree, around)))))
    ends = sorted(tree(place) for place, target in enumerate(targets) if target is None)
    return tuple(ends), tuple(sorted(loops))


def arrangements(found: Shape) -> int:
    """Return the number of ways in which named seats can make this shape."""
    ends, loops = found
    seats = sum(map(_size, ends))
    symmetries = _tree_symmetries((0, ends)) * _orders(loops)
    for loop in loops:
        seats += sum(map(_size, loop))
        symmetries *= list(_rotations(loop)).count(loop) * prod(map(_tree_symmetries, loop))
    return factorial(seats) // symmetries


def with_target(targets: Targets, place: int, target: int | None) -> Targets:
    """Return the targets with the target of one place replaced."""
    return (*targets[:place], target, *targets[place + 1 :])


def successions(
    first: Targets, second: Targets, moved: Sequence[int], options: Sequence[Sequence[int | None]]
) -> list[Targets]:
    """Return all ways to give `first` the shape of `second` by the options of the moved places."""
    start = _without(first, moved)
    futures = _futures(second, len(moved)).get(shape(start, moved))
    return list(_grown(start, moved, options, futures)) if futures else []


def _grown(
    targets: Targets, moved: Sequence[int], options: Sequence[Sequence[int | None]], futures: Iterable[Future]
) -> Iterator[Targets]:
    """Yield the targets after the moved places point again, one by one, if one of the futures is reached."""
    if not options:
        yield targets
        return
    for option in options[0]:
        then = with_target(targets, moved[-len(options)], option)
        now = shape(then, moved)
        if left := [future[1:] for future in futures if future[0] == now]:
            yield from _grown(then, moved, options[1:], left)


@lru_cache(maxsize=8)
def _futures(targets: Targets, number: int) -> dict[Shape, set[Future]]:
    """Map the shape without the pointers of `number` places to the shapes as they are added one by one."""
    found: dict[Shape, set[Future]] = {}
    for moved in permutations(range(len(targets)), number):
        now, *future = (shape(_without(targets, moved[done:]), moved) for done in range(number + 1))
        found.setdefault(now, set()).add(tuple(future))
    return found


def _without(targets: Targets, places: Sequence[int]) -> Targets:
    return tuple(None if place in places else target for place, target in enumerate(targets))


def _rotations(loop: Loop) -> Iterator[Loop]:
    return (loop[at:] + loop[:at] for at in range(len(loop)))


def _orders(parts: tuple[Any, ...]) -> int:
    return prod(factorial(number) for number in Counter(parts).values())


def _tree_symmetries(tree: Tree) -> int:
    return _orders(tree[1]) * prod(map(_tree_symmetries, tree[1]))


def _size(tree: Tree) -> int:
    return 1 + sum(map(_size, tree[1]))
