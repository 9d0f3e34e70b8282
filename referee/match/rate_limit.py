"""How much a bot may say from one of its windows to the next; what is more is a flood. Pure."""

from protocol.codec import Refused
from protocol.refusals import Refusal
from referee.match.policy import Policy


class Allowance:
    """What one bot has said since its last window opened, against what the match's policy allows."""

    def __init__(self, policy: Policy) -> None:
        self._most = policy.messages_per_window
        self._most_bytes = policy.bytes_per_window
        self.renew()

    def renew(self) -> None:
        """A window opens."""
        self._messages = self._bytes = 0
        self.exceeded = 0

    def hear(self, size: int) -> Refused | None:
        """Counts a message of so many bytes; why it is one too many, if it is. So are then all that follow."""
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
        """Whether a message refused for this is answered: of a flood only the first, or answers were another."""
        return refusal is not Refusal.FLOOD or self.exceeded == 1
