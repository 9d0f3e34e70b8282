"""Limits that an honest host never exceeds, so that a hostile one cannot harm the machine of a bot's author. Pure.

The author trusts the host with the result of a match, but not with memory, disk or terminal.
"""

from protocol.codec import MAX_NESTING, is_deeper

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
