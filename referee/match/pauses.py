"""The pauses of a match: ordered by the operator, or granted to bots within their budget. Pure."""

from protocol.messages import ClockTerms, Paused, Resumed
from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.flow import Flow
from referee.match.outbox import Outbox
from referee.match.seat import Seat


class Pauses:
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
