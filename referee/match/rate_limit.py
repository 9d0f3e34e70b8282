"""Limits on a bot's messages: from one of its windows to the next, and in the transcript of a match. Pure."""

from protocol.codec import Refused
from protocol.refusals import Refusal
from referee.match.policy import Policy


class Allowance:
    """Compares a bot's messages with the limits of the match's policy."""

    def __init__(self, policy: Policy) -> None:
        self._most = policy.messages_per_window
        self._most_bytes = policy.bytes_per_window
        self._most_written = policy.transcript_bytes_per_match
        self.written = 0
        """Bytes that its messages and their answers have added to the transcript."""
        self.renew()

    def renew(self) -> None:
        """Reset the limits per window, when a window opens."""
        self._messages = self._bytes = 0
        self.exceeded = 0
        self._too_much = 0

    def hear(self, size: int) -> Refused | None:
        """Count a message. Return a refusal once a limit is exceeded; all later messages are refused too."""
        if self.written >= self._most_written:
            self._too_much += 1
            why = f"you have added more than {self._most_written} bytes to the transcript of this match"
            return Refused(Refusal.TOO_MUCH, why)
        self._messages += 1
        self._bytes += size
        if self._messages > self._most:
            why = f"more than {self._most} messages in a window"
        elif self._bytes > self._most_bytes:
            why = f"more than {self._most_bytes} bytes in a window"
        else:
            return None
        self.exceeded += 1
        return Refused(Refusal.FLOOD, why)

    def is_told(self, refusal: Refusal) -> bool:
        """Return whether a refused message is answered. Of many refused for the same limit, only the first is."""
        if refusal is Refusal.FLOOD:
            return self.exceeded == 1
        if refusal is Refusal.TOO_MUCH:
            return self._too_much == 1
        return True
