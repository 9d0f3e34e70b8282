"""Luck: the only source of chance in a match, made from its seed, so that the same match can be had again.

Streams are named by window and seat, never by order of arrival: no bot can reroll anyone's luck with traffic.
"""

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

ItemT = TypeVar("ItemT")

FEW = 21
"""Of more items `Random.sample` may draw in another way."""


class Luck(Struct, frozen=True, gc=False):
    """The chance of one window (or, with no window, of the deal). Streams are made when asked for."""

    _seed: int
    _window: int | None = None

    def shared(self) -> Random:
        """The stream of the window itself. Each call starts it anew: ask once and keep it."""
        return Random(self._name)

    def seat(self, seat: int, k: int = 0) -> Random:
        """The k-th stream of one seat in this window, whatever others do."""
        return Random(f"{self._name}/{seat}/{k}")

    @property
    def _name(self) -> str:
        return f"{self._seed}/{'deal' if self._window is None else self._window}"


def shuffle(luck: Random, items: MutableSequence[Any]) -> None:
    """Shuffles in place. Draws what `Random.shuffle` would, and takes half its time."""
    draw = luck.getrandbits
    for last in range(len(items) - 1, 0, -1):
        bits = (last + 1).bit_length()
        other = draw(bits)
        while other > last:
            other = draw(bits)
        items[last], items[other] = items[other], items[last]


def choice(luck: Random, items: Sequence[ItemT]) -> ItemT:
    """One item. Draws what `Random.choice` would, and takes half its time."""
    count = len(items)
    bits = count.bit_length()
    number = luck.getrandbits(bits)
    while number >= count:
        number = luck.getrandbits(bits)
    return items[number]


def sample(luck: Random, items: Sequence[ItemT], count: int) -> list[ItemT]:
    """So many items, each at most once. Draws what `Random.sample` would, and takes half its time."""
    pool = list(items)
    if len(pool) > FEW:
        return luck.sample(pool, count)
    draw = luck.getrandbits
    drawn = []
    for left in range(len(pool), len(pool) - count, -1):
        bits = left.bit_length()
        number = draw(bits)
        while number >= left:
            number = draw(bits)
        drawn.append(pool[number])
        pool[number] = pool[left - 1]
    return drawn
