"""Pools of candidate symbols for a seat; an integer with one bit per symbol is a set of them.

Operations on a few long integers test all symbols of a pool at once. A pool holds all legal symbols that some
facts allow or, if there are too many, a random part of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import islice
from operator import or_
from random import Random
from typing import cast

from msgspec import Struct

from protocol.games.runes_to_ruins import Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, NAMES, RUNES
from referee.games.runes_to_ruins.symbols import MOST_ALIKE, TOUCHED

POSITIONS = range(6)
NUMBER: dict[str, int] = {name: number for number, name in enumerate(NAMES)}
EVERY_RUNE = (1 << len(NAMES)) - 1
_PLACES = len(NAMES)
_TOUCHED = tuple(tuple(map(touched.__getitem__, NAMES)) for touched in TOUCHED)
_TWICE = 0o666666
"""Mask over six counts of three bits each; `counts & _TWICE` is positive if any count is 2 or more."""
PROBES = 100
"""Number of random descents that estimate how many symbols there are."""
SAME, MANY, DRAWS = 4, 200, 200
"""Constants of `drawn`.

Listed symbols share the runes of `SAME` positions at first. If a list has less than 1 / `MANY` of the wanted
symbols, they share one position fewer from then on. At most `DRAWS` lists are made.
"""


def mark(positions: Sequence[int], runes: Iterable[str]) -> int:
    """Return a mask of a symbol's cells: each of the runes in each of the positions."""
    row = sum(1 << NUMBER[rune] for rune in runes)
    return sum(row << position * _PLACES for position in positions)


@lru_cache(maxsize=4096)
def cells(symbol: Six) -> int:
    """Return a mask of the six cells that a symbol fills."""
    return sum(1 << (position * _PLACES + NUMBER[rune]) for position, rune in enumerate(symbol))


@lru_cache(maxsize=4096)
def _picked(runes: int) -> bytes:
    """Return a table for `bytes.translate` that maps these runes to "1" and others to "0"."""
    return bytes(49 if number < _PLACES and runes >> number & 1 else 48 for number in range(256))


class Pool:
    """A sequence of symbols; sets of them are integers with bit `n` for symbol `n`."""

    def __init__(self, symbols: Sequence[bytes]) -> None:
        """Store symbols; each is six numbers of runes."""
        self.symbols = symbols
        joined = b"".join(symbols)
        # The order is reversed because the first digit of a binary number is its highest bit.
        self._columns = [joined[position::6][::-1] for position in POSITIONS]
        self.all = (1 << len(symbols)) - 1
        self._marked: dict[int, int] = {}

    def symbol(self, number: int) -> Six:
        """Return the symbol with this number."""
        return cast("Six", tuple([NAMES[rune] for rune in self.symbols[number]]))

    def marked(self, cells_: int) -> int:
        """Return the symbols that fill at least one of these cells."""
        if cells_ not in self._marked:
            found = 0
            for position in POSITIONS:
                runes = cells_ >> position * _PLACES & EVERY_RUNE
                if runes and self.symbols:
                    found |= int(self._columns[position].translate(_picked(runes)), 2)
            self._marked[cells_] = found
        return self._marked[cells_]

    def counted(self, marks: Sequence[int]) -> dict[int, int]:
        """Return the set of symbols that fill each number of these marks."""
        return count([self.marked(each) for each in marks], self.all)


def count(sets: Sequence[int], every: int) -> dict[int, int]:
    """Return, for each number, the members of `every` that are in that number of the sets."""
    at_least = [every]
    for each in sets:
        at_least.append(at_least[-1] & each)
        for n in range(len(at_least) - 2, 0, -1):
            at_least[n] |= at_least[n - 1] & each
    at_least.append(0)
    return {n: only for n in range(len(at_least) - 1) if (only := at_least[n] & ~at_least[n + 1])}


def numbers(chosen: int) -> Iterator[int]:
    """Iterate over the numbers of a set's members in ascending order."""
    text = bin(chosen)[:1:-1]
    at = text.find("1")
    while at >= 0:
        yield at
        at = text.find("1", at + 1)


def any_of(chosen: int, rng: Random) -> int:
    """Return the number of a member drawn uniformly from a set that is not empty."""
    wanted = rng.randrange(chosen.bit_count())
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


SoFar = tuple[int, int]
"""State of a symbol under construction: a mask of excluded runes, and counts of runes per group.

The groups are those of the Order whose groups may repeat; each count has three bits.
"""


class SymbolFacts(Struct):
    """Facts about a symbol that are certain."""

    allowed: list[int]
    """Masks of possible runes, indexed by position."""
    required: int = 0
    """Mask of runes that the symbol contains."""
    counts: dict[str, tuple[int, int]] = {}
    """Minimum and maximum number of runes per group, for groups of both Orders."""
    guesses: tuple[tuple[Six, int, int], ...] = ()
    """Guesses, each with the number of its runes that are in place and the number that are elsewhere."""

    def parts(self) -> "list[SymbolFacts] | None":
        """Split the facts by the place of a required rune, or by the places of a guess's runes.

        Return None if there is neither.
        """
        if self.required:
            rune = self.required & -self.required
            parts = []
            for place, allowed in enumerate(self.allowed):
                if allowed & rune:
                    placed = [able & ~rune for able in self.allowed]
                    placed[place] = rune
                    parts.append(SymbolFacts(placed, self.required ^ rune, self.counts, self.guesses))
            return parts
        if self.guesses:
            able = _placed(*self.guesses[0], tuple(self.allowed))
            return [SymbolFacts(each, 0, self.counts, self.guesses[1:]) for each in able]
        return None


class SymbolGenerator:
    """A generator of legal symbols that agree with some facts, position by position.

    In at least one Order all six groups of a symbol differ. Symbols are built for each Order in which that is
    possible; a symbol that both Orders allow is built once.
    """

    def __init__(self, facts: SymbolFacts) -> None:
        self.parts = facts.parts()
        if self.parts is not None:
            return
        allowed = facts.allowed
        self.order = sorted(POSITIONS, key=lambda position: allowed[position].bit_count())
        self.allowed = [allowed[position] for position in self.order]
        self.ways: list[int] = []
        """Orders in which all groups may differ."""
        self.least: list[list[int]] = []
        self.most: list[list[int]] = []
        for order, groups in enumerate((DIVINE, MUNDANE)):
            bounds = [facts.counts.get(group, (0, MOST_ALIKE)) for group in groups]
            if all(least <= 1 <= most for least, most in bounds):
                self.ways.append(order)
            self.least.append([least for least, _ in bounds])
            self.most.append([min(most, MOST_ALIKE) for _, most in bounds])
        self.needs = list(map(any, self.least))

    def _next(self, depth: int, order: int, so_far: SoFar) -> int:
        """Return a mask of the runes that may be placed next."""
        banned, counts = so_far
        able = self.allowed[depth] & ~banned
        left = len(POSITIONS) - depth
        if self.needs[1 - order]:
            lacking = [
                max(least - (counts >> 3 * group & 7), 0) for group, least in enumerate(self.least[1 - order])
            ]
            if sum(lacking) > left:
                return 0
            if sum(lacking) == left:
                able &= sum(_GROUP[1 - order][group] for group in range(6) if lacking[group])
        return able

    def _after(self, order: int, so_far: SoFar, rune: int) -> SoFar:
        banned, counts = so_far
        other = _IN[1 - order][rune]
        counts += _ONE[1 - order][rune]
        banned |= _ALIKE[order][rune]
        if counts >> 3 * other & 7 >= self.most[1 - order][other]:
            banned |= _ALIKE[1 - order][rune]
        return banned, counts

    def _begin(self, order: int) -> SoFar:
        return sum(_GROUP[1 - order][group] for group in range(6) if not self.most[1 - order][group]), 0

    def _is_new(self, order: int, counts: int) -> bool:
        """Return whether this Order is the one that builds the symbol, so that no symbol is built twice."""
        return order == self.ways[0] or counts & _TWICE > 0

    def estimate(self, rng: Random) -> float:
        """Estimate the number of symbols."""
        return sum(self.probe(rng)[1] for _ in range(PROBES)) / PROBES

    def probe(self, rng: Random) -> tuple[bytes | None, float]:
        """Build a symbol by random choices; return it with the inverse of its probability.

        Return None and 0 if the choices lead to no symbol. The mean of the second value is the number of symbols.
        """
        if self.parts is not None:
            symbol, weight = SymbolGenerator(rng.choice(self.parts)).probe(rng) if self.parts else (None, 0)
            return symbol, weight * len(self.parts)
        if not self.ways:
            return None, 0
        order = rng.choice(self.ways)
        so_far, weight = self._begin(order), float(len(self.ways))
        found = bytearray(6)
        for depth, position in enumerate(self.order):
            able = _runes(self._next(depth, order, so_far))
            if not able:
                return None, 0
            rune = able[int(rng.random() * len(able))]
            found[position] = rune
            weight *= len(able)
            so_far = self._after(order, so_far, rune)
        if not self._is_new(order, so_far[1]) or not _is_whole(found):
            return None, 0
        return bytes(found), weight

    def every(self) -> Iterator[bytes]:
        """Iterate over all symbols."""
        if self.parts is not None:
            for part in self.parts:
                yield from SymbolGenerator(part).every()
            return
        for order in self.ways:
            for found in self._built(0, order, bytearray(6), self._begin(order), []):
                yield from found

    def _built(
        self, depth: int, order: int, found: bytearray, so_far: SoFar, apart: list[int]
    ) -> Iterator[list[bytes]]:
        """Build all symbols with these first runes, in lists.

        `apart` has one mask of touched points per connected part of the runes placed so far.
        """
        position = self.order[depth]
        symbols: list[bytes] = []
        for rune in _runes(self._next(depth, order, so_far)):
            touches = _TOUCHED[position][rune]
            found[position] = rune
            rest = []
            for each in apart:
                if each & touches:
                    touches |= each
                else:
                    rest.append(each)
            rest.append(touches)
            if depth < len(POSITIONS) - 2:
                yield from self._built(depth + 1, order, found, self._after(order, so_far, rune), rest)
            else:
                self._finish(order, found, self._after(order, so_far, rune), rest, symbols)
        if symbols:
            yield symbols

    def _finish(self, order: int, found: bytearray, so_far: SoFar, apart: list[int], symbols: list[bytes]) -> None:
        """Add all symbols that lack only the last rune, which must connect all parts."""
        position = self.order[-1]
        points = _POINTS[position]
        able = self._next(len(POSITIONS) - 1, order, so_far)
        for each in apart:
            able &= _touching(position, each & points)
        if able and not self._is_new(order, so_far[1]):
            able &= sum(_GROUP[1 - order][group] for group in range(6) if so_far[1] >> 3 * group & 7)
        for rune in _runes(able):
            found[position] = rune
            symbols.append(bytes(found))


@lru_cache(maxsize=4096)
def _placed(guess: Six, exact: int, moved: int, allowed: tuple[int, ...]) -> list[list[int]]:
    return list(_placements([], allowed, [1 << NUMBER[rune] for rune in guess], exact, moved))


def _placements(
    placed: list[int], allowed: Sequence[int], runes: Sequence[int], exact: int, moved: int
) -> Iterator[list[int]]:
    """Build the masks of possible runes, indexed by position, that agree with the answer to a guess.

    `exact` runes of the guess are in place and `moved` ones are elsewhere.
    """
    at = len(placed)
    if at == len(allowed):
        yield placed
        return
    left = len(allowed) - at
    able = allowed[at]
    if exact and able & runes[at]:
        yield from _placements([*placed, runes[at]], allowed, runes, exact - 1, moved)
    if moved:
        for rune in runes:
            if rune != runes[at] and able & rune and rune not in placed:
                yield from _placements([*placed, rune], allowed, runes, exact, moved - 1)
    if (rest := able & ~sum(runes)) and exact + moved < left:
        yield from _placements([*placed, rest], allowed, runes, exact, moved)


_IN = tuple(number // 6 for number in range(_PLACES)), tuple(number % 6 for number in range(_PLACES))
"""Group of each rune, indexed by Order, then by rune."""
_GROUP = (
    tuple(0b111111 << 6 * group for group in range(6)),
    tuple(0o10101010101 << group for group in range(6)),
)
"""Mask of each group's runes, indexed by Order, then by group."""


_ONE = tuple(map((8).__pow__, _IN[0])), tuple(map((8).__pow__, _IN[1]))
"""Number with 1 in the three-bit count of a rune's group, indexed by Order, then by rune."""
_ALIKE = tuple(map(_GROUP[0].__getitem__, _IN[0])), tuple(map(_GROUP[1].__getitem__, _IN[1]))
"""Mask of the runes in a rune's group, indexed by Order, then by rune."""


@lru_cache(maxsize=100_000)
def _runes(mask: int) -> tuple[int, ...]:
    found = []
    while mask:
        found.append(mask.bit_length() - 1)
        mask ^= 1 << found[-1]
    return tuple(found)


_POINTS = tuple(reduce(or_, touched) for touched in _TOUCHED)
"""Mask of all points that runes can touch, indexed by position."""


@lru_cache(maxsize=100_000)
def _touching(position: int, points: int) -> int:
    """Return a mask of the runes that touch one of these points when placed in the position."""
    return sum(1 << rune for rune in range(_PLACES) if _TOUCHED[position][rune] & points)


def _is_whole(symbol: bytearray) -> bool:
    """Return whether the six runes of a symbol are connected."""
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


def built(
    facts: SymbolFacts, rng: Random, most: int, part: int, like: Sequence[bytes] = ()
) -> tuple[list[bytes], bool]:
    """Return all legal symbols that agree with the facts, and True.

    If there are more than `most`, return about `part` of them, and False; half of the lists that are drawn then
    start from a symbol of `like`.
    """
    builder = SymbolGenerator(facts)
    if builder.estimate(rng) < most:
        found = list(islice(builder.every(), most + 1))
        if len(found) <= most:
            return found, True
    return drawn(builder, facts, rng, part, like), False


def drawn(
    builder: SymbolGenerator, facts: SymbolFacts, rng: Random, part: int, like: Sequence[bytes]
) -> list[bytes]:
    """Draw some of many symbols, at least `part` unless too few are found.

    Draw positions and their runes, list the symbols that have these runes there, and repeat until there are
    enough. A listed symbol takes far less time than a drawn one.
    """
    found: dict[bytes, None] = {}
    same = SAME
    guessed = 0
    for guess, _, _ in facts.guesses:
        guessed |= mark((0,), guess)
    for number in range(DRAWS):
        symbol = rng.choice(like) if like and number % 2 else builder.probe(rng)[0]
        if symbol is None:
            continue
        # Runes of guesses are fixed, so that every listed symbol has the same answers to the guesses.
        allowed = [able & ~guessed for able in facts.allowed]
        for at, rune in enumerate(symbol):
            if guessed >> rune & 1:
                allowed[at] = 1 << rune
        for at in rng.sample(POSITIONS, same):
            allowed[at] = 1 << symbol[at]
        listed = list(islice(SymbolGenerator(SymbolFacts(allowed, facts.required, facts.counts)).every(), part))
        found.update(dict.fromkeys(listed))
        if len(found) >= part:
            break
        same -= len(listed) < part / MANY and same > 0
    return list(found)


assert all(NUMBER[rune.name] == number for number, rune in enumerate(RUNES))  # noqa: S101 - groups are found by it
