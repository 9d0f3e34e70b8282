"""Holds the submissions to one open window until it closes, and fills in defaults. Pure.

The rules of time (docs/timing.md): while main time runs, submissions replace one another, and at its end the last
legal one is used. If there is none, the reserve runs, and the first legal submission is used at once. When the
reserve has run out, the default is used. A final submission cannot be changed. Times are readings of the match's
stopwatch (`clock`), in microseconds.
"""

from protocol.messages import NoAction
from protocol.refusals import Refusal
from protocol.words import Action
from referee.match.clock import SeatClock, Stage
from referee.match.cpu_account import Account
from referee.rules import Window


class SeatWindow:
    """A seat's part in an open window. It is *settled* once its action cannot change any more."""

    def __init__(self, number: int, account: Account | None = None) -> None:
        self.number = number
        """The number of the window among the seat's own: the `id` on the wire."""
        self.clock: SeatClock | None = None
        """The seat's clock; None until the window was passed to the seat's transport."""
        self.account = account
        """The bot's processor time, if the clock counts it."""
        self.ends_by: int | None = None
        """The earliest time at which its main time may end, for a part without a clock yet, which is checked
        then."""
        self.action: Action | None = None
        """The valid submission; None: there is none."""
        self.arrived: int | None = None
        self.used = 0
        """The time used when the submission arrived."""
        self.final = False
        """Whether the submission is final."""
        self.settled = False
        self.charged = 0
        self.reserve_used = 0
        """The part of `charged` that was used from the reserve."""
        self.refused = False
        """Whether a submission was illegal."""
        self.late_by: int | None = None
        """The delay of the first submission after the end of its time; None: there was none."""
        self.no_action: NoAction | None = None
        """The reason for which the kit submitted in its bot's place; None: it did not."""

    def refusal(self, reading: int) -> Refusal | None:
        """Return the refusal of a submission or undo that arrives now; None: it is allowed."""
        if self.clock is None:
            return Refusal.UNKNOWN_WINDOW
        self.pass_time(reading)
        if self.final:
            return Refusal.FINAL
        return Refusal.LATE if self.settled else None

    def note_late(self, reading: int) -> None:
        """Note the delay of a submission that was refused as late."""
        if self.late_by is None and self.clock is not None:
            self.late_by = max(0, reading - self.clock.deadline)

    def submit(self, action: Action, *, final: bool, reading: int) -> None:
        """Store a legal submission. Call `refusal` before."""
        self.action, self.arrived, self.final = action, reading, final
        self.used = 0 if self.clock is None else self.clock.used(reading)
        if final:
            self._settle(self.used)
        self.pass_time(reading)

    def undo(self) -> None:
        """Remove the submission. Call `refusal` before."""
        self.action = self.arrived = self.no_action = None

    def forgo(self, reading: int) -> None:
        """Settle on the default action; no further submissions are accepted."""
        self.final = True
        self._settle_at(reading)

    def pass_time(self, reading: int) -> None:
        """Settle the part if its time has run out. Submissions that arrived before must be stored already."""
        if self.settled or self.clock is None:
            return
        stage = self.clock.stage(reading)
        if self.arrived is not None and stage is not Stage.MAIN:
            self._settle(self.used)
        elif stage is Stage.OVER:
            self._settle(self.clock.main + self.clock.reserve)

    def give_up(self, reading: int) -> None:
        """Settle the part at once on its submission or the default, because its bot has left."""
        if self.settled:
            return
        if self.arrived is None:
            self._settle_at(reading)
        else:
            self._settle(self.used)

    def next_change(self) -> int | None:
        """Return the next time at which the part may settle without input; None: never."""
        if self.settled:
            return None
        if self.clock is None:
            return self.ends_by
        return self.clock.next_look(into_reserve=self.arrived is None)

    def _settle_at(self, reading: int) -> None:
        self._settle(0 if self.clock is None else self.clock.used(reading))

    def _settle(self, used: int) -> None:
        self.settled = True
        if self.clock is not None:
            self.charged = self.clock.charged(used)
            self.reserve_used = self.clock.reserve_used(used)


class OpenWindow:
    """An open window with its parts, keyed by seat."""

    def __init__(self, window: Window, numbers: dict[int, int], *, fixed: bool, counted: bool = False) -> None:
        """Open a window.

        Args:
            window: the window.
            numbers: the number of the window among each seat's own, keyed by seat.
            fixed: whether it lasts for its full main time.
            counted: whether the clock counts processor time.
        """
        self.window = window
        self.parts = {
            owed.seat: SeatWindow(numbers[owed.seat], Account() if counted else None) for owed in window.owed
        }
        self._fixed = fixed

    def pass_time(self, reading: int) -> None:
        """Settle every part whose time has run out."""
        for part in self.parts.values():
            part.pass_time(reading)

    def complete(self, reading: int) -> bool:
        """Return whether it may close: all parts are settled, and with fixed pacing main time is over for all."""
        return self._all_settled() and (not self._fixed or reading >= self._earliest_close())

    def next_change(self) -> int | None:
        """Return the next time at which the window may change without input; None: never."""
        soonest = self._earliest_close() if self._fixed and self._all_settled() else None
        for part in self.parts.values():
            change = part.next_change()
            if change is not None and (soonest is None or change < soonest):
                soonest = change
        return soonest

    def _all_settled(self) -> bool:
        return all(part.settled for part in self.parts.values())

    def _earliest_close(self) -> int:
        return max((part.clock.main_ends for part in self.parts.values() if part.clock), default=0)
