"""The state of one seat over a match. Plain mutable data, changed only by `match` and its parts."""

from collections import Counter

from msgspec import Raw

from protocol.messages import ClockTerms, NoAction
from protocol.refusals import Conduct, Refusal
from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.clock_config import LONGEST_MS
from referee.match.frequent import Frequent
from referee.match.line_program import LineProgram
from referee.match.policy import Policy
from referee.match.rate_limit import Allowance
from referee.match.records import BotIdentity, Judged
from referee.match.seat_report import MOST_COMPLAINTS, TEXT, Complaint, SeatReport, spread_of
from referee.match.startup import StartUp

KINDS_OF_COMPLAINTS = 100
"""The most different complaints about a bot that are counted: their texts may contain the bot's own words."""


class Seat:
    """A seat of a match."""

    def __init__(self, number: int, bot: BotIdentity, terms: ClockTerms, policy: Policy) -> None:
        self.number = number
        self.bot = bot
        self.welcomed = False
        """Whether its bot has sent a valid `hello`, and is connected as far as is known."""
        self.hellos = 0
        """Number of valid `hello`s. More than one means that the bot has reconnected."""
        self.program = LineProgram()
        self.gone = False
        """Whether its bot has left the match, so that its frames are not read any more."""
        self.conduct = Conduct.OK
        """The bot's first fault, which it keeps after a restart."""
        self.forfeited = False
        startup_ms = LONGEST_MS if bot.debugged is True else policy.startup_ms
        self.start_up = StartUp(startup_ms * MICROSECONDS_PER_MS)
        self.told: list[Raw] = []
        self.windows = 0
        self.allowance = Allowance(policy)
        """The messages that its bot may still send until its next window opens."""
        self.refused: Counter[str] = Counter()
        """Numbers of refused messages, keyed by `Refusal`."""
        self.refusals = 0
        self.pauses_left = policy.pauses
        self.restarts_left = policy.restarts if policy.fault == "restart" else 0
        self.reserve = terms.reserve_ms * MICROSECONDS_PER_MS
        """Reserve left for the match, in microseconds."""
        self.charged = 0
        """Time charged over all its windows, in microseconds."""
        self.defaults = 0
        self.verdicts: Counter[str] = Counter()
        """Numbers of verdicts on windows that took the default or used reserve, keyed by `Verdict`."""
        self.times: list[int] = []
        """Time charged for each window before its bot left, in microseconds."""
        self.hello_us: int | None = None
        """Microseconds from its bot's start to its first `hello`."""
        self.loss = ""
        """The reason for which its bot was lost the first time."""
        self.closed_for = ""
        """The reason for which its bot's connection was closed the last time; empty: it was not closed."""
        self.times_closed = 0
        self._complaints: Frequent[tuple[str, str]] = Frequent(KINDS_OF_COMPLAINTS)
        self._late: list[int] = []
        self._unanswered = 0
        self._asked_default = self._fallbacks = 0
        self._no_action: Counter[NoAction] = Counter()
        self._refusals_before = 0
        """Number of refusals when the last window closed."""
        self._restarts = policy.restarts if policy.fault == "restart" else 0

    def closed(self, charged: int, *, by_default: bool, asked: bool, no_action: NoAction | None = None) -> None:
        """Count a closed window.

        Args:
            charged: the time charged, in microseconds.
            by_default: whether the default action was used.
            asked: whether the bot chose the default itself.
            no_action: the reason for which its kit chose the default in its place; None: it did not.
        """
        self.charged += charged
        if not self.gone:
            self.times.append(charged)
        self.defaults += by_default
        self._asked_default += asked
        if no_action is not None:
            self._no_action[no_action] += 1
        self._fallbacks += asked and self.refusals > self._refusals_before
        self._refusals_before = self.refusals

    def complain(self, refusal: str, text: str) -> None:
        """Count a refused message."""
        self.refused[refusal] += 1
        self.refusals += 1
        if refusal != Refusal.LATE:  # Late messages are reported with their delay.
            self._complaints.add((refusal, text[:TEXT]))

    def prints(self, line: bytes) -> None:
        """Note a line of its bot that is no message. It counts as refused once per window."""
        if self.program.prints(line, self.windows):
            self.refused[Refusal.NO_MESSAGE] += 1
            self.refusals += 1

    def judged(self, judged: Judged) -> None:
        """Count the verdict on a lost window."""
        self.verdicts[judged.verdict.value] += 1
        evidence = judged.evidence
        if evidence.by_default and not evidence.gone:
            if evidence.late_by is None:
                self._unanswered += 1
            else:
                self._late.append(evidence.late_by)

    def lost(self, why: str, at: int) -> None:
        """Note the reason for which its bot has left, or is being restarted."""
        self.loss = self.loss or why[:TEXT]
        self.program.answers.end(at)

    def report(self) -> SeatReport:
        """Return the report on its bot, as far as the match knows."""
        return SeatReport(
            loss=self.loss,
            closed_for=self.closed_for,
            hello_us=None if self.conduct is Conduct.NEVER_STARTED else self.hello_us,
            restarts=self._restarts - self.restarts_left,
            late=len(self._late),
            worst_late_us=max(self._late, default=0),
            unanswered=self._unanswered,
            refused_late=self.refused[Refusal.LATE.value],
            asked_default=self._asked_default,
            fallbacks=self._fallbacks,
            returned_nothing=self._no_action["returned-nothing"],
            raised=self._no_action["raised"],
            complaints=tuple(
                Complaint(refusal, text, times)
                for (refusal, text), times in self._complaints.most_common(MOST_COMPLAINTS)
            ),
            printed=self.program.printed,
            printed_windows=self.program.printed_windows,
            answers_at_end=self.program.answers.at_end,
            answers_at_once=self.program.answers.at_once,
            spread=spread_of(self.times),
            worst_us=max(self.times, default=0),
        )

    @property
    def started(self) -> bool:
        """Whether its bot has sent a valid `hello`; if the bridge sent it, also a message of its own."""
        return self.hellos > 0 and (self.program.spoke or not self.program.bridged)

    @property
    def present(self) -> bool:
        """Whether its bot can receive messages."""
        return self.welcomed and not self.gone

    @property
    def reserve_ms(self) -> int:
        """Reserve left for the match, in whole milliseconds."""
        return self.reserve // MICROSECONDS_PER_MS
