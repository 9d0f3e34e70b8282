"""Counts the most frequent of any number of things in bounded memory. Pure."""

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT", bound=Hashable)


class Frequent(Generic[ItemT]):
    """A bounded counter: "space-saving" of Metwally, Agrawal and El Abbadi (2005).

    What is more than one part in `most` of all that was added is never missing. As long as no more than `most`
    kinds were added, counts are exact; then they may be too low, by no more than that part.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[ItemT, int] = {}
        """Never too low: a new kind takes over the count of the one that it takes the place of."""
        self._inherited: dict[ItemT, int] = {}
        """How much of it that was."""

    def add(self, item: ItemT, times: int = 1) -> None:
        """So many more of this."""
        if item not in self._counts:
            inherited = 0
            if len(self._counts) >= self._most:
                least = min(self._counts, key=self._counts.__getitem__)
                inherited = self._counts.pop(least)
                del self._inherited[least]
            self._counts[item] = self._inherited[item] = inherited
        self._counts[item] += times

    def most_common(self, most: int | None = None) -> list[tuple[ItemT, int]]:
        """The most frequent first, with what is counted of each for sure; of equals, the first. None: all kept."""
        return Counter({item: self._counts[item] - self._inherited[item] for item in self._counts}).most_common(
            most
        )
