"""One seat over a match: its start-up time, the limits on its messages, its counts, and the messages to it. Pure.

Plain mutable data, changed only by `match` and its parts. Times are passed in.
"""

import hmac
from collections import Counter
from typing import Protocol

from msgspec import Raw

from protocol.codec import Refused, encode
from protocol.messages import PROTOCOL, Hello, NoAction
from protocol.messages import ServerMessage as Message
from protocol.refusals import Conduct, Fault, Refusal
from referee.match.records import OUT_BYTES, BotIdentity, Judged, Out, Record, Used
from referee.match.seat_report import (
    MICROSECONDS,
    MOST_COMPLAINTS,
    TEXT,
    Complaint,
    Frequent,
    SeatReport,
    quoted,
    spread_of,
)
from referee.match.terms import LONGEST_MS, MatchTerms, Policy
from referee.match.window import MICROSECONDS_PER_MS
from referee.rules import Addressed, Quoted, reveal

WORTH_PROLONGING = 100
"""The smallest extension is one part in this many of the start-up time."""
MOST_STARTS = 10
"""The largest extension in start-up times. Beyond it, the attempt is void."""
GAP_US = 50_000
"""Microseconds between two answers up to which they count as sent at once."""
END_US = 1_000_000
"""Microseconds before the program's end from which answers count as sent at its end."""
MANY = 2
"""Number of late answers at once that are a sign of missing flushes: a single one may have been slow."""
HELLOS_PER_MATCH = 20
"""The most `hello`s of a bot in a match: each is answered with all events sent so far."""
KINDS_OF_COMPLAINTS = 100
"""The most different complaints about a bot that are counted: their texts may contain the bot's own words."""


class StartUp:
    """The start-up time of a seat's bot. Times are in microseconds."""

    def __init__(self, whole: int) -> None:
        """Set the longest time that a start may take."""
        self.whole = whole
        """The longest time that a start may take."""
        self._prolonged = 0
        self._cpu: int | None = None
        self.began = 0
        """The time at which the start-up clock started to run."""
        self.ends: int | None = None
        """The time by which a (re)started bot must have sent `hello`; None: it has, or has left the match."""
        self.used: Used | None = None
        """The measurement of the start, after it has run out."""

    def begin(self, now: int) -> None:
        """Start the whole time now."""
        self.began = now
        self.ends = now + self.whole
        self._prolonged = 0

    def end(self) -> None:
        """Stop the clock, because the bot has sent `hello` or left the match."""
        self.ends = None

    def is_out(self, at: int) -> bool:
        """Return whether the clock runs, and has run out at a time."""
        return self.ends is not None and at >= self.ends

    def prolong(self, at: int) -> bool:
        """Refund delays of the machine and the referee by an extension; return False if they are too small.

        The delays follow from `used`, and are refunded once.
        """
        used, self.used = self.used, None
        self._cpu = None
        if used is None:
            return False
        self._cpu = used.cpu
        if used.flooded:
            return False
        taken = used.withheld + used.behind
        more, self._prolonged = taken - self._prolonged, taken
        if more < self.whole // WORTH_PROLONGING:
            return False
        self.ends = at + more
        return True

    def why_out(self) -> str:
        """Return the reason in words for which a bot without `hello` is removed."""
        text = f"no hello in {self.whole / MICROSECONDS:g} s"
        if self._cpu is None:
            return text
        return f"{text} ({self._cpu / MICROSECONDS:.1f} s of processor time used)"

    def is_kept(self) -> bool:
        """Return whether the delays are so large that the bot is kept from starting at all."""
        return self._prolonged > MOST_STARTS * self.whole


class Allowance:
    """Compares a bot's messages with the limits of the match's policy."""

    def __init__(self, policy: Policy) -> None:
        self._most = policy.messages_per_window
        self._most_bytes = policy.bytes_per_window
        self._most_written = policy.transcript_bytes_per_match
        self.written = 0
        """Bytes that the bot's messages and their answers have added to the transcript."""
        self.renew()

    def renew(self) -> None:
        """Reset the limits per window, when a window opens."""
        self._messages = self._bytes = 0
        self.exceeded = 0
        self._too_much = 0

    def count_message(self, size: int) -> Refused | None:
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
        """Return whether a refused message is answered: of all that exceed one limit, only the first is."""
        if refusal is Refusal.FLOOD:
            return self.exceeded == 1
        if refusal is Refusal.TOO_MUCH:
            return self._too_much == 1
        return True


class LineProgram:
    """The program of a seat's bot. Nothing is noted about bots that send `hello` themselves."""

    def __init__(self) -> None:
        self.bridged = False
        """True if the bridge has sent `hello` for the program."""
        self.spoke = False
        """True if the program has sent a message itself, and so has started."""
        self.heard_by: int | None = None
        """The time until which the match waits for that message before the seat wins by others' forfeits."""
        self.printed = ""
        """The first printed line that is no message, fit to be shown."""
        self.printed_windows = 0
        """Number of windows in which the program printed such lines."""
        self.answers = LateAnswers()
        self._printed_in: int | None = None
        self._waited_out = False

    @property
    def is_unheard(self) -> bool:
        """True if the program may not have started: only the bridge has sent messages."""
        return self.bridged and not (self.spoke or self._waited_out)

    def prints(self, line: bytes, windows: int) -> bool:
        """Note a line that is no message; return whether it is the first one in this window.

        `windows` is the number of windows that the seat has had.
        """
        if self._printed_in == windows:
            return False
        self._printed_in = windows
        self.printed = self.printed or quoted(line)
        self.printed_windows += 1
        return True

    def wait(self, until: int) -> None:
        """Wait for the program's first message until a time, if there was none and the match does not wait yet."""
        if self.is_unheard and self.heard_by is None:
            self.heard_by = until

    def speaks(self) -> bool:
        """Note a message; return whether the match was waiting for it."""
        was_awaited, self.spoke, self.heard_by = self.heard_by is not None, True, None
        return was_awaited

    def pass_time(self, at: int) -> bool:
        """Stop waiting if the time is over; return whether that happened now."""
        if self.heard_by is None or at < self.heard_by:
            return False
        self.heard_by, self._waited_out = None, True
        return True


class LateAnswers:
    """Counts answers that arrived after their windows, many at once.

    That is a sign of output that a program does not flush: its library holds it until a buffer is full or the
    program exits.
    """

    def __init__(self) -> None:
        self.at_end = 0
        """Number of answers that arrived when the program exited, if none had arrived before."""
        self.at_once = 0
        """The largest number of late answers at once; 0: there were none."""
        self._any = self._in_time = False
        self._first = self._last = 0
        self._windows: set[int] = set()
        """The windows of the current group of late answers."""

    def add(self, at: int, window: int, *, too_late: bool) -> None:
        """Note an answer."""
        if not self._any:
            self._first = at
        if not too_late or at - self._last > GAP_US:
            self._windows.clear()
        if too_late:
            self._windows.add(window)
        if len(self._windows) >= MANY:
            self.at_once = max(self.at_once, len(self._windows))
        self._any, self._last = True, at
        # The answer for the open window may arrive together with many late ones.
        self._in_time = self._in_time or not (too_late or self.at_once)

    def end(self, at: int) -> None:
        """Note that the program has exited before the end of its match."""
        if self.at_once and not self._in_time and at - self._first <= END_US:
            self.at_end = self.at_once

    def after_end(self, windows: int) -> None:
        """Note the number of windows answered when the program exited after its match."""
        if windows >= MANY and not self._any:
            self.at_end = self.at_once = windows


class Seat:
    """A seat of a match."""

    def __init__(self, number: int, bot: BotIdentity, terms: MatchTerms) -> None:
        policy = terms.policy
        self.number = number
        self.bot = bot
        self.welcomed = False
        """True if the bot has sent a valid `hello`, and is connected as far as is known."""
        self.hellos = 0
        """Number of valid `hello`s. More than one means that the bot has reconnected."""
        self.program = LineProgram()
        self.gone = False
        """True if the bot has left the match, so that its frames are not read any more."""
        self.conduct = Conduct.OK
        """The bot's first fault, which it keeps after a restart."""
        self.forfeited = False
        startup_ms = policy.startup_ms
        if bot.debugged is True:
            startup_ms = LONGEST_MS
        self.start_up = StartUp(startup_ms * MICROSECONDS_PER_MS)
        self.told: list[Raw] = []
        self.windows = 0
        self.allowance = Allowance(policy)
        """The messages that the bot may still send until its next window opens."""
        self.refused: Counter[str] = Counter()
        """Numbers of refused messages, keyed by `Refusal`."""
        self.refusals = 0
        self.pauses_left = policy.pauses
        self.restarts_left = self._restarts = policy.restarts * (policy.fault == "restart")
        self.reserve = terms.clock.reserve_ms * MICROSECONDS_PER_MS
        """Reserve left for the match, in microseconds."""
        self.charged = 0
        """Time charged over all windows of the seat, in microseconds."""
        self.defaults = 0
        self.verdicts: Counter[str] = Counter()
        """Numbers of verdicts on windows that took the default or used reserve, keyed by `Verdict`."""
        self.times: list[int] = []
        """Time charged for each window before the bot left, in microseconds."""
        self.hello_us: int | None = None
        """Microseconds from the bot's start to its first `hello`."""
        self.loss = ""
        """The reason for which the bot was lost the first time."""
        self.closed_for = ""
        """The reason for which the bot's connection was closed the last time; empty: it was not closed."""
        self.times_closed = 0
        self._complaints: Frequent[tuple[str, str]] = Frequent(KINDS_OF_COMPLAINTS)
        self._late: list[int] = []
        self._unanswered = 0
        self._asked_default = self._fallbacks = 0
        self._no_action: Counter[NoAction] = Counter()
        self._refusals_before = 0
        """Number of refusals when the last window closed."""

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
        """Note a line of the bot that is no message. It counts as refused once per window."""
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
        """Note the reason for which the bot has left, or is being restarted."""
        self.loss = self.loss or why[:TEXT]
        self.program.answers.end(at)

    def report(self) -> SeatReport:
        """Return the report on the bot, as far as the match knows."""
        hello_us = self.hello_us
        if self.conduct is Conduct.NEVER_STARTED:
            hello_us = None
        return SeatReport(
            loss=self.loss,
            closed_for=self.closed_for,
            hello_us=hello_us,
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
        """True if the bot has sent a valid `hello`; if the bridge sent it, also a message of its own."""
        return self.hellos > 0 and (self.program.spoke or not self.program.bridged)

    @property
    def present(self) -> bool:
        """True if the bot can receive messages."""
        return self.welcomed and not self.gone

    @property
    def reserve_ms(self) -> int:
        """Reserve left for the match, in whole milliseconds."""
        return self.reserve // MICROSECONDS_PER_MS


class MatchIO(Protocol):
    """The services that a match uses. They must not block or fail."""

    def record(self, record: Record) -> None:
        """Write a record to the transcript."""

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """Send a frame to a bot. If `timed`, apply a `Handed` when the transport has accepted it."""

    def nobody_handed(self, seat: int) -> None:
        """Apply a `Handed` for a seat that has a window but no bot at the moment."""

    def reconnected(self, seat: int) -> None:
        """Drop unsent frames of a seat whose bot has reconnected."""

    def hang_up(self, seat: int) -> None:
        """Disconnect a seat's bot, which has left the match."""

    def restart(self, seat: int) -> None:
        """Start a seat's bot again, which has exited."""

    def told(self, told: tuple[Addressed, ...]) -> None:
        """Show spectators the events that are being sent to the seats."""

    def paused(self, reason: str) -> None:
        """Show spectators that all clocks are stopped."""

    def resumed(self) -> None:
        """Show spectators that the clocks run again."""


class Outbox:
    """Sends the messages of a match, and writes a record of each. `now` is the time of the latest input."""

    def __init__(self, io: MatchIO, seats: list[Seat]) -> None:
        self.io = io
        self.now = 0
        self.size = 0
        """Bytes that the messages sent have added to the transcript."""
        self._seats = seats

    def send(self, seat: Seat, message: Message | Raw, *, timed: bool = False) -> None:
        """Send a message to a seat, if its bot is connected."""
        if seat.present:
            self._send(seat, message, timed=timed)

    def send_unwelcomed(self, seat: Seat, message: Message) -> None:
        """Send a message to a bot that may not have sent a valid `hello` yet."""
        if not seat.gone:
            self._send(seat, message)

    def send_all(self, message: Message) -> None:
        """Send a message to every seat whose bot is connected."""
        for seat in self._seats:
            self.send(seat, message)

    def tell(self, told: tuple[Addressed, ...]) -> None:
        """Send the game's events to their seats, and store them for bots that reconnect."""
        for one in told:
            if isinstance(one.event, Quoted):
                self._quote(one.event, one.seat)
                continue
            event = Raw(encode(one.event))
            for number in reveal.audience(one, len(self._seats)):
                seat = self._seats[number]
                if seat.present:
                    self._send(seat, reveal.event_message(event, len(seat.told)))
                seat.told.append(event)
        self.io.told(told)

    def _quote(self, quoted: Quoted, number: int | None) -> None:
        for seat in self._seats:
            if number in (None, seat.number):
                self.send(seat, quoted.frame)
                if quoted.event is not None:
                    seat.told.append(quoted.event)

    def _send(self, seat: Seat, message: Message | Raw, *, timed: bool = False) -> None:
        frame = encode(message)
        self.io.record(Out(at=self.now, seat=seat.number, frame=Raw(frame)))
        self.size += len(frame) + OUT_BYTES
        self.io.send(seat.number, frame, timed=timed)


def wrong_hello(hello: Hello, token: str) -> tuple[Fault, str] | None:
    """Return the fault of a `hello`, with a text for its bot; None: it is valid."""
    if not hmac.compare_digest(hello.token.encode(errors="replace"), token.encode()):
        return Fault.WRONG_TOKEN, "this is not the token of ARENA_TOKEN"
    if hello.protocol != PROTOCOL:
        return Fault.WRONG_PROTOCOL, f"protocol {hello.protocol} is not spoken here; {PROTOCOL} is"
    return None
