"""Symbols: what one is made of, which are legal, and how one is drawn."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache, reduce
from operator import or_
from random import Random

from msgspec import UNSET, Struct

from protocol.games.runes import DIVINE, MUNDANE, RUNE, RUNES, RuneName
from protocol.games.runes_to_ruins import Line, Order, Six
from referee.games.runes_to_ruins.state import OTHERS, SEATS
from referee.rules import below, sample

GROUPS = {rune.name: (rune.divine, rune.mundane) for rune in RUNES}
"""Rune to its group in either Order, the Divine one first. No group's name stands in both Orders."""
ORDER: dict[Order, int] = {"divine": 0, "mundane": 1}
COLUMNS = 3
SIDES = ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5))
"""The seven pairs of positions that lie side by side."""
MOST_ALIKE = 3
"""How many runes of one group there may be in the Order whose groups may repeat."""

ALIKE = {
    name: frozenset(other for other, theirs in GROUPS.items() if not {*groups}.isdisjoint(theirs))
    for name, groups in GROUPS.items()
}
"""Rune to the runes that share a group with it, itself included."""
_ACROSS = 2 * COLUMNS + 1
"""Points in a row of the whole symbol: neighbouring runes share those of their common side or corner."""


def _touched(position: int, rune: RuneName) -> int:
    """The points of the whole symbol on which the rune has a segment's end, as a mask."""
    mask = 0
    for point in map(int, RUNE[rune].segments.replace(" ", "")):
        row, column = 2 * (position // COLUMNS) + point // 3, 2 * (position % COLUMNS) + point % 3
        mask |= 1 << (row * _ACROSS + column)
    return mask


_SEAT = 8
"""Bits a seat in masks by seat and position: one for each position, and two that stay empty."""


class Tables(Struct, frozen=True, gc=False):
    """All symbols of a match, in the forms in which they are asked about."""

    symbols: tuple[Six, ...]
    places: dict[str, int]
    """Rune to where seats have it, as a mask by seat and position; runes of nobody are left out."""
    groups: tuple[dict[str, int], ...]
    """By seat: group to how many of its runes the symbol has; groups with none are left out."""
    runes: tuple[frozenset[RuneName], ...]
    """By seat: the symbol's runes."""

    def users(self, rune: RuneName, asker: int) -> int:
        """How many other seats use the rune."""
        return (self.places.get(rune, 0) & _OTHERS[asker]).bit_count()

    def users_on(self, line: Line, asker: int) -> int:
        """How many other seats use the rune of `line` in its row or column."""
        on = _ROWS[line.row] if line.row is not UNSET else _COLUMNS[line.column or 0]
        return (self.places.get(line.rune, 0) & on & _OTHERS[asker]).bit_count()

    def most(self, runes: Iterable[RuneName], asker: int) -> int:
        """The greatest number of these runes in one other seat's symbol."""
        places = 0
        for rune in runes:
            places |= self.places.get(rune, 0)
        return max((places & _OTHERS[asker]).to_bytes(len(self.symbols), "little").translate(_BITS))


_EVERY_SEAT = sum(1 << _SEAT * seat for seat in range(SEATS))
_ROWS = tuple((0b000111 << COLUMNS * row) * _EVERY_SEAT for row in range(2))
_COLUMNS = tuple((0b001001 << column) * _EVERY_SEAT for column in range(COLUMNS))
_OTHERS = tuple(sum(0b111111 << _SEAT * other for other in others) for others in OTHERS)
"""By seat: all places of the others."""
_BITS = bytes(byte.bit_count() for byte in range(256))


@lru_cache(maxsize=64)
def tables(symbols: tuple[Six, ...]) -> Tables:
    """The tables of these symbols."""
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
    return Tables(symbols, places, tuple(groups), tuple(map(frozenset, symbols)))


_COUNTED = {rune.name: (8 ** DIVINE.index(rune.divine), 8 ** MUNDANE.index(rune.mundane)) for rune in RUNES}
"""Rune to a 1 among the counts of the Divine groups, and of the Mundane: three bits a group."""
_TWICE = 0o666666
"""The bits of a group's count of which one is set where it is 2 or more."""
_TOO_MANY = 0o444444
"""The same for more than `MOST_ALIKE`."""
_NAMED = tuple(
    tuple(
        tuple(
            [
                (rune, _COUNTED[rune][1 - order])
                for other in free
                for rune in GROUPS
                if {*GROUPS[rune]} == {group, other}
            ]
        )
        for group in unlike
    )
    for order, (unlike, free) in enumerate(((DIVINE, MUNDANE), (MUNDANE, DIVINE)))
)
"""By Order, its groups, the other Order's groups: the rune that has both, and its 1 among counts of the latter."""
TOUCHED = tuple({rune: _touched(position, rune) for rune in GROUPS} for position in range(6))
"""By position: rune to the points it touches there."""


def fault(symbol: Six) -> str | None:
    """Why a symbol is not legal, or None where it is."""
    if len(set(symbol)) < len(symbol):
        return "a symbol has six different runes"
    if not any(_orders_fit(symbol)):
        return "in one Order all six groups must differ, and in the other no group may have more than three runes"
    return None if _connected(symbol) else "the six runes do not all hang together"


def _orders_fit(symbol: Six) -> tuple[bool, bool]:
    """For either Order, the Divine one first: do its groups all differ, while the other's repeat little enough?"""
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
    """Whether all six hang together by touching common points. Segments inside one rune need not."""
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
    """How many of the seven pairs of side-by-side runes are joined: both touch a common point."""
    masks = [*map(dict.__getitem__, TOUCHED, symbol)]
    return sum([masks[a] & masks[b] != 0 for a, b in SIDES])


def draw_symbol(luck: Random, without: Collection[Six] = ()) -> Six:
    """A legal symbol, each as likely as any other, but none of `without`."""
    draw = luck.getrandbits
    while True:
        drawn_as = below(luck, 2)
        # In one Order all six groups stand once, as drawn; those of the other are free.
        symbol, counted = [], 0
        for runes in sample(luck, _NAMED[drawn_as], len(DIVINE)):
            # As `choice` draws.
            while (number := draw(3)) >= len(MUNDANE):
                pass
            rune, count = runes[number]
            symbol.append(rune)
            counted += count
        # A symbol whose groups differ in both Orders may be drawn as either: every second time is left out.
        twice = drawn_as == ORDER["mundane"] and not counted & _TWICE
        if not counted & _TOO_MANY and not twice and _connected(symbol):
            drawn: Six = tuple(symbol)
            if drawn not in without:
                return drawn


def runes_of(symbol: Six, group: str) -> int:
    """How many runes of that group, of either Order, the symbol has."""
    return sum([group in GROUPS[rune] for rune in symbol])


def stands_on(symbol: Six, line: Line) -> bool:
    """Whether the symbol has the rune of `line` in its row or column."""
    if line.rune not in symbol:
        return False
    row, column = divmod(symbol.index(line.rune), COLUMNS)
    return line.row == row or line.column == column


def shared_runes(symbol: Six, other: Six) -> int:
    """How many runes two symbols have in common."""
    return sum([rune in other for rune in symbol])
