"""Verdicts: whose fault it was that a window took the default or used the reserve. Pure.

`OpenCases` keeps the lost windows of a match until all evidence is known; `judge` is the rule, which is published
in docs/timing.md. It uses only data of the transcript, so that everyone can verify it.
"""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from protocol.refusals import Refusal
from referee.match.records import LARGEST, Evidence, Judged, Used, Verdict
from referee.match.seat import Seat
from referee.match.seat_report import TEXT
from referee.match.window import MICROSECONDS_PER_MS, SeatWindow

MOSTLY = 2
"""Bots caused the lateness of the referee if they took at least one part in this many of it."""
LONG_US = 100_000
"""Microseconds from which a seat window is measured even if it was not lost."""
ENOUGH = 4
"""Reciprocal of the share of its time that must have been withheld from a bot to excuse it, if it is unknown how
much more time it would have needed."""
NAP = 5_000
"""Microseconds for which a bot may do nothing while it owes an answer, since messages take time to be carried."""


class ClosedSeatWindow(Struct, frozen=True):
    """A closed seat window."""

    seat: int
    number: int
    is_missed: bool
    """True if the bot let its time pass without an answer."""


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


class Case(Struct):
    """A seat window that took the default, or used the reserve."""

    seat_window: SeatWindow
    gone: bool
    lateness: int
    """Microseconds by which the referee woke late at the window's end."""
    used: Used | None = None

    @property
    def by_default(self) -> bool:
        """True if the default was used."""
        return self.seat_window.action is None


class OpenCases:
    """The open cases of a match. A default waits for a late submission until the seat's next window is over."""

    def __init__(self, seats: list[Seat]) -> None:
        self._seats = seats
        self._cases: dict[tuple[int, int], Case] = {}  # by seat and number, in the order of the windows
        self._closed: list[ClosedSeatWindow] = []
        """Closed seat windows to be measured."""
        self.unmeasured: set[tuple[int, int]] = set()
        """Seat and number of the seat windows that are not measured yet."""
        self._newest: dict[int, int] = {}
        """The number of the latest closed window, keyed by seat."""

    def take_closed(self) -> list[ClosedSeatWindow]:
        """Return the seat windows that have closed since the last call."""
        closed = self._closed
        if closed:
            self._closed = []
        return closed

    def close(self, seat: int, seat_window: SeatWindow, lateness: int) -> None:
        """Add a closed seat window."""
        self._newest[seat] = seat_window.number
        gone = self._seats[seat].gone
        defaulted = seat_window.action is None and not seat_window.final
        # Where there is no main time, a reserve is the budget that all windows draw on.
        overdrawn = seat_window.reserve_used and seat_window.clock is not None and seat_window.clock.main
        if defaulted or overdrawn:
            self._cases[seat, seat_window.number] = Case(seat_window, gone=gone, lateness=lateness)
        if defaulted or overdrawn or seat_window.charged >= LONG_US:
            self.unmeasured.add((seat, seat_window.number))
            self._closed.append(ClosedSeatWindow(seat, seat_window.number, is_missed=defaulted and not gone))

    def late(self, seat: int, number: int, reading: int, refusal: Refusal) -> None:
        """Note a refused submission. If it was for the window of an open case, it shows the delay."""
        case = self._cases.get((seat, number))
        if refusal is Refusal.LATE and case is not None:
            case.seat_window.note_late(reading)

    def used(self, used: Used) -> None:
        """Add the measurement of a seat window."""
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
            if not waits:
                newest += 1
            judged += self.judge(seat, at, before=newest)
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
    clock = case.seat_window.clock
    assert clock is not None  # noqa: S101 - a seat window closes on its clock
    # A bot waits in wall time, so the comparison is with wall time.
    scale = clock.wall_factor
    behind = max(used.behind, case.lateness)
    # Summed: many bots that each take a little make the referee as late as one that takes much.
    brought_about = used.blocking_seats and used.blocked_us * MOSTLY >= behind
    time = case.seat_window.charged * scale
    evidence = Evidence(
        gone=case.gone,
        own=used.flooded or clock.own(case.seat_window.charged),
        time=time,
        reserve=case.seat_window.reserve_used * scale,
        by_default=case.by_default,
        late_by=case.seat_window.late_by,
        behind=behind,
        withheld=used.withheld,
        slept=_slept(time, case, used),
        stopped=used.stopped or UNSET,
    )
    if used.active is not UNSET:
        evidence = replace(evidence, after=used.after, rested=used.rested or UNSET)
    if brought_about:
        evidence = replace(evidence, blocking_seats=used.blocking_seats)
    return Judged(at=at, seat=seat, number=number, verdict=judge(evidence), evidence=evidence)


def _slept(time: int, case: Case, used: Used) -> int | UnsetType:
    """Return for how many microseconds a bot did nothing for its answer, until that arrived or was given up.

    Args:
        time: the time of the window until then, or until its end.
        case: the seat window.
        used: its measurement, which may start a little before the window and end a little after it.
    """
    if used.active is UNSET:
        return UNSET
    if case.by_default:
        late_by = case.seat_window.late_by
        if late_by is None:
            late_by = used.after
        time += min(late_by, used.after)
    return max(0, time - used.active)


def is_unfair(judged: Judged) -> bool:
    """Return whether the default was used by a fault of something other than the bot."""
    return judged.evidence.by_default and judged.verdict is not Verdict.BOT


def held_up_of(judged: Judged) -> HeldUp:
    """Return the bot of a verdict that voids the attempt."""
    found = judged.evidence
    late = "no answer came"
    if found.late_by is not None:
        late = f"{_ms(found.late_by)} late"
    text = f"{late} after {_ms(found.time)}; withheld {_ms(found.withheld)}, referee behind {_ms(found.behind)}"
    return HeldUp(
        seat=judged.seat, verdict=judged.verdict, window=judged.number, evidence=text, allowed=found.time
    )


def _ms(microseconds: int) -> str:
    return f"{microseconds / MICROSECONDS_PER_MS:,.0f} ms"


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict.

    The time that the bot lacked is compared with the time withheld from it. It lacked its delay if the default was
    used, the used reserve if it was not, and one part in ENOUGH of its time if no answer arrived. An arrival is
    stamped with the last time at which the referee's loop had polled without finding it, so that stalls cannot
    have cost anything if there was an arrival; without one that is unknown. A bot is responsible for its own
    processor time, for throttling to its limits, and for its sleep: a bot that slept for as long as it lacked, or
    for one part in ENOUGH of its time, could have been in time.

    A stop of the referee costs nothing by itself, because its clock pauses. But a bot that was stopped with it may
    have continued a little later, and slowly.
    """
    if evidence.gone or evidence.own:
        return Verdict.BOT
    if not evidence.by_default:
        short, behind = evidence.reserve, 0
    elif evidence.late_by is not None:
        # If a bot answered after the measurement, only the time up to that counts: it was still working then.
        short, behind = evidence.late_by, 0
        if evidence.after is not UNSET:
            looked_at = max(1, evidence.after)
            if evidence.rested is not UNSET:
                # The bot was frozen. If it was so until the measurement, the time that it still needed is unknown.
                short = max(1, short - evidence.rested)
                looked_at = max(looked_at, evidence.time // ENOUGH)
            short = min(short, looked_at)
    else:
        short, behind = max(1, evidence.time // ENOUGH), evidence.behind
    if evidence.stopped is not UNSET:
        behind += evidence.stopped
    if short <= behind:
        return Verdict.REFEREE
    if evidence.slept is not UNSET and evidence.slept >= min(short, evidence.time // ENOUGH) + NAP:
        return Verdict.BOT
    if short <= behind + evidence.withheld:
        return Verdict.HOST
    return Verdict.BOT
