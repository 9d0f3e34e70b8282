"""The trace of a played script: all acts, and all that the referee did. Plain data.

Times are whole microseconds since the match's zero.
"""

from msgspec import Struct

from protocol.messages import ServerMessage
from referee.match import WindowTime
from referee.proofs.fuzzing.script import AnyAct


class Did(Struct, frozen=True, kw_only=True):
    """A step that was carried out."""

    at: int
    """Time of the act; of a frame, its arrival."""
    told: int
    """Time at which the referee could notice the act: later, if it slept."""
    seat: int
    act: AnyAct
    opened: int
    """Number of windows that had been sent to the seat by then."""
    closed: int
    """Number of windows whose close the seat had received by then."""


class Heard(Struct, frozen=True):
    """A message that a seat received."""

    at: int
    message: ServerMessage


class Trace(Struct, frozen=True, kw_only=True):
    """All that happened in one match."""

    did: tuple[Did, ...]
    """Acts in the order in which the referee could notice them."""
    heard: tuple[tuple[Heard, ...], ...]
    windows: tuple[WindowTime, ...]
    """The referee's own record of each window."""
    ended: int | None
    """Time of the match's end; None: it had not ended long after the latest expected end."""
    failure: str | None = None
