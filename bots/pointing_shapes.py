"""Comparison of maps of Pointing: the shape of the pointers, and the changes possible between two rounds.

Places are numbers for the unnamed seats of a map, in one arrangement of it. A bot has to infer which seat is at
which place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from math import factorial, prod
from typing import Any

from bots.pointing_sections import on_loops
from protocol.games.pointing_map import Targets

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
    seats = sum(map(_size, ends)) + sum(_size(tree) for loop in loops for tree in loop)
    symmetries = _tree_symmetries((0, ends)) * _orders(loops)
    for loop in loops:
        symmetries *= sum(turned == loop for turned in _rotations(loop)) * prod(map(_tree_symmetries, loop))
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
