"""Completes a pairing: as many bots as possible get a partner that they may meet. Pure.

Edmonds' algorithm (J. Edmonds, *Paths, trees, and flowers*, 1965): a pairing is as large as it can be when no
chain of bots that may meet leads from one unpaired bot to another, every second link being a pair. Along such a
chain all change partners, and both ends are paired. Chains may have to pass an odd cycle of bots, a *blossom*, in
either direction; such a cycle is handled as one bot.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence

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
    reachable = {bot: [other for other in from_last if other != bot and may_meet(bot, other)] for bot in order}
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
        """By bot at an odd distance from the root, or in a blossom: the bot before it in the chain."""
        self._base = {bot: bot for bot in reachable}
        """By bot: the first bot of its blossom, or itself."""
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
