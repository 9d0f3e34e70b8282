"""Plain data about a match: its plan (game, deal, policy, isolation) and its result."""

from msgspec import Raw, Struct

from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.match import ClockTable, HeldUp, NotNegative, Policy, SeatReport
from referee.sandbox import Isolation


class Plan(Struct, frozen=True, kw_only=True):
    """A match to be played."""

    match: str
    """The match's name, unique in its tournament. It is sent to the bots."""
    game: str
    variant: str
    seed: int
    seating: NotNegative = 0
    """Number of the match among those of one deal. Bots' own seeds depend on it too, so that no bot can recognise
    a deal that it has seen before."""
    options: Raw | None = None
    """JSON object; None: all defaults."""
    setup: Raw | None = None
    """JSON object; None: drawn at random."""
    policy: Policy = Policy()
    clock: ClockTable | None = None
    """The match's clock; None: the clock of the variant's rules, as changed by the policy."""
    isolation: Isolation = "strict"
    block: int | None = None
    """Number of the tournament's block to which the match belongs. It is not sent to bots."""
    unexcused: tuple[NotNegative, ...] = ()
    """Seats that a verdict `host` does not excuse, because the tournament found that their bots stall
    themselves."""
    labels: tuple[str, ...] = ()
    """Names of the bots for people who read about the match, indexed by seat; empty: the bots' own names. They are
    not sent to bots."""
    credit_ms: NotNegative = 0
    """Milliseconds of a remote bot's network delay, per window, that are not charged to it at most."""
    warm: bool = True
    """True if sandboxed Python bots are forked from a process that has imported the kit already; see `prefork`."""


class Result(Struct, frozen=True, kw_only=True):
    """The result of one attempt at a match."""

    match: str
    outcome: Outcome | None
    """None: the attempt is void."""
    conduct: tuple[Conduct, ...]
    """The conduct of each bot; indexed by seat."""
    void: str | None
    """The reason why the attempt does not count: a fault of the referee or the machine. None: it counts."""
    held_up: HeldUp | None = None
    """The bot that voided the attempt by stalling; None: the attempt is not void, or for another reason."""
    charged_us: tuple[int, ...]
    """Microseconds charged over all windows, indexed by seat. Quick bots answer in a few hundred."""
    windows: tuple[int, ...]
    """Number of windows, indexed by seat."""
    defaults: tuple[int, ...]
    """Number of windows that took the default action, indexed by seat."""
    refused: tuple[int, ...] = ()
    """Number of refused messages, indexed by seat."""
    transcript: str
    """Path of the transcript."""
    head: str
    """Hash of the transcript's last line. Where it is published, no later change of the file goes unnoticed."""
    remote: tuple[int, ...] = ()
    """Seats whose bots ran on their authors' own machines, outside any sandbox of this arena."""
    debugged: tuple[int, ...] = ()
    """Seats whose bots ran outside the sandbox, at their author's terminal, with stopped clocks."""
    reports: tuple[SeatReport, ...] = ()
    """Reports on each bot: its use of time and memory, and the causes of its losses; indexed by seat."""
    verdicts: tuple[dict[str, int], ...] = ()
    """Counts of `Verdict`s on windows that took the default or used reserve; indexed by seat."""

    def report(self, seat: int) -> SeatReport:
        """Return the report on the bot of a seat, or an empty one where none was made."""
        return self.reports[seat] if self.reports else SeatReport()
