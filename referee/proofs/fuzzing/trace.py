"""What a played script came to: all that was done to the referee, and all that it did. Plain data.

Times are whole microseconds since the match's zero.
"""

from msgspec import Struct

from protocol.messages import ServerMessage
from referee.match import WindowTime
from referee.proofs.fuzzing.script import AnyAct


class Did(Struct, frozen=True, kw_only=True):
    """A step that was taken."""

    at: int
    """When it happened; a frame: when it arrived."""
    told: int
    """When the referee could know of it: later, if it slept."""
    seat: int
    act: AnyAct
    opened: int
    """How many windows that seat had been handed by then."""
    closed: int
    """How many of them the seat had heard to be closed by then."""


class Heard(Struct, frozen=True):
    """A message that a seat heard."""

    at: int
    message: ServerMessage


class Trace(Struct, frozen=True, kw_only=True):
    """All that happened in one match."""

    did: tuple[Did, ...]
    """In the order in which the referee could know of it."""
    heard: tuple[tuple[Heard, ...], ...]
    windows: tuple[WindowTime, ...]
    """The referee's own record of each window."""
    ended: int | None
    """When the match was over; None: it was not, long after it should have been."""
    failure: str | None = None
