"""The two tagged unions of the wire: what a bot says and what it hears. One message is one JSON frame."""

from typing import Any, Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from protocol.refusals import Fault, Refusal
from protocol.words import Number, Outcome

PROTOCOL = 1
"""The version of this file. A bot names the one it speaks in its `hello`."""
MAX_FRAME_BYTES = 64 * 1024
"""The largest frame a bot may send; a larger one is refused as `oversized`."""
MAX_NOTE_CHARACTERS = 2_000
"""The longest text of a `note`."""


NoAction = Literal["returned-nothing", "raised"]
"""Why a kit has no action of its bot's: the function that decides returned nothing, or raised an error."""


class Hello(Struct, tag="hello", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """First message of a connection, within the start-up time. Said again, it asks for `welcome` with `told`."""

    token: str
    """What the environment variable ARENA_TOKEN holds."""
    name: str
    version: str
    protocol: int
    bridged: bool | UnsetType = UNSET
    """True: the bridge says it for a program that speaks by lines, of which nothing has been heard yet. Such a bot
    has started once it has sent a message."""


class Submit(Struct, tag="submit", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """An action for an open window. The last legal one before the window closes counts."""

    window: int
    action: Raw
    """The action in the window's form; null withdraws what was submitted, as `undo` does."""
    final: bool | UnsetType = UNSET
    """Gives up the right to change it, so that the window may close early. Left out it counts as true, but for an
    action of null: to take the default for good must be said."""
    because: NoAction | UnsetType = UNSET
    """Why a kit sends the default, or null, in its bot's place. The bot's report says so; no rule reads it."""


class Undo(Struct, tag="undo", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """Withdraws this seat's submission: back to the default."""

    window: int


class Pause(Struct, tag="pause", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """Asks for a pause; granted within the match's budget."""


class Note(Struct, tag="note", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """A text for the transcript, shown to nobody else."""

    text: str


ClientMessage = Hello | Submit | Undo | Pause | Note


class ClockTerms(Struct, frozen=True, kw_only=True):
    """The times of a match, as agreed before it. All in milliseconds."""

    main_ms: dict[str, Number]
    """Window name to its main time."""
    reserve_ms: Number = 0
    """What each seat may use beyond main time, over the whole match."""
    pauses: Number = 0
    """How many pauses each bot may ask for."""
    pause_ms: Number = 0
    """How long a bot's pause lasts."""
    pacing: str = "prompt"
    """`prompt`: a window closes as soon as all is in. `fixed`: every window takes its full main time."""
    kind: str | UnsetType = UNSET
    """`cpu`: main time and reserve count the bot's own processor time. Left out: they count time on the wall."""
    wall_factor: Number | UnsetType = UNSET
    """So many milliseconds on the wall count as one of a `cpu` clock's, where the bot used less than that."""
    increment_ms: Number | UnsetType = UNSET
    """Added to a seat's reserve after each window of its own. Left out: nothing is."""
    bronstein_ms: Number | UnsetType = UNSET
    """What a window used of the reserve is given back after it, up to this much. Left out: nothing is."""


class Invited(Struct, tag="invited", tag_field="type", frozen=True):
    """To a bot on its author's own machine: its match begins, or it is back in it. It says `hello` now."""

    token: str
    """What its `hello` must carry; a bot that the referee starts finds it in its environment."""
    stands: bool | UnsetType = UNSET
    """True: the line stands, and its bot may be invited to more matches after this one. Left out: it may not be
    known."""


class Welcome(Struct, tag="welcome", tag_field="type", frozen=True):
    """The answer to a right `hello`."""

    protocol: int
    match: str
    game: str
    variant: str
    seat: int
    seats: int
    options: Any
    clock: ClockTerms
    seed: int
    """The bot's own seed, for its own luck. It says nothing about the match's."""
    told: tuple[Any, ...] = ()
    """Every event told to this seat so far, the n-th at index n. Not empty only after a reconnect."""


class EventMessage(Struct, tag="event", tag_field="type", frozen=True):
    """One thing the game tells this seat."""

    n: int
    """Counts this seat's events from 0."""
    event: Any


class Opened(Struct, tag="window", tag_field="type", frozen=True):
    """A window in which this seat may act. Its clock runs from the moment this was handed to the transport."""

    id: int
    """Counts this seat's windows from 0."""
    window: str
    """The window's name in the game's vocabulary."""
    view: Any
    """Everything this seat may know now."""
    default: Any
    """The action taken if none comes; null where that is nothing, or drawn when the window closes."""
    main_ms: int
    """Main time left; less than the agreed one only after a reconnect."""
    reserve_ms: int
    """Reserve left for the match; 0 where this window may not use it."""


class Accepted(Struct, tag="accepted", tag_field="type", frozen=True):
    """This action now stands as the seat's submission; null: none does."""

    window: int
    action: Any


class Rejected(Struct, tag="rejected", tag_field="type", frozen=True):
    """A message was not acted on. An earlier legal submission still stands."""

    window: int | None
    reason: Refusal
    text: str


class Closed(Struct, tag="closed", tag_field="type", frozen=True):
    """A window is over for this seat."""

    window: int
    taken: Any
    """The action taken, in its canonical spelling; null where the default was nothing."""
    by_default: bool
    charged_ms: int
    """From the window's handing over to the arrival of what was taken; all the time there was, by default."""
    reserve_ms: int
    """Reserve left for the match."""


class Paused(Struct, tag="paused", tag_field="type", frozen=True):
    """Every clock of the match stands still."""

    reason: str
    """`operator`, or `seat N` for a bot's pause."""


class Resumed(Struct, tag="resumed", tag_field="type", frozen=True):
    """The clocks run again."""

    reason: str


class Over(Struct, tag="over", tag_field="type", frozen=True):
    """The match has ended; nothing follows."""

    outcome: Outcome


class Faulted(Struct, tag="fault", tag_field="type", frozen=True):
    """What went wrong, before the referee hangs up."""

    reason: Fault
    text: str


ServerMessage = (
    Invited | Welcome | EventMessage | Opened | Accepted | Rejected | Closed | Paused | Resumed | Over | Faulted
)
