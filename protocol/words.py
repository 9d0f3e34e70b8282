"""Base types of every game's words. Each game's own are in `protocol.games`.

A game's words are frozen Structs. On the wire an event carries its name in the key `type`; an action has no name,
because its window determines its form; seats that are keys of an object are written as text (`"0"`).
"""

from enum import Enum
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

MOST = 2**53 - 1
"""The greatest number in a message: browsers, and many JSON libraries, hold no greater one exactly."""

Number = Annotated[int, Meta(ge=-MOST, le=MOST)]
"""A whole number that every reader of JSON holds exactly."""


class Audience(Enum):
    """Widest audience that a type of event may have."""

    SEAT = "seat"
    """One seat at a time, never the public."""
    PUBLIC = "public"
    """Everyone, spectators included."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Settings of a match that a host may change, all with defaults. Each game derives its own."""


class Setup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A host's secrets of a match, drawn from its seed or set by the host. Games without any use it as it is."""


class Action(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A seat's submission to a window: one Struct for each window, with the keys of all its forms.

    Keys that only some forms have are `UnsetType` or flags, so that a missing key, an empty one and a false flag
    are equal; the rules check that the keys make one form. The encoder's output is its canonical spelling.
    """


class Event(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """An event of a game. Derive with `tag="name"` and set `audience`."""

    audience: ClassVar[Audience] = Audience.SEAT
    anonymous: ClassVar[bool] = False
    """True if it is independent of the seating: permuting the players' seats leaves its bytes unchanged."""


class View(Struct, frozen=True, kw_only=True, gc=False):
    """Everything one seat, or a spectator, may know now. Each game derives its own."""


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """Result of a match, the same type for all games."""

    ranking: tuple[tuple[Number, ...], ...]
    """Groups of seats, best first; seats of one group are tied. Every seat is in exactly one group."""
    winners: tuple[Number, ...]
    """Seats that the game calls winners, ascending."""
    eliminated: Number | None
    """Seat of the elimination candidate, if there is one."""
    scores: dict[str, Number] | None
    """Seat to score, or None where the game has no scores."""
    tokens: dict[str, Number] = {}
    """Seat to Tokens of Life won; seats with none are left out."""
    garnets: dict[str, Number] = {}
    """Seat to garnets won by the result (negative: lost); seats with none are left out."""
    reason: str
    """A short word for why the match ended."""
    detail: Any = None
    """The game's own figures behind the result."""
