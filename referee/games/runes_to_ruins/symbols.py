"""Symbols: what one is made of, which are legal, and how one is drawn."""

from collections.abc import Collection
from random import Random

from protocol.games.runes import DIVINE, MUNDANE, RUNE, RUNES, RuneName
from protocol.games.runes_to_ruins import Line, Order, Six

GROUPS = {rune.name: (rune.divine, rune.mundane) for rune in RUNES}
"""Rune to its group in either Order, the Divine one first. No group's name stands in both Orders."""
ORDER: dict[Order, int] = {"divine": 0, "mundane": 1}
COLUMNS = 3
SIDES = ((0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5))
"""The seven pairs of positions that lie side by side."""
MOST_ALIKE = 3
"""How many runes of one group there may be in the Order whose groups may repeat."""

_ACROSS = 2 * COLUMNS + 1
"""Points in a row of the whole symbol: neighbouring runes share those of their common side or corner."""


def _touched(position: int, rune: RuneName) -> int:
    """The points of the whole symbol on which the rune has a segment's end, as a mask."""
    mask = 0
    for point in map(int, RUNE[rune].segments.replace(" ", "")):
        row, column = 2 * (position // COLUMNS) + point // 3, 2 * (position % COLUMNS) + point % 3
        mask |= 1 << (row * _ACROSS + column)
    return mask


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
    divine, mundane = zip(*(GROUPS[rune] for rune in symbol), strict=True)
    return (
        len(set(divine)) == len(divine) and max(map(mundane.count, mundane)) <= MOST_ALIKE,
        len(set(mundane)) == len(mundane) and max(map(divine.count, divine)) <= MOST_ALIKE,
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
    masks = [TOUCHED[position][rune] for position, rune in enumerate(symbol)]
    return sum(bool(masks[a] & masks[b]) for a, b in SIDES)


def draw_symbol(luck: Random, without: Collection[Six] = ()) -> Six:
    """A legal symbol, each as likely as any other, but none of `without`."""
    while True:
        drawn_as = luck.randrange(2)
        unlike, free = (DIVINE, MUNDANE) if drawn_as == ORDER["divine"] else (MUNDANE, DIVINE)
        pairs = [(group, luck.choice(free)) for group in luck.sample(unlike, len(unlike))]
        names = [f"{b} {a}" if drawn_as == ORDER["divine"] else f"{a} {b}" for a, b in pairs]
        a, b, c, d, e, f = (RUNE[name].name for name in names)
        symbol = a, b, c, d, e, f
        # A symbol whose groups differ in both Orders may be drawn as either: every second time is left out.
        twice = drawn_as == ORDER["mundane"] and all(_orders_fit(symbol))
        if not twice and fault(symbol) is None and symbol not in without:
            return symbol


def runes_of(symbol: Six, group: str) -> int:
    """How many runes of that group, of either Order, the symbol has."""
    return sum(group in GROUPS[rune] for rune in symbol)


def stands_on(symbol: Six, line: Line) -> bool:
    """Whether the symbol has the rune of `line` in its row or column."""
    if line.rune not in symbol:
        return False
    row, column = divmod(symbol.index(line.rune), COLUMNS)
    return line.row == row or line.column == column


def shared_runes(symbol: Six, other: Six) -> int:
    """How many runes two symbols have in common."""
    return sum(rune in other for rune in symbol)
