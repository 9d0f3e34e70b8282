"""Qualification: which bots advance from a stage, in which order, and into which group. Pure.

Bots are ranked by their tournament's table. Level bots are ordered by points against each other, if all of them
have met equally often, then by their order in the field.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise
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
    """Whether the bot was withdrawn without a new version."""
    against: Mapping[str, tuple[int, float]] = {}
    """Number of matches and points against each other bot, by label."""

    @property
    def level(self) -> tuple[float, float, int]:
        """Sort key of the table; bots with equal keys are level."""
        return self.place, -round(self.mean, DIGITS), self.faults


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
    for _, each in groupby(sorted(table, key=lambda one: one.level), key=lambda one: one.level):
        level = list(each)
        met = _met_evenly(level)
        found += sorted(level, key=lambda one: (-_points(one, level) if met else 0, one.seeding))
    return found


def _met_evenly(level: Sequence[Finish]) -> bool:
    """Return whether all pairs of these bots have met equally often, and at least once."""
    counts = {one.against.get(other.label, (0, 0))[0] for one in level for other in level if one is not other}
    return len(counts) == 1 and counts != {0}


def _points(one: Finish, level: Sequence[Finish]) -> float:
    return round(sum(one.against[other.label][1] for other in level if other is not one), DIGITS)


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
    groups = [
        [one for one in ranked(table) if one.label not in without and (leave_empty or not one.withdrawn)]
        for table in tables
    ]
    found: list[Qualified] = []
    for place in range(max(map(len, groups), default=0) if each_group is None else each_group):
        tier = [
            Qualified(part, place + 1, group[place]) for part, group in enumerate(groups) if place < len(group)
        ]
        if top is not None and len(found) + len(tier) > top:
            best = sorted(tier, key=lambda one: (*one.finish.level[1:], one.part))[: top - len(found)]
            tier = [one for one in tier if one in best]
        found += tier
    return found


def cut_texts(tables: Sequence[Sequence[Finish]], goes_on: AbstractSet[str]) -> list[str]:
    """Return a sentence for each pair of level bots of which only one advances with the deciding rule."""
    texts = []
    for table in tables:
        order = [one for one in ranked(table) if not one.withdrawn]
        for _, each in groupby(order, key=lambda one: one.level):
            level = list(each)
            for one, other in pairwise(level):
                if (one.label in goes_on) is not (other.label in goes_on):
                    both = _met_evenly(level) and _points(one, level) != _points(other, level)
                    why = "points against each other" if both else "the order of the field"
                    # For a stage of the remaining bots, the better bot has advanced to another stage.
                    on, how, stays = (one, "before", other) if one.label in goes_on else (other, "after", one)
                    texts.append(f"{on.label} goes on {how} {stays.label}, which is level: by {why}")
    return texts


def drawn(count: int, groups: int, lots: Random | None) -> list[list[int]]:
    """Return the bots of each group by their index in the field, from 0 to `count - 1`.

    The best bots are put into different groups, the next ones in the opposite order, and so on (a snake). If
    `lots` is set, it shuffles the groups of each such row.
    """
    found: list[list[int]] = [[] for _ in range(groups)]
    for row, first in enumerate(range(0, count, groups)):
        bots = list(range(first, min(first + groups, count)))
        order = list(range(groups))[:: -1 if row % 2 else 1]
        if lots is not None:
            # An incomplete last row uses the groups that the snake assigns to it.
            order = order[: len(bots)]
            lots.shuffle(order)
        for bot, group in zip(bots, order, strict=False):
            found[group].append(bot)
    return found
