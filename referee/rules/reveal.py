"""The only door outward: (state, events, seat) to what that seat is sent.

Nothing of a state reaches a bot, a spectator or a seat's transcript but through here.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, assert_never

from msgspec import Raw, Struct

from protocol.messages import EventMessage, Opened
from protocol.words import Audience, View
from referee.rules.contract import Addressed, Announced, Game, Owed, StateT, Window

MadeT = TypeVar("MadeT")


class Leak(Exception):  # noqa: N818 - names what would happen if this did not stop it
    """An event whose type is not allowed for its audience. A fault of ours: the match is void."""


def check_audience(addressed: Addressed) -> Addressed:
    """Passes on what may be told. Raises Leak where an event for one seat is addressed to everyone."""
    if addressed.seat is None and type(addressed.event).audience is not Audience.PUBLIC:
        raise Leak(f"{type(addressed.event).__name__} must not be told in public")
    return addressed


def audience(addressed: Addressed, seats: int) -> range:
    """The seats that are to hear it. Raises Leak as `check_audience`."""
    check_audience(addressed)
    return range(seats) if addressed.seat is None else range(addressed.seat, addressed.seat + 1)


def event_message(event: Raw, n: int) -> EventMessage:
    """A seat's n-th event message; the event is encoded once for all."""
    return EventMessage(n=n, event=event)


def remembered(function: Callable[[StateT], MadeT]) -> Callable[[StateT], MadeT]:
    """The function, which keeps what it made of the last state: each seat's view of one state asks it the same."""
    last: Any = (None, None)

    @wraps(function)
    def made_of(state: StateT) -> MadeT:
        nonlocal last
        made: MadeT
        kept, made = last
        if kept is not state:
            made = function(state)
            last = state, made
        return made

    return made_of


def shown(game: Game[Any], state: Any, seat: int | None) -> View:
    """What a seat, or a spectator, sees now."""
    return game.view(state, seat)


class Announcement(Struct, frozen=True):
    """What everyone may know of the open window."""

    window: str
    seats: tuple[int, ...] | None
    """The seats that owe an action in it; None: that is secret."""


def announced(game: Game[Any], window: Window) -> Announcement | None:
    """What everyone may know of an open window; None: not even that it is open."""
    match game.announced.get(window.name):
        case None:
            return None
        case Announced.NAME:
            return Announcement(window.name, None)
        case Announced.SEATS:
            return Announcement(window.name, tuple(owed.seat for owed in window.owed))
        case _ as unreachable:
            assert_never(unreachable)


def opened(
    game: Game[Any], state: Any, window: Window, owed: Owed, *, number: int, main_ms: int, reserve_ms: int
) -> Opened:
    """The message that opens a window for the seat of `owed`, as the `number`-th of that seat (from 0)."""
    return Opened(
        id=number,
        window=window.name,
        view=shown(game, state, owed.seat),
        default=owed.default,
        main_ms=main_ms,
        reserve_ms=reserve_ms,
    )
