"""Workers by number, of which some may come and go while matches are played."""

from collections.abc import AsyncIterator, Iterable
from typing import Generic, TypeVar

import trio

MemberT = TypeVar("MemberT")


class Roster(Generic[MemberT]):
    """A list that may change. A number is never given twice."""

    def __init__(self, members: Iterable[MemberT] = (), *, remedy: str | None = None) -> None:
        """`remedy`: what to do where they play more at once than they can; None: it is this machine that does."""
        self.remedy = remedy
        self._members = dict(enumerate(members))
        self._next = len(self._members)
        self._came = trio.Event()

    def add(self, member: MemberT) -> int:
        """Somebody comes; their number."""
        number, self._next = self._next, self._next + 1
        self._members[number] = member
        self._came.set()
        self._came = trio.Event()
        return number

    def remove(self, number: int) -> None:
        """Somebody is gone for good."""
        self._members.pop(number, None)

    def __contains__(self, number: object) -> bool:
        return number in self._members

    def __len__(self) -> int:
        return len(self._members)

    @property
    def members(self) -> dict[int, MemberT]:
        """Those who are there now, by number."""
        return dict(self._members)

    async def groups(self) -> AsyncIterator[dict[int, MemberT]]:
        """Those who are there, then those who come, some at a time; without an end."""
        seen = 0
        while True:
            came = self._came
            new = {number: member for number, member in self._members.items() if number >= seen}
            seen = self._next
            if new:
                yield new
            await came.wait()
