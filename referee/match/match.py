"""All decisions of the referee in one match, made from inputs with their times.

Pure: it reads no clock and no network.

`flow` opens and closes windows and handles pauses, `seat` holds each seat's start, limits and counts, `verdicts`
finds out whose fault a lost window is. All inputs are data: the records marked *input*, each passed to `apply`.
Since nothing else affects decisions, a transcript's inputs passed to a new `Match` produce the same messages, byte
for byte (`transcript.replayer`). Times (`at`) are whole microseconds since the start of the match.
"""

import math
import re
from collections.abc import Sequence
from functools import partial
from itertools import filterfalse
from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from protocol.codec import Refused, decode_client_message, encode, oversized
from protocol.messages import (
    MAX_NOTE_CHARACTERS,
    PROTOCOL,
    ClientMessage,
    Faulted,
    Hello,
    Note,
    Over,
    Pause,
    Rejected,
    Submit,
    Undo,
    Welcome,
    is_message,
)
from protocol.refusals import Conduct, Fault, Refusal
from protocol.words import Outcome
from referee.match.flow import Flow, MatchPauses
from referee.match.records import (
    LINE_BYTES,
    START,
    AnyRecord,
    Cpu,
    Ended,
    Footer,
    Frame,
    Handed,
    Header,
    In,
    Input,
    Judged,
    Left,
    Out,
    PauseOrder,
    SeatEnded,
    SeatHeader,
    Started,
    Used,
    Verdict,
    WindowTime,
    Woke,
)
from referee.match.seat import HELLOS_PER_MATCH, MatchIO, Outbox, Seat, wrong_hello
from referee.match.seat_report import CLOSED
from referee.match.terms import MatchTerms
from referee.match.verdicts import ClosedSeatWindow, HeldUp, held_up_of, is_unfair, judge
from referee.match.window import WHY_NOT, SeatWindow, take, undo, why_not
from referee.rules import Illegal, Table

MS_PER_SECOND = 1_000
_PARTS = re.compile(rb"\(a message of [1-9][0-9]{0,2} parts\)")
"""The text by which the wire replaces a message of several parts. A bot that sends this text gets the same
reply."""
MOST_CLOSED = 20
"""The most closed connections of a bot that are recorded in a match."""


class Match:
    """A match in progress. It is `over` once it has an outcome or is void."""

    def __init__(self, table: Table, terms: MatchTerms, io: MatchIO) -> None:
        """Set up a match. `io` receives messages and records."""
        self.table = table
        self.terms = terms
        self.seats = [Seat(number, bot, terms) for number, bot in enumerate(terms.bots)]
        self.over = False
        """True if the match accepts no more input."""
        self.ended: Ended | None = None
        self.held_up: HeldUp | None = None
        """The bot that voided the match by stalling; None: the match is not void, or for another reason."""
        self._io = io
        self._outbox = Outbox(io, self.seats)
        self._flow = Flow(table, terms.clock, self.seats, self._outbox)
        self._pauses = MatchPauses(self._flow, self._outbox, terms.clock)
        self._playing = False
        self._outcome: Outcome | None = None
        """The outcome of the game, while evidence of its last window is still expected."""

    @property
    def now(self) -> int:
        """The time of the latest input."""
        return self._outbox.now

    # Inputs.

    def begin(self) -> None:
        """Start the match's time, and the start-up time of its bots."""
        for seat in self.seats:
            seat.start_up.begin(self.now)

    def apply(self, record: Frame | AnyRecord) -> bool:  # noqa: C901, PLR0912 - one case an input
        """Apply an input. All inputs enter here. Other records, and inputs after the end, have no effect.

        Returns whether a frame was accepted: False if it was refused, or its bot has left.
        """
        if self.over:
            return False
        match record:
            case Frame():
                return self._hear(record)
            case In(closed=""):
                return self._hear(record.came())
            case In():
                self._note_closed(record)
            case Handed():
                self._write(record)
                self._flow.handed(record.at, record.seat)
            case Cpu():
                self._write(record)
                self._flow.read_cpu(record.seat, record.used, record.cores)
            case Woke():
                self._wake(record)
            case Used():
                self._measure(record)
            case Started():
                self._start(record)
            case Left():
                self._leave(record)
            case PauseOrder():
                self._write(record)
                self._pauses.order(pause=record.on)
                self._advance()
            case Ended(void=str(reason)):
                self._outbox.now = max(self._outbox.now, record.at)
                self._end(None, reason)
            case Header() | Out() | WindowTime() | Judged() | Ended() | Footer() | SeatHeader() | SeatEnded():
                pass
            case _ as unreachable:
                assert_never(unreachable)
        return False

    def _write(self, record: Input) -> None:
        self._outbox.now = max(self._outbox.now, record.at)
        self._io.record(record)

    def _hear(self, came: Frame) -> bool:
        seat = self.seats[came.seat]
        if seat.gone:
            return False
        message = _message(seat, came)
        before, sent = seat.refusals, self._outbox.size
        is_refused = isinstance(message, Refused)
        record = In.of(came, message)
        self._write(record)
        was_awaited = _speaks(message) and seat.program.speaks()
        if not isinstance(message, Refused):
            self._act_on(seat, message, came.at)
        elif message.refusal is Refusal.NO_MESSAGE:
            seat.prints(came.frame)
            self._limit_refusals(seat)
        else:
            self._refuse(seat, message.refusal, message.text)
        seat.allowance.written += len(encode(record)) + LINE_BYTES + self._outbox.size - sent
        if was_awaited and not self.over:
            self._decided_by_forfeits()
        self._advance()
        return seat.refusals == before and not is_refused

    def _note_closed(self, record: In) -> None:
        """Note the reason why a bot's connection was closed. It may connect again."""
        seat = self.seats[record.seat]
        if not seat.gone and seat.times_closed < MOST_CLOSED:
            self._write(record)
            seat.times_closed += 1
            seat.closed_for = record.closed

    def _start(self, record: Started) -> None:
        """Start to count a bot's start-up time. The time before was spent by the referee."""
        start_up = self.seats[record.seat].start_up
        if start_up.ends is not None:
            self._write(record)
            start_up.begin(self.now)

    def _leave(self, record: Left) -> None:
        seat = self.seats[record.seat]
        if seat.gone:
            return
        self._write(record)
        if record.exit is None:
            text, why = "you leave unread what you are sent", "it did not read what it was sent"
            self._hang_up(seat, Conduct.DISCONNECTED, Fault.NOT_READING, text, why)
        else:
            self._lost(seat, record.exit, record.why or f"it exited with code {record.exit}")
        self._advance()

    def _wake(self, record: Woke) -> None:
        """Act on a deadline. All frames that arrived before it have been applied."""
        at, due = record.at, record.deadline
        if due != self.next_deadline() or at < due:
            return
        self._flow.lateness = at - due
        self._write(record)
        self._end_starts(at)
        if self.ended is not None:
            return
        if any(seat.program.pass_time(at) for seat in self.seats) and self._decided_by_forfeits():
            return
        if self._pauses.are_over(at):
            self._pauses.resume()
        self._flow.pass_time()
        self._advance()
        self._flow.lateness = 0

    def _measure(self, record: Used) -> None:
        """Apply the measurement of a closed seat window, and judge whose fault its loss was."""
        # Otherwise the seat window has not closed, or was measured already.
        known = (record.seat, record.number) in self._flow.cases.unmeasured
        is_start = record.number == START and self.seats[record.seat].start_up.is_out(record.at)
        if not (known or is_start):
            return
        self._write(record)
        if is_start:
            self.seats[record.seat].start_up.used = record
            return
        self._flow.cases.used(record)
        self._judge(self._flow.cases.due(self.now))
        self._end_once_measured()

    # Queries of the host.

    def counted(self, *, stale: bool = False) -> list[int]:
        """Return the seats whose processor time counts now; with `stale`, only those to be read at once."""
        if self.over:
            return []
        return self._flow.counted(stale=stale)

    def silent(self, at: int) -> list[int]:
        """Return the seats whose bot has no time left for its `hello` at a time.

        If the match is measured, the `Used` of their start is applied before the `Woke` that removes them.
        """
        return [seat.number for seat in self.seats if seat.start_up.is_out(at)]

    def _end_starts(self, at: int) -> None:
        """Remove the bots that have sent no `hello` in time."""
        for number in self.silent(at):
            seat = self.seats[number]
            is_prolonged = seat.start_up.prolong(at)
            if not is_prolonged or (seat.start_up.is_kept() and number in self.terms.unexcused):
                text = "no hello within the start-up time"
                self._hang_up(seat, Conduct.NEVER_STARTED, Fault.NO_HELLO, text, seat.start_up.why_out())
            elif seat.start_up.is_kept():
                kept = "kept from starting"
                self.held_up = HeldUp(seat=number, verdict=Verdict.HOST, window=None, evidence=kept)
                self._end(None, f"the bot of seat {number} is kept from starting: the machine has too much to do")
                return

    def closed(self) -> list[ClosedSeatWindow]:
        """Return the seat windows that have closed since the last call, for `Used`."""
        return self._flow.cases.take_closed()

    def _end_once_measured(self) -> None:
        if self._outcome is not None and not self.over and not self._flow.cases.unmeasured:
            self._end(self._outcome)

    def _judge(self, verdicts: Sequence[Judged]) -> None:
        if not verdicts:
            return
        for judged in verdicts:
            self._io.record(judged)
            self.seats[judged.seat].judged(judged)
        unfair = [judged for judged in verdicts if is_unfair(judged) and not self._is_own_doing(judged)]
        nobodys: Judged | None = None
        for judged in unfair:
            blocking_seats = judged.evidence.blocking_seats
            # Only if the window would not have been lost without the delay.
            if blocking_seats is not UNSET and judge(replace(judged.evidence, behind=0)) is Verdict.BOT:
                for blocking in blocking_seats:
                    self._put_out(self.seats[blocking])
            else:
                nobodys = nobodys or judged
        if nobodys is not None and self.terms.policy.unfair == "void" and not self.over:
            why = f"the {nobodys.verdict.value} is at fault"
            why = f"{why}: window {nobodys.number} of seat {nobodys.seat} took the default"
            self.held_up = held_up_of(nobodys)
            self._end(None, why)

    def _is_own_doing(self, judged: Judged) -> bool:
        """Return whether a verdict `host` is no excuse, because the bot has stalled alone too often before."""
        return judged.verdict is Verdict.HOST and judged.seat in self.terms.unexcused

    def _put_out(self, seat: Seat) -> None:
        """Forfeit a bot that kept the referee so busy that another bot lost a window, whatever the policy."""
        seat.forfeited = True
        if self.over:
            return
        if seat.gone:
            self._decided_by_forfeits()
        else:
            text = "what you sent kept the referee busy, and others waiting"
            why = "what it sent kept the referee busy, and others waiting"
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.MISBEHAVED, text, why)
        if self._playing and self._outcome is None:
            self._advance()

    def owes(self, number: int) -> bool:
        """Return whether a seat's bot has to act: start, answer a window while the clocks run, or exit."""
        seat = self.seats[number]
        if self.over or seat.gone or not seat.welcomed:
            return True
        seat_window = self._flow.seat_window(number)
        return seat_window is not None and not seat_window.settled and not self._flow.stopwatch.paused

    @property
    def shortest(self) -> float:
        """The shortest main time of a window in seconds, without windows that have none; infinity if none has."""
        return min([ms for ms in self.terms.clock.main_ms.values() if ms], default=math.inf) / MS_PER_SECOND

    def next_deadline(self) -> int | None:
        """Return the time at which the match must be woken if there is no input before; None: never."""
        soonest = self._flow.next_change()
        moments = [soonest, self._pauses.ends]
        for seat in self.seats:
            moments.append(seat.start_up.ends)
            if self._outcome is None:
                moments.append(seat.program.heard_by)
        return min([moment for moment in moments if moment is not None], default=None)

    # Messages from bots.

    def _act_on(self, seat: Seat, message: ClientMessage, at: int) -> None:
        if not seat.welcomed and not isinstance(message, Hello):
            self._refuse(seat, Refusal.OUT_OF_TURN, "say hello first")
            return
        match message:
            case Hello():
                self._hello(seat, message)
            case Submit():
                self._submit(seat, message, self._flow.stopwatch.reading(at))
            case Undo():
                seat_window = self._seat_window(seat, message.window, self._flow.stopwatch.reading(at))
                if seat_window is not None:
                    self._outbox.send(seat, undo(seat_window))
            case Pause():
                self._ask_pause(seat)
            case Note(text):
                if len(text) > MAX_NOTE_CHARACTERS:
                    self._refuse(seat, Refusal.TOO_LONG, f"a note has at most {MAX_NOTE_CHARACTERS} characters")
            case _ as unreachable:
                assert_never(unreachable)

    def _hello(self, seat: Seat, hello: Hello) -> None:
        wrong = wrong_hello(hello, seat.bot.token)
        if wrong is not None:
            fault, text = wrong
            conduct = Conduct.NEVER_STARTED
            if fault is Fault.WRONG_TOKEN:
                conduct = Conduct.MISBEHAVED
            self._hang_up(seat, conduct, fault, text, f"refused at its hello: {text}")
            return
        seat.hellos += 1
        if seat.hellos > HELLOS_PER_MATCH:
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.MISBEHAVED, "too many hellos")
            return
        if seat.hellos > 1:
            self._io.reconnected(seat.number)
        elif seat.hello_us is None:
            seat.hello_us = self.now - seat.start_up.began
        seat.welcomed = True
        seat.program.bridged = hello.bridged is True
        seat.start_up.end()
        welcome = Welcome(
            protocol=PROTOCOL,
            match=self.terms.match,
            game=self.table.game.name,
            variant=self.table.deal.variant,
            seat=seat.number,
            seats=self.table.seats,
            options=self.table.options,
            clock=self.terms.clock,
            seed=seat.bot.seed,
            told=tuple(seat.told),
        )
        self._outbox.send(seat, welcome)
        opened = self._flow.opened(seat)
        if opened is not None:
            self._outbox.send(seat, opened)
        self._pauses.tell(seat)

    def _seat_window(self, seat: Seat, window: int, reading: int) -> SeatWindow | None:
        """Return the open seat window if the bot may change it now; otherwise refuse the message."""
        seat_window = self._flow.seat_window(seat.number)
        refusal = why_not(seat_window, window, seat.windows, reading)
        if refusal is not None and (seat_window is None or seat_window.number != window):
            self._flow.cases.late(seat.number, window, reading, refusal)
        elif refusal is Refusal.LATE and seat_window is not None:
            seat_window.note_late(reading)
        if refusal is None:
            return seat_window
        self._refuse(seat, refusal, WHY_NOT[refusal], window)
        return None

    def _submit(self, seat: Seat, message: Submit, reading: int) -> None:
        refused = seat.refused[Refusal.LATE]
        seat_window = self._seat_window(seat, message.window, reading)
        if seat.program.bridged:
            too_late = seat.refused[Refusal.LATE] > refused
            seat.program.answers.add(self.now, message.window, too_late=too_late)
        if seat_window is None:
            return
        try:
            self._outbox.send(seat, take(seat_window, message, partial(self.table.read, seat.number), reading))
        except Illegal as illegal:
            seat_window.refused = True
            self._refuse(seat, Refusal.ILLEGAL, illegal.reason, seat_window.number)

    def _ask_pause(self, seat: Seat) -> None:
        sent = self._outbox.size
        if not self._playing or not self._pauses.grant(seat):
            self._refuse(seat, Refusal.NO_PAUSE, "no pause is to be had now")
        else:
            # All seats are notified once more at its end.
            seat.allowance.written += self._outbox.size - sent

    # Faults.

    def _refuse(self, seat: Seat, refusal: Refusal, text: str, window: int | None = None) -> None:
        seat.complain(refusal.value, text)
        if seat.allowance.is_told(refusal):
            self._outbox.send_unwelcomed(seat, Rejected(window=window, reason=refusal, text=text))
        self._limit_refusals(seat)

    def _limit_refusals(self, seat: Seat) -> None:
        """Disconnect a bot if too many of its messages were refused."""
        most = self.terms.policy.refusals_per_match
        if seat.refusals > most:
            text = f"more than {most} of your messages had to be refused"
            why = f"more than {most} of its messages had to be refused"
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.MISBEHAVED, text, why)

    def _hang_up(self, seat: Seat, conduct: Conduct, fault: Fault, text: str, why: str = "") -> None:
        """Remove a bot from the match for its conduct. `text` is for the bot; `why`, if given, for people."""
        self._outbox.send_unwelcomed(seat, Faulted(reason=fault, text=text))
        seat.lost(why or text, self.now)
        self._blame(seat, conduct)
        self._gone(seat)

    def _lost(self, seat: Seat, exit_code: int, why: str) -> None:
        """Handle the exit of a bot's process before the match is over."""
        if seat.closed_for:
            why = f"{CLOSED}{seat.closed_for}; {why}"
        seat.lost(why, self.now)
        if not seat.started:
            self._blame(seat, Conduct.NEVER_STARTED)
        elif exit_code:
            self._blame(seat, Conduct.CRASHED)
        else:
            self._blame(seat, Conduct.DISCONNECTED)
        if seat.restarts_left == 0:
            self._gone(seat)
            return
        seat.restarts_left -= 1
        seat.welcomed = False
        seat.start_up.begin(self.now)
        self._io.restart(seat.number)

    def _blame(self, seat: Seat, conduct: Conduct) -> None:
        if seat.conduct is Conduct.OK:
            seat.conduct = conduct

    def _gone(self, seat: Seat) -> None:
        seat.gone = True
        seat.start_up.end()
        seat.forfeited = seat.forfeited or (self.terms.policy.fault == "forfeit" and self._outcome is None)
        self._io.hang_up(seat.number)
        if not self._decided_by_forfeits():
            self._flow.give_up(seat)

    def _decided_by_forfeits(self) -> bool:
        """End the match if at most one seat has not forfeited; return whether it ended.

        Not while other bots are starting, since they may fail too, and not once the game has its outcome.
        """
        outcome = None
        if self._outcome is None and (self._playing or not self._starting()):
            outcome = forfeited_at_once(self.table.seats, self._forfeited())
        if outcome is not None and any(self._waits_for(self.seats[winner]) for winner in outcome.winners):
            return False
        if outcome is not None:
            self._end(outcome)
        return outcome is not None

    def _waits_for(self, seat: Seat) -> bool:
        """Return whether the match must go on until it is known that the last seat's program runs.

        A program that speaks by lines may exit a moment after the bot that has forfeited, and must not win by
        that. The match waits for it as long as a start may take.
        """
        seat.program.wait(self.now + seat.start_up.whole)
        return seat.program.is_unheard and not seat.gone

    def _starting(self) -> bool:
        return any(seat.start_up.ends is not None for seat in self.seats)

    def _advance(self) -> None:
        """Continue as far as possible without further input."""
        if not self._playing and not self.over and not self._starting() and not self._decided_by_forfeits():
            self._playing = True
            self._flow.begin()
        is_over = self._playing and not self.over and self._flow.advance()
        if not self.over:
            self._judge(self._flow.cases.due(self.now))
        if is_over and not self.over:
            assert self.table.outcome is not None  # noqa: S101 - `Flow.advance` returned True
            self._outcome = self.table.outcome
            if not self.terms.measured:
                self._flow.cases.unmeasured.clear()
            self._end_once_measured()

    def _end(self, outcome: Outcome | None, void: str | None = None) -> None:
        if void is None:
            for seat in self.seats:
                self._judge(self._flow.cases.judge(seat.number, self.now))
                if self.over:
                    return
        if outcome is not None and self._outcome is not None:
            # After the verdicts, which may have removed a bot.
            outcome = with_forfeits(outcome, self._forfeited())
        if outcome is not None:
            self._outbox.send_all(Over(outcome=outcome))
        self.ended = Ended(
            at=self.now,
            outcome=outcome,
            conduct=tuple(seat.conduct for seat in self.seats),
            refused=tuple(dict(sorted(seat.refused.items())) for seat in self.seats),
            void=void,
        )
        self.over = True
        self._io.record(self.ended)

    def _forfeited(self) -> frozenset[int]:
        return frozenset(seat.number for seat in self.seats if seat.forfeited)


def _speaks(message: ClientMessage | Refused) -> bool:
    """Return whether a message shows that a program which speaks by lines has started."""
    if isinstance(message, Refused):
        return message.refusal not in {Refusal.NO_MESSAGE, Refusal.FLOOD, Refusal.TOO_MUCH}
    return not isinstance(message, Hello)


def _message(seat: Seat, came: Frame) -> ClientMessage | Refused:
    """Return the message in a frame, or the refusal of it."""
    refused = seat.allowance.count_message(came.size) or oversized(came.size)
    if refused is not None:
        return refused
    if came.complaint is not None:
        refusal = Refusal.MALFORMED
        if seat.program.bridged and came.refusal == Refusal.NO_MESSAGE:
            refusal = Refusal.NO_MESSAGE
        return Refused(refusal, came.complaint)
    try:
        return decode_client_message(came.frame)
    except Refused as malformed:
        if _PARTS.fullmatch(came.frame):
            return Refused(Refusal.MALFORMED, f"{came.frame[1:-1].decode()}; a message has one")
        if seat.program.bridged and not is_message(came.frame):
            return Refused(Refusal.NO_MESSAGE, "no message")
        return malformed


def forfeited_at_once(seats: int, forfeited: frozenset[int]) -> Outcome | None:
    """Return the outcome if at most one seat has not forfeited; None if the match can continue."""
    left = tuple(sorted(set(range(seats)) - forfeited))
    if len(left) > 1 or not forfeited:
        return None
    lost = tuple(sorted(forfeited))
    ranking = tuple(filter(None, (left, lost)))
    eliminated = None
    if len(lost) == 1:
        (eliminated,) = lost
    return Outcome(ranking=ranking, winners=left, eliminated=eliminated, scores=None, reason="forfeit")


def with_forfeits(outcome: Outcome, forfeited: frozenset[int]) -> Outcome:
    """Return the outcome of a match that continued without some seats: they are last, tied, and win nothing."""
    if not forfeited:
        return outcome
    groups = [tuple(filterfalse(forfeited.__contains__, group)) for group in outcome.ranking]
    ranking = (*filter(None, groups), tuple(sorted(forfeited)))
    eliminated = outcome.eliminated
    if eliminated not in forfeited:
        eliminated = min(forfeited)
    return replace(
        outcome,
        ranking=ranking,
        winners=tuple(filterfalse(forfeited.__contains__, outcome.winners)) or ranking[0],
        eliminated=eliminated,
        tokens={seat: n for seat, n in outcome.tokens.items() if int(seat) not in forfeited},
        garnets={seat: n for seat, n in outcome.garnets.items() if int(seat) not in forfeited},
    )
