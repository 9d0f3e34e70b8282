"""Candidate symbols of a seat as a pool: a set of them is an integer with a bit for each.

What is asked of a symbol is asked of a whole pool at once, by the logic of a few long integers. A pool holds all
legal symbols that a few facts allow, or where there are too many a part of them, drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from random import Random
from typing import cast

from msgspec import Struct

from protocol.games.runes import DIVINE, MUNDANE, NAMES, RUNES
from protocol.games.runes_to_ruins import Six
from referee.games.runes_to_ruins.symbols import MOST_ALIKE, TOUCHED

POSITIONS = range(6)
NUMBER: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
EVERY_RUNE = (1 << len(NAMES)) - 1
_PLACES = len(NAMES)
_TOUCHED = tuple(tuple(TOUCHED[position][name] for name in NAMES) for position in POSITIONS)
_DIVINE = tuple(8 ** (number // 6) for number in range(_PLACES))
_MUNDANE = tuple(8 ** (number % 6) for number in range(_PLACES))
_TWICE, _TOO_MANY = 0o666666, 0o444444
PROBES = 200
"""How often a way is gone at random to estimate how many symbols there are."""


def mark(positions: Sequence[int], runes: Iterable[str]) -> int:
    """Cells of a symbol, as a mask: those runes in those positions."""
    return sum(1 << (position * _PLACES + NUMBER[rune]) for position in positions for rune in runes)


@cache
def cells(symbol: Six) -> int:
    """The six cells that a symbol fills, as a mask."""
    return sum(1 << (position * _PLACES + NUMBER[rune]) for position, rune in enumerate(symbol))


@cache
def _picked(runes: int) -> bytes:
    """A translation of columns: 1 for these runes, else 0."""
    return bytes(49 if number < _PLACES and runes >> number & 1 else 48 for number in range(256))


class Pool:
    """Some symbols."""

    def __init__(self, symbols: Sequence[bytes]) -> None:
        """Takes symbols as six numbers of runes each."""
        self.symbols = symbols
        joined = b"".join(symbols)
        # The last symbol comes first, as the highest bit does.
        self._columns = [joined[position::6][::-1] for position in POSITIONS]
        self.all = (1 << len(symbols)) - 1
        self._marked: dict[int, int] = {}

    def symbol(self, number: int) -> Six:
        """A symbol by its number."""
        return cast("Six", tuple([NAMES[rune] for rune in self.symbols[number]]))

    def marked(self, cells_: int) -> int:
        """The symbols that fill one of these cells."""
        if cells_ not in self._marked:
            found = 0
            for position in POSITIONS:
                runes = cells_ >> position * _PLACES & EVERY_RUNE
                if runes and self.symbols:
                    found |= int(self._columns[position].translate(_picked(runes)), 2)
            self._marked[cells_] = found
        return self._marked[cells_]

    def counted(self, marks: Sequence[int]) -> dict[int, int]:
        """How many of these marks symbols fill, to the symbols."""
        return count([self.marked(each) for each in marks], self.all)

    def only(self, chosen: int) -> "Pool":
        """A pool of these symbols."""
        return Pool([self.symbols[number] for number in numbers(chosen)])


def count(sets: Sequence[int], every: int) -> dict[int, int]:
    """In how many of these sets its members are, to the members."""
    at_least = [every]
    for each in sets:
        at_least.append(at_least[-1] & each)
        for n in range(len(at_least) - 2, 0, -1):
            at_least[n] |= at_least[n - 1] & each
    at_least.append(0)
    return {n: only for n in range(len(at_least) - 1) if (only := at_least[n] & ~at_least[n + 1])}


def numbers(chosen: int) -> Iterator[int]:
    """The numbers of a set's members."""
    text = bin(chosen)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def any_of(chosen: int, luck: Random) -> int:
    """The number of one member, each as likely."""
    wanted = luck.randrange(chosen.bit_count())
    low, size = 0, chosen.bit_length()
    while size > 64:  # noqa: PLR2004 - then members are counted off
        size = (size + 1) // 2
        below = chosen & ((1 << size) - 1)
        less = below.bit_count()
        if wanted < less:
            chosen = below
        else:
            wanted -= less
            chosen >>= size
            low += size
    for _ in range(wanted):
        chosen &= chosen - 1
    return low + (chosen & -chosen).bit_length() - 1


class Facts(Struct):
    """What is known of a symbol for certain: the runes that each position may have, and runes that are in it."""

    allowed: list[int]
    """By position, as masks of runes."""
    required: int = 0
    counts: dict[str, tuple[int, int]] = {}
    """The fewest and the most runes of a group, of either Order."""

    def is_known(self, symbol: Six) -> bool:
        """Whether they allow the symbol."""
        runes = [1 << NUMBER[rune] for rune in symbol]
        return all(each & able for each, able in zip(runes, self.allowed, strict=True)) and not (
            self.required & ~sum(runes)
        )


class Builder:
    """Builds legal symbols that agree with some facts, position by position.

    In one Order all six groups differ: so each comes once. They are built in both ways.
    """

    def __init__(self, facts: Facts) -> None:
        self.parts: list[Builder] | None = None
        """One for each place of a rune that is required."""
        if facts.required:
            rune = facts.required & -facts.required
            places = [at for at in POSITIONS if facts.allowed[at] & rune]
            placed = [[rune if at == place else facts.allowed[at] & ~rune for at in POSITIONS] for place in places]
            self.parts = [Builder(Facts(allowed, facts.required ^ rune, facts.counts)) for allowed in placed]
            return
        allowed = facts.allowed
        self.order = sorted(POSITIONS, key=lambda position: allowed[position].bit_count())
        self.allowed = [allowed[position] for position in self.order]
        groups = DIVINE, MUNDANE
        bounds = [[facts.counts.get(group, (0, MOST_ALIKE)) for group in names] for names in groups]
        self.ways = [order for order in (0, 1) if all(least <= 1 <= most for least, most in bounds[order])]
        """The Orders in which all groups may differ."""
        self.least = [[least for least, _ in each] for each in bounds]
        self.needs = [any(each) for each in self.least]
        self.most = [[min(most, MOST_ALIKE) for _, most in each] for each in bounds]

    def _next(self, depth: int, order: int, banned: int, counts: list[int]) -> tuple[int, ...]:
        """The runes that may come next; `counts` are of the groups that need not differ."""
        able = self.allowed[depth] & ~banned
        if self.needs[1 - order]:
            left = len(POSITIONS) - depth
            lacking = [max(least - one, 0) for one, least in zip(counts, self.least[1 - order], strict=True)]
            if sum(lacking) > left:
                return ()
            if sum(lacking) == left:
                able &= sum(_GROUP[1 - order][group] for group in range(6) if lacking[group])
        return _runes(able)

    def _after(self, order: int, banned: int, counts: list[int], rune: int) -> tuple[int, list[int]]:
        one, other = _IN[order][rune], _IN[1 - order][rune]
        counts = counts.copy()
        counts[other] += 1
        banned |= _GROUP[order][one]
        if counts[other] >= self.most[1 - order][other]:
            banned |= _GROUP[1 - order][other]
        return banned, counts

    def _banned(self, order: int) -> int:
        return sum(_GROUP[1 - order][group] for group in range(6) if not self.most[1 - order][group])

    def _is_new(self, order: int, counts: list[int]) -> bool:
        """Whether it is built in this way only, or in this way first."""
        return order == self.ways[0] or max(counts) > 1

    def estimate(self, luck: Random) -> float:
        """About how many there are."""
        return sum(weight for _, weight in (self.probe(luck) for _ in range(PROBES))) / PROBES

    def probe(self, luck: Random) -> tuple[bytes | None, float]:
        """A symbol by a way gone at random, and for how many it stands; None and 0 where the way ends."""
        if self.parts is not None:
            symbol, weight = luck.choice(self.parts).probe(luck) if self.parts else (None, 0)
            return symbol, weight * len(self.parts)
        if not self.ways:
            return None, 0
        order = luck.choice(self.ways)
        banned, counts, weight = self._banned(order), [0] * 6, float(len(self.ways))
        found = bytearray(6)
        for depth, position in enumerate(self.order):
            able = self._next(depth, order, banned, counts)
            if not able:
                return None, 0
            rune = able[int(luck.random() * len(able))]
            found[position] = rune
            weight *= len(able)
            banned, counts = self._after(order, banned, counts, rune)
        if not self._is_new(order, counts) or not _is_whole(found):
            return None, 0
        return bytes(found), weight

    def every(self) -> Iterator[bytes]:
        """All of them."""
        if self.parts is not None:
            for part in self.parts:
                yield from part.every()
            return
        for order in self.ways:
            yield from self._built(0, order, bytearray(6), (self._banned(order), [0] * 6), [])

    def _built(
        self, depth: int, order: int, found: bytearray, so_far: tuple[int, list[int]], apart: list[int]
    ) -> Iterator[bytes]:
        """All that begin so; `apart`: what the runes so far touch, those that hang together as one."""
        banned, counts = so_far
        position = self.order[depth]
        is_last = depth == len(POSITIONS) - 1
        for rune in self._next(depth, order, banned, counts):
            touches = _TOUCHED[position][rune]
            found[position] = rune
            if not is_last:
                rest = []
                for each in apart:
                    if each & touches:
                        touches |= each
                    else:
                        rest.append(each)
                yield from self._built(
                    depth + 1, order, found, self._after(order, banned, counts, rune), [*rest, touches]
                )
            elif all(each & touches for each in apart) and (
                order == self.ways[0] or max(counts) > 1 or counts[_IN[1 - order][rune]]
            ):
                yield bytes(found)


_IN = tuple(number // 6 for number in range(_PLACES)), tuple(number % 6 for number in range(_PLACES))
"""By Order: the group of each rune."""
_GROUP = tuple(
    tuple(sum(1 << number for number in range(_PLACES) if _IN[order][number] == group) for group in range(6))
    for order in (0, 1)
)
"""By Order: the runes of each group, as a mask."""


@lru_cache(maxsize=100_000)
def _runes(mask: int) -> tuple[int, ...]:
    found = []
    while mask:
        found.append(mask.bit_length() - 1)
        mask ^= 1 << found[-1]
    return tuple(found)


def _is_whole(symbol: bytearray) -> bool:
    """Whether six runes hang together."""
    apart = [_TOUCHED[position][rune] for position, rune in enumerate(symbol)]
    together = apart.pop()
    while apart:
        rest = [mask for mask in apart if not mask & together]
        if len(rest) == len(apart):
            return False
        for mask in apart:
            if mask & together:
                together |= mask
        apart = rest
    return True


def built(facts: Facts, luck: Random, most: int, part: int) -> tuple[list[bytes], bool]:
    """All legal symbols that agree with the facts, and True; if there are more than `most`, a part and False."""
    builder = Builder(facts)
    if builder.estimate(luck) < most:
        found = list(islice(builder.every(), most + 1))
        if len(found) <= most:
            return found, True
    return drawn(builder, luck, part, 40 * part), False


def drawn(builder: Builder, luck: Random, part: int, tries: int) -> list[bytes]:
    """Some symbols, at most so many, by so many ways that are gone at random."""
    found: dict[bytes, None] = {}
    for _ in range(tries):
        symbol, _ = builder.probe(luck)
        if symbol is not None:
            found[symbol] = None
            if len(found) == part:
                break
    return list(found)


def neighbours(symbol: bytes, facts: Facts) -> list[bytes]:
    """The legal symbols that differ in one rune, by a swap of two, or by a swap of groups between two."""
    found = {symbol}
    for one in POSITIONS:
        for rune in range(_PLACES):
            found.add(symbol[:one] + bytes((rune,)) + symbol[one + 1 :])
        for other in range(one):
            a, b = symbol[one], symbol[other]
            for ga in range(6):
                # The two change places, or exchange groups; the first may change its free one besides.
                for x, y in (
                    (b, a),
                    (b // 6 * 6 + ga % 6, a // 6 * 6 + b % 6),
                    (ga // 6 * 6 + b % 6, b // 6 * 6 + a % 6),
                ):
                    changed = bytearray(symbol)
                    changed[one], changed[other] = x, y
                    found.add(bytes(changed))
    allowed = facts.allowed
    return [
        each
        for each in sorted(found)
        if is_legal(each) and all(allowed[position] >> rune & 1 for position, rune in enumerate(each))
    ]


def is_legal(symbol: bytes) -> bool:
    """Whether six numbers of runes are a legal symbol."""
    divine = mundane = 0
    for rune in symbol:
        divine += _DIVINE[rune]
        mundane += _MUNDANE[rune]
    if not (
        (not divine & _TWICE and not mundane & _TOO_MANY) or (not mundane & _TWICE and not divine & _TOO_MANY)
    ):
        return False
    return len(set(symbol)) == len(symbol) and _is_whole(bytearray(symbol))


assert all(NUMBER[rune.name] == number for number, rune in enumerate(RUNES))  # noqa: S101 - groups are found by it
