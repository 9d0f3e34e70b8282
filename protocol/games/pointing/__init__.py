"""Words of Pointing: options, actions, events and views. The rules themselves are in docs/games/pointing.md."""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from protocol.words import Action, Audience, Event, Options, View

FEWEST_SEATS, MOST_SEATS = 3, 26
Seat = Annotated[int, Meta(ge=0, lt=MOST_SEATS, examples=list(range(13)))]
"""A seat that an action names. The options set their number; the examples are those of the default."""
Tree = list[Any]
"""A tree seen from its end: the list of its branches, sorted by text. A single seat is `[]`, A>B is `[[]]`."""
Targets = dict[str, int | None]
"""Seat to its target."""


class PointingOptions(Options, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings that a host may change."""

    seats: Annotated[int, Meta(ge=FEWEST_SEATS, le=MOST_SEATS)] = 13
    token_threshold: Annotated[int, Meta(ge=0)] = 7
    """Most winners with a token each; with more, no seat gets one (R2)."""


class Point(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `point`: one other seat, or none."""

    target: Seat | None


class Vote(Action, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Window `vote`: the tied seat to eliminate; null: no vote."""

    seat: Seat | None


class Section(View, frozen=True, kw_only=True):
    """One connected part of the map, without the identity of its seats."""

    kind: Literal["chain", "loop", "node"]
    size: int
    shape: Tree
    """A chain's or node's tree; for a loop, in pointing order, the trees whose cut pointers lead to each seat."""
    cut: bool
    """True if the end's pointer was cut; false for a loop."""


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
    """One round, as revealed at the end: its points without those for all three rounds together."""

    targets: Targets
    points: dict[str, int]


class Reveal(Event, frozen=True, kw_only=True, tag="reveal"):
    """Targets and points of all rounds, sent to all at the end."""

    audience: ClassVar[Audience] = Audience.PUBLIC
    rounds: tuple[Round, ...]
    scores: dict[str, int]
    """All points, including those for all three rounds together."""


PointingEvent = Map | Tied | Reveal


class PointingView(View, frozen=True, kw_only=True):
    """Knowledge of one seat, or of a spectator (`seat` null): the maps and its own submissions."""

    seat: int | None
    seats: int
    round: int
    """The round being played, counting from 1; 4 once all three are over."""
    maps: tuple[tuple[Section, ...], ...]
    """Maps of the rounds so far."""
    targets: tuple[int | None, ...]
    """This seat's targets by round; empty for a spectator."""
    tied: tuple[int, ...]
    """The seats that the winners vote on; empty before the vote, and in a match without one."""
    may_vote: bool
    """True if this seat is one of the winners, while they vote."""
    voted: int | None
    """Seat that this one voted for; null before the vote is over, and without a vote."""
    rounds: tuple[Round, ...]
    """Same as in `reveal`; empty before it."""
    scores: dict[str, int] | None
    """Same as in `reveal`; null before it."""


class PointingHostView(View, frozen=True, kw_only=True):
    """The whole match, for the host. The fields of `PointingView` mean the same here."""

    round: int
    maps: tuple[tuple[Section, ...], ...]
    rounds: tuple[Round, ...]
    """The finished rounds, with targets and points."""
    scores: dict[str, int]
    """Points so far; those for all three rounds are added once these are over."""
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
