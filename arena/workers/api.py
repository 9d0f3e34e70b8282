"""The interface between a tournament and the processes that play its matches: workers and venues."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from arena.workers.roster import Roster
from referee.host import Plan, Result

PlayerT = TypeVar("PlayerT")
PlayerT_contra = TypeVar("PlayerT_contra", contravariant=True)


class Play(Protocol[PlayerT_contra]):
    """A function that plays one match: `referee.host.one_match.play`, or a replacement in tests."""

    def __call__(  # noqa: D102 - see the class
        self, plan: Plan, players: Sequence[PlayerT_contra], *, transcript: Path
    ) -> Awaitable[Result]: ...


class WorkerGoneError(Exception):
    """The process that was playing a match exited. No bot is at fault, and the match is played again."""


class Worker(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """A player of matches: a separate process, or a replacement in tests."""

    play: Play[PlayerT]
    """Function that plays one match like `referee.host.one_match.play`; it may also raise `WorkerGoneError`."""
    slots: int
    """Maximum number of concurrent matches."""
    seat: Callable[[Sequence[PlayerT]], bool] | None = None
    """Function that reserves the players of the next match, and returns whether all of them are available.

    None if all players are always available.
    """
    awaits: Callable[[Sequence[PlayerT]], bool] | None = None
    """Function that returns whether a match would wait for a disconnected player; None if no match ever does."""


Workers = Sequence[Worker[PlayerT]] | Roster[Worker[PlayerT]]
"""The current workers; in a `Roster`, workers may join and leave."""

Venue = Callable[[int], AbstractAsyncContextManager[Workers[PlayerT]]]
"""Function from a number of matches to a context manager, which opens workers and ends them at its exit."""
