"""Messages of the live feed about a match or a tournament: one tagged union, one message per JSON frame.

`docs/feed.md` describes how a subscriber receives them. Everything but the game's own words has a bound: a
subscriber that decodes with these types refuses a message beyond it.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from protocol.messages import ClockTerms
from protocol.words import MOST, Number, Outcome

STANDINGS = "standings"
"""Topic of a tournament's standings."""
MATCH = "match/"
"""Prefix of a match's topic, before its name."""
MOST_SEATS = 64
MOST_ROWS = 10_000
MOST_EVENTS = 10_000
MOST_CHARACTERS = 64 * 1024
"""Longest name or reason, in characters."""

Count = Annotated[int, Meta(ge=0, le=MOST)]
Seat = Annotated[int, Meta(ge=0, lt=MOST_SEATS)]
Points = Annotated[float, Meta(ge=-MOST, le=MOST)]
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Stamp = Annotated[str, Meta(max_length=200)]
"""A time or a hash."""


class FeedBegun(Struct, tag="begun", tag_field="type", frozen=True):
    """Start of an attempt at a match: the first message of its topic, sent again if the match is played again."""

    n: Count
    """Number of this attempt's message, from 0, snapshots not counted; a gap means that messages were dropped."""
    match: Text
    game: Text
    variant: Text
    options: Any
    players: Annotated[tuple[Text, ...], Meta(max_length=MOST_SEATS)]
    """Players' names; indexed by seat."""
    clock: ClockTerms
    started: Stamp
    """Wall time, ISO 8601, UTC."""
    alone: bool = False
    """True if no other match uses its deal; the end then reveals no secret of another match."""


class FeedEvent(Struct, tag="event", tag_field="type", frozen=True):
    """An event that the game sends to everyone."""

    n: Count
    at_ms: Number
    """Milliseconds since the match's zero, pauses included; the same in all messages of a match."""
    event: Any


class FeedWindow(Struct, tag="window", tag_field="type", frozen=True):
    """An opened window that everyone may know of. No message is sent for a window that is secret."""

    n: Count
    at_ms: Number
    window: Text
    """The window's name in the game's vocabulary."""
    seats: Annotated[tuple[Seat, ...], Meta(max_length=MOST_SEATS)] | None
    """Seats that owe an action in it; null where that is secret."""
    main_ms: Number
    """Main time of each seat."""
    reserve_ms: Annotated[dict[Text, Number], Meta(max_length=MOST_SEATS)]
    """Seat to its remaining reserve, for those of `seats` whose reserve is public."""
    view: Any
    """Everything a spectator may know now: the game's view with `seat` null."""


class FeedClosed(Struct, tag="closed", tag_field="type", frozen=True):
    """End of the window that was last announced. The game's events about it follow."""

    n: Count
    at_ms: Number


class FeedPaused(Struct, tag="paused", tag_field="type", frozen=True):
    """Pause of every clock of the match."""

    n: Count
    at_ms: Number
    reason: Text
    """`operator`, or `seat N` for a bot's pause."""


class FeedResumed(Struct, tag="resumed", tag_field="type", frozen=True):
    """End of a pause."""

    n: Count
    at_ms: Number


class FeedEnded(Struct, tag="ended", tag_field="type", frozen=True):
    """End of the attempt; its last message."""

    n: Count
    at_ms: Number
    outcome: Outcome | None
    """Result; null if the attempt is void and does not count."""
    head: Stamp
    """Hash of the transcript's last line; empty where no transcript could be finished."""
    view: Any
    """Everything a spectator may know at the end."""


class FeedSnapshot(Struct, tag="snapshot", tag_field="type", frozen=True):
    """Everything sent about a match so far, repeated every few seconds for new subscribers."""

    n: Count
    """Number of this attempt's messages so far, which is the number of the next one."""
    at_ms: Number
    """Current time, in milliseconds since the match's zero."""
    begun: FeedBegun
    events: Annotated[tuple[Any, ...], Meta(max_length=MOST_EVENTS)]
    """The `event` messages so far; only the latest if there are many."""
    left_out: Count
    """Number of earlier events that are left out."""
    window: FeedWindow | None
    """The open window, if it is public."""
    stopped_ms: Number
    """Milliseconds that the clocks have been stopped since the window opened, including a running pause."""
    paused: Text | None
    """Reason of the running pause; null if there is none."""


class FeedRow(Struct, frozen=True, kw_only=True):
    """One bot's results in a tournament, from matches that count."""

    bot: Text
    house: bool
    """True if the bot only fills empty seats and does not compete."""
    played: Count
    wins: Count
    ties: Count
    losses: Count
    points: Points
    mean_points: Points | None
    """Mean points per match; null before the first."""
    faults: Count
    defaults: Count


class FeedStandings(Struct, tag="standings", tag_field="type", frozen=True):
    """Standings of a tournament, sent when they change and every few seconds."""

    n: Count
    game: Text
    variant: Text
    format: Text
    played: Count
    """Number of matches that count: those of complete blocks."""
    final: bool
    """True if the tournament is over. Rows then follow the format's final ranking; before, mean points."""
    rows: Annotated[tuple[FeedRow, ...], Meta(max_length=MOST_ROWS)]
    """Rows, best first."""


FeedMessage = (
    FeedBegun
    | FeedEvent
    | FeedWindow
    | FeedClosed
    | FeedPaused
    | FeedResumed
    | FeedEnded
    | FeedSnapshot
    | FeedStandings
)
