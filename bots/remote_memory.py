"""The state that lets a bot on its author's machine continue after a disconnection. Pure.

`remote` transfers the frames. This module decides which of them the bot receives, so that the bot does not notice
the disconnection.
"""

import re
from typing import Any, assert_never

from bots.remote_bounds import MOST_EVENTS, Bounds, HostError
from bots.remote_summary import Summary
from protocol.codec import Refused, decode_client_message, decode_server_message, encode
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    Opened,
    Over,
    Paused,
    Rejected,
    Resumed,
    ServerMessage,
    Submit,
    Undo,
    Welcome,
)
from protocol.refusals import Refusal

_TOKEN = re.compile(r"[!-~]{1,100}")
"""The form of a token: it goes into the environment of the bot's process."""


class Memory:
    """The state of one match: decides which frames go to the bot and which to the host."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self.token: str | None = None
        """The token of this match; None before the first invitation."""
        self.over = False
        """True once the host has sent its last message."""
        self.elsewhere: bytes | None = None
        """The host's invitation to another match, which ends this one for the bot."""
        self.stands = False
        """True if the host may invite the bot again after this match."""
        self.summary = Summary()
        self._hello = b""
        self._welcomed = False
        self._returning = False
        """True between a new invitation and its welcome.

        Messages in between are dropped: the welcome repeats them.
        """
        self._events = 0
        self._window = -1
        self._submitted: bytes | None = None
        """The bot's latest submission in the open window."""
        self._said_again = False

    def say(self, frame: bytes) -> bytes:
        """Record a frame from the bot, and return the frame for the host."""
        try:
            said = decode_client_message(frame)
        except Refused:
            return frame  # The host refuses it as well.
        if isinstance(said, Hello):
            self._hello = frame
        elif isinstance(said, Submit | Undo) and said.window == self._window:
            self._submitted, self._said_again = frame, False
            self.summary.say(said)
        return frame

    def hear(self, frame: bytes) -> tuple[list[bytes], list[bytes]]:
        """Process a message of the host. Return the frames for the bot and the frames for the host.

        Raises:
            HostError: the message exceeds what an honest host sends.
        """
        self._bounds.match_frame(frame)
        try:
            told = decode_server_message(frame)
        except (ValueError, RecursionError):
            # A host may use new message types within one protocol version.
            self._bounds.unknown()
            return [frame], []
        _check_events(told)
        match told:
            case Invited():
                return [], self._invited(told, frame)
            case Welcome(told=events) if self._welcomed:
                self._returning = False
                missed = self._missed(events)
                self._events = max(self._events, len(events))
                return missed, []
            case _ if self._returning and not isinstance(told, Faulted):
                return [], []
            case Opened(id=number) if number == self._window:
                self._said_again = self._submitted is not None
                return [], [] if self._submitted is None else [self._submitted]
            case (
                Welcome()
                | EventMessage()
                | Opened()
                | Accepted()
                | Rejected()
                | Closed()
                | Paused()
                | Resumed()
                | Over()
                | Faulted()
            ):
                pass
            case _ as unreachable:
                assert_never(unreachable)
        self._remember(told)
        return [] if self._knows(told) else [frame], []

    def _missed(self, events: tuple[Any, ...]) -> list[bytes]:
        """Return the events that the bot has missed, as frames.

        Raises:
            HostError: an event cannot be encoded.
        """
        try:
            return [encode(EventMessage(n=n, event=events[n])) for n in range(self._events, len(events))]
        except (ValueError, OverflowError, RecursionError):
            raise HostError("a welcome with a number that is too large") from None

    def _invited(self, invited: Invited, frame: bytes) -> list[bytes]:
        """Return the frames that answer an invitation: `hello` again if the bot has already sent it.

        Raises:
            HostError: the token has the wrong form.
        """
        if not _TOKEN.fullmatch(invited.token):
            raise HostError("an invitation whose token is none: 1 to 100 printable ASCII characters are")
        if self.token not in {None, invited.token}:
            self.elsewhere = frame
            return []
        self._returning, self.token, self.stands = self._welcomed, invited.token, invited.stands is True
        return [self._hello] if self._hello else []

    def _knows(self, told: ServerMessage) -> bool:
        """Return True for a refusal that is only due to our repeated submission; it is hidden from the bot."""
        if isinstance(told, Rejected) and told.reason is Refusal.FINAL:
            return self._said_again and told.window == self._window
        return False

    def _remember(self, told: ServerMessage) -> None:
        if not self._knows(told):
            self.summary.hear(told)
        match told:
            case Welcome(told=events):
                self._welcomed, self._events = True, len(events)
            case EventMessage(n=n):
                self._events = n + 1
            case Opened(id=number):
                self._window, self._submitted, self._said_again = number, None, False
            case Over() | Faulted():
                self.over = True
            case Invited() | Accepted() | Rejected() | Closed() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)


def _check_events(told: ServerMessage) -> None:
    """Raise HostError if a message has more events than a match, or an event number out of range."""
    if isinstance(told, Welcome) and len(told.told) > MOST_EVENTS:
        raise HostError(f"a welcome with {len(told.told)} events; a match has {MOST_EVENTS} at most")
    if isinstance(told, EventMessage) and not 0 <= told.n < MOST_EVENTS:
        raise HostError(f"an event whose number is not from 0 to {MOST_EVENTS - 1}")
