"""What a bot on its author's own machine has to know to go on when its line was cut and is back. Pure.

`remote` carries the frames; here is decided which of them the bot gets to see, so that to it there was no cut.
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
"""What a token looks like: it goes into the environment of the bot's process."""


class Memory:
    """One match, as far as it has come: frames in, frames out."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self.token: str | None = None
        """This match's, once it is known."""
        self.over = False
        """The host has said its last word."""
        self.elsewhere: bytes | None = None
        """The host's invitation to another match: this one is over for us."""
        self.stands = False
        """The host may invite us again after this match."""
        self.summary = Summary()
        self._hello = b""
        self._welcomed = False
        self._returning = False
        """Invited again, and not yet welcomed: what comes meanwhile is in the welcome, too."""
        self._events = 0
        self._window = -1
        self._submitted: bytes | None = None
        """The last word in the open window."""
        self._said_again = False

    def say(self, frame: bytes) -> bytes:
        """The bot says something: what goes to the host."""
        try:
            said = decode_client_message(frame)
        except Refused:
            return frame  # The host says so, too.
        if isinstance(said, Hello):
            self._hello = frame
        elif isinstance(said, Submit | Undo) and said.window == self._window:
            self._submitted, self._said_again = frame, False
            self.summary.say(said)
        return frame

    def hear(self, frame: bytes) -> tuple[list[bytes], list[bytes]]:
        """Take a message of the host: return what goes to the bot, and what goes back to the host.

        Raises:
            HostError: it is more than an honest host sends.
        """
        self._bounds.match_frame(frame)
        try:
            told = decode_server_message(frame)
        except (ValueError, RecursionError):
            # A host may know new words within one protocol version.
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
        """Return the events that the bot has not been told, as it would have been told them.

        Raises:
            HostError: they hold what cannot be said.
        """
        try:
            return [encode(EventMessage(n=n, event=events[n])) for n in range(self._events, len(events))]
        except (ValueError, OverflowError, RecursionError):
            raise HostError("a welcome with a number that is too large") from None

    def _invited(self, invited: Invited, frame: bytes) -> list[bytes]:
        """What goes back to the host: a bot that is in the match already says `hello` again."""
        if not _TOKEN.fullmatch(invited.token):
            raise HostError("an invitation whose token is none: 1 to 100 printable ASCII characters are")
        if self.token not in {None, invited.token}:
            self.elsewhere = frame
            return []
        self._returning, self.token, self.stands = self._welcomed, invited.token, invited.stands is True
        return [self._hello] if self._hello else []

    def _knows(self, told: ServerMessage) -> bool:
        """What comes of having said something twice is no business of the bot's."""
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
    """Raise HostError if a message tells more events than a match has, or gives one no number."""
    if isinstance(told, Welcome) and len(told.told) > MOST_EVENTS:
        raise HostError(f"a welcome with {len(told.told)} events; a match has {MOST_EVENTS} at most")
    if isinstance(told, EventMessage) and not 0 <= told.n < MOST_EVENTS:
        raise HostError(f"an event whose number is not from 0 to {MOST_EVENTS - 1}")
