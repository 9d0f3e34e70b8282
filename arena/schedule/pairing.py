"""Pairs of a round, made from the order of the bots, and the points of two-seat results. Pure."""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import sha256

from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec, parts_of
from arena.schedule.matching import MayMeet, complete
from arena.statistics import Played, points

SEATINGS = 2
"""Number of matches in a block of two bots."""
Pair = tuple[int, int]


def round_size(spec: ScheduleSpec, field: FieldPeriod) -> int:
    """Return the number of blocks in a round in which bots play in pairs, and the house plays a bot left over."""
    bots = len(field.active)
    return (bots // 2 + (spec.filled and bots % 2)) * field.blocks


def paired_parts(spec: ScheduleSpec, turns: int) -> list[RoundSpan]:
    """Return the rounds of each field in a format of pairs; `turns` is the total if the file has no `rounds`."""
    return list(parts_of(spec, lambda field: field.rounds or turns, partial(round_size, spec)))


def matches_in(parts: Iterable[RoundSpan]) -> int:
    """Return the number of matches of two seats in these rounds."""
    return sum(part.rounds * part.size for part in parts) * SEATINGS


class Byes:
    """Counts how often each bot was left over, in rounds with an odd number of bots."""

    def __init__(self, entrants: int) -> None:
        self.counts = [0] * entrants
        """Number of rounds in which each entrant was left over."""
        self._turns = [0] * entrants
        """The same, plus the initial count of a bot that entered later."""

    def admit(self, field: FieldPeriod) -> None:
        """Set the count of the field's new bots to the least count of the others."""
        new = {number for number, _ in field.entered}
        least = min((self._turns[bot] for bot in field.active if bot not in new), default=0)
        for number in new:
            self._turns[number] = least

    def left_over(self, order: Sequence[int]) -> int | None:
        """Return the first of the `candidates`; None for an even number of bots."""
        candidates = self.candidates(order)
        return candidates[0] if candidates else None

    def candidates(self, order: Sequence[int]) -> list[int]:
        """Return the bots that were left over least often, in order; an empty list for an even number of bots."""
        if len(order) % 2 == 0:
            return []
        least = min(self._turns[bot] for bot in order)
        return [bot for bot in order if self._turns[bot] == least]

    def add(self, bot: int) -> None:
        """Count a round in which this bot is left over."""
        self.counts[bot] += 1
        self._turns[bot] += 1


def drawn(entrants: Iterable[int], seed: int | str, purpose: str) -> list[int]:
    """Return the entrants in random order."""
    # `random` is not used because its shuffles may differ between Python versions.
    return sorted(entrants, key=lambda entrant: sha256(f"{seed}/{purpose}/{entrant}".encode()).digest())


def pairs_of(order: Sequence[int], may_meet: MayMeet) -> list[Pair]:
    """Pair an even number of bots, each with a permitted opponent near it in the order.

    Each bot is paired with the first unpaired bot before it that it may meet. Bots that remain at the end may not
    meet each other: two of them change partners with the lowest pair that allows it. If every bot may meet at
    least half of all, there is such a pair: the two bots have at least `n` permitted opponents together, all of
    them in the `(n - 2) / 2` pairs, so that with one pair three of the four meetings are permitted. If there is
    no such pair, more pairs change partners. Forbidden meetings remain only if every pairing has one, and then
    as few as possible.
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
    """Pair two bots with the two of another pair; return False if no pair allows it."""
    for place in reversed(range(len(pairs))):
        a, b = pairs[place]
        for mine, theirs in ((a, b), (b, a)):
            if may_meet(one, mine) and may_meet(other, theirs):
                pairs[place] = (mine, one)
                pairs.append((theirs, other))
                return True
    return False


def _completed(order: Sequence[int], pairs: list[Pair], may_meet: MayMeet) -> list[Pair]:
    """Give as many bots as possible a permitted partner, and pair the rest in order."""
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
    """Add each match's points to the totals of its entrants."""
    for played in results:
        share = points(played.outcome, 0)
        one, other = played.entrants
        totals[one] += share
        totals[other] += 1 - share
