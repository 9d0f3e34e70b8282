"""Symbols: their runes and groups, the check whether one is legal, and the draw of a random one."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, reduce
from operator import or_
from random import Random

from msgspec import UNSET, Struct

from protocol.games.runes_to_ruins import Line, Order, Six
from protocol.games.runes_to_ruins.runes import DIVINE, MUNDANE, RUNE, RUNES, RuneName
from referee.games.runes_to_ruins.state import SEATS
from referee.rules import below, sample

GROUPS = {rune.name: (rune.divine, rune.mundane) for rune in RUNES}
"""Divine and Mundane group of each rune. No name of a group occurs in both Orders."""
ORDER: dict[Order, int] = {"divine": 0, "mundane": 1}
COLUMNS = 3
SIDES = ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5))
"""The seven pairs of adjacent positions."""
MOST_ALIKE = 3
"""Maximum number of runes of one group in the Order whose groups may repeat."""


def _members(group: str) -> frozenset[RuneName]:
    return frozenset([rune for rune, groups in GROUPS.items() if group in groups])


MEMBERS: dict[str, frozenset[RuneName]] = {group: _members(group) for group in (*DIVINE, *MUNDANE)}
"""Runes of each group."""
ALIKE = {rune: MEMBERS[divine] | MEMBERS[mundane] for rune, (divine, mundane) in GROUPS.items()}
"""Runes that share a group with each rune, including itself."""
_ACROSS = 2 * COLUMNS + 1
"""Points per row of the whole symbol; neighbouring runes share the points of their common side or corner."""


def _touched(position: int) -> dict[RuneName, int]:
    """Return masks of the points of the whole symbol at which a segment of each rune ends."""
    masks: dict[RuneName, int] = dict.fromkeys(GROUPS, 0)
    for rune in masks:
        for point in map(int, RUNE[rune].segments.replace(" ", "")):
            row, column = 2 * (position // COLUMNS) + point // 3, 2 * (position % COLUMNS) + point % 3
            masks[rune] |= 1 << (row * _ACROSS + column)
    return masks


_SEAT = 8
"""Bits per seat in masks by seat and position: one per position, and two unused."""


class SymbolIndex(Struct, frozen=True, gc=False):
    """All symbols of a match, indexed for questions about them."""

    symbols: tuple[Six, ...]
    places: dict[str, int]
    """Mask by seat and position for each rune that occurs in a symbol."""
    groups: tuple[dict[str, int], ...]
    """Number of runes of each group that occurs in the symbol; indexed by seat."""
    runes: tuple[frozenset[RuneName], ...]
    """Runes of the symbol, indexed by seat."""

    def users(self, rune: RuneName, asker: int) -> int:
        """Return the number of other seats that use the rune."""
        return (self.places.get(rune, 0) & _OTHERS[asker]).bit_count()

    def users_on(self, line: Line, asker: int) -> int:
        """Return the number of other seats that use the rune of `line` in its row or column."""
        on = _ROWS[line.row] if line.row is not UNSET else _COLUMNS[line.column or 0]
        return (self.places.get(line.rune, 0) & on & _OTHERS[asker]).bit_count()

    def most(self, runes: Iterable[RuneName], asker: int) -> int:
        """Return the greatest number of these runes in the symbol of one other seat."""
        places = 0
        for rune in runes:
            places |= self.places.get(rune, 0)
        return max((places & _OTHERS[asker]).to_bytes(len(self.symbols), "little").translate(_BITS))


_EVERY_SEAT = sum(1 << _SEAT * seat for seat in range(SEATS))
_ROWS = tuple((0b000111 << COLUMNS * row) * _EVERY_SEAT for row in range(2))
_COLUMNS = tuple((0b001001 << column) * _EVERY_SEAT for column in range(COLUMNS))
_OTHERS = tuple([(_EVERY_SEAT ^ 1 << _SEAT * seat) * 0b111111 for seat in range(SEATS)])
"""Mask of all places of the other seats, indexed by seat."""
_BITS = bytes(map(int.bit_count, range(256)))


@lru_cache(maxsize=64)
def tables(symbols: tuple[Six, ...]) -> SymbolIndex:
    """Return the tables of these symbols."""
    places: dict[str, int] = {}
    groups: list[dict[str, int]] = []
    place = 1
    for symbol in symbols:
        counts: dict[str, int] = {}
        for rune in symbol:
            places[rune] = places.get(rune, 0) | place
            place <<= 1
            divine, mundane = GROUPS[rune]
            counts[divine] = counts.get(divine, 0) + 1
            counts[mundane] = counts.get(mundane, 0) + 1
        place <<= _SEAT - len(symbol)
        groups.append(counts)
    return SymbolIndex(symbols, places, tuple(groups), tuple(map(frozenset, symbols)))


_COUNTED = {rune.name: (8 ** DIVINE.index(rune.divine), 8 ** MUNDANE.index(rune.mundane)) for rune in RUNES}
"""A 1 in the count of the rune's Divine group and one in that of its Mundane group, three bits each; by rune."""
_TWICE = 0o666666
"""Mask of the two high bits of each count; one is set if the count is 2 or more."""
_TOO_MANY = 0o444444
"""Mask of the highest bit of each count, which is set if the count exceeds `MOST_ALIKE`."""


def _named(order: int, group: str, free: Sequence[str]) -> tuple[tuple[RuneName, int], ...]:
    """Return the runes of a group of an Order, in the order of the other Order's groups `free`."""
    named = []
    for other in free:
        (rune,) = MEMBERS[group] & MEMBERS[other]
        named.append((rune, _COUNTED[rune][1 - order]))
    return tuple(named)


_NAMED = (
    tuple([_named(0, group, MUNDANE) for group in DIVINE]),
    tuple([_named(1, group, DIVINE) for group in MUNDANE]),
)
"""Rune of each pair of groups, and its 1 among the counts of the other Order.

Indexed by Order, by its group, and by the group of the other Order.
"""
TOUCHED = tuple(map(_touched, range(6)))
"""Mask of the points that each rune touches; indexed by position."""


def fault(symbol: Six) -> str | None:
    """Return why a symbol is not legal, or None if it is legal."""
    if len(set(symbol)) < len(symbol):
        return "a symbol has six different runes"
    if not any(_orders_fit(symbol)):
        return "in one Order all six groups must differ, and in the other no group may have more than three runes"
    return None if _connected(symbol) else "the six runes do not all hang together"


def _orders_fit(symbol: Six) -> tuple[bool, bool]:
    """Return for each of the two Orders whether all its groups differ and the other repeats few enough."""
    divine = mundane = 0
    for rune in symbol:
        counted = _COUNTED[rune]
        divine += counted[0]
        mundane += counted[1]
    return (
        not divine & _TWICE and not mundane & _TOO_MANY,
        not mundane & _TWICE and not divine & _TOO_MANY,
    )


def _connected(symbol: Sequence[RuneName]) -> bool:
    """Return whether common points connect all six runes. Segments inside one rune need not be connected."""
    masks = [*map(dict.__getitem__, TOUCHED, symbol)]
    everything = reduce(or_, masks)
    together, reached = 0, masks[0]
    while together != reached:
        together = reached
        for mask in masks:
            if mask & reached:
                reached |= mask
    return together == everything


def joined_pairs(symbol: Six) -> int:
    """Return the number of adjacent pairs, of seven, whose runes touch a common point."""
    masks = [*map(dict.__getitem__, TOUCHED, symbol)]
    return sum([masks[a] & masks[b] != 0 for a, b in SIDES])


def draw_symbol(rng: Random, without: Collection[Six] = ()) -> Six:
    """Draw a legal symbol uniformly from those that are not in `without`."""
    draw = rng.getrandbits
    while True:
        drawn_as = below(rng, 2)
        # In one Order each of the six groups occurs once, in drawn order; the groups of the other are free.
        symbol, counted = [], 0
        for runes in sample(rng, _NAMED[drawn_as], len(DIVINE)):
            # This is `choice` inlined.
            while (number := draw(3)) >= len(MUNDANE):
                pass
            rune, count = runes[number]
            symbol.append(rune)
            counted += count
        # A symbol whose groups differ in both Orders can be drawn in two ways, so one of them is rejected.
        twice = drawn_as == ORDER["mundane"] and not counted & _TWICE
        if not counted & _TOO_MANY and not twice and _connected(symbol):
            drawn: Six = tuple(symbol)
            if drawn not in without:
                return drawn


def runes_of(symbol: Six, group: str) -> int:
    """Return the number of runes of the symbol in the group, which may be of either Order."""
    return sum([group in GROUPS[rune] for rune in symbol])


def stands_on(symbol: Six, line: Line) -> bool:
    """Return whether the symbol has the rune of `line` in its row or column."""
    if line.rune not in symbol:
        return False
    row, column = divmod(symbol.index(line.rune), COLUMNS)
    return line.row == row or line.column == column


def shared_runes(symbol: Six, other: Six) -> int:
    """Return the number of runes that two symbols have in common."""
    return len(set(symbol).intersection(other))
