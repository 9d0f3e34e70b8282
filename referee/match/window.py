"""Holds the submissions to one open window until it closes, and fills in defaults. Pure.

The rules of time (docs/timing.md): while main time runs, submissions replace one another, and when it ends the
last legal one is taken; if there is none the reserve runs, and the first legal submission is taken at once; when
that is gone, the default is taken. A final submission gives up the right to change it. Times are readings of the
match's stopwatch (`clock`), in microseconds.
"""

from protocol.messages import NoAction
from protocol.refusals import Refusal
from protocol.words import Action
from referee.match.clock import SeatClock, Stage
from referee.match.cpu_account import Account
from referee.rules import Window


class SeatWindow:
    """One seat's part in an open window. It is *settled* once nothing can change what is taken."""

    def __init__(self, number: int, account: Account | None = None) -> None:
        self.number = number
        """The seat's own count of its windows: the `id` on the wire."""
        self.clock: SeatClock | None = None
        """None until the window has been handed to the seat's transport."""
        self.account = account
        """The bot's processor time, if the clock counts it."""
        self.ends_by: int | None = None
        """Until then: the earliest moment at which its main time may end. Whether it was handed is seen then."""
        self.action: Action | None = None
        """The submission that stands; None: none does."""
        self.arrived: int | None = None
        self.used = 0
        """How much time was used by then."""
        self.final = False
        """Whether the right to change it was given up."""
        self.settled = False
        self.charged = 0
        self.reserve_used = 0
        """Of it, from the reserve."""
        self.refused = False
        """Whether a submission was illegal."""
        self.late_by: int | None = None
        """By how much the first submission that came after the end of its time was late."""
        self.no_action: NoAction | None = None
        """Why the kit chose the submission that stands in its bot's place; None: it did not."""

    def refusal(self, reading: int) -> Refusal | None:
        """Why a submission or undo that arrives now must be turned down; None where it may be acted on."""
        if self.clock is None:
            return Refusal.UNKNOWN_WINDOW
        self.pass_time(reading)
        if self.final:
            return Refusal.FINAL
        return Refusal.LATE if self.settled else None

    def note_late(self, reading: int) -> None:
        """A submission was turned down for having come too late."""
        if self.late_by is None and self.clock is not None:
            self.late_by = max(0, reading - self.clock.deadline)

    def submit(self, action: Action, *, final: bool, reading: int) -> None:
        """A legal submission arrives; `refusal` has let it pass."""
        self.action, self.arrived, self.final = action, reading, final
        self.used = 0 if self.clock is None else self.clock.used(reading)
        if final:
            self._settle(self.used)
        self.pass_time(reading)

    def undo(self) -> None:
        """Back to the default; `refusal` has let it pass."""
        self.action = self.arrived = self.no_action = None

    def forgo(self, reading: int) -> None:
        """Settle on the default action; no further submissions are accepted."""
        self.final = True
        self._settle_at(reading)

    def pass_time(self, reading: int) -> None:
        """Settles what time has decided by now. All that arrived before must have been submitted."""
        if self.settled or self.clock is None:
            return
        stage = self.clock.stage(reading)
        if self.arrived is not None and stage is not Stage.MAIN:
            self._settle(self.used)
        elif stage is Stage.OVER:
            self._settle(self.clock.main + self.clock.reserve)

    def give_up(self, reading: int) -> None:
        """Its bot will say nothing more: what stands is taken, or the default, without waiting for the time."""
        if self.settled:
            return
        if self.arrived is None:
            self._settle_at(reading)
        else:
            self._settle(self.used)

    def next_change(self) -> int | None:
        """When time will next decide something; None where it will not."""
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
    """A window and its parts, by seat."""

    def __init__(self, window: Window, numbers: dict[int, int], *, fixed: bool, counted: bool = False) -> None:
        """`numbers`: the seats' own window counts. `fixed`: it takes its full time. `counted`: a `cpu` clock."""
        self.window = window
        self.parts = {
            owed.seat: SeatWindow(numbers[owed.seat], Account() if counted else None) for owed in window.owed
        }
        self._fixed = fixed

    def pass_time(self, reading: int) -> None:
        """Settles what time has decided by now, for every seat."""
        for part in self.parts.values():
            part.pass_time(reading)

    def complete(self, reading: int) -> bool:
        """Whether it may close now: all is settled, and with fixed pacing main time is over for all."""
        return self._all_settled() and (not self._fixed or reading >= self._earliest_close())

    def next_change(self) -> int | None:
        """When time will next decide something."""
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
