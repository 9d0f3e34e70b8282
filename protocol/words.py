"""The kinds of words every game is made of. Each game's own are in `protocol.games`.

A game's words are frozen Structs. On the wire an event carries its name in the key `type`; an action carries
no name, the window says which form it has; seats that are keys of an object are written as text (`"0"`).
"""

from enum import Enum
from typing import Annotated, Any, ClassVar

from msgspec import Meta, Struct

MOST = 2**53 - 1
"""The greatest number in a message: browsers, and many JSON libraries, hold no greater one exactly."""

Number = Annotated[int, Meta(ge=-MOST, le=MOST)]
"""A whole number that every reader of JSON holds exactly."""


class Audience(Enum):
    """Whom a type of event may ever reach, at the widest."""

    SEAT = "seat"
    """One seat at a time: never told in public."""
    PUBLIC = "public"
    """Everyone, spectators included."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """What a host may set for a match, all with defaults. Each game derives its own."""


class Setup(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A host's secrets of a match, drawn from its seed or given. A game without any uses this as it stands."""


class Action(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What a seat submits to a window: one Struct for each window, with the keys of all its forms.

    Keys that only some forms have are `UnsetType` or flags, so that a left-out key, an empty one and a flag
    that is false read alike; the rules check that the keys make one form. Its canonical spelling is what the
    encoder writes.
    """


class Event(Struct, frozen=True, kw_only=True, tag_field="type", gc=False):
    """Something a game tells. Derive with `tag="name"` and set `audience`."""

    audience: ClassVar[Audience] = Audience.SEAT
    anonymous: ClassVar[bool] = False
    """It says nothing of who sits where: played the same by others in other seats, it is the same to the byte."""


class View(Struct, frozen=True, kw_only=True, gc=False):
    """Everything one seat, or a spectator, may know now. Each game derives its own."""


class Outcome(Struct, frozen=True, kw_only=True, gc=False):
    """How a match ended, the same for all games."""

    ranking: tuple[tuple[Number, ...], ...]
    """Groups of seats, best first; seats of one group are tied. Every seat stands in exactly one group."""
    winners: tuple[Number, ...]
    """The seats the game names winner, ascending."""
    eliminated: Number | None
    """The elimination candidate's seat, if there is one."""
    scores: dict[str, Number] | None
    """Seat to number, or None where the game has no scores."""
    tokens: dict[str, Number] = {}
    """Seat to Tokens of Life won; seats with none are left out."""
    garnets: dict[str, Number] = {}
    """Seat to garnets won by the result (negative: lost); seats with none are left out."""
    reason: str
    """A short word for why the match ended."""
    detail: Any = None
    """The game's own figures behind the result."""
