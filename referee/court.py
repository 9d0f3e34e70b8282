"""Keeps the windows of a match that somebody may be at fault for until all is known, then judges them. Pure."""

from msgspec import Struct

from protocol.refusals import Refusal
from referee.records import Judged, Used
from referee.seat import Seat
from referee.verdict import Evidence, Verdict, judge
from referee.window import Part


class Case(Struct):
    """A part in a window that took the default, or used reserve."""

    part: Part
    gone: bool
    lateness: int
    """How late the referee woke at the window's end."""
    used: Used | None = None
    late_by: int | None = None

    @property
    def by_default(self) -> bool:
        """Whether the default was taken."""
        return self.part.action is None


class Court:
    """One match's cases, by seat. A default waits for a submission that came too late until the next window's end."""

    def __init__(self, seats: list[Seat]) -> None:
        self._seats = seats
        self._cases: dict[int, Case] = {}
        self.closed: list[tuple[int, int]] = []
        """Seat and window's number of parts that are over, as they come; `match.closed` takes them."""
        self.unmeasured: set[tuple[int, int]] = set()
        """Those not yet told of by `used`."""

    def close(self, seat: int, part: Part, lateness: int) -> None:
        """A part is over."""
        self.closed.append((seat, part.number))
        self.unmeasured.add((seat, part.number))
        asked_for = part.action is None and part.final
        # Where there is no main time, a reserve is the budget that all windows draw on.
        overdrawn = part.reserve_used and part.clock is not None and part.clock.main
        if (part.action is None and not asked_for) or overdrawn:
            self._cases[seat] = Case(part, gone=self._seats[seat].gone, lateness=lateness)

    def late(self, seat: int, number: int, reading: int, refusal: Refusal) -> None:
        """A submission was turned down. If it was for the window in question, it tells by how much it was late."""
        case = self._cases.get(seat)
        if (
            refusal is Refusal.LATE
            and case is not None
            and case.part.number == number
            and case.part.clock is not None
            and case.late_by is None
        ):
            case.late_by = max(0, reading - case.part.clock.deadline)

    def used(self, used: Used) -> Judged | None:
        """What a part in a window was like; the judgement of the one before, or of this, if it can be made now."""
        self.unmeasured.discard((used.seat, used.number))
        case = self._cases.get(used.seat)
        if case is None:
            return None
        if case.part.number == used.number:
            case.used = used
            return self.judge(used.seat, used.at) if case.gone or not case.by_default else None
        return self.judge(used.seat, used.at)

    def judge(self, seat: int, at: int) -> Judged | None:
        """Judges what is left of a seat; None if there is nothing, or nothing is known of it."""
        case = self._cases.pop(seat, None)
        if case is None or case.used is None:
            return None
        clock = case.part.clock
        # What waiting took from a bot is on the wall: so is what it is compared with.
        scale = 1 if clock is None else clock.wall_factor
        evidence = Evidence(
            gone=case.gone,
            own=clock is not None and clock.own(case.part.charged),
            time=case.part.charged * scale,
            reserve=case.part.reserve_used * scale,
            by_default=case.by_default,
            late_by=case.late_by,
            behind=case.used.behind + case.lateness,
            waited=case.used.waited,
        )
        return Judged(at=at, seat=seat, number=case.part.number, verdict=judge(evidence), evidence=evidence)


def is_unfair(judged: Judged) -> bool:
    """Whether what was taken was changed by somebody else than the bot."""
    return judged.evidence.by_default and judged.verdict is not Verdict.BOT
