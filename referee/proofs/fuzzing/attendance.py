"""When each bot was there and when the clocks stood still, by what was done in a match. Part of the model.

From docs/timing.md (pauses) and docs/protocol.md (the course of a match, faults, coming back).
"""

from msgspec import Struct

from referee.proofs.fuzzing.rules_of_time import FOREVER, Clocks, Span, joined
from referee.proofs.fuzzing.script import Asks, Leaves, Pauses, Resumes, Returns, Script, Stalls
from referee.proofs.fuzzing.trace import Did

PER_MS = 1_000


class Attendance(Struct, frozen=True):
    """Of one match."""

    begins: int
    """When play begins: all have said hello, or will not any more."""
    gone: tuple[int, ...]
    """By seat: when its bot's part was over; `FOREVER`: never."""
    absent: tuple[tuple[Span, ...], ...]
    """By seat: when it had no bot that had said hello."""

    def is_absent(self, seat: int, moment: int) -> bool:
        """Whether nobody sits there who could be told anything."""
        return moment >= self.gone[seat] or any(start <= moment < end for start, end in self.absent[seat])


def stalls(did: tuple[Did, ...]) -> list[Span]:
    """When the referee slept."""
    return joined((each.at, each.at + each.act.ticks) for each in did if isinstance(each.act, Stalls))


class _Roll:
    """Calls the roll, deed by deed."""

    def __init__(self, script: Script, clocks: Clocks) -> None:
        startup = script.startup_ms * PER_MS
        self._startup = startup
        self._clocks = clocks
        self.hello_by = dict.fromkeys(range(script.seats), startup)
        self.gone = [FOREVER] * script.seats
        self.away: list[int | None] = [0] * script.seats
        self.absent: list[list[Span]] = [[] for _ in range(script.seats)]
        self.begins: int | None = None
        self._restarts = [script.restarts if script.fault == "restart" else 0] * script.seats

    def pass_time(self, until: int) -> None:
        """A bot that has not said hello within the start-up time has no part any more."""
        due = sorted((max(self._clocks.awake(by)), seat) for seat, by in self.hello_by.items())
        for moment, seat in due:
            if moment < until:
                self._leaves(seat, moment, for_good=True)

    def take(self, each: Did) -> None:
        """A deed."""
        self.pass_time(each.told)
        if self.gone[each.seat] != FOREVER:
            return
        if isinstance(each.act, Returns):
            self.hello_by.pop(each.seat, None)
            since = self.away[each.seat]
            if since is not None:
                self.absent[each.seat].append((since, each.told))
                self.away[each.seat] = None
            self._begin(each.told)
        elif isinstance(each.act, Leaves):
            self._leaves(each.seat, each.told, for_good=self._restarts[each.seat] == 0)

    def _leaves(self, seat: int, moment: int, *, for_good: bool) -> None:
        if self.away[seat] is None:
            self.away[seat] = moment
        if for_good:
            self.gone[seat] = moment
            self.hello_by.pop(seat, None)
            self._begin(moment)
        else:
            self._restarts[seat] -= 1
            self.hello_by[seat] = moment + self._startup

    def _begin(self, moment: int) -> None:
        if self.begins is None and not self.hello_by:
            self.begins = moment


def attendance(script: Script, did: tuple[Did, ...], clocks: Clocks) -> Attendance:
    """When each bot was there."""
    roll = _Roll(script, clocks)
    for each in did:
        roll.take(each)
    roll.pass_time(FOREVER)
    still_away = [[] if since is None else [(since, FOREVER)] for since in roll.away]
    return Attendance(
        begins=FOREVER if roll.begins is None else roll.begins,
        gone=tuple(roll.gone),
        absent=tuple((*spans, *rest) for spans, rest in zip(roll.absent, still_away, strict=True)),
    )


def pauses(
    script: Script, did: tuple[Did, ...], there: Attendance, asleep: Clocks
) -> tuple[list[Span], dict[int, bool]]:
    """The match's pauses, and which of what was asked (by its place in `did`) was granted."""
    spans: list[Span] = []
    granted: dict[int, bool] = {}
    left = [script.pauses] * script.seats
    since: int | None = None
    ends = FOREVER
    for place, each in enumerate(did):
        if since is not None and ends < each.told:
            spans.append((since, ends))
            since = None
        if isinstance(each.act, Pauses):
            since = each.told if since is None else since
            ends = FOREVER  # An operator's pause that begins during a bot's takes its place.
        elif isinstance(each.act, Resumes) and since is not None:
            spans.append((since, each.told))
            since = None
        elif isinstance(each.act, Asks):
            may = since is None and each.told > there.begins and left[each.seat] > 0
            granted[place] = may and not there.is_absent(each.seat, each.told)
            if granted[place]:
                left[each.seat] -= 1
                since, ends = each.told, max(asleep.awake(each.told + script.pause_ms * PER_MS))
    if since is not None:
        spans.append((since, ends))
    return spans, granted
