"""Memory of one match on an author's machine: the state to continue after a disconnection, and a summary. Pure.

`relay` transfers the frames. This module decides which of them the bot receives, so that the bot does not notice
the disconnection. The summary contains only what the bot itself could know.

The author trusts the host with the result of a match, but not with memory, disk or terminal. `Bounds` has limits
that an honest host never exceeds.
"""

import re
from collections import Counter
from typing import Any, assert_never

from msgspec import UNSET, UnsetType

from protocol.codec import MAX_NESTING, Refused, decode_client_message, decode_server_message, encode, is_deeper
from protocol.messages import (
    Accepted,
    Closed,
    EventMessage,
    Faulted,
    Hello,
    Invited,
    NoAction,
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
from protocol.words import Outcome

MEGABYTE = 1024 * 1024
MOST_FRAME_BYTES = MEGABYTE
"""Maximum size of a message. An honest host never sends more than half of that at once."""
MOST_MATCH_FRAMES = 1_000_000
"""Maximum number of messages of one match and the time before it. News between matches are counted separately."""
MOST_MATCH_BYTES = 256 * MEGABYTE
"""Maximum total size of these messages: the bot may hold all of them in memory."""
MOST_UNKNOWN = 1_000
"""Maximum number of messages of one match that this version does not know. A bot may print a line for each."""
MOST_EVENTS = 100_000
"""Maximum number of events of one match."""
MOST_UNFINISHED = 20
"""Maximum number of consecutive matches that the host starts but does not end."""
FREE_NEWS = 200
"""Reports, transcripts and dismissals allowed for matches that were played without this bot."""
NEWS_OF_A_MATCH = 10
"""Reports and transcripts allowed per match: they are sent again after each disconnection."""
_TOKEN = re.compile(r"[!-~]{1,100}")
"""The form of a token: it goes into the environment of the bot's process."""


class HostError(Exception):
    """The host has sent something that no honest host sends. The text explains it and is safe to print."""


class Bounds:
    """Counters of the messages that the host has sent."""

    def __init__(self) -> None:
        self._frames = self._bytes = self._unknown = 0
        self._unfinished = 0
        self._matches = self._news = 0

    def frame(self, frame: bytes) -> None:
        """Check the size and nesting of a message.

        Raises:
            HostError: the message is too large or nested too deeply.
        """
        if len(frame) > MOST_FRAME_BYTES:
            raise HostError(f"a message of {len(frame)} bytes; at most {MOST_FRAME_BYTES} are read")
        if is_deeper(frame, MAX_NESTING):
            raise HostError(f"a message that is nested deeper than {MAX_NESTING} levels")

    def match_frame(self, frame: bytes) -> None:
        """Count a message of a match.

        Raises:
            HostError: there are too many messages or bytes.
        """
        self._frames += 1
        self._bytes += len(frame)
        if self._frames > MOST_MATCH_FRAMES:
            raise HostError(f"more than {MOST_MATCH_FRAMES} messages in one match")
        if self._bytes > MOST_MATCH_BYTES:
            raise HostError(f"more than {MOST_MATCH_BYTES} bytes in one match")

    def unknown(self) -> None:
        """Count a message that is not understood.

        Raises:
            HostError: there are too many.
        """
        self._unknown += 1
        if self._unknown > MOST_UNKNOWN:
            raise HostError(f"more than {MOST_UNKNOWN} messages in one match that are not of this protocol")

    def news(self) -> None:
        """Count a report, a transcript or a dismissal.

        Raises:
            HostError: there are more than the matches played can explain.
        """
        self._news += 1
        if self._news > FREE_NEWS + NEWS_OF_A_MATCH * self._matches:
            raise HostError(f"{self._news} reports and transcripts, after {self._matches} matches of this bot")

    def begin(self) -> None:
        """Count the start of a match."""
        self._matches += 1

    def end(self, *, finished: bool) -> None:
        """Reset the counters of the match for the next one.

        Raises:
            HostError: the host starts match after match and ends none.
        """
        self._frames = self._bytes = self._unknown = 0
        self._unfinished = 0 if finished else self._unfinished + 1
        if self._unfinished >= MOST_UNFINISHED:
            raise HostError(f"invitations to {MOST_UNFINISHED} matches, none of which it has ended")


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


MOST_KINDS = 100
"""Number of different refusal texts that are counted; the host may send any number of them."""
MOST_SHOWN = 3
TEXT = 300
"""Maximum number of characters of a text that are shown."""


class Summary:
    """The summary of one match so far."""

    def __init__(self) -> None:
        self._seat = -1
        self._match = ""
        self._outcome: Outcome | None = None
        self._fault = ""
        self._windows = self._by_default = self._forgone = self._worst_ms = 0
        self._refused = self._late = 0
        self._refusals: Counter[str] = Counter()
        self._nothing = self._raised = 0
        self._forgoes = False
        """True if the bot's latest submission in the open window chose the default."""
        self._no_action: NoAction | UnsetType = UNSET
        """The reason why the kit submitted in place of the bot; UNSET if it did not."""

    def hear(self, told: ServerMessage) -> None:
        """Record a message from the host."""
        match told:
            case Welcome(match=name, seat=seat):
                self._match, self._seat = name[:TEXT], seat
            case Opened():
                self._windows += 1
                self._forgoes, self._no_action = False, UNSET
            case Closed(by_default=by_default, charged_ms=charged_ms):
                self._by_default += by_default
                self._count_choice(by_default=by_default)
                self._worst_ms = max(self._worst_ms, charged_ms)
            case Rejected(reason=Refusal.LATE):
                self._late += 1
            case Rejected(reason=reason, text=text):
                kind = f"{reason}: {text[:TEXT]}"
                self._refused += 1
                if kind in self._refusals or len(self._refusals) < MOST_KINDS:
                    self._refusals[kind] += 1
            case Over(outcome=outcome):
                self._outcome = outcome
            case Faulted(reason=reason, text=text):
                self._fault = f"{reason}: {text[:TEXT]}"
            case Invited() | EventMessage() | Accepted() | Paused() | Resumed():
                pass
            case _ as unreachable:
                assert_never(unreachable)

    def _count_choice(self, *, by_default: bool) -> None:
        """Count the origin of the bot's final submission in the window that has closed."""
        self._forgone += by_default and self._forgoes and self._no_action is UNSET
        self._nothing += self._no_action == "returned-nothing"
        self._raised += self._no_action == "raised"

    def say(self, said: Submit | Undo) -> None:
        """Record a submission of the bot for the open window."""
        self._forgoes = isinstance(said, Submit) and bytes(said.action) == b"null" and said.final is True
        self._no_action = said.because if isinstance(said, Submit) else UNSET

    def lines(self) -> list[str]:
        """Return the summary as lines with unprintable characters escaped; empty before the match starts."""
        if self._seat < 0:
            return []
        said = [f"match {self._match}, seat {self._seat}: {self._came_out()}"]
        windows = _counted(self._windows, "window")
        said.append(f"{windows}, {self._by_default} decided by default; the longest took {self._worst_ms} ms")
        if self._late:
            said.append(f"{_counted(self._late, 'answer')} came too late")
        if self._forgone:
            said.append(f"the bot chose the default {_times(self._forgone)}")
        if self._nothing:
            said.append(f"decide returned nothing {_times(self._nothing)}")
        if self._raised:
            said.append(f"decide raised an error {_times(self._raised)}")
        if self._refused:
            said.append(f"{_counted(self._refused, 'message')} refused: {self._kinds()}")
        return [printable(line) for line in said]

    def _came_out(self) -> str:
        if self._fault:
            return f"the host ended the match for this bot: {self._fault}"
        if self._outcome is None:
            return "not over when the bot's program ended"
        ranking = self._outcome.ranking
        place = next((place for place, group in enumerate(ranking, 1) if self._seat in group), 0)
        scores = self._outcome.scores or {}
        said = f"place {place} of {sum(map(len, ranking))}"
        if str(self._seat) in scores:
            said += f", score {scores[str(self._seat)]}"
        return f"{said}, {self._outcome.reason[:TEXT]}"

    def _kinds(self) -> str:
        shown = self._refusals.most_common(MOST_SHOWN)
        said = [f"{text} ({_times(times)})" for text, times in shown]
        others = self._refused - sum(times for _, times in shown)
        if others:
            said.append(f"others ({_times(others)})")
        return "; ".join(said)


def printable(text: str) -> str:
    """Return the text on one line, with unprintable characters escaped so that a terminal is safe."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + "s" * (count != 1)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
