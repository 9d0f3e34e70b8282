"""A numbered collection of workers that may join and leave while matches are played."""

from collections.abc import AsyncIterator, Iterable
from typing import Generic, TypeVar

import trio

MemberT = TypeVar("MemberT")


class Roster(Generic[MemberT]):
    """A collection whose members may join and leave. Each member has a number, which is never used again."""

    def __init__(self, members: Iterable[MemberT] = (), *, remedy: str | None = None) -> None:
        """Create a roster.

        Args:
            members: First members, numbered from 0.
            remedy: Advice to people if the members play more matches at once than they can; None if the members
                run on this machine.
        """
        self.remedy = remedy
        self._members = dict(enumerate(members))
        self._next = len(self._members)
        self._came = trio.Event()

    def add(self, member: MemberT) -> int:
        """Add a member and return its number."""
        number, self._next = self._next, self._next + 1
        self._members[number] = member
        self._came.set()
        self._came = trio.Event()
        return number

    def remove(self, number: int) -> None:
        """Remove a member, if it is still present."""
        self._members.pop(number, None)

    def __contains__(self, number: object) -> bool:
        return number in self._members

    def __len__(self) -> int:
        return len(self._members)

    @property
    def members(self) -> dict[int, MemberT]:
        """A copy of the current members, by number."""
        return dict(self._members)

    async def groups(self) -> AsyncIterator[dict[int, MemberT]]:
        """Yield the current members by number, then each group of new members; never end."""
        seen = 0
        while True:
            came = self._came
            new = {number: member for number, member in self._members.items() if number >= seen}
            seen = self._next
            if new:
                yield new
            await came.wait()
