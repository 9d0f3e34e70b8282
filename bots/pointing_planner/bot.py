"""Plays Pointing by a mixed strategy: whom to point at is drawn, whether to point is reckoned.

*Whom.* Maps bear no names, so nothing is ever learnt of one seat that does not hold for any other: among the
others the draw is even. Any preference could only be guessed and used.

*Whether.* With 12 others of whom each points, at anybody alike, with the chance q, one round is worth (points of
chains and crowds, and the chance to be a node; by simulation)

    q               0.2    0.4    0.5    0.6    0.7    0.8    0.9    1.0
    to point       1.17   1.33   1.29   1.14   0.84   0.59   0.39   0.46    a node: 0.00 rising to 0.12
    not to         0.00   0.00   0.00  -0.02  -0.04  -0.09  -0.17  -0.26    a node: 0.82 falling to 0.35

A seat's first node brings 1 and every later one costs 2, so in one round to point is better whatever the others
do, and a table of which all point has no reason to change: an equilibrium. What can turn it is the three rounds
together: a node again, start in all rounds (-2), end in all (1). So before each round the bot estimates q from the
maps (an uncut end or node pointed at nobody), what it has been so far (given the map, it is as likely to sit at
any place that goes with what it did), and takes the better of all plans for the rounds that are left.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from random import Random

from msgspec import Struct

from bots.kit import Window, run
from bots.pointing_sections import Fate, fates
from protocol.games.pointing import Point, PointingView, Section, Tree, Vote

ROUNDS = 3
SIMULATED = 400
"""Rounds that are drawn to reckon with, for each of pointing and not pointing."""
PRIOR_POINTED, PRIOR_NOT = 4, 1
"""What is thought of others before the first map, in seats seen."""


class Prospect(Struct, frozen=True):
    """What a round is worth on average, or was, as far as one can tell: chances, but for `points`."""

    points: float = 0.0
    node: float = 0.0
    end: float = 0.0
    start: float = 0.0


def decide(window: Window[PointingView]) -> Point | Vote:
    """The better of pointing and not pointing."""
    view, luck = window.view, window.luck
    assert view.seat is not None  # noqa: S101 - a window is open for it
    others = [seat for seat in range(view.seats) if seat != view.seat]
    if window.name == "vote":
        return Vote(seat=luck.choice([seat for seat in view.tied if seat != view.seat]))
    if not is_worth_it(view, luck):
        return Point(target=None)
    return Point(target=luck.choice(others))


def is_worth_it(view: PointingView, luck: Random) -> bool:
    """Whether the best plan for the rounds that are left begins with pointing."""
    rate = pointing_rate(view)
    ahead = {points: prospect(view.seats, rate, luck, points=points) for points in (True, False)}
    behind = [was(sections, view.targets[at] is not None) for at, sections in enumerate(view.maps)]
    plans = product((True, False), repeat=ROUNDS - len(behind))
    return max(plans, key=lambda plan: worth([*behind, *(ahead[points] for points in plan)]))[0]


def pointing_rate(view: PointingView) -> float:
    """How often others point, as the maps show it."""
    pointed, not_pointed = PRIOR_POINTED, PRIOR_NOT
    for sections, mine in zip(view.maps, view.targets, strict=False):
        idle = sum(1 for section in sections if section.kind != "loop" and not section.cut) - (mine is None)
        not_pointed += idle
        pointed += view.seats - 1 - idle
    return pointed / (pointed + not_pointed)


def prospect(seats: int, rate: float, luck: Random, *, points: bool) -> Prospect:
    """What a round is worth to a seat that points, or does not, while the others point at that rate."""
    drawn: list[Fate] = []
    for _ in range(SIMULATED):
        targets = [_drawn(seat, seats, luck) if luck.random() < rate else None for seat in range(seats)]
        targets[0] = _drawn(0, seats, luck) if points else None
        drawn.append(fates(targets)[0])
    return Prospect(
        points=sum(fate.points for fate in drawn) / SIMULATED,
        node=sum(fate.node for fate in drawn) / SIMULATED,
        end=sum(fate.is_end for fate in drawn) / SIMULATED,
        start=sum(fate.is_start for fate in drawn) / SIMULATED,
    )


def was(sections: Iterable[Section], points: bool) -> Prospect:
    """What a seat was in a round, by its map: any place with a pointer, or without one, is as likely."""
    nodes = ends = starts = places = 0
    for section in sections:
        if section.kind == "loop":
            places += section.size if points else 0
            continue
        own = section.cut is points
        if section.kind == "node":
            nodes += own
            places += own
            continue
        ends += own
        leaves = sum(_leaves(section.shape)) if points else 0
        starts += leaves
        places += own + (section.size - 1 if points else 0)
    return Prospect(node=nodes / places, end=ends / places, start=starts / places) if places else Prospect()


def worth(rounds: list[Prospect]) -> float:
    """All that the rounds are expected to bring, taken as independent of each other."""
    total, never_node, ends, starts = 0.0, 1.0, 1.0, 1.0
    for each in rounds:
        total += each.points + each.node * (never_node - 2 * (1 - never_node))
        never_node *= 1 - each.node
        ends *= each.end
        starts *= each.start
    return total + ends - 2 * starts


def _drawn(seat: int, seats: int, luck: Random) -> int:
    """Any other seat."""
    return (seat + luck.randrange(1, seats)) % seats


def _leaves(tree: Tree) -> Iterator[int]:
    """A 1 for each start of a chain."""
    for branch in tree:
        if branch:
            yield from _leaves(branch)
        else:
            yield 1


if __name__ == "__main__":
    run(decide)
