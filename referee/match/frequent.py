"""Counts the most frequent of any number of things in bounded memory. Pure."""

from collections import Counter
from collections.abc import Hashable
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT", bound=Hashable)


class Frequent(Generic[ItemT]):
    """A bounded counter: "space-saving" of Metwally, Agrawal and El Abbadi (2005).

    An item that makes up more than one part in `most` of all items added is never missing. While at most `most`
    kinds were added, counts are exact; after that they may be too low, by at most that part.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._counts: dict[ItemT, int] = {}
        """Counts that are never too low: a new kind inherits the count of the one that it replaces."""
        self._inherited: dict[ItemT, int] = {}
        """The inherited part of each count."""

    def add(self, item: ItemT, times: int = 1) -> None:
        """Add an item a number of times."""
        if item not in self._counts:
            inherited = 0
            if len(self._counts) >= self._most:
                least = min(self._counts, key=self._counts.__getitem__)
                inherited = self._counts.pop(least)
                del self._inherited[least]
            self._counts[item] = self._inherited[item] = inherited
        self._counts[item] += times

    def most_common(self, most: int | None = None) -> list[tuple[ItemT, int]]:
        """Return the most frequent items with their certain counts, highest first; equal ones in order of arrival.

        None returns all items kept.
        """
        return Counter({item: self._counts[item] - self._inherited[item] for item in self._counts}).most_common(
            most
        )
