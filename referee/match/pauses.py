"""A match's pauses: ordered by the operator, or granted to bots within their budget. Pure."""

from protocol.messages import ClockTerms, Paused, Resumed
from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.flow import Flow
from referee.match.outbox import Outbox
from referee.match.seat import Seat


class Pauses:
    """Stops the clocks of a match, and tells its seats."""

    def __init__(self, flow: Flow, outbox: Outbox, terms: ClockTerms) -> None:
        self.ends: int | None = None
        """The moment, in microseconds, at which the clocks run again by themselves; None: none is set."""
        self._flow = flow
        self._outbox = outbox
        self._terms = terms
        self._reason = ""

    def order(self, *, pause: bool) -> None:
        """The operator's word. A pause of theirs, and one of a bot's that they make theirs, ends by it alone."""
        if pause:
            self.ends = None
            self._begin("operator")
        else:
            self.resume()

    def grant(self, seat: Seat) -> bool:
        """A bot asks for one; whether it gets it: not while the clocks stand, nor if it has had all it may."""
        if seat.pauses_left == 0 or self._flow.stopwatch.paused:
            return False
        seat.pauses_left -= 1
        self.ends = self._outbox.now + self._terms.pause_ms * MICROSECONDS_PER_MS
        self._begin(f"seat {seat.number}")
        return True

    def are_over(self, at: int) -> bool:
        """Whether one that ends by itself has come to its end by that moment."""
        return self.ends is not None and at >= self.ends

    def resume(self) -> None:
        """The clocks run again, if they stood."""
        if self._flow.stopwatch.paused:
            self._flow.resume()
            self.ends = None
            self._outbox.send_all(Resumed(reason=self._reason))
            self._outbox.io.resumed()

    def tell(self, seat: Seat) -> None:
        """Tells a bot that has come (back) that the clocks stand, if they do."""
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
