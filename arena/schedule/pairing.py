"""Pairs of a round, from the order the bots stand in; and what two-seat results come to. Pure."""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256

from arena.schedule.fields import Field, Part, ScheduleSpec, parts_of
from arena.schedule.matching import MayMeet, complete
from arena.statistics import Played, points

SEATINGS = 2
"""Of a block of two bots."""
Pair = tuple[int, int]


def round_size(spec: ScheduleSpec, field: Field) -> int:
    """How many blocks a round has in which every bot plays one other, and the house one that is left over."""
    bots = len(field.active)
    return (bots // 2 + (spec.filled and bots % 2)) * field.blocks


def paired_parts(spec: ScheduleSpec, turns: int) -> list[Part]:
    """The rounds of each field in such a format; `turns`: how many there are if the file does not say."""
    return list(parts_of(spec, lambda field: field.rounds or turns, partial(round_size, spec)))


def matches_in(parts: Iterable[Part]) -> int:
    """How many matches of two seats all these rounds have."""
    return sum(part.rounds * part.size for part in parts) * SEATINGS


class Byes:
    """Who was left over how often, in rounds of an odd number of bots."""

    def __init__(self, entrants: int) -> None:
        self.counts = [0] * entrants
        """By entrant: how often."""
        self._turns = [0] * entrants
        """The same, counted from where a bot that came later began."""

    def admit(self, field: Field) -> None:
        """Those that are new in a field begin level with those who were left over least often."""
        new = {number for number, _ in field.came}
        least = min((self._turns[bot] for bot in field.active if bot not in new), default=0)
        for number in new:
            self._turns[number] = least

    def left_over(self, order: Sequence[int]) -> int | None:
        """Of an odd number of bots: the first in the order of those that were left over least often."""
        candidates = self.candidates(order)
        return candidates[0] if candidates else None

    def candidates(self, order: Sequence[int]) -> list[int]:
        """Of an odd number of bots: those that were left over least often, in order. Empty for an even number."""
        if len(order) % 2 == 0:
            return []
        least = min(self._turns[bot] for bot in order)
        return [bot for bot in order if self._turns[bot] == least]

    def add(self, bot: int) -> None:
        """It is left over now."""
        self.counts[bot] += 1
        self._turns[bot] += 1


def drawn(entrants: Iterable[int], seed: int | str, purpose: str) -> list[int]:
    """The entrants as lots were drawn."""
    # Not shuffled by `random`: its shuffles may differ from one Python to the next.
    return sorted(entrants, key=lambda entrant: sha256(f"{seed}/{purpose}/{entrant}".encode()).digest())


def pairs_of(order: Sequence[int], may_meet: MayMeet) -> list[Pair]:
    """Pair an even number of bots, each with one near to it in the order that it may meet.

    Each is paired with the first before it that still waits and that it may meet. Who is left at the end may meet
    none of the others who are left: two of them change partners with the lowest pair that makes it possible. As
    long as every bot may meet at least half of all, there is one: two who are left may meet `n` bots between them,
    all in the `(n - 2) / 2` pairs, so that of one pair's four meetings with them three are possible. Where there
    is no such pair, more pairs change partners. Two meet who should not only if every pairing has such a meeting,
    and then as few as possible do.
    """
    pairs: list[Pair] = []
    waiting: list[int] = []
    for bot in order:
        for place, other in enumerate(waiting):
            if may_meet(other, bot):
                pairs.append((waiting.pop(place), bot))
                break
        else:
            waiting.append(bot)
    stuck = False
    while waiting:
        one, other = waiting.pop(), waiting.pop()
        stuck = not _squeeze_in(one, other, pairs, may_meet) or stuck
    return _completed(order, pairs, may_meet) if stuck else pairs


def _squeeze_in(one: int, other: int, pairs: list[Pair], may_meet: MayMeet) -> bool:
    """Pair two who should not meet with the two of another pair; return whether one allows it."""
    for place in reversed(range(len(pairs))):
        a, b = pairs[place]
        for mine, theirs in ((a, b), (b, a)):
            if may_meet(one, mine) and may_meet(other, theirs):
                pairs[place] = (mine, one)
                pairs.append((theirs, other))
                return True
    return False


def _completed(order: Sequence[int], pairs: list[Pair], may_meet: MayMeet) -> list[Pair]:
    """Change partners until as many as possible have one that they may meet, and pair the rest as they stand."""
    partners = complete(order, pairs, may_meet)
    alone = [bot for bot in order if bot not in partners]
    for one, other in zip(alone[::2], alone[1::2], strict=True):
        partners[one] = other
        partners[other] = one
    found: list[Pair] = []
    paired: set[int] = set()
    for bot in order:
        if bot not in paired:
            found.append((bot, partners[bot]))
            paired |= {bot, partners[bot]}
    return found


def add_points(results: Iterable[Played], totals: list[float]) -> None:
    """Adds each match's points to its entrants'."""
    for played in results:
        share = points(played.outcome, 0)
        one, other = played.entrants
        totals[one] += share
        totals[other] += 1 - share
