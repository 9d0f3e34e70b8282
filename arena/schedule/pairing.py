"""Pairs of a round, from the order the bots stand in; and what two-seat results come to. Pure."""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from arena.statistics import Played, points

SEATINGS = 2
"""Of a block of two bots."""
Pair = tuple[int, int]
MayMeet = Callable[[int, int], bool]


def matches_of(turns: int, entrants: int, blocks: int, *, filled: bool) -> int:
    """How many are played in so many rounds, in each of which every bot plays some blocks with one other.

    `filled`: whether the house plays whom an odd number leaves over.
    """
    tables = entrants // 2 + (filled and entrants % 2)
    return turns * tables * blocks * SEATINGS


def drawn(entrants: int, seed: int, purpose: str) -> list[int]:
    """The entrants as lots were drawn."""
    # Not shuffled by `random`: its shuffles may differ from one Python to the next.
    return sorted(range(entrants), key=lambda entrant: sha256(f"{seed}/{purpose}/{entrant}".encode()).digest())


def pairs_of(order: Sequence[int], may_meet: MayMeet) -> list[Pair]:
    """Pairs an even number of bots, each with one near to it in the order that it may meet.

    Each is paired with the first before it that still waits and that it may meet. Who is left at the end may meet
    none of the others who are left: two of them change partners with the lowest pair that makes it possible. As
    long as every bot may meet at least half of all, there is one: two who are left may meet `n` bots between them,
    all in the `(n - 2) / 2` pairs, so that of one pair's four meetings with them three are possible. Only where
    there is no such pair do two meet who should not.
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
    while waiting:
        _squeeze_in(waiting.pop(), waiting.pop(), pairs, may_meet)
    return pairs


def _squeeze_in(one: int, other: int, pairs: list[Pair], may_meet: MayMeet) -> None:
    """Pairs two who should not meet with the two of another pair."""
    for place in reversed(range(len(pairs))):
        a, b = pairs[place]
        for mine, theirs in ((a, b), (b, a)):
            if may_meet(one, mine) and may_meet(other, theirs):
                pairs[place] = (mine, one)
                pairs.append((theirs, other))
                return
    pairs.append((other, one))


def add_points(results: Iterable[Played], totals: list[float]) -> None:
    """Adds each match's points to its entrants'."""
    for played in results:
        share = points(played.outcome, 0)
        one, other = played.entrants
        totals[one] += share
        totals[other] += 1 - share
