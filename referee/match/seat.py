"""What the referee keeps of one seat over a match. Plain mutable data, changed by `match` and its parts only."""

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
"""Of one bot, that are counted at once: the texts may hold what the bot wrote."""


class Seat:
    """One seat of one match."""

    def __init__(self, number: int, bot: BotIdentity, terms: ClockTerms, policy: Policy) -> None:
        self.number = number
        self.bot = bot
        self.welcomed = False
        """Its bot has said a right `hello`, and is connected as far as we know."""
        self.hellos = 0
        """How many right ones it has said: more than one means that it came back."""
        self.program = LineProgram()
        self.gone = False
        """Its bot's part is over; whatever still comes is not read."""
        self.conduct = Conduct.OK
        """The first fault, once there is one: a restarted bot keeps it."""
        self.forfeited = False
        startup_ms = LONGEST_MS if bot.debugged is True else policy.startup_ms
        self.start_up = StartUp(startup_ms * MICROSECONDS_PER_MS)
        self.told: list[Raw] = []
        self.windows = 0
        self.allowance = Allowance(policy)
        """What it may still say until its next window opens."""
        self.refused: Counter[str] = Counter()
        """Messages of its bot that were turned down, by `Refusal`."""
        self.refusals = 0
        self.pauses_left = policy.pauses
        self.restarts_left = policy.restarts if policy.fault == "restart" else 0
        self.reserve = terms.reserve_ms * MICROSECONDS_PER_MS
        """Reserve left for the match, in microseconds."""
        self.charged = 0
        """Time charged over all its windows, in microseconds."""
        self.defaults = 0
        self.verdicts: Counter[str] = Counter()
        """Of its windows that took the default or used reserve, by `Verdict`."""
        self.times: list[int] = []
        """Time charged for each window that its bot was there for, in microseconds."""
        self.hello_us: int | None = None
        """From its bot's start to its first `hello`, in microseconds."""
        self.loss = ""
        """Why its bot was lost for the first time."""
        self.closed_for = ""
        """Why its bot's connection was closed the last time; empty: it was not."""
        self.times_closed = 0
        self._complaints: Frequent[tuple[str, str]] = Frequent(KINDS_OF_COMPLAINTS)
        self._late: list[int] = []
        self._unanswered = 0
        self._asked_default = self._fallbacks = 0
        self._no_action: Counter[NoAction] = Counter()
        self._refusals_before = 0
        """As the last window closed."""
        self._restarts = policy.restarts if policy.fault == "restart" else 0

    def closed(self, charged: int, *, by_default: bool, asked: bool, no_action: NoAction | None = None) -> None:
        """Count a window that has closed.

        Args:
            charged: time charged, in microseconds.
            by_default: whether the default was taken.
            asked: whether the bot chose the default itself.
            no_action: why its kit chose it in its place; None: it did not.
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
        """One of its messages was refused."""
        self.refused[refusal] += 1
        self.refusals += 1
        if refusal != Refusal.LATE:  # Of which it is told by how much.
            self._complaints.add((refusal, text[:TEXT]))

    def prints(self, line: bytes) -> None:
        """Take note of a line of its bot that is no message. Counts as refused once a window."""
        if self.program.prints(line, self.windows):
            self.refused[Refusal.NO_MESSAGE] += 1
            self.refusals += 1

    def judged(self, judged: Judged) -> None:
        """It is known whose fault a lost window is."""
        self.verdicts[judged.verdict.value] += 1
        evidence = judged.evidence
        if evidence.by_default and not evidence.gone:
            if evidence.late_by is None:
                self._unanswered += 1
            else:
                self._late.append(evidence.late_by)

    def lost(self, why: str, at: int) -> None:
        """Its bot is gone, or is being started again."""
        self.loss = self.loss or why[:TEXT]
        self.program.answers.end(at)

    def report(self) -> SeatReport:
        """How its bot did, as far as the match knows."""
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
        """Whether its bot has said a right `hello`; and if the bridge did, a message of its own."""
        return self.hellos > 0 and (self.program.spoke or not self.program.bridged)

    @property
    def present(self) -> bool:
        """Whether messages to it have somebody to go to."""
        return self.welcomed and not self.gone

    @property
    def reserve_ms(self) -> int:
        """Reserve left for the match, in whole milliseconds."""
        return self.reserve // MICROSECONDS_PER_MS
