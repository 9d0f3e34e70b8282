"""The flow of a match: opens windows, answers them, and closes them, until the game is over. Pure.

`match` interprets bots' messages; `window` decides which submission counts.
"""

from msgspec import UNSET

from protocol.codec import encode
from protocol.messages import ClockTerms, Closed, Opened
from referee.match.clock import MICROSECONDS_PER_MS, SeatClock, Stopwatch, reserve_after
from referee.match.evidence import OpenCases
from referee.match.outbox import Outbox
from referee.match.records import SeatTime, WindowTime
from referee.match.seat import Seat
from referee.match.window import OpenWindow, SeatWindow
from referee.rules import Table, Taken, Window, reveal


class Flow:
    """The open window, and the transition to the next one."""

    def __init__(self, table: Table, terms: ClockTerms, seats: list[Seat], outbox: Outbox) -> None:
        self.table = table
        self.stopwatch = Stopwatch()
        self.lateness = 0
        """Microseconds by which the referee woke late for the deadline on which it acts."""
        self._terms = terms
        self._fixed, self._counted = terms.pacing == "fixed", terms.kind == "cpu"
        self._seats = seats
        self._outbox = outbox
        self.cases = OpenCases(seats)
        self._open: OpenWindow | None = None
        self._answered: set[int] = set()

    @property
    def reading(self) -> int:
        """The current reading of the match's stopwatch."""
        return self.stopwatch.reading(self._outbox.now)

    def part(self, number: int) -> SeatWindow | None:
        """Return a seat's part in the open window, if it has one."""
        return self._open.parts.get(number) if self._open else None

    def begin(self) -> None:
        """Send the events of the deal, and open the first window."""
        self._outbox.tell(self.table.start)
        self._open_next()

    def handed(self, at: int, number: int) -> None:
        """Start the seat's clock: the transport has accepted its `window` message."""
        if self._open is not None:
            part = self._open.parts.get(number)
            if part is not None and part.clock is None:
                part.clock = self._clock(self._open.window, self._seats[number], part, at)

    def opened(self, seat: Seat) -> Opened | None:
        """Return the `window` message for a seat, with the time that it has left; None if it has no open part."""
        part = self.part(seat.number)
        if self._open is None or part is None or part.settled:
            return None
        window = self._open.window
        main, reserve = self._main_ms(window), seat.reserve_ms
        if part.clock is not None:
            left, reserve = part.clock.left_ms(self.reading, reserve)
            main = min(main, left)
        owed = next(owed for owed in window.owed if owed.seat == seat.number)
        game, state = self.table.game, self.table.state
        return reveal.opened(game, state, window, owed, number=part.number, main_ms=main, reserve_ms=reserve)

    def give_up(self, seat: Seat) -> None:
        """Settle the part of a seat whose bot has left."""
        part = self.part(seat.number)
        if self._open is not None and part is not None:
            if part.clock is None:
                part.clock = self._clock(self._open.window, seat, part, self._outbox.now)
            part.give_up(self.reading)

    def read_cpu(self, number: int, counter: int, cores: int) -> None:
        """Apply a reading of a seat's processor time."""
        part = self.part(number)
        if part is not None and part.account is not None:
            part.account.read(self.reading, counter, cores)

    def counted(self, *, stale: bool = False) -> list[int]:
        """Return the seats whose processor time counts now; with `stale`, only those to be read at once."""
        if self._open is None:
            return []
        return [
            number
            for number, part in self._open.parts.items()
            if part.account is not None and not part.settled and (part.account.stale or not stale)
        ]

    def pause(self) -> None:
        """Stop the clocks."""
        self.stopwatch.pause(self._outbox.now)
        self._read_anew()

    def resume(self) -> None:
        """Restart the clocks."""
        self.stopwatch.resume(self._outbox.now)
        self._read_anew()

    def _read_anew(self) -> None:
        """Have all processor times read again, since time counts differently from here on."""
        for part in () if self._open is None else self._open.parts.values():
            if part.account is not None:
                part.account.stale = True

    def next_change(self) -> int | None:
        """Return the next time at which the open window may change without input; None: never."""
        change = self._open.next_change() if self._open else None
        return None if change is None else self.stopwatch.when(change)

    def pass_time(self) -> None:
        """Settle the parts whose time has run out. All frames that have arrived must have been applied."""
        if self._open is None:
            return
        for number, part in self._open.parts.items():
            if part.clock is None and part.ends_by is not None and self.reading >= part.ends_by:
                # The line did not report it in time: the clock runs from when it got the message.
                self.handed(self._outbox.now - self._shortest(self._open.window, self._seats[number]), number)
        self._open.pass_time(self.reading)

    def advance(self) -> bool:
        """Continue as far as possible without input; return whether the game has its outcome."""
        while self._open is not None and not self.stopwatch.paused:
            if self._open.window.asap:
                self._answer(self._open)
            if not self._open.complete(self.reading):
                break
            self._close(self._open)
            self._open_next()
        return self.table.outcome is not None

    def _answer(self, opened: OpenWindow) -> None:
        """Answer the final submissions, in a window that is answered at once."""
        for number, part in opened.parts.items():
            if part.settled and part.action is not None and number not in self._answered:
                self._answered.add(number)
                self._outbox.tell(self.table.answer(number, part.action))

    def _open_next(self) -> None:
        self._open = None
        if self._answered:
            self._answered = set()
        window = self.table.window
        if window is None:
            return
        fixed = self._fixed and window.retold is None
        if window.retold is not None:
            for owed in window.owed:
                seat = self._seats[owed.seat]
                seat.windows, seat.reserve = window.retold.number, window.retold.reserve_ms * MICROSECONDS_PER_MS
        numbers = {owed.seat: self._seats[owed.seat].windows for owed in window.owed}
        self._open = OpenWindow(window, numbers, fixed=fixed, counted=self._counted)
        reading = self.reading
        for number, part in self._open.parts.items():
            seat = self._seats[number]
            seat.windows += 1
            seat.allowance.renew()
            message = self.opened(seat) if seat.present else None
            if message is not None:
                part.ends_by = reading + self._shortest(window, seat)
                self._outbox.send(seat, message, timed=True)
            elif seat.gone:
                self.give_up(seat)
            else:
                # The bot is being restarted, on its own time. That counts from now, when a bot would have received
                # the window, not from the input that closed the last one, which the referee may have read late.
                self._outbox.io.nobody_handed(number)

    def _clock(self, window: Window, seat: Seat, part: SeatWindow, at: int) -> SeatClock:
        asked_again = window.retold is not None and window.retold.unlimited
        return SeatClock(
            opened=self.stopwatch.reading(at) + (0 if seat.bot.credit_us is UNSET else seat.bot.credit_us),
            main=self._main_ms(window) * MICROSECONDS_PER_MS,
            reserve=seat.reserve,
            wall_factor=1 if self._terms.wall_factor is UNSET else self._terms.wall_factor,
            account=part.account,
            stands=asked_again or seat.bot.debugged is True,
        )

    def _shortest(self, window: Window, seat: Seat) -> int:
        """Return the shortest time until a seat's part may settle, in microseconds: main time or reserve."""
        return self._main_ms(window) * MICROSECONDS_PER_MS or seat.reserve

    def _main_ms(self, window: Window) -> int:
        return self._terms.main_ms[window.name] if window.retold is None else window.retold.main_ms

    def _close(self, opened: OpenWindow) -> None:
        taken: list[Taken | None] = [None] * self.table.seats
        closed: list[tuple[Seat, Closed]] = []
        times: list[SeatTime] = []
        for number, part in opened.parts.items():
            seat = self._seats[number]
            seat.reserve = reserve_after(self._terms, seat.reserve, part.reserve_used)
            by_default = part.action is None
            asked = self._asked_default(number, part)
            seat.closed(part.charged, by_default=by_default, asked=asked, no_action=part.no_action)
            self.cases.close(number, part, self.lateness)
            its_taken = taken[number] = self._taken(number, part)
            message = Closed(
                window=part.number,
                taken=its_taken.action,
                by_default=its_taken.by_default,
                charged_ms=its_taken.elapsed_ms,
                reserve_ms=seat.reserve_ms,
            )
            if part.action is not None:
                # The action appears again in the window's record and in the `closed` message.
                seat.allowance.written += 2 * len(encode(part.action))
            if opened.window.retold is None:
                closed.append((seat, message))
            times.append(_seat_time(number, part, message))
        self._outbox.io.record(
            WindowTime(
                at=self._outbox.now,
                number=self.table.number,
                window=opened.window.name,
                seats=tuple(times),
                lateness=self.lateness,
            )
        )
        told = self.table.close(tuple(taken))
        for seat, message in closed:
            self._outbox.send(seat, message)
        self._outbox.tell(told)

    def _asked_default(self, number: int, part: SeatWindow) -> bool:
        """Return whether the bot chose the default, or submitted it after an illegal action."""
        if part.action is None:
            return part.final
        return part.refused and part.action == self.table.default(number)

    def _taken(self, number: int, part: SeatWindow) -> Taken:
        action = self.table.default(number) if part.action is None else part.action
        charged_ms = part.charged // MICROSECONDS_PER_MS
        return Taken(action=action, by_default=part.action is None, elapsed_ms=charged_ms)


def _seat_time(number: int, part: SeatWindow, closed: Closed) -> SeatTime:
    assert part.clock is not None  # noqa: S101 - a part is settled only on its clock
    return SeatTime(
        seat=number,
        opened=part.clock.opened,
        deadline=part.clock.deadline,
        arrived=part.arrived,
        taken=closed.taken,
        by_default=closed.by_default,
        charged_ms=closed.charged_ms,
        reserve_ms=closed.reserve_ms,
    )
