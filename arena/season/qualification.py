"""Qualification: which bots advance from a stage, in which order, and into which group. Pure.

Bots are ranked by their tournament's table. Level bots are ordered by points against each other, if all of them
have met equally often, then by their order in the field.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import filterfalse, groupby, pairwise, permutations
from operator import attrgetter
from random import Random

from msgspec import Struct

DIGITS = 9
"""Decimal places of mean points that are compared: beyond them, sums of thirds have rounding errors."""


class Finish(Struct, frozen=True, kw_only=True):
    """The final result of a bot in a tournament."""

    label: str
    seeding: int
    """Position in the field; a smaller number is earlier."""
    place: float
    """Place as the format defines it; a smaller number is better."""
    mean: float
    """Points per match."""
    faults: int
    played: int
    withdrawn: bool = False
    """True if the bot was withdrawn without a new version."""
    against: Mapping[str, tuple[int, float]] = {}
    """Number of matches and points against each other bot, by label."""

    @property
    def level(self) -> tuple[float, float, int]:
        """Sort key of the table; bots with equal keys are level."""
        return self.place, -round(self.mean, DIGITS), self.faults


BY_LEVEL = attrgetter("level")
LABEL = attrgetter("label")


class Qualified(Struct, frozen=True):
    """A bot that advances."""

    part: int
    """Index of the bot's group in the stage before."""
    place: int
    """Place in that group, from 1, among the bots that can advance."""
    finish: Finish


def ranked(table: Sequence[Finish]) -> list[Finish]:
    """Return the bots of a tournament, best first."""
    found = []
    for level in _levels(sorted(table, key=BY_LEVEL)):
        points = _points(level)
        found += sorted(level, key=lambda one: (-points[one.label], one.seeding))
    return found


def _levels(order: Iterable[Finish]) -> Iterator[list[Finish]]:
    """Yield the bots of each level."""
    for _, level in groupby(order, key=BY_LEVEL):
        yield list(level)


def _points(level: Sequence[Finish]) -> dict[str, float]:
    """Return each bot's points against the others, by label; 0 unless all pairs have met equally often."""
    counts, points = set(), dict.fromkeys(map(LABEL, level), 0.0)
    for one, other in permutations(level, 2):
        met, gained = one.against.get(other.label, (0, 0.0))
        counts.add(met)
        points[one.label] += gained
    if len(counts) != 1:
        return dict.fromkeys(points, 0.0)
    return {label: round(sum_, DIGITS) for label, sum_ in points.items()}


def qualified(
    tables: Sequence[Sequence[Finish]],
    *,
    top: int | None = None,
    each_group: int | None = None,
    without: AbstractSet[str] = frozenset(),
    leave_empty: bool = False,
) -> list[Qualified]:
    """Return the bots that advance, in the order of the new field: each group's best bot, then each second one.

    With an even number of groups, no two bots of a group meet in the first round of a knock-out. If only some of
    the bots with the same place advance, mean points decide, then fewer faults, then the order of the groups.

    Args:
        tables: the results of each group, in any order within a group.
        top: number of bots that advance; None for all.
        each_group: number of bots of each group that advance; None for all.
        without: labels of bots that advance to another stage.
        leave_empty: whether a withdrawn bot keeps its place, which then remains empty.
    """
    tiers: dict[int, list[Qualified]] = {}
    """Bots of each place, in the order of their groups."""
    for part, table in enumerate(tables):
        place = 0
        for one in ranked(table):
            if one.label not in without and (leave_empty or not one.withdrawn):
                place += 1
                tiers.setdefault(place, []).append(Qualified(part, place, one))
    found: list[Qualified] = []
    for place in sorted(tiers)[:each_group]:
        tier = tiers[place]
        if top is not None and len(found) + len(tier) > top:
            tier.sort(key=lambda one: (*one.finish.level[1:], one.part))
            tier = sorted(tier[: top - len(found)], key=lambda one: one.part)
        found += tier
    return found


def cut_texts(tables: Sequence[Sequence[Finish]], goes_on: AbstractSet[str]) -> list[str]:
    """Return a sentence for each pair of level bots of which only one advances with the deciding rule."""
    texts = []
    for table in tables:
        order = filterfalse(attrgetter("withdrawn"), ranked(table))
        for level in _levels(order):
            points = _points(level)
            for one, other in pairwise(level):
                if (one.label in goes_on) is (other.label in goes_on):
                    continue
                why = "the order of the field"
                if points[one.label] != points[other.label]:
                    why = "points against each other"
                # For a stage of the remaining bots, the better bot has advanced to another stage.
                says = f"{other.label} goes on after {one.label}"
                if one.label in goes_on:
                    says = f"{one.label} goes on before {other.label}"
                texts.append(f"{says}, which is level: by {why}")
    return texts


def drawn(count: int, groups: int, lots: Random | None) -> list[list[int]]:
    """Return the bots of each group by their index in the field, from 0 to `count - 1`.

    The best bots are put into different groups, the next ones in the opposite order, and so on (a snake). If
    `lots` is set, it shuffles the groups of each such row.
    """
    found: list[list[int]] = [[] for _ in range(groups)]
    for row, first in enumerate(range(0, count, groups)):
        bots = list(range(first, min(first + groups, count)))
        order = list(range(groups))
        if row % 2:
            order.reverse()
        if lots is not None:
            # An incomplete last row uses the groups that the snake assigns to it.
            order = order[: len(bots)]
            lots.shuffle(order)
        for bot, group in zip(bots, order, strict=False):
            found[group].append(bot)
    return found
