"""All that the referee decides in one match, told what happened and when. Pure: it reads no clock, no network.

`host` tells it what came (`heard`, `handed`, `woke`, `left`, `order`) and does what it asks of its `World`. As
nothing else decides, a transcript's inputs told to a new `Match` give the same messages, byte for byte (`replay`).
Times (`at`) are whole microseconds since the match's zero.
"""

import hmac
from typing import Any, Protocol

from msgspec import Raw

from protocol.codec import Refused, decode_said, encode
from protocol.messages import (
    MAX_NOTE_CHARACTERS,
    PROTOCOL,
    Accepted,
    ClockTerms,
    Closed,
    Faulted,
    Hello,
    Note,
    Over,
    Pause,
    Paused,
    Rejected,
    Resumed,
    Said,
    Submit,
    Undo,
    Welcome,
)
from protocol.messages import Told as Message
from protocol.refusals import Conduct, Fault, Refusal
from referee import reveal
from referee.clock import MICROSECONDS_PER_MS, SeatClock, Stopwatch
from referee.forfeit import forfeited_at_once, with_forfeits
from referee.plan import Policy
from referee.records import (
    BotIdentity,
    Ended,
    Handed,
    In,
    Left,
    Out,
    PauseOrder,
    Record,
    SeatTime,
    WindowTime,
    Woke,
)
from referee.rules import Illegal, Taken, Told
from referee.seat import Seat
from referee.table import Table
from referee.window import OpenWindow, Part

KEPT_OF_REFUSED = 1_000
"""Bytes kept in the transcript of a frame that was refused for what it is: a flood must not fill the disk."""
HELLOS_PER_MATCH = 20
"""A bot that says `hello` oftener than this over a match misbehaves: each is answered with all it was told."""


class World(Protocol):
    """What a match asks of its surroundings. None of it waits, none of it fails."""

    def record(self, record: Record) -> None:
        """A line for the transcript."""

    def send(self, seat: int, frame: bytes, *, timed: bool = False) -> None:
        """A frame for a bot. `timed`: `Match.handed` is to be told when the transport has taken it."""

    def reconnected(self, seat: int) -> None:
        """The seat's bot has begun anew: what was sent and not yet taken is not for it."""

    def hang_up(self, seat: int) -> None:
        """The seat's bot has no part in the match any more."""

    def restart(self, seat: int) -> None:
        """The seat's bot has ended and is to be started again."""

    def told(self, told: tuple[Told, ...]) -> None:
        """This is being told to the seats: for those who watch."""


class Match:
    """One match under way. `over` once its outcome, or its voiding, is known."""

    def __init__(
        self,
        name: str,
        table: Table,
        *,
        terms: ClockTerms,
        policy: Policy,
        bots: tuple[BotIdentity, ...],
        world: World,
    ) -> None:
        self.name = name
        self.table = table
        self.seats = [Seat(number, bot, terms, policy) for number, bot in enumerate(bots)]
        self.ended: Ended | None = None
        self._terms = terms
        self._policy = policy
        self._world = world
        self._now = 0
        self._lateness = 0
        self._stopwatch = Stopwatch()
        self._playing = False
        self._pause_ends: int | None = None
        self._pause_reason = ""
        self._open: OpenWindow | None = None
        self._answered: set[int] = set()

    @property
    def over(self) -> bool:
        """Whether nothing more is to be told to it."""
        return self.ended is not None

    @property
    def now(self) -> int:
        """The latest moment it has been told of."""
        return self._now

    # What comes from outside.

    def begin(self) -> None:
        """The bots have been started: zero of the match's time."""
        for seat in self.seats:
            seat.hello_by = self._policy.startup_ms * MICROSECONDS_PER_MS

    def heard(self, at: int, number: int, frame: bytes, kept: In | None = None) -> None:
        """A frame arrived from a bot. `kept`: in a replay, the record of one that was not kept whole."""
        seat = self.seats[number]
        if seat.gone or self.over:
            return
        self._now = max(self._now, at)
        seat.messages += 1
        refused = kept.refusal() if kept else None
        if seat.messages > self._policy.messages_per_window:
            refused = Refused(Refusal.FLOOD, f"more than {self._policy.messages_per_window} messages in a window")
        said: Said | None = None
        if refused is None:
            try:
                said = decode_said(frame)
            except Refused as not_said:
                refused = not_said
        self._world.record(kept or In.of(at, number, frame, refused, KEPT_OF_REFUSED))
        if refused is not None or said is None:
            refused = refused or Refused(Refusal.MALFORMED, "")
            self._refuse(seat, refused.refusal, refused.text)
        else:
            self._act_on(seat, said, at)
        self._advance()

    def handed(self, at: int, number: int) -> None:
        """The transport took the `window` message of this seat: its clock runs from here."""
        if self.over:
            return
        self._now = max(self._now, at)
        self._world.record(Handed(at=at, seat=number))
        part = self._open.parts.get(number) if self._open else None
        if part is not None and part.clock is None:
            part.clock = self._clock(self.seats[number], at)

    def left(self, at: int, number: int, exit_code: int | None) -> None:
        """A bot's process has ended, or (`exit_code` None) it leaves unread what it is sent."""
        seat = self.seats[number]
        if seat.gone or self.over:
            return
        self._now = max(self._now, at)
        self._world.record(Left(at=at, seat=number, exit=exit_code))
        if exit_code is None:
            self._hang_up(seat, Conduct.DISCONNECTED, Fault.NOT_READING, "you leave unread what you are sent")
        else:
            self._lost(seat, exit_code)
        self._advance()

    def order(self, at: int, *, pause: bool) -> None:
        """The operator stops the clocks, or lets them run again."""
        if self.over:
            return
        self._now = max(self._now, at)
        self._world.record(PauseOrder(at=at, on=pause))
        if pause:
            self._pause_ends = None
            self._pause("operator")
        else:
            self._resume()
        self._advance()

    def woke(self, at: int) -> None:
        """A deadline has come, and all that arrived before it has been told."""
        due = self.next_deadline()
        if self.over or due is None or at < due:
            return
        self._now = max(self._now, at)
        self._lateness = at - due
        self._world.record(Woke(at=at, deadline=due))
        for seat in self.seats:
            if seat.hello_by is not None and at >= seat.hello_by:
                self._hang_up(seat, Conduct.NEVER_STARTED, Fault.NO_HELLO, "no hello within the start-up time")
        if self._pause_ends is not None and at >= self._pause_ends:
            self._resume()
        self._advance()
        self._lateness = 0

    def abort(self, at: int, reason: str) -> None:
        """The attempt is void: a fault of the referee or the machine, not of a bot."""
        if not self.over:
            self._now = max(self._now, at)
            self._end(None, reason)

    def next_deadline(self) -> int | None:
        """When `woke` is next to be told, if nothing else comes before."""
        moments = [seat.hello_by for seat in self.seats if seat.hello_by is not None]
        if self._pause_ends is not None:
            moments.append(self._pause_ends)
        if self._open is not None:
            change = self._open.next_change()
            moment = None if change is None else self._stopwatch.when(change)
            if moment is not None:
                moments.append(moment)
        return min(moments, default=None)

    # What a bot says.

    def _act_on(self, seat: Seat, said: Said, at: int) -> None:
        if not seat.welcomed and not isinstance(said, Hello):
            self._refuse(seat, Refusal.OUT_OF_TURN, "say hello first")
            return
        match said:
            case Hello():
                self._hello(seat, said)
            case Submit():
                self._submit(seat, said, self._stopwatch.reading(at))
            case Undo():
                part = self._part(seat, said.window, self._stopwatch.reading(at))
                if part is not None:
                    self._undo(seat, part)
            case Pause():
                self._ask_pause(seat)
            case Note(text):
                if len(text) > MAX_NOTE_CHARACTERS:
                    self._refuse(seat, Refusal.TOO_LONG, f"a note has at most {MAX_NOTE_CHARACTERS} characters")

    def _hello(self, seat: Seat, hello: Hello) -> None:
        if not hmac.compare_digest(hello.token.encode(errors="replace"), seat.bot.token.encode()):
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.WRONG_TOKEN, "this is not the token of ARENA_TOKEN")
            return
        if hello.protocol != PROTOCOL:
            text = f"protocol {hello.protocol} is not spoken here; {PROTOCOL} is"
            self._hang_up(seat, Conduct.NEVER_STARTED, Fault.WRONG_PROTOCOL, text)
            return
        seat.hellos += 1
        if seat.hellos > HELLOS_PER_MATCH:
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.MISBEHAVED, "too many hellos")
            return
        if seat.hellos > 1:
            self._world.reconnected(seat.number)
        seat.welcomed = True
        seat.hello_by = None
        self._send(seat, self._welcome(seat))
        part = self._open.parts.get(seat.number) if self._open else None
        if part is not None and not part.settled:
            self._send(seat, self._opened(seat, part))
        if self._stopwatch.paused:
            self._send(seat, Paused(reason=self._pause_reason))

    def _welcome(self, seat: Seat) -> Welcome:
        return Welcome(
            protocol=PROTOCOL,
            match=self.name,
            game=self.table.game.name,
            variant=self.table.deal.variant,
            seat=seat.number,
            seats=self.table.seats,
            options=self.table.options,
            clock=self._terms,
            seed=seat.bot.seed,
            told=tuple(seat.told),
        )

    def _part(self, seat: Seat, window: int, reading: int) -> Part | None:
        """The seat's part in the open window, if it may change it now; otherwise the message is refused."""
        part = self._open.parts.get(seat.number) if self._open else None
        refusal: Refusal | None
        if part is not None and part.number == window:
            refusal = part.refusal(reading)
        else:
            refusal = Refusal.LATE if 0 <= window < seat.windows else Refusal.UNKNOWN_WINDOW
        if refusal is None:
            return part
        self._refuse(seat, refusal, _WHY_NOT[refusal], window)
        return None

    def _submit(self, seat: Seat, said: Submit, reading: int) -> None:
        part = self._part(seat, said.window, reading)
        if part is None:
            return
        if bytes(said.action) == b"null":
            self._undo(seat, part)
            return
        try:
            action = self.table.read(seat.number, said.action)
        except Illegal as illegal:
            self._refuse(seat, Refusal.ILLEGAL, illegal.reason, part.number)
            return
        part.submit(action, final=said.final, reading=reading)
        self._send(seat, Accepted(window=part.number, action=action))

    def _undo(self, seat: Seat, part: Part) -> None:
        part.undo()
        self._send(seat, Accepted(window=part.number, action=None))

    def _ask_pause(self, seat: Seat) -> None:
        if seat.pauses_left == 0 or self._stopwatch.paused or not self._playing:
            self._refuse(seat, Refusal.NO_PAUSE, "no pause is to be had now")
            return
        seat.pauses_left -= 1
        self._pause_ends = self._now + self._terms.pause_ms * MICROSECONDS_PER_MS
        self._pause(f"seat {seat.number}")

    # Pauses and faults.

    def _pause(self, reason: str) -> None:
        if not self._stopwatch.paused:
            self._stopwatch.pause(self._now)
            self._pause_reason = reason
            self._send_all(Paused(reason=reason))

    def _resume(self) -> None:
        if self._stopwatch.paused:
            self._stopwatch.resume(self._now)
            self._pause_ends = None
            self._send_all(Resumed(reason=self._pause_reason))

    def _refuse(self, seat: Seat, refusal: Refusal, text: str, window: int | None = None) -> None:
        seat.refused[refusal.value] += 1
        told_already = refusal is Refusal.FLOOD and seat.messages > self._policy.messages_per_window + 1
        if not told_already:
            self._send(seat, Rejected(window=window, reason=refusal, text=text), even_unwelcomed=True)
        if seat.refused.total() > self._policy.refusals_per_match:
            text = f"more than {self._policy.refusals_per_match} of your messages had to be refused"
            self._hang_up(seat, Conduct.MISBEHAVED, Fault.MISBEHAVED, text)

    def _hang_up(self, seat: Seat, conduct: Conduct, fault: Fault, text: str) -> None:
        """Ends a bot's part for what it did."""
        self._send(seat, Faulted(reason=fault, text=text), even_unwelcomed=True)
        self._blame(seat, conduct)
        self._gone(seat)

    def _lost(self, seat: Seat, exit_code: int) -> None:
        """A bot's process has ended before the match was over."""
        if not seat.welcomed and seat.hellos == 0:
            self._blame(seat, Conduct.NEVER_STARTED)
        else:
            self._blame(seat, Conduct.CRASHED if exit_code else Conduct.DISCONNECTED)
        if seat.restarts_left == 0:
            self._gone(seat)
            return
        seat.restarts_left -= 1
        seat.welcomed = False
        seat.hello_by = self._now + self._policy.startup_ms * MICROSECONDS_PER_MS
        self._world.restart(seat.number)

    def _blame(self, seat: Seat, conduct: Conduct) -> None:
        if seat.conduct is Conduct.OK:
            seat.conduct = conduct

    def _gone(self, seat: Seat) -> None:
        seat.gone = True
        seat.hello_by = None
        self._world.hang_up(seat.number)
        if self._policy.fault == "forfeit":
            seat.forfeited = True
            outcome = forfeited_at_once(self.table.seats, self._forfeited())
            if outcome is not None:
                self._end(outcome)
                return
        part = self._open.parts.get(seat.number) if self._open else None
        if part is not None:
            self._give_up(seat, part)

    def _give_up(self, seat: Seat, part: Part) -> None:
        if part.clock is None:
            part.clock = self._clock(seat, self._now)
        part.give_up(self._stopwatch.reading(self._now))

    # The course of the match.

    def _advance(self) -> None:
        """Goes on as far as it can without being told more."""
        if not self._playing and not self.over and all(seat.hello_by is None for seat in self.seats):
            self._playing = True
            self._tell(self.table.start)
            self._open_next()
        while not self.over and self._open is not None and not self._stopwatch.paused:
            reading = self._stopwatch.reading(self._now)
            self._open.pass_time(reading)
            self._answer(self._open)
            if not self._open.complete(reading):
                break
            self._close(self._open)
            self._open_next()

    def _answer(self, opened: OpenWindow) -> None:
        """In a window answered at once, answers what has become final."""
        if not opened.window.asap:
            return
        for number, part in opened.parts.items():
            if part.settled and part.action is not None and number not in self._answered:
                self._answered.add(number)
                self._tell(self.table.answer(number, part.action))

    def _open_next(self) -> None:
        self._open = None
        self._answered = set()
        window = self.table.window
        if window is None:
            assert self.table.outcome is not None  # noqa: S101 - the contract of a game, proved by conformance
            self._end(with_forfeits(self.table.outcome, self._forfeited()))
            return
        fixed = self._terms.pacing == "fixed"
        self._open = OpenWindow(
            window, {owed.seat: self.seats[owed.seat].windows for owed in window.owed}, fixed=fixed
        )
        for number, part in self._open.parts.items():
            seat = self.seats[number]
            seat.windows += 1
            seat.messages = 0
            if seat.gone:
                self._give_up(seat, part)
            elif seat.present:
                self._send(seat, self._opened(seat, part), timed=True)
            else:  # It is being restarted, on its own time.
                part.clock = self._clock(seat, self._now)

    def _opened(self, seat: Seat, part: Part) -> Message:
        """The `window` message, with the time that is left."""
        assert self._open is not None  # noqa: S101 - callers hold a part of it
        window = self._open.window
        main, reserve = self._terms.main_ms[window.name], seat.reserve_ms
        if part.clock is not None:
            reading = self._stopwatch.reading(self._now)
            main = max(0, part.clock.main_ends - reading) // MICROSECONDS_PER_MS
            reserve -= part.clock.reserve_used(reading) // MICROSECONDS_PER_MS
        owed = next(owed for owed in window.owed if owed.seat == seat.number)
        return reveal.opened(
            self.table.game, self.table.state, window, owed, number=part.number, main_ms=main, reserve_ms=reserve
        )

    def _clock(self, seat: Seat, at: int) -> SeatClock:
        assert self._open is not None  # noqa: S101 - callers hold a part of it
        main = self._terms.main_ms[self._open.window.name] * MICROSECONDS_PER_MS
        return SeatClock(opened=self._stopwatch.reading(at), main=main, reserve=seat.reserve)

    def _close(self, opened: OpenWindow) -> None:
        taken: list[Taken | None] = [None] * self.table.seats
        for number, part in opened.parts.items():
            action = self.table.default(number) if part.action is None else part.action
            charged_ms = part.charged // MICROSECONDS_PER_MS
            taken[number] = Taken(action=action, by_default=part.action is None, elapsed_ms=charged_ms)
            seat = self.seats[number]
            seat.reserve -= part.reserve_used
            seat.charged += part.charged
            seat.defaults += part.action is None
        self._world.record(self._window_time(opened, taken))
        told = self.table.close(tuple(taken))
        for number, part in opened.parts.items():
            self._send(self.seats[number], self._closed(self.seats[number], part, taken[number]))
        self._tell(told)

    def _tell(self, told: tuple[Told, ...]) -> None:
        for one in told:
            event = Raw(encode(one.event))
            for number in reveal.audience(one, self.table.seats):
                seat = self.seats[number]
                self._send(seat, reveal.heard(event, len(seat.told)))
                seat.told.append(event)
        self._world.told(told)

    def _end(self, outcome: Any, void: str | None = None) -> None:
        self._open = None
        if outcome is not None:
            self._send_all(Over(outcome=outcome))
        self.ended = Ended(
            at=self._now,
            outcome=outcome,
            conduct=tuple(seat.conduct for seat in self.seats),
            refused=tuple(dict(sorted(seat.refused.items())) for seat in self.seats),
            void=void,
        )
        self._world.record(self.ended)

    def _closed(self, seat: Seat, part: Part, taken: Taken | None) -> Closed:
        return Closed(
            window=part.number,
            taken=taken and taken.action,
            by_default=part.action is None,
            charged_ms=part.charged // MICROSECONDS_PER_MS,
            reserve_ms=seat.reserve_ms,
        )

    def _window_time(self, opened: OpenWindow, taken: list[Taken | None]) -> WindowTime:
        return WindowTime(
            at=self._now,
            number=self.table.number,
            window=opened.window.name,
            seats=tuple(self._seat_time(number, part, taken[number]) for number, part in opened.parts.items()),
            lateness=self._lateness,
        )

    def _seat_time(self, number: int, part: Part, taken: Taken | None) -> SeatTime:
        assert part.clock is not None  # noqa: S101 - a part is settled only on its clock
        return SeatTime(
            seat=number,
            opened=part.clock.opened,
            deadline=part.clock.deadline,
            arrived=part.arrived,
            taken=taken and taken.action,
            by_default=part.action is None,
            charged_ms=part.charged // MICROSECONDS_PER_MS,
            reserve_ms=self.seats[number].reserve_ms,
        )

    def _forfeited(self) -> frozenset[int]:
        return frozenset(seat.number for seat in self.seats if seat.forfeited)

    def _send(self, seat: Seat, message: Message, *, timed: bool = False, even_unwelcomed: bool = False) -> None:
        if seat.present or (even_unwelcomed and not seat.gone):
            frame = encode(message)
            self._world.record(Out(at=self._now, seat=seat.number, frame=Raw(frame)))
            self._world.send(seat.number, frame, timed=timed)

    def _send_all(self, message: Message) -> None:
        for seat in self.seats:
            self._send(seat, message)


_WHY_NOT = {
    Refusal.LATE: "this window is over for you",
    Refusal.UNKNOWN_WINDOW: "you have been given no window of this id",
    Refusal.FINAL: "your final submission stands",
}
