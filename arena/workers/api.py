"""The interface between a tournament and the processes that play its matches: workers, their roster, and pools."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import trio
from msgspec import Struct

from referee.host import AttemptResult, Plan

MemberT = TypeVar("MemberT")
PlayerT = TypeVar("PlayerT")
PlayerT_contra = TypeVar("PlayerT_contra", contravariant=True)


class PlayMatch(Protocol[PlayerT_contra]):
    """A function that plays one match: `referee.host.one_match.play`, or a replacement in tests."""

    def __call__(  # noqa: D102 - see the class
        self, plan: Plan, players: Sequence[PlayerT_contra], *, transcript: Path
    ) -> Awaitable[AttemptResult]: ...


class WorkerGoneError(Exception):
    """The process that was playing a match exited. No bot is at fault, and the match is played again."""


class Worker(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """A player of matches: a separate process, or a replacement in tests."""

    play: PlayMatch[PlayerT]
    """Function that plays one match like `referee.host.one_match.play`; it may also raise `WorkerGoneError`."""
    slots: int
    """Maximum number of concurrent matches."""
    seat: Callable[[Sequence[PlayerT]], bool] | None = None
    """Function that reserves the players of the next match, and returns whether all of them are available.

    None if all players are always available.
    """
    awaits: Callable[[Sequence[PlayerT]], bool] | None = None
    """Function that returns whether a match would wait for a disconnected player; None if no match ever does."""


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


Workers = Sequence[Worker[PlayerT]] | Roster[Worker[PlayerT]]
"""The current workers; in a `Roster`, workers may join and leave."""

WorkerPool = Callable[[int], AbstractAsyncContextManager[Workers[PlayerT]]]
"""Function from a number of matches to a context manager, which opens workers and ends them at its exit."""
