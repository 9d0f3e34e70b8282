"""What a bot on its author's own machine has to know to go on when its line was cut and is back. Pure.

`remote` carries the frames; here is decided which of them the bot gets to see, so that to it there was no cut.
"""

from typing import Any

import msgspec

from bots.remote_summary import Summary
from protocol.codec import Refused, decode_client_message, decode_server_message, encode
from protocol.messages import EventMessage, Faulted, Hello, Invited, Opened, Over, Rejected, Submit, Undo, Welcome
from protocol.refusals import Refusal


class Memory:
    """One match, as far as it has come: frames in, frames out."""

    def __init__(self) -> None:
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
        """The host says something: what goes to the bot, and what goes back to the host."""
        try:
            told = decode_server_message(frame)
        except msgspec.MsgspecError:
            return [frame], []
        match told:
            case Invited():
                return [], self._invited(told, frame)
            case Welcome(told=events) if self._welcomed:
                self._returning = False
                missed = [encode(EventMessage(n=n, event=events[n])) for n in range(self._events, len(events))]
                self._events = max(self._events, len(events))
                return missed, []
            case _ if self._returning and not isinstance(told, Faulted):
                return [], []
            case Opened(id=number) if number == self._window:
                self._said_again = self._submitted is not None
                return [], [] if self._submitted is None else [self._submitted]
        self._remember(told)
        return [] if self._knows(told) else [frame], []

    def _invited(self, invited: Invited, frame: bytes) -> list[bytes]:
        """What goes back to the host: a bot that is in the match already says `hello` again."""
        if self.token not in {None, invited.token}:
            self.elsewhere = frame
            return []
        self._returning, self.token, self.stands = self._welcomed, invited.token, invited.stands is True
        return [self._hello] if self._hello else []

    def _knows(self, told: Any) -> bool:
        """What comes of having said something twice is no business of the bot's."""
        match told:
            case Rejected(window=window, reason=Refusal.FINAL):
                return self._said_again and window == self._window
        return False

    def _remember(self, told: Any) -> None:
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
