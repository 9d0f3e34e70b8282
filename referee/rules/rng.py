"""The only source of random numbers in a match: `MatchRandom`, made from the match's seed.

A match can be repeated. Streams depend on window and seat, never on the order of arrival: no bot can change random
numbers by its messages.
"""

from collections.abc import MutableSequence, Sequence
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

ItemT = TypeVar("ItemT")

FEW, FEW_DRAWN, MANY = 21, 5, 85
"""Sizes at which `Random.sample` changes its method: up to 5 of more than 21 items, or any number of more than
85."""


class MatchRandom(Struct, frozen=True, gc=False):
    """The random numbers of a window or, without a window, of the deal. Streams are created on request."""

    _seed: int
    _window: int | None = None

    def shared(self) -> Random:
        """Return the stream of the window itself. Each call starts it from the beginning, so call once."""
        return Random(self._name)

    def seat(self, seat: int, k: int = 0) -> Random:
        """Return the k-th stream of a seat in this window, independent of other seats."""
        return Random(f"{self._name}/{seat}/{k}")

    @property
    def _name(self) -> str:
        return f"{self._seed}/{'deal' if self._window is None else self._window}"


def shuffle(rng: Random, items: MutableSequence[Any]) -> None:
    """Shuffle items in place. The result is that of `Random.shuffle`, in half its time."""
    draw = rng.getrandbits
    for last in range(len(items) - 1, 0, -1):
        bits = (last + 1).bit_length()
        while (other := draw(bits)) > last:
            pass
        items[last], items[other] = items[other], items[last]


def below(rng: Random, count: int) -> int:
    """Return a whole number from 0 to `count` - 1. The result is that of `Random.randrange`, in half its time."""
    bits = count.bit_length()
    while (number := rng.getrandbits(bits)) >= count:
        pass
    return number


def choice(rng: Random, items: Sequence[ItemT]) -> ItemT:
    """Return a random item. The result is that of `Random.choice`, in half its time."""
    count = len(items)
    bits = count.bit_length()
    while (number := rng.getrandbits(bits)) >= count:
        pass
    return items[number]


def sample(rng: Random, items: Sequence[ItemT], count: int) -> list[ItemT]:
    """Return `count` different items. The result is that of `Random.sample`, in half its time."""
    total = len(items)
    if total > FEW:
        if count <= FEW_DRAWN:
            return _few_of_many(rng, items, count)
        if total > MANY:
            return rng.sample(items, count)
    pool = list(items)
    draw = rng.getrandbits
    drawn = []
    for left in range(total, total - count, -1):
        bits = left.bit_length()
        while (number := draw(bits)) >= left:
            pass
        drawn.append(pool[number])
        pool[number] = pool[left - 1]
    return drawn


def _few_of_many(rng: Random, items: Sequence[ItemT], count: int) -> list[ItemT]:
    """Return `count` of many items as `Random.sample` does without copying them, by redrawing repeated numbers."""
    drawn: list[int] = []
    total, draw = len(items), rng.getrandbits
    bits = total.bit_length()
    while len(drawn) < count:
        number = draw(bits)
        if number < total and number not in drawn:
            drawn.append(number)
    return [items[number] for number in drawn]
