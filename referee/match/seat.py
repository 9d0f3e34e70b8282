"""What the referee keeps of one seat over a match. Plain mutable data, changed by `match` and its parts only."""

from collections import Counter

from msgspec import Raw

from protocol.messages import ClockTerms
from protocol.refusals import Conduct
from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.policy import Policy
from referee.match.rate_limit import Allowance
from referee.match.records import BotIdentity
from referee.match.startup import StartUp


class Seat:
    """One seat of one match."""

    def __init__(self, number: int, bot: BotIdentity, terms: ClockTerms, policy: Policy) -> None:
        self.number = number
        self.bot = bot
        self.welcomed = False
        """Its bot has said a right `hello`, and is connected as far as we know."""
        self.hellos = 0
        """How many right ones it has said: more than one means that it came back."""
        self.gone = False
        """Its bot's part is over; whatever still comes is not read."""
        self.conduct = Conduct.OK
        """The first fault, once there is one: a restarted bot keeps it."""
        self.forfeited = False
        self.start_up = StartUp(policy.startup_ms * MICROSECONDS_PER_MS)
        self.told: list[Raw] = []
        """Every event told to it, as sent."""
        self.windows = 0
        """How many windows it has been given."""
        self.allowance = Allowance(policy)
        """What it may still say until its next window opens."""
        self.refused: Counter[str] = Counter()
        """Messages of its bot that were turned down, by `Refusal`."""
        self.refusals = 0
        """All of them."""
        self.pauses_left = policy.pauses
        self.restarts_left = policy.restarts if policy.fault == "restart" else 0
        self.reserve = terms.reserve_ms * MICROSECONDS_PER_MS
        """Reserve left for the match, in microseconds."""
        self.charged = 0
        """Time charged over all its windows, in microseconds."""
        self.defaults = 0
        self.verdicts: Counter[str] = Counter()
        """Of its windows that took the default or used reserve, by `Verdict`."""

    @property
    def present(self) -> bool:
        """Whether messages to it have somebody to go to."""
        return self.welcomed and not self.gone

    @property
    def reserve_ms(self) -> int:
        """Reserve left for the match, in whole milliseconds."""
        return self.reserve // MICROSECONDS_PER_MS
