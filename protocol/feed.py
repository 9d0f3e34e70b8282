"""What the live feed tells spectators of a match or a tournament: one tagged union, one message a JSON frame.

`docs/feed.md` says how a subscriber gets them.
"""

from typing import Any

from msgspec import Struct

from protocol.messages import ClockTerms
from protocol.words import Outcome

STANDINGS = "standings"
"""The topic of a tournament's standings."""
MATCH = "match/"
"""Before a match's name: its topic."""


class FeedBegun(Struct, tag="begun", tag_field="type", frozen=True):
    """An attempt at a match begins. Always the first message of its topic; again where a match is played again."""

    n: int
    """Counts the messages of this attempt from 0, snapshots left out: one that is missing was dropped."""
    match: str
    game: str
    variant: str
    options: Any
    players: tuple[str, ...]
    """Who sits where, by seat."""
    clock: ClockTerms
    started: str
    """Wall time, ISO 8601, UTC."""
    alone: bool = False
    """No other match is played from its deal: what it shows at its end is no secret of another."""


class FeedEvent(Struct, tag="event", tag_field="type", frozen=True):
    """Something the game tells everyone."""

    n: int
    at_ms: int
    """Since the match's zero, pauses included; the same in all messages of a match."""
    event: Any


class FeedWindow(Struct, tag="window", tag_field="type", frozen=True):
    """A window opened of which everyone may know. Of one that is some seats' secret, there is no message."""

    n: int
    at_ms: int
    window: str
    """The window's name in the game's vocabulary."""
    seats: tuple[int, ...] | None
    """Who owes an action in it; null where that is secret."""
    main_ms: int
    """Main time of each seat."""
    reserve_ms: dict[str, int]
    """Seat to the reserve it has left, for those of `seats` of whom everyone can know it."""
    view: Any
    """Everything a spectator may know now, as the game's view with `seat` null."""


class FeedClosed(Struct, tag="closed", tag_field="type", frozen=True):
    """The window that was last told of is over. What the game tells of it follows."""

    n: int
    at_ms: int


class FeedPaused(Struct, tag="paused", tag_field="type", frozen=True):
    """Every clock of the match stands still."""

    n: int
    at_ms: int
    reason: str
    """`operator`, or `seat N` for a bot's pause."""


class FeedResumed(Struct, tag="resumed", tag_field="type", frozen=True):
    """The clocks run again."""

    n: int
    at_ms: int


class FeedEnded(Struct, tag="ended", tag_field="type", frozen=True):
    """The attempt is over; nothing follows of it."""

    n: int
    at_ms: int
    outcome: Outcome | None
    """Null: the attempt is void, and counts for nothing."""
    head: str
    """Hash of the transcript's last line; empty where no transcript could be finished."""
    view: Any
    """Everything a spectator may know at the end."""


class FeedSnapshot(Struct, tag="snapshot", tag_field="type", frozen=True):
    """All that was told of a match so far, told again every few seconds for who came late."""

    n: int
    """How many messages of this attempt came before: the next one has this number."""
    at_ms: int
    """Now."""
    begun: FeedBegun
    events: tuple[Any, ...]
    """The `event` messages so far, the latest if they are many."""
    left_out: int
    """How many earlier ones are left out."""
    window: FeedWindow | None
    """The open window, if everyone may know of it."""
    stopped_ms: int
    """For how long the clocks have stood still since it opened, a pause that is running included."""
    paused: str | None
    """The reason of the pause that is running; null: none is."""


class FeedRow(Struct, frozen=True, kw_only=True):
    """One bot's part in a tournament, in matches that count."""

    bot: str
    house: bool
    """It fills seats that are left over, and does not compete."""
    played: int
    wins: int
    ties: int
    losses: int
    points: float
    mean_points: float | None
    """Points a match; null before there was one."""
    faults: int
    defaults: int


class FeedStandings(Struct, tag="standings", tag_field="type", frozen=True):
    """How a tournament stands, told anew when that changes, and every few seconds."""

    n: int
    game: str
    variant: str
    format: str
    played: int
    """How many matches count by now: those of blocks that are complete."""
    final: bool
    """Whether all has been played. Then the rows are as the format places the bots; before, by mean points."""
    rows: tuple[FeedRow, ...]
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
