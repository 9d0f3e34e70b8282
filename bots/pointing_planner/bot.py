"""Plays Pointing by a mixed strategy: the target is drawn, and whether to point is calculated.

*Target.* Maps do not name seats, so whatever the bot learns about one other seat holds for any other: it draws the
target with equal probabilities. Any preference could only be guessed and exploited.

*Whether to point.* If each of 12 others points with probability q, at a random seat, one round is worth (points of
chains and crowds, and the probability of being a node; by simulation)

    q               0.2    0.4    0.5    0.6    0.7    0.8    0.9    1.0
    to point       1.17   1.33   1.29   1.14   0.84   0.59   0.39   0.46    a node: 0.00 rising to 0.12
    not to         0.00   0.00   0.00  -0.02  -0.04  -0.09  -0.17  -0.26    a node: 0.82 falling to 0.35

A seat's first node scores 1 and every later one costs 2, so in a single round pointing is better for every q, and
no seat at a table where all point gains by stopping: an equilibrium. The three rounds together can change this: a
second node, a start in all rounds (-2), an end in all (1). So before each round the bot estimates q from the maps
(an uncut end or node did not point) and its own earlier roles (every place of the map that fits its action is
equally likely), and follows the best plan for the remaining rounds.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from random import Random

from msgspec import Struct

from bots.kit import Window, run
from bots.pointing import Fate, fates
from protocol.games.pointing import Point, PointingView, Section, Tree, Vote

ROUNDS = 3
SIMULATED = 400
"""Rounds that are simulated for each of pointing and not pointing."""
PRIOR_POINTED, PRIOR_NOT = 4, 1
"""Prior before the first map: the numbers of seats that pointed and that did not."""


class Prospect(Struct, frozen=True):
    """The expected outcome of a round, past or future: probabilities, except for `points`."""

    points: float = 0.0
    node: float = 0.0
    end: float = 0.0
    start: float = 0.0


def decide(window: Window[PointingView]) -> Point | Vote:
    """Return the better of pointing and not pointing."""
    view, rng = window.view, window.rng
    assert view.seat is not None  # noqa: S101 - a window is open for it
    others = [seat for seat in range(view.seats) if seat != view.seat]
    if window.name == "vote":
        return Vote(seat=rng.choice([seat for seat in view.tied if seat != view.seat]))
    if not is_worth_it(view, rng):
        return Point(target=None)
    return Point(target=rng.choice(others))


def is_worth_it(view: PointingView, rng: Random) -> bool:
    """Return True if the best plan for the remaining rounds starts with pointing."""
    rate = pointing_rate(view)
    ahead = {points: prospect(view.seats, rate, rng, points=points) for points in (True, False)}
    behind = [was(sections, view.targets[at] is not None) for at, sections in enumerate(view.maps)]
    plans = product((True, False), repeat=ROUNDS - len(behind))
    return max(plans, key=lambda plan: worth([*behind, *(ahead[points] for points in plan)]))[0]


def pointing_rate(view: PointingView) -> float:
    """Return the share of the others that point, estimated from the maps."""
    pointed, not_pointed = PRIOR_POINTED, PRIOR_NOT
    for sections, mine in zip(view.maps, view.targets, strict=False):
        idle = sum(1 for section in sections if section.kind != "loop" and not section.cut) - (mine is None)
        not_pointed += idle
        pointed += view.seats - 1 - idle
    return pointed / (pointed + not_pointed)


def prospect(seats: int, rate: float, rng: Random, *, points: bool) -> Prospect:
    """Return the expected outcome for a seat that points, or does not, while the others point at that rate."""
    drawn: list[Fate] = []
    for _ in range(SIMULATED):
        targets = [_drawn(seat, seats, rng) if rng.random() < rate else None for seat in range(seats)]
        targets[0] = _drawn(0, seats, rng) if points else None
        drawn.append(fates(targets)[0])
    return Prospect(
        points=sum(fate.points for fate in drawn) / SIMULATED,
        node=sum(fate.node for fate in drawn) / SIMULATED,
        end=sum(fate.is_end for fate in drawn) / SIMULATED,
        start=sum(fate.is_start for fate in drawn) / SIMULATED,
    )


def was(sections: Iterable[Section], points: bool) -> Prospect:
    """Return the expected outcome of a past round: all places that fit the seat's action are equally likely."""
    nodes = ends = starts = places = 0
    for section in sections:
        if section.kind == "loop":
            places += section.size * points
            continue
        own = section.cut is points
        if section.kind == "node":
            nodes += own
            places += own
            continue
        ends += own
        places += own
        if points:
            starts += sum(_leaves(section.shape))
            places += section.size - 1
    if not places:
        return Prospect()
    return Prospect(node=nodes / places, end=ends / places, start=starts / places)


def worth(rounds: list[Prospect]) -> float:
    """Return the expected score of all rounds, which are treated as independent."""
    total, never_node, ends, starts = 0.0, 1.0, 1.0, 1.0
    for each in rounds:
        total += each.points + each.node * (never_node - 2 * (1 - never_node))
        never_node *= 1 - each.node
        ends *= each.end
        starts *= each.start
    return total + ends - 2 * starts


def _drawn(seat: int, seats: int, rng: Random) -> int:
    """Return a random other seat."""
    return (seat + rng.randrange(1, seats)) % seats


def _leaves(tree: Tree) -> Iterator[int]:
    """Yield a 1 for each start of a chain."""
    for branch in tree:
        if branch:
            yield from _leaves(branch)
        else:
            yield 1


if __name__ == "__main__":
    run(decide)
