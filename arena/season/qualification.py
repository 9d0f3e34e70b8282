"""Who goes on from a stage, in which order, and into which group. Pure: the same tables give the same field.

Bots are ranked as their tournament's table has them. Of bots that the table has level, those go on first that have
more points against each other, then those that come first in the order of the field.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, pairwise
from random import Random

from msgspec import Struct

DIGITS = 9
"""To which mean points are compared: sums of thirds differ behind them."""


class Finish(Struct, frozen=True, kw_only=True):
    """How a bot came out of a tournament."""

    label: str
    seeding: int
    """Its number in the field: the smaller, the earlier."""
    place: float
    """As the format counts; the smaller, the better."""
    mean: float
    """Points a match."""
    faults: int
    played: int
    withdrawn: bool = False
    """It plays no more, and no new version of it does."""
    against: Mapping[str, tuple[int, float]] = {}
    """By label: matches against another, and points of them."""

    @property
    def level(self) -> tuple[float, float, int]:
        """Bots that have the same here are level in the table."""
        return self.place, -round(self.mean, DIGITS), self.faults


class Qualified(Struct, frozen=True):
    """A bot that goes on."""

    part: int
    """The group it comes from, counted from 0."""
    place: int
    """In its group, from 1."""
    finish: Finish


def ranked(table: Sequence[Finish]) -> list[Finish]:
    """The bots of a tournament, best first."""
    found = []
    for _, each in groupby(sorted(table, key=lambda one: one.level), key=lambda one: one.level):
        level = list(each)
        met = _met_evenly(level)
        found += sorted(level, key=lambda one: (-_points(one, level) if met else 0, one.seeding))
    return found


def _met_evenly(level: Sequence[Finish]) -> bool:
    """Whether every two of them have met equally often."""
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
    """Those who go on, in the order of the new field: the first of each group, then the second of each, and so on.

    So of an even number of groups, in a knock-out, no two of a group meet in the first round. If some of a place
    go on and some do not, mean points decide between the groups, then fewer faults, then the order of the groups.

    Args:
        tables: of each group, in any order.
        top: so many go on; None: all.
        each_group: so many of each group go on; None: all.
        without: bots that go elsewhere.
        leave_empty: whether a bot that has withdrawn has its place all the same, which then stays empty.
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
    """What decided between bots that are level in a table, where one goes on and the other does not."""
    texts = []
    for table in tables:
        order = [one for one in ranked(table) if not one.withdrawn]
        for _, each in groupby(order, key=lambda one: one.level):
            level = list(each)
            for one, other in pairwise(level):
                if (one.label in goes_on) is not (other.label in goes_on):
                    both = _met_evenly(level) and _points(one, level) != _points(other, level)
                    why = "points against each other" if both else "the order of the field"
                    # On a stage of the rest, the one that is placed before has gone elsewhere.
                    on, how, stays = (one, "before", other) if one.label in goes_on else (other, "after", one)
                    texts.append(f"{on.label} goes on {how} {stays.label}, which is level: by {why}")
    return texts


def drawn(count: int, groups: int, lots: Random | None) -> list[list[int]]:
    """The bots of each group, by their places in the field, 0 to `count`.

    The best ones are put into different groups, then the next ones in the opposite order: a snake. `lots` draws
    which of each such row goes into which group.
    """
    found: list[list[int]] = [[] for _ in range(groups)]
    for row, first in enumerate(range(0, count, groups)):
        bots = list(range(first, min(first + groups, count)))
        order = list(range(groups))[:: -1 if row % 2 else 1]
        if lots is not None:
            # A row that is not full goes into the groups that the snake would give it.
            order = order[: len(bots)]
            lots.shuffle(order)
        for bot, group in zip(bots, order, strict=False):
            found[group].append(bot)
    return found
