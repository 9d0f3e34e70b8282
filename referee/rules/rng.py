"""Luck: the only source of chance in a match, made from its seed, so that the same match can be had again.

Streams are named by window and seat, never by order of arrival: no bot can reroll anyone's luck with traffic.
"""

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

ItemT = TypeVar("ItemT")

FEW, FEW_DRAWN, MANY = 21, 5, 85
"""Of more than 21 items `Random.sample` draws up to 5 in another way, and of more than 85 perhaps more than 5."""


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
        while (other := draw(bits)) > last:
            pass
        items[last], items[other] = items[other], items[last]


def below(luck: Random, count: int) -> int:
    """A whole number from 0 on. Draws what `Random.randrange` would, and takes half its time."""
    bits = count.bit_length()
    while (number := luck.getrandbits(bits)) >= count:
        pass
    return number


def choice(luck: Random, items: Sequence[ItemT]) -> ItemT:
    """One item. Draws what `Random.choice` would, and takes half its time."""
    count = len(items)
    bits = count.bit_length()
    while (number := luck.getrandbits(bits)) >= count:
        pass
    return items[number]


def sample(luck: Random, items: Sequence[ItemT], count: int) -> list[ItemT]:
    """So many items, each at most once. Draws what `Random.sample` would, and takes half its time."""
    total = len(items)
    if total > FEW:
        if count <= FEW_DRAWN:
            return _few_of_many(luck, items, count)
        if total > MANY:
            return luck.sample(items, count)
    pool = list(items)
    draw = luck.getrandbits
    drawn = []
    for left in range(total, total - count, -1):
        bits = left.bit_length()
        while (number := draw(bits)) >= left:
            pass
        drawn.append(pool[number])
        pool[number] = pool[left - 1]
    return drawn


def _few_of_many(luck: Random, items: Sequence[ItemT], count: int) -> list[ItemT]:
    """As `Random.sample` does it where it is not worth a copy of the items: what was drawn is drawn again."""
    drawn: list[int] = []
    total, draw = len(items), luck.getrandbits
    bits = total.bit_length()
    while len(drawn) < count:
        number = draw(bits)
        if number < total and number not in drawn:
            drawn.append(number)
    return [items[number] for number in drawn]
