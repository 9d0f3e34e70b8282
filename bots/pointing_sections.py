"""Points and places in Pointing, calculated by bots from the targets of each round."""

from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from protocol.games.pointing_map import CROWD, Targets


class Fate(Struct, frozen=True):
    """The role of one seat in a round, and its points."""

    points: int
    """Points, except those of a node."""
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
        total = sum(fate.points for fate in each) + (3 - 2 * nodes if nodes else 0)
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
