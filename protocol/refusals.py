"""The closed lists of reasons for refusing a bot's message and for disconnecting a bot.

Code, transcript and docs use these words and no others.
"""

from enum import StrEnum


class Refusal(StrEnum):
    """Reasons for refusing one message. A refusal costs the bot only its own time."""

    MALFORMED = "malformed"
    """Anything but one JSON object with the exact fields of a known message."""
    OVERSIZED = "oversized"
    """A frame larger than `MAX_FRAME_BYTES`."""
    OUT_OF_TURN = "out-of-turn"
    """A message that is not allowed now: anything but `hello` before the welcome."""
    LATE = "late"
    """A message for a closed window, or after this seat's time in it has passed."""
    UNKNOWN_WINDOW = "unknown-window"
    """A window id that this seat never received."""
    FINAL = "final"
    """A message after a final submission, which can no longer be changed."""
    ILLEGAL = "illegal"
    """An action that breaks a rule of the game; `text` names the rule."""
    NO_PAUSE = "no-pause"
    """A pause request with no pause left in this seat's budget, or during a pause."""
    TOO_LONG = "too-long"
    """A note longer than `MAX_NOTE_CHARACTERS`."""
    NO_MESSAGE = "no-message"
    """A printed line that is no message, from a program that speaks by lines.

    Counted once per window and not answered: the program might print the answer, too.
    """
    FLOOD = "flood"
    """More messages or bytes than a window allows. Reported once per window; the rest is only counted."""
    TOO_MUCH = "too-much"
    """More additions to the match's transcript than the seat is allowed. Reported once per window."""


class Fault(StrEnum):
    """Reasons for disconnecting a bot."""

    WRONG_TOKEN = "wrong-token"  # noqa: S105 - a word, not a secret
    """A `hello` with another token than the one this bot was started with."""
    WRONG_PROTOCOL = "wrong-protocol"
    """A `hello` with a protocol version that this referee does not support."""
    NO_HELLO = "no-hello"
    """No `hello` within the start-up time."""
    MISBEHAVED = "misbehaved"
    """More refused messages in the match than allowed."""
    NOT_READING = "not-reading"
    """More unread messages for the bot than the outgoing buffer holds."""


class Conduct(StrEnum):
    """Behaviour of a seat's bot over a match."""

    OK = "ok"
    """Connected to the end."""
    CRASHED = "crashed"
    """Process ended by a signal or with an exit code other than 0 before the match was over."""
    DISCONNECTED = "disconnected"
    """Process ended with exit code 0, or messages left unread, before the match was over."""
    MISBEHAVED = "misbehaved"
    """Disconnected for a wrong `hello` or for too many refused messages."""
    NEVER_STARTED = "never_started"
    """No valid `hello`; or, for a program that speaks by lines, no message before its process ended."""
