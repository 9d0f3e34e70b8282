"""A model of the other seats of Hive Mind: each counts the layouts that fit its own hints.

A counting seat opens with one of the most informative shapes, and then places the shape that its hints make
best. So the layout of a Hive and the shapes of round 1 determine its shapes of rounds 2 and 3.

A set of a Hive's 20,790 layouts is one integer: bit `n` stands for layout `n`. Bots apply a hint with one `and`,
and count the layouts of a hex by counting bits. That takes microseconds where lists of layouts take
milliseconds, so a bot can work out the knowledge of every other seat in every world it draws.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, combinations_with_replacement, product
from math import log2

from bots.hive_mind.estimates import HINT_WORTH, expected_points
from protocol.games.hive_mind import Hint, Kind
from protocol.games.hive_mind.board import CELLS
from protocol.games.hive_mind.layouts import BY_KIND, SHAPES, Layout, layouts, mask, total

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
    for looks, total_value in hints:
        found &= by_sum(looks).get(total_value, 0)
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


ABOUT_BEST = 0.01
"""Bits by which an opening may be less informative than the best: counters compare by samples."""


def _hexes(cells: int) -> tuple[int, ...]:
    return tuple(at for at in range(len(CELLS)) if cells >> at & 1)


def _of_kind(kind: Kind) -> tuple[int, ...]:
    return tuple(number for number, shape in enumerate(SHAPES) if shape.kind == kind)


def _most_informative(numbers: Sequence[int]) -> tuple[int, ...]:
    bits = {number: told_by(SHAPES[number].looks, ALL) for number in numbers}
    least = max(bits.values()) - ABOUT_BEST
    return tuple(number for number in numbers if bits[number] > least)


HEXES = tuple(_hexes(shape.mask) for shape in SHAPES)
"""The hexes of each shape; indexed by the shape's number."""
OF_KIND: dict[Kind, tuple[int, ...]] = {kind: _of_kind(kind) for kind in BY_KIND}
"""The numbers of the shapes of each kind."""
OPENINGS = {kind: _most_informative(numbers) for kind, numbers in OF_KIND.items()}
"""The most informative shapes of each kind."""
KNOWN_OPENINGS = frozenset(chain.from_iterable(OPENINGS.values()))


def openings(shapes: dict[Kind, int], counts: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the choices of openings that cover each hex `counts` times.

    `shapes` is the number of openings of each kind; `counts` is indexed by hex.
    """
    for kinds in product(*(combinations_with_replacement(OPENINGS[kind], n) for kind, n in shapes.items())):
        numbers = tuple(chain.from_iterable(kinds))
        over = Counter(chain.from_iterable(HEXES[number] for number in numbers))
        if all(over[at] == count for at, count in enumerate(counts)):
            yield numbers


def second(opening: int, layout: Layout) -> int:
    """Return the shape that a counting seat places in round 2 after this opening, if the Hive has this layout."""
    return best_shape((_hint(opening, layout),), 0, _left_after((opening,)), buys=True)


def third(opening: int, then: int, layout: Layout, gone: int, *, doubles: bool) -> int:
    """Return the shape that a counting seat places in round 3.

    `gone` is the mask of the hexes that have scored.
    """
    told = (_hint(opening, layout), _hint(then, layout))
    return best_shape(told, gone, _left_after((opening, then)), doubles=doubles)


def _hint(number: int, layout: Layout) -> Looked:
    looks = SHAPES[number].looks
    return looks, total(layout, looks)


@lru_cache(maxsize=4096)
def _left_after(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return of_other_kinds({SHAPES[number].kind for number in numbers})


def of_other_kinds(used: Collection[Kind]) -> tuple[int, ...]:
    """Return the numbers of all shapes of other kinds than these."""
    return tuple(chain.from_iterable(those for kind, those in OF_KIND.items() if kind not in used))


@lru_cache(maxsize=16384)
def best_shape(
    told: tuple[Looked, ...],
    gone: int,
    numbers: tuple[int, ...],
    *,
    buys: bool = False,
    doubles: bool = False,
) -> int:
    """Return the number of the shape that is best for a counting seat. `buys` is True in round 2."""
    found = left(told)
    worths = expected_points(means(found), gone, doubles=doubles)

    def worth(number: int) -> float:
        one, two, three = HEXES[number]
        bits = HINT_WORTH * told_by(SHAPES[number].looks, found) if buys else 0.0
        return worths[one] + worths[two] + worths[three] + bits

    return max(numbers, key=worth)
