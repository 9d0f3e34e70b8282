"""What plays matches, as a tournament sees it: workers, and the venue that has them."""

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
    """Plays one match: `referee.host.one_match.play`, or a stand-in."""

    def __call__(  # noqa: D102 - see the class
        self, plan: Plan, players: Sequence[PlayerT_contra], *, transcript: Path
    ) -> Awaitable[Result]: ...


class WorkerGoneError(Exception):
    """The process that was to play a match is gone. Nobody's fault: the match is played again."""


class Worker(Struct, Generic[PlayerT], frozen=True, kw_only=True):
    """Plays matches: a process of its own, or in tests a stand-in."""

    play: Play[PlayerT]
    """Plays one match, as `referee.host.one_match.play` does; raises `WorkerGoneError` too."""
    slots: int
    """How many it plays at once."""
    seat: Callable[[Sequence[PlayerT]], bool] | None = None
    """Keeps seats for a match that it is given next, if all its players are there; whether they are. None: all
    always are."""
    awaits: Callable[[Sequence[PlayerT]], bool] | None = None
    """Whether a match waits for a player who is not there: it may be long. None: none does."""


Workers = Sequence[Worker[PlayerT]] | Roster[Worker[PlayerT]]
"""Those there are; in a roster, more may come, and some may go for good."""

Venue = Callable[[int], AbstractAsyncContextManager[Workers[PlayerT]]]
"""Gives workers for so many matches, and ends them."""
