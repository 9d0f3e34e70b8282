"""Symbols: what one is made of, which are legal, and how one is drawn."""

from collections.abc import Collection
from functools import lru_cache
from random import Random

from msgspec import UNSET, Struct

from protocol.games.runes import DIVINE, MUNDANE, RUNE, RUNES, RuneName
from protocol.games.runes_to_ruins import Line, Order, Six
from referee.rules import choice, sample

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


class Tables(Struct, frozen=True, gc=False):
    """All symbols of a match, in the forms in which they are asked about."""

    symbols: tuple[Six, ...]
    users: dict[str, int]
    """Rune to the seats that use it, as a mask."""
    lines: tuple[dict[str, int], ...]
    """The same by lines: both rows, then the three columns."""
    groups: tuple[dict[str, int], ...]
    """By seat: group to how many of its runes the symbol has; groups with none are left out."""
    places: tuple[tuple[int, int, int], ...]
    """By seat: where a guess is right, where it shares a group only, both as masks by position and rune, and the
    symbol's runes as a mask."""

    def users_on(self, line: Line) -> int:
        """The seats that use the rune of `line` in its row or column, as a mask."""
        if line.row is not UNSET:
            return self.lines[line.row].get(line.rune, 0)
        return self.lines[2 + line.column].get(line.rune, 0) if line.column is not UNSET else 0


_BIT: dict[str, int] = {name: 1 << number for number, name in enumerate(GROUPS)}
_STEP = len(_BIT)
"""Bits a position, in masks by position and rune."""
_BY_POSITION: tuple[dict[str, int], ...] = tuple(
    {name: bit << position * _STEP for name, bit in _BIT.items()} for position in range(6)
)
_ALIKE = tuple({name: sum(at[other] for other in others) for name, others in ALIKE.items()} for at in _BY_POSITION)
_EVERYWHERE = sum(1 << position * _STEP for position in range(6))


@lru_cache(maxsize=64)
def tables(symbols: tuple[Six, ...]) -> Tables:
    """The tables of these symbols."""
    users: dict[str, int] = {}
    lines: tuple[dict[str, int], ...] = ({}, {}, {}, {}, {})
    groups, places = [], []
    for seat, symbol in enumerate(symbols):
        bit, counts = 1 << seat, dict[str, int]()
        right = alike = runes = 0
        for position, rune in enumerate(symbol):
            users[rune] = users.get(rune, 0) | bit
            for line in (lines[position // COLUMNS], lines[2 + position % COLUMNS]):
                line[rune] = line.get(rune, 0) | bit
            for group in GROUPS[rune]:
                counts[group] = counts.get(group, 0) + 1
            right |= _BY_POSITION[position][rune]
            alike |= _ALIKE[position][rune]
            runes |= _BIT[rune]
        groups.append(counts)
        places.append((right, alike & ~(runes * _EVERYWHERE), runes))
    return Tables(symbols, users, lines, tuple(groups), tuple(places))


def rune_mask(runes: Collection[str]) -> int:
    """Runes as a mask, as in `Tables.places`."""
    return sum([_BIT[rune] for rune in runes])


def place_mask(symbol: Six) -> int:
    """A symbol as a mask by position and rune, as in `Tables.places`."""
    first, second, third, fourth, fifth, sixth = map(dict.__getitem__, _BY_POSITION, symbol)
    return first | second | third | fourth | fifth | sixth


_COUNTED = {rune.name: (8 ** DIVINE.index(rune.divine), 8 ** MUNDANE.index(rune.mundane)) for rune in RUNES}
"""Rune to a 1 among the counts of the Divine groups, and of the Mundane: three bits a group."""
_TWICE = 0o666666
"""The bits of a group's count of which one is set where it is 2 or more."""
_TOO_MANY = 0o444444
"""The same for more than `MOST_ALIKE`."""
_NAMED = {
    (*groups[:: 1 if order == "divine" else -1],): name for order in ORDER for name, groups in GROUPS.items()
}
"""A rune's two groups, in either order, to its name."""
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


def _connected(symbol: Six) -> bool:
    """Whether all six hang together by touching common points. Segments inside one rune need not."""
    apart = [TOUCHED[position][rune] for position, rune in enumerate(symbol)]
    together = apart.pop()
    while apart:
        reached = [mask for mask in apart if mask & together]
        if not reached:
            return False
        apart = [mask for mask in apart if not mask & together]
        for mask in reached:
            together |= mask
    return True


def joined_pairs(symbol: Six) -> int:
    """How many of the seven pairs of side-by-side runes are joined: both touch a common point."""
    masks = [*map(dict.__getitem__, TOUCHED, symbol)]
    return sum([masks[a] & masks[b] != 0 for a, b in SIDES])


def draw_symbol(luck: Random, without: Collection[Six] = ()) -> Six:
    """A legal symbol, each as likely as any other, but none of `without`."""
    while True:
        drawn_as = luck.randrange(2)
        unlike, free = (DIVINE, MUNDANE) if drawn_as == ORDER["divine"] else (MUNDANE, DIVINE)
        symbol = tuple([_NAMED[group, choice(luck, free)] for group in sample(luck, unlike, len(unlike))])
        # A symbol whose groups differ in both Orders may be drawn as either: every second time is left out.
        twice = drawn_as == ORDER["mundane"] and all(_orders_fit(symbol))
        if not twice and fault(symbol) is None and symbol not in without:
            return symbol


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
