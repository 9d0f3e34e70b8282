"""What hints leave of a Hive's 20,790 layouts, kept as one long number: bit `n` stands for layout `n`. For bots.

An `and` for each hint and a count of bits for each hex take microseconds, where lists of layouts take
milliseconds: fast enough to reckon what every other seat knows, in every world that is drawn.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from math import log2

from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import layouts, mask
from protocol.games.hive_mind import Hint

Looked = tuple[int, int]
"""What a hint says: the mask of the hexes looked at, and the sum of their values."""
HIGHEST = 3
"""The highest value of a hex."""
ALL = (1 << len(layouts())) - 1
"""Every layout."""


def _layouts_with(at: int, which: int) -> int:
    """The layouts that have a 2 (`which` 0), or a 3 (1), in a hex."""
    return int("".join("01"[each[which] >> at & 1] for each in reversed(layouts())), 2)


HOLDING = tuple((_layouts_with(at, 0), _layouts_with(at, 1)) for at in range(len(CELLS)))
"""By hex: the layouts with a 2 there, and those with a 3."""


def looked(hints: Iterable[Hint]) -> tuple[Looked, ...]:
    """What these hints about one Hive say."""
    return tuple((mask(hint.looks), hint.total) for hint in hints)


@lru_cache(maxsize=4096)
def left(hints: tuple[Looked, ...]) -> int:
    """The layouts that all these hints about a Hive fit."""
    found = ALL
    for looks, total in hints:
        found &= by_sum(looks).get(total, 0)
    return found


@cache
def by_sum(looks: int) -> dict[int, int]:
    """Each sum that these hexes may have, to the layouts in which they have it."""
    digits: list[int] = []
    for at, (two, three) in enumerate(HOLDING):
        if looks >> at & 1:
            _add(digits, two, 0)
            _add(digits, three, 1)
    least = looks.bit_count()
    found: dict[int, int] = {}
    for above in range((HIGHEST - 1) * least + 1):
        these = 0 if above >> len(digits) else ALL
        for at, digit in enumerate(digits):
            these &= digit if above >> at & 1 else ~digit
        if these:
            found[least + above] = these
    return found


def _add(digits: list[int], carry: int, at: int) -> None:
    """Adds 2 to the power of `at` to these layouts' sums; `digits`: the layouts by binary digit of the sum."""
    while carry:
        digits += [0] * (at + 1 - len(digits))
        digits[at], carry = digits[at] ^ carry, digits[at] & carry
        at += 1


@lru_cache(maxsize=4096)
def means(found: int) -> tuple[float, ...]:
    """By hex: its initial value, on average over these layouts, of which there must be one."""
    number = found.bit_count()
    return tuple(
        1 + ((found & two).bit_count() + 2 * (found & three).bit_count()) / number for two, three in HOLDING
    )


def told_by(looks: int, found: int) -> float:
    """The bits that the sum of these hexes tells on average, if one of these layouts is the true one."""
    number = found.bit_count()
    shares = [(found & these).bit_count() / number for these in by_sum(looks).values()]
    return -sum(share * log2(share) for share in shares if share)
