"""One open window: the seats' clocks, and their submissions until it closes. Pure: times are passed in.

The rules of time (docs/timing.md): while main time runs, submissions replace one another, and at its end the last
legal one is used. If there is none, the reserve runs, and the first legal submission is used at once. When the
reserve has run out, the default is used. A final submission cannot be changed.

All times are whole microseconds. `at` is the time since the start of the match; a *reading* is a time on the
match's stopwatch, which stops while the match is paused. Deadlines and charges are in readings, so that pauses are
never charged to bots.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from enum import Enum

from msgspec import Raw, Struct

from protocol.messages import Accepted, ClockTerms, NoAction, Submit
from protocol.refusals import Refusal
from protocol.words import Action
from referee.rules import Window

MICROSECONDS_PER_MS = 1_000
KEPT = 16
"""Number of readings kept. Older ones concern only times that have been judged already."""
LOOK_US = 10_000
"""The shortest time between two readings of a bot that sends no frame. Each frame is judged by a reading of its
own."""
LOOKS = 64
"""The approximate maximum of such readings in a window."""
WHY_NOT = {
    Refusal.LATE: "this window is over for you",
    Refusal.UNKNOWN_WINDOW: "you have been given no window of this id",
    Refusal.FINAL: "your final submission stands",
}
"""Texts for a bot whose message about a window is refused."""


class Stopwatch:
    """A match's running time. It stops during pauses, and can be read for any time in the past."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._lengths: list[int] = [0]
        """Sums of the lengths of the first n pauses, at index n."""
        self._paused_at: int | None = None

    @property
    def paused(self) -> bool:
        """True if the stopwatch is stopped now."""
        return self._paused_at is not None

    def pause(self, at: int) -> None:
        """Stop the stopwatch at a time, which must not be before its last start."""
        self._paused_at = at

    def resume(self, at: int) -> None:
        """Start the stopwatch again."""
        if self._paused_at is not None:
            self._starts.append(self._paused_at)
            self._lengths.append(self._lengths[-1] + at - self._paused_at)
            self._paused_at = None

    def reading(self, at: int) -> int:
        """Return the reading at a time. Frames that are processed late may be from before or within a pause."""
        if self._paused_at is not None:
            at = min(at, self._paused_at)
        if not self._starts:
            return at
        begun = bisect_left(self._starts, at)
        if begun == 0:
            return at
        start, before = self._starts[begun - 1], self._lengths[begun - 1]
        return at - before - min(self._lengths[begun] - before, at - start)

    def when(self, reading: int) -> int | None:
        """Return the time at which the stopwatch shows a reading, from its last start on; None while stopped."""
        if self.paused:
            return None
        return reading + self._lengths[-1]


class _Point(Struct, frozen=True):
    reading: int
    """The latest time on the match's stopwatch at which it can have been made."""
    used: int


class Account:
    """The processor time of a bot in a window, from the first reading after the window was sent."""

    def __init__(self) -> None:
        self.stale = True
        """True if a reading is needed now: there is none yet, or the stopwatch was stopped or started since."""
        self._points: deque[_Point] = deque(maxlen=KEPT)
        self._began = 0
        self._counter = 0
        self._cores = 1

    def read(self, reading: int, counter: int, cores: int) -> None:
        """Add a reading.

        In a pause the stopwatch is stopped, so that no time counts: at most `cores` microseconds count per
        microsecond of the stopwatch.

        Args:
            reading: the time on the match's stopwatch.
            counter: the bot's processor time over the match so far, in microseconds.
            cores: the number of cores that the bot may use at once.
        """
        used = 0
        if not self._points:
            self._began = reading
        else:
            last = self._points[-1]
            grown, possible = counter - self._counter, (reading - last.reading) * cores
            used = last.used + max(0, min(grown, possible))
        self._points.append(_Point(reading, used))
        self._counter = counter
        self._cores = cores
        self.stale = False

    def used(self, reading: int) -> int:
        """Return the least time that it can have used up to a time on the stopwatch."""
        known = (point.used - max(0, point.reading - reading) * self._cores for point in self._points)
        return max(0, max(known, default=0))

    @property
    def total(self) -> int:
        """The time used up to the last reading."""
        if not self._points:
            return 0
        return self._points[-1].used

    def next_look(self, goal: int) -> int:
        """Return the time of the last reading if it reached a goal, else the earliest at which one could."""
        if not self._points:
            return 0
        last = self._points[-1]
        if last.used >= goal:
            return last.reading
        soonest = (goal - last.used) // self._cores
        return last.reading + max(soonest, LOOK_US, (last.reading - self._began) // LOOKS)


class ClockStage(Enum):
    """The part of a seat's time for a window in which a moment falls."""

    MAIN = "main"
    RESERVE = "reserve"
    OVER = "over"


class SeatClock(Struct, frozen=True):
    """A seat's time in a window, in readings. Everything follows from `used`."""

    opened: int
    """The time at which the transport accepted its window; for a remote bot, plus its credit for the network."""
    main: int
    reserve: int
    """The reserve that the seat may use in this window; 0 if there is none."""
    wall_factor: int = 1
    """Units of wall time that count as at least one unit of processor time."""
    account: Account | None = None
    """The bot's processor time in this window, which a `cpu` clock counts. None: only wall time counts."""
    stands: bool = False
    """True if the clock never runs: main time lasts until the bot has answered."""

    @property
    def main_ends(self) -> int:
        """The latest end of main time, exclusive: a submission that arrives at it is late."""
        return self.opened + self.main * self.wall_factor

    @property
    def deadline(self) -> int:
        """The latest end of main time and reserve together."""
        return self.opened + (self.main + self.reserve) * self.wall_factor

    def used(self, reading: int) -> int:
        """Return the time used up to a reading, as far as it is known."""
        if self.stands:
            return 0
        wall = max(0, reading - self.opened)
        if self.account is None:
            return wall
        return max(self.account.used(reading), wall // self.wall_factor)

    def stage(self, reading: int) -> ClockStage:
        """Return the stage of a reading. Submissions *before* a deadline are in time, those at it are not."""
        used = self.used(reading)
        if self.stands or used < self.main:
            return ClockStage.MAIN
        if used < self.main + self.reserve:
            return ClockStage.RESERVE
        return ClockStage.OVER

    def reserve_used(self, used: int) -> int:
        """Return the part of the used time that is from the reserve."""
        return min(max(0, used - self.main), self.reserve)

    def left_ms(self, reading: int, reserve_ms: int) -> tuple[int, int]:
        """Return the main time left, and that of a reserve, in whole milliseconds."""
        used = self.used(reading)
        reserve = reserve_ms - self.reserve_used(used) // MICROSECONDS_PER_MS
        return max(0, self.main - used) // MICROSECONDS_PER_MS, reserve

    def charged(self, used: int) -> int:
        """Return the part of the used time that is charged: at most main time and reserve."""
        return min(used, self.main + self.reserve)

    def own(self, charged: int) -> bool:
        """Return whether a charge is the bot's own doing: it had no time, or used it all as processor time."""
        if self.main + self.reserve == 0:
            return True
        return self.account is not None and self.account.total >= charged

    def next_look(self, *, into_reserve: bool) -> int | None:
        """Return the time at which to check next whether main time is over; None: never.

        With `into_reserve`, whether main time and reserve are.
        """
        if self.stands:
            return None
        time = self.main
        if into_reserve:
            time += self.reserve
        latest = self.opened + time * self.wall_factor
        if self.account is None:
            return latest
        return min(latest, self.account.next_look(time))


def reserve_after(terms: ClockTerms, reserve: int, used: int) -> int:
    """Return what remains of a seat's reserve after a window of its own that used some of it, in microseconds."""
    given_back = min(used, (terms.bronstein_ms or 0) * MICROSECONDS_PER_MS)
    increment = (terms.increment_ms or 0) * MICROSECONDS_PER_MS
    return reserve - used + given_back + increment


class SeatWindow:
    """A seat's share of an open window. It is *settled* once its action cannot change any more."""

    def __init__(self, number: int) -> None:
        self.number = number
        """The number of the window among the seat's own: the `id` on the wire."""
        self.clock: SeatClock | None = None
        """The seat's clock; None until the window was passed to the seat's transport."""
        self.account: Account | None = None
        """The bot's processor time, if the clock counts it."""
        self.ends_by: int | None = None
        """The earliest time at which main time may end, for a seat window without a clock yet."""
        self.action: Action | None = None
        """The valid submission; None: there is none."""
        self.arrived: int | None = None
        self.used = 0
        """The time used when the submission arrived."""
        self.final = False
        """True if the submission is final."""
        self.settled = False
        self.charged = 0
        self.reserve_used = 0
        """The part of `charged` that was used from the reserve."""
        self.refused = False
        """True if a submission was illegal."""
        self.late_by: int | None = None
        """The delay of the first submission after the end of the seat's time; None: there was none."""
        self.no_action: NoAction | None = None
        """The reason for which the kit submitted in the bot's place; None: it did not."""

    def refusal(self, reading: int) -> Refusal | None:
        """Return the refusal of a submission or undo that arrives now; None: it is allowed."""
        if self.clock is None:
            return Refusal.UNKNOWN_WINDOW
        self.pass_time(reading)
        if self.final:
            return Refusal.FINAL
        if self.settled:
            return Refusal.LATE
        return None

    def note_late(self, reading: int) -> None:
        """Note the delay of a submission that was refused as late."""
        if self.late_by is None and self.clock is not None:
            self.late_by = max(0, reading - self.clock.deadline)

    def submit(self, action: Action, *, final: bool, reading: int) -> None:
        """Store a legal submission. Call `refusal` before."""
        self.action, self.arrived, self.final = action, reading, final
        self.used = self._used(reading)
        if final:
            self._settle(self.used)
        self.pass_time(reading)

    def undo(self) -> None:
        """Remove the submission. Call `refusal` before."""
        self.action = self.arrived = self.no_action = None

    def forgo(self, reading: int) -> None:
        """Settle on the default action; no further submissions are accepted."""
        self.final = True
        self._settle(self._used(reading))

    def pass_time(self, reading: int) -> None:
        """Settle the seat window if its time has run out. Earlier submissions must be stored already."""
        if self.settled or self.clock is None:
            return
        stage = self.clock.stage(reading)
        if self.arrived is not None and stage is not ClockStage.MAIN:
            self._settle(self.used)
        elif stage is ClockStage.OVER:
            self._settle(self.clock.main + self.clock.reserve)

    def give_up(self, reading: int) -> None:
        """Settle the seat window at once on its submission or the default, because the bot has left."""
        if self.settled:
            return
        if self.arrived is None:
            self._settle(self._used(reading))
        else:
            self._settle(self.used)

    def next_change(self) -> int | None:
        """Return the next time at which the seat window may settle without input; None: never."""
        if self.settled:
            return None
        if self.clock is None:
            return self.ends_by
        return self.clock.next_look(into_reserve=self.arrived is None)

    def _used(self, reading: int) -> int:
        if self.clock is None:
            return 0
        return self.clock.used(reading)

    def _settle(self, used: int) -> None:
        self.settled = True
        if self.clock is not None:
            self.charged = self.clock.charged(used)
            self.reserve_used = self.clock.reserve_used(used)


class OpenWindow:
    """An open window with its seat windows, keyed by seat."""

    def __init__(self, window: Window, numbers: dict[int, int], *, fixed: bool, counted: bool = False) -> None:
        """Open a window.

        Args:
            window: the window.
            numbers: the number of the window among each seat's own, keyed by seat.
            fixed: whether it lasts for its full main time.
            counted: whether the clock counts processor time.
        """
        self.window = window
        self.seat_windows = {owed.seat: SeatWindow(numbers[owed.seat]) for owed in window.owed}
        if counted:
            for seat_window in self.seat_windows.values():
                seat_window.account = Account()
        self._fixed = fixed

    def pass_time(self, reading: int) -> None:
        """Settle every seat window whose time has run out."""
        for seat_window in self.seat_windows.values():
            seat_window.pass_time(reading)

    def complete(self, reading: int) -> bool:
        """Return whether the window may close: all seats are settled and, with fixed pacing, past main time."""
        return self._all_settled() and (not self._fixed or reading >= self._earliest_close())

    def next_change(self) -> int | None:
        """Return the next time at which the window may change without input; None: never."""
        soonest = None
        if self._fixed and self._all_settled():
            soonest = self._earliest_close()
        for seat_window in self.seat_windows.values():
            change = seat_window.next_change()
            if change is not None and (soonest is None or change < soonest):
                soonest = change
        return soonest

    def _all_settled(self) -> bool:
        return all(seat_window.settled for seat_window in self.seat_windows.values())

    def _earliest_close(self) -> int:
        return max(
            (seat_window.clock.main_ends for seat_window in self.seat_windows.values() if seat_window.clock),
            default=0,
        )


def why_not(seat_window: SeatWindow | None, window: int, windows: int, reading: int) -> Refusal | None:
    """Return the refusal of a change to a window's submission; None: it is allowed.

    Args:
        seat_window: the bot's open seat window, if it has one.
        window: the number of the window that the bot names.
        windows: the number of windows that the bot has had.
        reading: the time of the message.
    """
    if seat_window is not None and seat_window.number == window:
        return seat_window.refusal(reading)
    if 0 <= window < windows:
        return Refusal.LATE
    return Refusal.UNKNOWN_WINDOW


def take(seat_window: SeatWindow, submit: Submit, read: Callable[[Raw], Action], reading: int) -> Accepted:
    """Apply a submission to a seat window that may be changed, and return the answer.

    Raises:
        Illegal: `read` rejects the action.
    """
    if bytes(submit.action) == b"null":
        accepted = undo(seat_window)
        if submit.final is True:
            seat_window.forgo(reading)
            seat_window.no_action = submit.because or None
        return accepted
    action = read(submit.action)
    seat_window.submit(action, final=submit.final is not False, reading=reading)
    seat_window.no_action = submit.because or None
    return Accepted(window=seat_window.number, action=action)


def undo(seat_window: SeatWindow) -> Accepted:
    """Remove a seat window's submission, and return the answer."""
    seat_window.undo()
    return Accepted(window=seat_window.number, action=None)
