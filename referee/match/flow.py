"""The flow of a match: opens windows, answers them, closes them, and stops the clocks during pauses. Pure.

`match` interprets bots' messages; `window` decides which submission counts.
"""

from protocol.codec import encode
from protocol.messages import ClockTerms, Closed, Opened, Paused, Resumed
from referee.match.records import SeatTime, WindowTime
from referee.match.seat import Outbox, Seat
from referee.match.verdicts import OpenCases
from referee.match.window import MICROSECONDS_PER_MS, OpenWindow, SeatClock, SeatWindow, Stopwatch, reserve_after
from referee.rules import ResolvedAction, Table, Window, reveal


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

    @property
    def reading(self) -> int:
        """The current reading of the match's stopwatch."""
        return self.stopwatch.reading(self._outbox.now)

    def seat_window(self, number: int) -> SeatWindow | None:
        """Return the open seat window of a seat, if it has one."""
        if self._open is None:
            return None
        return self._open.seat_windows.get(number)

    def begin(self) -> None:
        """Send the events of the deal, and open the first window."""
        self._outbox.tell(self.table.start)
        self._open_next()

    def handed(self, at: int, number: int) -> None:
        """Start the seat's clock: the transport has accepted its `window` message."""
        if self._open is not None:
            seat_window = self._open.seat_windows.get(number)
            if seat_window is not None and seat_window.clock is None:
                seat_window.clock = self._clock(self._open.window, self._seats[number], seat_window, at)

    def opened(self, seat: Seat) -> Opened | None:
        """Return the `window` message for a seat, with the time that it has left; None if none is open."""
        seat_window = self.seat_window(seat.number)
        if self._open is None or seat_window is None or seat_window.settled:
            return None
        window = self._open.window
        main, reserve = self._main_ms(window), seat.reserve_ms
        if seat_window.clock is not None:
            left, reserve = seat_window.clock.left_ms(self.reading, reserve)
            main = min(main, left)
        owed = next(owed for owed in window.owed if owed.seat == seat.number)
        game, state = self.table.game, self.table.state
        return reveal.opened(
            game, state, window, owed, number=seat_window.number, main_ms=main, reserve_ms=reserve
        )

    def give_up(self, seat: Seat) -> None:
        """Settle the open seat window of a seat whose bot has left."""
        seat_window = self.seat_window(seat.number)
        if self._open is not None and seat_window is not None:
            if seat_window.clock is None:
                seat_window.clock = self._clock(self._open.window, seat, seat_window, self._outbox.now)
            seat_window.give_up(self.reading)

    def read_cpu(self, number: int, counter: int, cores: int) -> None:
        """Apply a reading of a seat's processor time."""
        seat_window = self.seat_window(number)
        if seat_window is not None and seat_window.account is not None:
            seat_window.account.read(self.reading, counter, cores)

    def counted(self, *, stale: bool = False) -> list[int]:
        """Return the seats whose processor time counts now; with `stale`, only those to be read at once."""
        if self._open is None:
            return []
        return [
            number
            for number, seat_window in self._open.seat_windows.items()
            if seat_window.account is not None
            and not seat_window.settled
            and (seat_window.account.stale or not stale)
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
        if self._open is not None:
            for seat_window in self._open.seat_windows.values():
                if seat_window.account is not None:
                    seat_window.account.stale = True

    def next_change(self) -> int | None:
        """Return the next time at which the open window may change without input; None: never."""
        if self._open is None:
            return None
        change = self._open.next_change()
        if change is None:
            return None
        return self.stopwatch.when(change)

    def pass_time(self) -> None:
        """Settle the seat windows whose time has run out. All frames that have arrived must have been applied."""
        if self._open is None:
            return
        for number, seat_window in self._open.seat_windows.items():
            if (
                seat_window.clock is None
                and seat_window.ends_by is not None
                and self.reading >= seat_window.ends_by
            ):
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
        for number, seat_window in opened.seat_windows.items():
            if seat_window.settled and seat_window.action is not None and number not in self.table.submitted:
                charged_ms = seat_window.charged // MICROSECONDS_PER_MS
                self._outbox.tell(self.table.submit(number, seat_window.action, charged_ms))

    def _open_next(self) -> None:
        self._open = None
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
        for number, seat_window in self._open.seat_windows.items():
            seat = self._seats[number]
            seat.windows += 1
            seat.allowance.renew()
            if seat.present and (message := self.opened(seat)) is not None:
                seat_window.ends_by = reading + self._shortest(window, seat)
                self._outbox.send(seat, message, timed=True)
            elif seat.gone:
                self.give_up(seat)
            else:
                # The bot is being restarted, on its own time. That counts from now, when a bot would have received
                # the window, not from the input that closed the last one, which the referee may have read late.
                self._outbox.io.nobody_handed(number)

    def _clock(self, window: Window, seat: Seat, seat_window: SeatWindow, at: int) -> SeatClock:
        asked_again = window.retold is not None and window.retold.unlimited
        return SeatClock(
            opened=self.stopwatch.reading(at) + (seat.bot.credit_us or 0),
            main=self._main_ms(window) * MICROSECONDS_PER_MS,
            reserve=seat.reserve,
            wall_factor=self._terms.wall_factor or 1,
            account=seat_window.account,
            stands=asked_again or seat.bot.debugged is True,
        )

    def _shortest(self, window: Window, seat: Seat) -> int:
        """Return the shortest time until a seat window may settle, in microseconds: main time or reserve."""
        return self._main_ms(window) * MICROSECONDS_PER_MS or seat.reserve

    def _main_ms(self, window: Window) -> int:
        if window.retold is not None:
            return window.retold.main_ms
        return self._terms.main_ms[window.name]

    def _close(self, opened: OpenWindow) -> None:
        taken: list[ResolvedAction | None] = [None] * self.table.seats
        closed: list[tuple[Seat, Closed]] = []
        times: list[SeatTime] = []
        for number, seat_window in opened.seat_windows.items():
            seat = self._seats[number]
            seat.reserve = reserve_after(self._terms, seat.reserve, seat_window.reserve_used)
            by_default = seat_window.action is None
            asked = self._asked_default(number, seat_window)
            seat.closed(seat_window.charged, by_default=by_default, asked=asked, no_action=seat_window.no_action)
            self.cases.close(number, seat_window, self.lateness)
            charged_ms = seat_window.charged // MICROSECONDS_PER_MS
            its_taken = taken[number] = self.table.resolve(number, seat_window.action, charged_ms)
            message = Closed(
                window=seat_window.number,
                taken=its_taken.action,
                by_default=its_taken.by_default,
                charged_ms=its_taken.elapsed_ms,
                reserve_ms=seat.reserve_ms,
            )
            if seat_window.action is not None:
                # The action appears again in the window's record and in the `closed` message.
                seat.allowance.written += 2 * len(encode(seat_window.action))
            if opened.window.retold is None:
                closed.append((seat, message))
            times.append(_seat_time(number, seat_window, message))
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

    def _asked_default(self, number: int, seat_window: SeatWindow) -> bool:
        """Return whether the bot chose the default, or submitted it after an illegal action."""
        if seat_window.action is None:
            return seat_window.final
        return seat_window.refused and seat_window.action == self.table.default(number)


def _seat_time(number: int, seat_window: SeatWindow, closed: Closed) -> SeatTime:
    assert seat_window.clock is not None  # noqa: S101 - it is settled only on its clock
    return SeatTime(
        seat=number,
        opened=seat_window.clock.opened,
        deadline=seat_window.clock.deadline,
        arrived=seat_window.arrived,
        taken=closed.taken,
        by_default=closed.by_default,
        charged_ms=closed.charged_ms,
        reserve_ms=closed.reserve_ms,
    )


class MatchPauses:
    """Stops the clocks of a match, and notifies its seats."""

    def __init__(self, flow: Flow, outbox: Outbox, terms: ClockTerms) -> None:
        self.ends: int | None = None
        """The time in microseconds at which the clocks restart by themselves; None: there is none."""
        self._flow = flow
        self._outbox = outbox
        self._terms = terms
        self._reason = ""

    def order(self, *, pause: bool) -> None:
        """Pause or resume on the operator's order.

        A pause that the operator ordered or confirmed ends only by order.
        """
        if pause:
            self.ends = None
            self._begin("operator")
        else:
            self.resume()

    def grant(self, seat: Seat) -> bool:
        """Grant a bot a pause, unless the clocks are stopped or it has none left; return whether it got one."""
        if seat.pauses_left == 0 or self._flow.stopwatch.paused:
            return False
        seat.pauses_left -= 1
        self.ends = self._outbox.now + self._terms.pause_ms * MICROSECONDS_PER_MS
        self._begin(f"seat {seat.number}")
        return True

    def are_over(self, at: int) -> bool:
        """Return whether a pause that ends by itself is over at a time."""
        return self.ends is not None and at >= self.ends

    def resume(self) -> None:
        """Restart the clocks, if they are stopped."""
        if self._flow.stopwatch.paused:
            self._flow.resume()
            self.ends = None
            self._outbox.send_all(Resumed(reason=self._reason))
            self._outbox.io.resumed()

    def tell(self, seat: Seat) -> None:
        """Notify a bot that has connected if the clocks are stopped."""
        if self._flow.stopwatch.paused:
            self._outbox.send(seat, Paused(reason=self._reason))

    def _begin(self, reason: str) -> None:
        if not self._flow.stopwatch.paused:
            self._flow.pause()
        elif reason == self._reason:
            return
        self._reason = reason
        self._outbox.send_all(Paused(reason=reason))
        self._outbox.io.paused(reason)
