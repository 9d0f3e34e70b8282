"""Keeps the lost windows of a match until all evidence is known, then judges whose fault they are. Pure."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.refusals import Refusal
from referee.match.clock import MICROSECONDS_PER_MS
from referee.match.records import LARGEST, Judged, Used
from referee.match.seat import Seat
from referee.match.seat_report import TEXT
from referee.match.verdicts import Evidence, Verdict, judge
from referee.match.window import SeatWindow

MOSTLY = 2
"""Bots caused the lateness of the referee if they took at least one part in this many of it."""


class ClosedPart(Struct, frozen=True):
    """A seat's part in a closed window."""

    seat: int
    number: int
    is_missed: bool
    """Whether its bot let its time pass without an answer."""


class HeldUp(Struct, frozen=True, kw_only=True):
    """A bot that lost a window by the fault of the machine or the referee, which made the attempt void."""

    seat: Annotated[int, Meta(ge=0, le=LARGEST)]
    verdict: Verdict
    window: Annotated[int, Meta(ge=0, le=LARGEST)] | None
    """The number of the window among the seat's own; None: the bot was kept from starting."""
    evidence: Annotated[str, Meta(max_length=TEXT)]
    """The evidence for the verdict in words."""
    allowed: Annotated[int, Meta(ge=0, le=LARGEST)] = 0
    """The time of the window, in microseconds."""


LONG_US = 100_000
"""Microseconds from which a part is measured even if it was not lost."""


class Case(Struct):
    """A seat's part in a window that took the default, or used the reserve."""

    part: SeatWindow
    gone: bool
    lateness: int
    """Microseconds by which the referee woke late at the window's end."""
    used: Used | None = None

    @property
    def by_default(self) -> bool:
        """Whether the default was used."""
        return self.part.action is None


class OpenCases:
    """The open cases of a match. A default waits for a late submission until the seat's next window is over."""

    def __init__(self, seats: list[Seat]) -> None:
        self._seats = seats
        self._cases: dict[tuple[int, int], Case] = {}  # by seat and number, in the order of the windows
        self.closed: list[ClosedPart] = []
        """Closed parts to be measured, which `Match.closed` returns."""
        self.unmeasured: set[tuple[int, int]] = set()
        """Seat and number of the parts that are not measured yet."""
        self._newest: dict[int, int] = {}
        """The number of the latest closed window, keyed by seat."""

    def close(self, seat: int, part: SeatWindow, lateness: int) -> None:
        """Add a closed part."""
        self._newest[seat] = part.number
        gone = self._seats[seat].gone
        defaulted = part.action is None and not part.final
        # Where there is no main time, a reserve is the budget that all windows draw on.
        overdrawn = part.reserve_used and part.clock is not None and part.clock.main
        if defaulted or overdrawn:
            self._cases[seat, part.number] = Case(part, gone=gone, lateness=lateness)
        if defaulted or overdrawn or part.charged >= LONG_US:
            self.unmeasured.add((seat, part.number))
            self.closed.append(ClosedPart(seat, part.number, is_missed=defaulted and not gone))

    def late(self, seat: int, number: int, reading: int, refusal: Refusal) -> None:
        """Note a refused submission. If it was for the window of an open case, it shows the delay."""
        case = self._cases.get((seat, number))
        if refusal is Refusal.LATE and case is not None:
            case.part.note_late(reading)

    def used(self, used: Used) -> None:
        """Add the measurement of a part."""
        self.unmeasured.discard((used.seat, used.number))
        case = self._cases.get((used.seat, used.number))
        if case is not None:
            case.used = used

    def due(self, at: int) -> Sequence[Judged]:
        """Return the verdicts that can be given now. A seat's latest missed window waits for a late submission."""
        if not self._cases:
            return ()
        judged: list[Judged] = []
        for seat in sorted({seat for seat, _ in self._cases}):
            newest = self._newest[seat]
            case = self._cases.get((seat, newest))
            waits = case is not None and case.by_default and not case.gone
            judged += self.judge(seat, at, before=newest if waits else newest + 1)
        return judged

    def judge(self, seat: int, at: int, *, before: int | None = None) -> list[Judged]:
        """Judge the measured cases of a seat; with `before`, only those before that window."""
        known = [
            (number, case, case.used)
            for (whose, number), case in self._cases.items()
            if whose == seat and case.used is not None and (before is None or number < before)
        ]
        for number, _, _ in known:
            del self._cases[seat, number]
        return [_judged(seat, number, at, case, used) for number, case, used in known]


def _judged(seat: int, number: int, at: int, case: Case, used: Used) -> Judged:
    clock = case.part.clock
    # A bot waits in wall time, so the comparison is with wall time.
    scale = 1 if clock is None else clock.wall_factor
    behind = max(used.behind, case.lateness)
    # Summed: many bots that each take a little make the referee as late as one that takes much.
    brought_about = used.hogs and used.hogs_taken * MOSTLY >= behind
    time = case.part.charged * scale
    evidence = Evidence(
        gone=case.gone,
        own=used.flooded or (clock is not None and clock.own(case.part.charged)),
        time=time,
        reserve=case.part.reserve_used * scale,
        by_default=case.by_default,
        late_by=case.part.late_by,
        behind=behind,
        withheld=used.withheld,
        slept=_slept(time, case, used),
        after=UNSET if used.active is UNSET else used.after,
        rested=UNSET if used.active is UNSET else used.rested or UNSET,
        stopped=used.stopped or UNSET,
        hogs=used.hogs if brought_about else UNSET,
    )
    return Judged(at=at, seat=seat, number=number, verdict=judge(evidence), evidence=evidence)


def _slept(time: int, case: Case, used: Used) -> int | UnsetType:
    """Return for how many microseconds a bot did nothing for its answer, until that arrived or was given up.

    Args:
        time: the time of the window until then, or until its end.
        case: the seat's part in the window.
        used: its measurement, which may start a little before the window and end a little after it.
    """
    if used.active is UNSET:
        return UNSET
    if case.by_default:
        late_by = case.part.late_by
        time += used.after if late_by is None else min(late_by, used.after)
    return max(0, time - used.active)


def is_unfair(judged: Judged) -> bool:
    """Return whether the default was used by a fault of something other than the bot."""
    return judged.evidence.by_default and judged.verdict is not Verdict.BOT


def held_up_of(judged: Judged) -> HeldUp:
    """Return the bot of a verdict that voids the attempt."""
    found = judged.evidence
    late = "no answer came" if found.late_by is None else f"{_ms(found.late_by)} late"
    text = f"{late} after {_ms(found.time)}; withheld {_ms(found.withheld)}, referee behind {_ms(found.behind)}"
    return HeldUp(
        seat=judged.seat, verdict=judged.verdict, window=judged.number, evidence=text, allowed=found.time
    )


def _ms(microseconds: int) -> str:
    return f"{microseconds / MICROSECONDS_PER_MS:,.0f} ms"
