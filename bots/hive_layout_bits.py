"""Sets of a Hive's 20,790 layouts, stored as one integer each: bit `n` stands for layout `n`.

Bots apply a hint with one `and` and count the layouts of a hex by counting bits. That takes microseconds where
lists of layouts take milliseconds, so a bot can work out the knowledge of every other seat in every world it
draws.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from math import log2

from protocol.games.hive_board import CELLS
from protocol.games.hive_layouts import layouts, mask
from protocol.games.hive_mind import Hint

Looked = tuple[int, int]
"""The content of a hint: the mask of its hexes, and the sum of their values."""
HIGHEST = 3
"""The highest value of a hex."""
ALL = (1 << len(layouts())) - 1
"""The set of all layouts."""


def _layouts_with(at: int, which: int) -> int:
    """Return the layouts that have a 2 (`which` is 0) or a 3 (`which` is 1) in a hex."""
    return int("".join("01"[each[which] >> at & 1] for each in reversed(layouts())), 2)


HOLDING = tuple((_layouts_with(at, 0), _layouts_with(at, 1)) for at in range(len(CELLS)))
"""The layouts with a 2 in a hex, and those with a 3; indexed by hex."""


def looked(hints: Iterable[Hint]) -> tuple[Looked, ...]:
    """Return the mask and sum of each of these hints about one Hive."""
    return tuple((mask(hint.looks), hint.total) for hint in hints)


@lru_cache(maxsize=4096)
def left(hints: tuple[Looked, ...]) -> int:
    """Return the layouts that fit all these hints about a Hive."""
    found = ALL
    for looks, total in hints:
        found &= by_sum(looks).get(total, 0)
    return found


@cache
def by_sum(looks: int) -> dict[int, int]:
    """Map each possible sum of these hexes to the layouts that have it."""
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
    """Add 2 to the power of `at` to the sums of the layouts in `carry`.

    `digits` holds one set of layouts per binary digit of the sum.
    """
    while carry:
        digits += [0] * (at + 1 - len(digits))
        digits[at], carry = digits[at] ^ carry, digits[at] & carry
        at += 1


@lru_cache(maxsize=4096)
def means(found: int) -> tuple[float, ...]:
    """Return the mean initial value of each hex over these layouts, of which there must be at least one."""
    number = found.bit_count()
    return tuple(
        1 + ((found & two).bit_count() + 2 * (found & three).bit_count()) / number for two, three in HOLDING
    )


def told_by(looks: int, found: int) -> float:
    """Return the expected information, in bits, in the sum of these hexes if the true layout is in `found`."""
    number = found.bit_count()
    shares = [(found & these).bit_count() / number for these in by_sum(looks).values()]
    return -sum(share * log2(share) for share in shares if share)
