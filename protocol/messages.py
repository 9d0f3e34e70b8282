"""The two tagged unions of the wire: messages from a bot and messages to it. One message is one JSON frame."""

import re
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from protocol.refusals import Fault, Refusal
from protocol.words import Number, Outcome

PROTOCOL = 1
"""Version of this protocol. A bot sends the version it uses in its `hello`."""
MAX_FRAME_BYTES = 64 * 1024
"""The largest frame a bot may send; a larger one is refused as `oversized`."""
MAX_NOTE_CHARACTERS = 2_000
"""Longest text of a `note`, in characters."""


NoAction = Literal["returned-nothing", "raised"]
"""Reasons why a kit has no action: the deciding function returned nothing, or raised an error."""


class Hello(Struct, tag="hello", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """First message of a connection, due within the start-up time. Repeating it requests `welcome` with `told`."""

    token: str
    """Value of the environment variable ARENA_TOKEN."""
    name: str
    version: str
    protocol: int
    bridged: bool | UnsetType = UNSET
    """True: the bridge sends it for a program that speaks by lines and has not sent anything yet.

    Such a bot has started once it has sent a message.
    """


class Submit(Struct, tag="submit", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """An action for an open window. The last legal one before the window closes counts."""

    window: int
    action: Raw
    """The action in the window's form; null withdraws the submission, as `undo` does."""
    final: bool | UnsetType = UNSET
    """True if the action can no longer be changed, so that the window may close early. Left out: true, except for
    an action of null, where only an explicit true makes the default final."""
    because: NoAction | UnsetType = UNSET
    """Reason why a kit sends the default, or null, for its bot. The bot's report shows it; no rule uses it."""


class Undo(Struct, tag="undo", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """Withdrawal of this seat's submission; the default applies again."""

    window: int


class Pause(Struct, tag="pause", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """Request for a pause; granted within the match's budget."""


class Note(Struct, tag="note", tag_field="type", frozen=True, forbid_unknown_fields=True):
    """A text for the transcript only."""

    text: str


ClientMessage = Hello | Submit | Undo | Pause | Note


class ClockTerms(Struct, frozen=True, kw_only=True):
    """Time limits of a match, agreed before it; all in milliseconds."""

    main_ms: dict[str, Number]
    """Window name to its main time."""
    reserve_ms: Number = 0
    """Time that each seat may use beyond main time, over the whole match."""
    pauses: Number = 0
    """Number of pauses that each bot may request."""
    pause_ms: Number = 0
    """Length of a bot's pause."""
    pacing: str = "prompt"
    """`prompt`: a window closes once every seat has a final submission.

    `fixed`: every window takes its full main time.
    """
    kind: str | UnsetType = UNSET
    """`cpu`: main time and reserve count the bot's own processor time. Left out: they count wall time."""
    wall_factor: Number | UnsetType = UNSET
    """Milliseconds of wall time that count as at least one on a `cpu` clock, even if the bot used less."""
    increment_ms: Number | UnsetType = UNSET
    """Time added to a seat's reserve after each of its windows. Left out: none."""
    bronstein_ms: Number | UnsetType = UNSET
    """Most reserve that is refunded after a window which used it. Left out: none."""


class Invited(Struct, tag="invited", tag_field="type", frozen=True):
    """Invitation of a bot on its author's own machine to send `hello`: its match starts, or it has reconnected."""

    token: str
    """Token for its `hello`; a bot that the referee starts finds it in its environment."""
    stands: bool | UnsetType = UNSET
    """True: the connection remains open, and its bot may be invited to more matches.

    Left out: this may be unknown.
    """


class Welcome(Struct, tag="welcome", tag_field="type", frozen=True):
    """Answer to a valid `hello`."""

    protocol: int
    match: str
    game: str
    variant: str
    seat: int
    seats: int
    options: Any
    clock: ClockTerms
    seed: int
    """The bot's own random seed, which reveals nothing about the match's."""
    told: tuple[Any, ...] = ()
    """Every event sent to this seat so far; event n is at index n. Empty except after a reconnect."""


class EventMessage(Struct, tag="event", tag_field="type", frozen=True):
    """An event of the game for this seat."""

    n: int
    """Number of this event for the seat, from 0."""
    event: Any


class Opened(Struct, tag="window", tag_field="type", frozen=True):
    """A window in which this seat may act. Its clock runs from the moment the message reached the transport."""

    id: int
    """Number of this window for the seat, from 0."""
    window: str
    """The window's name in the game's vocabulary."""
    view: Any
    """Everything this seat may know now."""
    default: Any
    """Action used if none arrives; null if that is nothing, or if it is drawn when the window closes."""
    main_ms: int
    """Main time left; less than the agreed one only after a reconnect."""
    reserve_ms: int
    """Reserve left for the match; 0 where this window may not use it."""


class Accepted(Struct, tag="accepted", tag_field="type", frozen=True):
    """Confirmation of the seat's current submission; `action` is null if there is none."""

    window: int
    action: Any


class Rejected(Struct, tag="rejected", tag_field="type", frozen=True):
    """Refusal of a message. An earlier legal submission remains valid."""

    window: int | None
    reason: Refusal
    text: str


class Closed(Struct, tag="closed", tag_field="type", frozen=True):
    """End of a window for this seat."""

    window: int
    taken: Any
    """The action used, in its canonical spelling; null where the default was nothing."""
    by_default: bool
    charged_ms: int
    """Time from opening the window to the arrival of the action used; all available time if it was the default."""
    reserve_ms: int
    """Reserve left for the match."""


class Paused(Struct, tag="paused", tag_field="type", frozen=True):
    """Pause of every clock of the match."""

    reason: str
    """`operator`, or `seat N` for a bot's pause."""


class Resumed(Struct, tag="resumed", tag_field="type", frozen=True):
    """End of a pause."""

    reason: str


class Over(Struct, tag="over", tag_field="type", frozen=True):
    """End of the match; the last message."""

    outcome: Outcome


class Faulted(Struct, tag="fault", tag_field="type", frozen=True):
    """Reason of a disconnection, sent before the referee disconnects."""

    reason: Fault
    text: str


ServerMessage = (
    Invited | Welcome | EventMessage | Opened | Accepted | Rejected | Closed | Paused | Resumed | Over | Faulted
)


PRINTED = "[stdout] "
"""Prefix of each log line that a bot printed to standard output and that is no message."""
BOT_TYPES = frozenset({"hello", "submit", "undo", "pause", "note"})
"""Types of message that a bot may send."""
_BEGINNING = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:hello|submit|undo|pause|note)"')


class _Typed(Struct):
    """Any object that has a type."""

    type: str


_typed = msgspec.json.Decoder(_Typed)


def type_of(message: bytes) -> str | None:
    """Return the type of a message, valid or not; None: it is not JSON, or no object that has one."""
    try:
        return _typed.decode(message).type
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def is_message(line: bytes) -> bool:
    """Return whether a line of a program that speaks by lines is meant as a message: of a type that bots send.

    Only the beginning of a line that is longer than any message is examined.
    """
    if not line.lstrip().startswith(b"{"):
        return False
    if len(line) > MAX_FRAME_BYTES:
        return _BEGINNING.match(line) is not None
    return type_of(line) in BOT_TYPES
