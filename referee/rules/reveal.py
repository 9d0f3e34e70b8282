"""The only way from a state to an audience: computes what each seat is sent.

No part of a state reaches a bot, a spectator or a seat's transcript on any other way.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, assert_never

from msgspec import Raw, Struct

from protocol.messages import EventMessage, Opened
from protocol.words import Audience, View
from referee.rules.contract import Addressed, Announced, AnyGame, PendingSeat, StateT, Window

MadeT = TypeVar("MadeT")


class Leak(Exception):  # noqa: N818 - named after the accident that it prevents
    """An event's type is not allowed for its audience. It is a fault of the arena, and voids the match."""


def check_audience(addressed: Addressed) -> Addressed:
    """Return an event after checking its audience.

    Raises:
        Leak: an event for one seat is addressed to everyone.
    """
    if addressed.seat is None and type(addressed.event).audience is not Audience.PUBLIC:
        raise Leak(f"{type(addressed.event).__name__} must not be told in public")
    return addressed


def audience(addressed: Addressed, seats: int) -> range:
    """Return the seats that receive an event.

    Raises:
        Leak: as in `check_audience`.
    """
    check_audience(addressed)
    return range(seats) if addressed.seat is None else range(addressed.seat, addressed.seat + 1)


def event_message(event: Raw, n: int) -> EventMessage:
    """Return a seat's n-th event message. The event itself is encoded only once for all seats."""
    return EventMessage(n=n, event=event)


def remembered(function: Callable[[StateT], MadeT]) -> Callable[[StateT], MadeT]:
    """Cache a function's result for the latest state. The views of all seats call it with the same state."""
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


def shown(game: AnyGame, state: Any, seat: int | None) -> View:
    """Return the view of a seat, or of a spectator."""
    view: View = game.view(state, seat)
    return view


class Announcement(Struct, frozen=True):
    """The public knowledge about the open window."""

    window: str
    seats: tuple[int, ...] | None
    """The seats that owe an action in it; None: they are secret."""


def announced(game: AnyGame, window: Window) -> Announcement | None:
    """Return the public knowledge about an open window; None: the window is secret."""
    match game.announced.get(window.name):
        case None:
            return None
        case Announced.NAME:
            return Announcement(window.name, None)
        case Announced.SEATS:
            return Announcement(window.name, window.seats)
        case _ as unreachable:
            assert_never(unreachable)


def opened(
    game: AnyGame, state: Any, window: Window, owed: PendingSeat, *, number: int, main_ms: int, reserve_ms: int
) -> Opened:
    """Return the message that opens a window for the seat of `owed`, as the seat's `number`-th window (from 0)."""
    return Opened(
        id=number,
        window=window.name,
        view=shown(game, state, owed.seat),
        default=owed.default,
        main_ms=main_ms,
        reserve_ms=reserve_ms,
    )
