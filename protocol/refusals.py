"""The closed list of reasons for which a bot's message is turned down, or a bot is hung up on.

Code, transcript and docs use these words and no others.
"""

from enum import StrEnum


class Refusal(StrEnum):
    """Why one message was not acted on. It costs the bot its own time only."""

    MALFORMED = "malformed"
    """Not one JSON object of a known message's exact fields."""
    OVERSIZED = "oversized"
    """A frame larger than `MAX_FRAME_BYTES`."""
    OUT_OF_TURN = "out-of-turn"
    """A message that has no place now: anything but `hello` before the welcome."""
    LATE = "late"
    """The window has closed, or this seat's time in it is up."""
    UNKNOWN_WINDOW = "unknown-window"
    """This seat has not been given a window of that id."""
    FINAL = "final"
    """A final submission stands; the right to change it was given up."""
    ILLEGAL = "illegal"
    """The action breaks a rule of the game; `text` says which."""
    NO_PAUSE = "no-pause"
    """No pause is left in this seat's budget, or one is running."""
    TOO_LONG = "too-long"
    """A note longer than `MAX_NOTE_CHARACTERS`."""
    NO_MESSAGE = "no-message"
    """A line that a program which speaks by lines printed, and that is no message. Counted once a window, and not
    answered: the program might print the answer, too."""
    FLOOD = "flood"
    """More messages, or more bytes, than a window's budget. Told once a window; what follows is counted only."""
    TOO_MUCH = "too-much"
    """The seat has added to the match's transcript all that it may. Told once a window, as a flood is."""


class Fault(StrEnum):
    """Why the referee hung up on a bot."""

    WRONG_TOKEN = "wrong-token"  # noqa: S105 - a word, not a secret
    """The `hello` carries another token than the one this bot was started with."""
    WRONG_PROTOCOL = "wrong-protocol"
    """The `hello` names a protocol version that this referee does not speak."""
    NO_HELLO = "no-hello"
    """No `hello` within the start-up time."""
    MISBEHAVED = "misbehaved"
    """More refused messages in the match than its limit."""
    NOT_READING = "not-reading"
    """The bot leaves what it is sent unread, past the outgoing buffer."""


class Conduct(StrEnum):
    """How a seat's bot behaved over a match."""

    OK = "ok"
    """It was there to the end."""
    CRASHED = "crashed"
    """Its process ended by a signal or with an exit code other than 0 before the match was over."""
    DISCONNECTED = "disconnected"
    """Its process ended with exit code 0, or it left unread what it was sent, before the match was over."""
    MISBEHAVED = "misbehaved"
    """It was hung up on for a wrong `hello` or for too many refused messages."""
    NEVER_STARTED = "never_started"
    """It never said a right `hello`; or it speaks by lines, and its process ended before it had sent a message."""
