"""Pairs of a round, made from the order of the bots, and the points of two-seat results. Pure.

As many bots as possible get a partner that they may meet. Edmonds' algorithm (J. Edmonds, *Paths, trees, and
flowers*, 1965): a pairing is as large as it can be when no chain of bots that may meet leads from one unpaired bot
to another, every second link being a pair. Along such a chain all change partners, and both ends are paired.
Chains may have to pass an odd cycle of bots, a *blossom*, in either direction; such a cycle is handled as one bot.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from hashlib import sha256

from msgspec import Struct

from arena.schedule.contract import Rounds, round_of
from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec, next_round_from, parts_of
from arena.statistics import CountedMatch, points

MayMeet = Callable[[int, int], bool]


def complete(order: Sequence[int], pairs: Iterable[tuple[int, int]], may_meet: MayMeet) -> dict[int, int]:
    """Return each bot's partner in a largest pairing; bots that no largest pairing can add are left out.

    The result is the same for the same arguments. Bots that have a partner in `pairs` keep having one, though
    perhaps another. Unpaired bots are tried from the end of the order, shortest chains first.
    """
    partners: dict[int, int] = {}
    for one, other in pairs:
        partners[one] = other
        partners[other] = one
    from_last = order[::-1]
    reachable = {}
    for bot in order:
        reachable[bot] = [other for other in from_last if other != bot and may_meet(bot, other)]
    for bot in from_last:
        if bot not in partners:
            # Without a chain now, there will be none later: other chains do not make one.
            _Search(reachable, partners).pair(bot)
    return partners


class _Search:
    """A breadth-first search for a chain from one unpaired bot to another."""

    def __init__(self, reachable: dict[int, list[int]], partners: dict[int, int]) -> None:
        self._reachable = reachable
        self._partners = partners
        self._before: dict[int, int] = {}
        """The bot before another one in its chain, by a bot at an odd distance from the root or in a blossom."""
        self._base = {bot: bot for bot in reachable}
        """The first bot of a bot's blossom, or the bot itself; by bot."""
        self._reached: set[int] = set()
        """Bots at an even distance from the root: their chains may go on."""

    def pair(self, root: int) -> None:
        """Pair the root and another unpaired bot, if a chain connects them."""
        end = self._end_of_chain(root)
        while end is not None:
            before = self._before[end]
            following = self._partners.get(before)
            self._partners[end] = before
            self._partners[before] = end
            end = following

    def _end_of_chain(self, root: int) -> int | None:
        """Return the unpaired bot at the end of the first chain found."""
        queue = deque([root])
        self._reached.add(root)
        while queue:
            bot = queue.popleft()
            for other in self._reachable[bot]:
                if self._base[bot] == self._base[other] or self._partners.get(bot) == other:
                    continue
                partner = self._partners.get(other)
                if other == root or (partner is not None and partner in self._before):
                    queue.extend(self._contract(bot, other))
                elif other not in self._before:
                    self._before[other] = bot
                    if partner is None:
                        return other
                    self._reached.add(partner)
                    queue.append(partner)
        return None

    def _contract(self, one: int, other: int) -> list[int]:
        """Make one blossom of the odd cycle that two bots close; return its bots that are reached only now."""
        first = self._common_base(one, other)
        bases = self._mark(one, first, other) | self._mark(other, first, one)
        new = []
        for bot in self._reachable:
            if self._base[bot] in bases:
                self._base[bot] = first
                if bot not in self._reached:
                    self._reached.add(bot)
                    new.append(bot)
        return new

    def _common_base(self, one: int, other: int) -> int:
        """Return the last bot that the chains to both have in common."""
        passed = set()
        while True:
            one = self._base[one]
            passed.add(one)
            if one not in self._partners:
                break
            one = self._before[self._partners[one]]
        while self._base[other] not in passed:
            other = self._before[self._partners[self._base[other]]]
        return self._base[other]

    def _mark(self, bot: int, first: int, across: int) -> set[int]:
        """Write down how the blossom is passed in the other direction; return the bases on this side of it."""
        bases = set()
        while self._base[bot] != first:
            partner = self._partners[bot]
            bases |= {self._base[bot], self._base[partner]}
            self._before[bot] = across
            across = partner
            bot = self._before[partner]
        return bases


SEATINGS = 2
"""Number of matches in a block of two bots."""
Pair = tuple[int, int]


def round_size(spec: ScheduleSpec, field: FieldPeriod) -> int:
    """Return the number of blocks in a round in which bots play in pairs, and the house plays a bot left over."""
    bots = len(field.active)
    return (bots // 2 + (spec.filled and bots % 2)) * field.blocks


class PairedSchedule(Struct, frozen=True):
    """A schedule of rounds in which every bot plays some blocks against one other."""

    spec: ScheduleSpec

    @property
    def turns(self) -> int:
        """Number of rounds if the file has no `rounds`."""
        return 0

    @property
    def spans(self) -> list[RoundSpan]:
        """Rounds of each field."""
        return list(parts_of(self.spec, lambda field: field.rounds or self.turns, partial(round_size, self.spec)))

    @property
    def matches(self) -> int:
        """See `Schedule`."""
        return sum(span.rounds * span.size for span in self.spans) * SEATINGS

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return next_round_from(self.spans, begun)


class PairedRounds(Rounds):
    """Rounds of pairs with a known number of rounds for each field."""

    def __init__(self, spans: Iterable[RoundSpan], seed: int) -> None:
        """Make the first round. A subclass initialises its own state before."""
        self._spans = iter(spans)
        self._span: RoundSpan | None = None
        self._seed = seed
        self._turn = self._first = 0
        self._begin()

    def advance(self, results: Sequence[CountedMatch]) -> None:
        """See `Rounds`."""
        self.count(results)
        self._turn += 1
        self._begin()

    @abstractmethod
    def enter(self, field: FieldPeriod) -> None:
        """Prepare for the rounds of a field."""

    @abstractmethod
    def pair(self, turn: int, field: FieldPeriod) -> list[Pair]:
        """Return the pairs of a round."""

    @abstractmethod
    def count(self, results: Sequence[CountedMatch]) -> None:
        """Update the score with the results of the current round."""

    def _begin(self) -> None:
        """Make the next round, if there is one."""
        self.blocks = None
        while self._span is None or self._turn == self._span.turn + self._span.rounds:
            self._span = next(self._spans, None)
            if self._span is None:
                return
            self._turn = self._span.turn
            self.enter(self._span.field)
        field = self._span.field
        pairs = self.pair(self._turn, field)
        blocks = round_of(pairs, first=self._first, turn=self._turn, blocks=field.blocks, seed=self._seed)
        self._first += len(blocks)
        self.blocks = blocks.__iter__


class Byes:
    """Counts how often each bot was left over, in rounds with an odd number of bots."""

    def __init__(self, entrants: int) -> None:
        self.counts = [0] * entrants
        """Number of rounds in which each entrant was left over."""
        self._turns = [0] * entrants
        """The same, plus the initial count of a bot that entered later."""

    def admit(self, field: FieldPeriod) -> None:
        """Set the count of the field's new bots to the least count of the others."""
        new = dict(field.entered)
        least = min((self._turns[bot] for bot in field.active if bot not in new), default=0)
        for number in new:
            self._turns[number] = least

    def left_over(self, order: Sequence[int]) -> int | None:
        """Return the first of the `candidates`; None for an even number of bots."""
        return next(iter(self.candidates(order)), None)

    def candidates(self, order: Sequence[int]) -> list[int]:
        """Return the bots that were left over least often, in order; an empty list for an even number of bots."""
        if len(order) % 2 == 0:
            return []
        least = min(map(self._turns.__getitem__, order))
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


def add_points(results: Iterable[CountedMatch], totals: list[float]) -> None:
    """Add each match's points to the totals of its entrants."""
    for played in results:
        share = points(played.outcome, 0)
        one, other = played.entrants
        totals[one] += share
        totals[other] += 1 - share
