"""What the live feed tells spectators of a match or a tournament: one tagged union, one message a JSON frame.

`docs/feed.md` says how a subscriber gets them. Everything but the game's own words has a bound: a subscriber that
decodes with these types refuses a message beyond it.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from protocol.messages import ClockTerms
from protocol.words import MOST, Number, Outcome

STANDINGS = "standings"
"""The topic of a tournament's standings."""
MATCH = "match/"
"""Before a match's name: its topic."""
MOST_SEATS = 64
MOST_ROWS = 10_000
MOST_EVENTS = 10_000
MOST_CHARACTERS = 64 * 1024
"""The most characters of a name or a reason."""

Count = Annotated[int, Meta(ge=0, le=MOST)]
Seat = Annotated[int, Meta(ge=0, lt=MOST_SEATS)]
Points = Annotated[float, Meta(ge=-MOST, le=MOST)]
Text = Annotated[str, Meta(max_length=MOST_CHARACTERS)]
Stamp = Annotated[str, Meta(max_length=200)]
"""A time or a hash."""


class FeedBegun(Struct, tag="begun", tag_field="type", frozen=True):
    """An attempt at a match begins. Always the first message of its topic; again where a match is played again."""

    n: Count
    """Counts the messages of this attempt from 0, snapshots left out: one that is missing was dropped."""
    match: Text
    game: Text
    variant: Text
    options: Any
    players: Annotated[tuple[Text, ...], Meta(max_length=MOST_SEATS)]
    """Who sits where, by seat."""
    clock: ClockTerms
    started: Stamp
    """Wall time, ISO 8601, UTC."""
    alone: bool = False
    """No other match is played from its deal: what it shows at its end is no secret of another."""


class FeedEvent(Struct, tag="event", tag_field="type", frozen=True):
    """Something the game tells everyone."""

    n: Count
    at_ms: Number
    """Since the match's zero, pauses included; the same in all messages of a match."""
    event: Any


class FeedWindow(Struct, tag="window", tag_field="type", frozen=True):
    """A window opened of which everyone may know. Of one that is some seats' secret, there is no message."""

    n: Count
    at_ms: Number
    window: Text
    """The window's name in the game's vocabulary."""
    seats: Annotated[tuple[Seat, ...], Meta(max_length=MOST_SEATS)] | None
    """Who owes an action in it; null where that is secret."""
    main_ms: Number
    """Main time of each seat."""
    reserve_ms: Annotated[dict[Text, Number], Meta(max_length=MOST_SEATS)]
    """Seat to the reserve it has left, for those of `seats` of whom everyone can know it."""
    view: Any
    """Everything a spectator may know now, as the game's view with `seat` null."""


class FeedClosed(Struct, tag="closed", tag_field="type", frozen=True):
    """The window that was last told of is over. What the game tells of it follows."""

    n: Count
    at_ms: Number


class FeedPaused(Struct, tag="paused", tag_field="type", frozen=True):
    """Every clock of the match stands still."""

    n: Count
    at_ms: Number
    reason: Text
    """`operator`, or `seat N` for a bot's pause."""


class FeedResumed(Struct, tag="resumed", tag_field="type", frozen=True):
    """The clocks run again."""

    n: Count
    at_ms: Number


class FeedEnded(Struct, tag="ended", tag_field="type", frozen=True):
    """The attempt is over; nothing follows of it."""

    n: Count
    at_ms: Number
    outcome: Outcome | None
    """Null: the attempt is void, and counts for nothing."""
    head: Stamp
    """Hash of the transcript's last line; empty where no transcript could be finished."""
    view: Any
    """Everything a spectator may know at the end."""


class FeedSnapshot(Struct, tag="snapshot", tag_field="type", frozen=True):
    """All that was told of a match so far, told again every few seconds for who came late."""

    n: Count
    """How many messages of this attempt came before: the next one has this number."""
    at_ms: Number
    """Now."""
    begun: FeedBegun
    events: Annotated[tuple[Any, ...], Meta(max_length=MOST_EVENTS)]
    """The `event` messages so far, the latest if they are many."""
    left_out: Count
    """How many earlier ones are left out."""
    window: FeedWindow | None
    """The open window, if everyone may know of it."""
    stopped_ms: Number
    """For how long the clocks have stood still since it opened, a pause that is running included."""
    paused: Text | None
    """The reason of the pause that is running; null: none is."""


class FeedRow(Struct, frozen=True, kw_only=True):
    """One bot's part in a tournament, in matches that count."""

    bot: Text
    house: bool
    """It fills seats that are left over, and does not compete."""
    played: Count
    wins: Count
    ties: Count
    losses: Count
    points: Points
    mean_points: Points | None
    """Points a match; null before there was one."""
    faults: Count
    defaults: Count


class FeedStandings(Struct, tag="standings", tag_field="type", frozen=True):
    """How a tournament stands, told anew when that changes, and every few seconds."""

    n: Count
    game: Text
    variant: Text
    format: Text
    played: Count
    """How many matches count by now: those of blocks that are complete."""
    final: bool
    """Whether all has been played. Then the rows are as the format places the bots; before, by mean points."""
    rows: Annotated[tuple[FeedRow, ...], Meta(max_length=MOST_ROWS)]
    """Best first."""


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
