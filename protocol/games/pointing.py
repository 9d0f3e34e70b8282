"""Words of Pointing: options, actions, events and views. The rules themselves are in docs/games/pointing.md."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from protocol.words import Action, Audience, Event, Options, View

FEWEST_SEATS, MOST_SEATS = 3, 26
Seat = Annotated[int, Meta(ge=0, lt=MOST_SEATS, examples=list(range(13)))]
"""A seat that an action names. How many there are is for the options to say; the examples are their default's."""
Tree = list[Any]
"""A tree seen from its end: the list of its branches, sorted by text. A lone seat is `[]`, A>B is `[[]]`."""
Targets = dict[str, int | None]
"""Seat to the seat it points at."""


class PointingOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host may set."""

    seats: Annotated[int, Meta(ge=FEWEST_SEATS, le=MOST_SEATS)] = 13
    token_threshold: Annotated[int, Meta(ge=0)] = 7
    """More winners than this, and nobody gets a token (R2)."""


class Point(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `point`: at one other seat, or at nobody."""

    target: Seat | None


class Vote(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `vote`: which of the tied seats is to go; null: no vote."""

    seat: Seat | None


class Section(View, frozen=True, kw_only=True):
    """One connected part of the map. It says nothing of who sits where."""

    kind: Literal["chain", "loop", "node"]
    size: int
    shape: Tree
    """A chain's or node's tree; for a loop, in pointing order, the trees whose cut pointers hit each seat."""
    cut: bool
    """Whether the end's pointer was cut; false for a loop."""


class Map(Event, frozen=True, kw_only=True, tag="map"):
    """A round's connections, anonymous (R5)."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    anonymous: ClassVar[bool] = True
    round: int
    sections: tuple[Section, ...]


class Tied(Event, frozen=True, kw_only=True, tag="tied"):
    """The seats that the winners vote on."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    seats: tuple[int, ...]


class Round(View, frozen=True, kw_only=True):
    """One round, as told at the end: its points without those for all three rounds together."""

    targets: Targets
    points: dict[str, int]


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """The end: who pointed where, and what it brought."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    rounds: tuple[Round, ...]
    scores: dict[str, int]
    """All points, those for all three rounds together included."""


PointingEvent = Map | Tied | Reveal


class PointingView(View, frozen=True, kw_only=True):
    """What one seat, or a spectator (`seat` null), knows: the maps, and what it has submitted itself."""

    seat: int | None
    seats: int
    round: int
    """The round being played, counting from 1; 4 once all three are over."""
    maps: tuple[tuple[Section, ...], ...]
    """The rounds' maps so far."""
    targets: tuple[int | None, ...]
    """Where this seat has pointed, by round; empty for a spectator."""
    tied: tuple[int, ...]
    """The seats that the winners vote on; empty before the vote, and in a match without one."""
    may_vote: bool
    """Whether this seat is one of the winners, while they vote."""
    voted: int | None
    """Whom this seat has voted for; null before the vote is over, and without a vote."""
    rounds: tuple[Round, ...]
    """As in `reveal`; empty before it."""
    scores: dict[str, int] | None
    """As in `reveal`; null before it."""


class PointingHostView(View, frozen=True, kw_only=True):
    """Everything: for the host's eyes. The fields of `PointingView` mean the same here."""

    round: int
    maps: tuple[tuple[Section, ...], ...]
    rounds: tuple[Round, ...]
    """The rounds that are over: who pointed where, and what it brought."""
    scores: dict[str, int]
    """Points so far; those for all three rounds as soon as these are over."""
    connected: dict[str, int]
    """Seat to the number of different others in its sections so far (R3)."""
    tied: tuple[int, ...]
    votes: dict[str, int | None]
    """Winner to the seat it voted for, once the vote is over."""
    eliminated: int | None
    """Null while the match goes on."""


class PointingDetail(View, frozen=True, kw_only=True):
    """The figures behind an outcome."""

    rounds: tuple[Round, ...]
    connected: dict[str, int]
    """Seat to the number of different other seats in its three sections, after the disconnect (R3)."""
