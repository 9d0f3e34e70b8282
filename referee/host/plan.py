"""What a match is to be: game, deal, policy, isolation; and what came of it. Plain data, for arena and referee."""

from msgspec import Raw, Struct

from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.match import ClockTable, HeldUp, NotNegative, Policy, SeatReport
from referee.sandbox import Isolation


class Plan(Struct, frozen=True, kw_only=True):
    """One match to be played."""

    match: str
    """A name for it, unique in its tournament; bots are told it."""
    game: str
    variant: str
    seed: int
    seating: NotNegative = 0
    """Counts the matches of one deal. Bots' own seeds follow from it as well, and so tell no bot that it has seen
    this deal before."""
    options: Raw | None = None
    """JSON object; None: all defaults."""
    setup: Raw | None = None
    """JSON object; None: drawn."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """The match's times; None: as the variant's rules give them, but for what the policy sets."""
    isolation: Isolation = "strict"
    block: int | None = None
    """Of which block of a tournament it is a match. No bot is told."""
    unexcused: tuple[NotNegative, ...] = ()
    """The seats that a verdict `host` does not excuse: a tournament found that their bots hold themselves up."""
    labels: tuple[str, ...] = ()
    """By seat: what bots are called where people read of the match; none: the bots' own names. No bot is told."""
    credit_ms: NotNegative = 0
    """The most of a remote bot's network delay that is not charged to it, in each of its windows."""
    warm: bool = True
    """Whether Python bots in a sandbox are forked from a process that holds the kit already: see `prefork`."""


class Result(Struct, frozen=True, kw_only=True):
    """What came of one attempt at a match."""

    match: str
    outcome: Outcome | None
    """None: the attempt is void."""
    conduct: tuple[Conduct, ...]
    """By seat."""
    void: str | None
    """Why the attempt does not count: a fault of the referee or the machine."""
    held_up: HeldUp | None = None
    """The bot whose hold-up voided the attempt; None: it is not void, or for another reason."""
    charged_us: tuple[int, ...]
    """By seat: the time charged over all its windows, in microseconds: quick bots answer in a few hundred."""
    windows: tuple[int, ...]
    """By seat: how many windows it had."""
    defaults: tuple[int, ...]
    """By seat: how many of them took the default."""
    refused: tuple[int, ...] = ()
    """By seat: how many of its messages were refused."""
    transcript: str
    """Path of the transcript."""
    head: str
    """Hash of the transcript's last line: quote it, and nobody can change the file unseen."""
    remote: tuple[int, ...] = ()
    """The seats whose bots ran on their authors' own machines: nothing here shut them in."""
    debugged: tuple[int, ...] = ()
    """The seats whose bots ran outside the sandbox at their author's terminal, while their clocks stood."""
    reports: tuple[SeatReport, ...] = ()
    """By seat: how its bot did, and why it lost what it lost."""
    verdicts: tuple[dict[str, int], ...] = ()
    """By seat: whose fault it was, of windows that took the default or used reserve; by `Verdict`."""

    def report(self, seat: int) -> SeatReport:
        """Return how the bot of a seat did; an empty report where none was made."""
        return self.reports[seat] if self.reports else SeatReport()
