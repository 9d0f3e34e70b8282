"""The part of the model that computes, from the steps of a match, the absences of each bot and the pauses.

It follows docs/timing.md (pauses) and docs/protocol.md (the course of a match, faults, reconnecting).
"""

from msgspec import Struct

from referee.proofs.fuzzing.rules_of_time import FOREVER, Clocks, Span, joined
from referee.proofs.fuzzing.script import Asks, Leaves, Pauses, Resumes, Returns, Script, Stalls
from referee.proofs.fuzzing.trace import Did

PER_MS = 1_000


class Attendance(Struct, frozen=True):
    """The presence of each bot in one match; all times in microseconds of the match."""

    begins: int
    """Start of play: every bot has sent its hello, or is out of the match."""
    gone: tuple[int, ...]
    """Moment at which the bot was out of the match for good, indexed by seat; `FOREVER`: never."""
    absent: tuple[tuple[Span, ...], ...]
    """Spans without a bot that had sent its hello, indexed by seat."""

    def is_absent(self, seat: int, moment: int) -> bool:
        """Return whether the seat has no bot at that moment that could receive messages."""
        return moment >= self.gone[seat] or any(start <= moment < end for start, end in self.absent[seat])


def stalls(did: tuple[Did, ...]) -> list[Span]:
    """Return the spans in which the referee slept."""
    return joined((each.at, each.at + each.act.ticks) for each in did if isinstance(each.act, Stalls))


class _Roll:
    """Presence of all bots, updated step by step."""

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
        """Remove the bots that have sent no hello within the start-up time before that moment."""
        due = sorted((max(self._clocks.awake(by)), seat) for seat, by in self.hello_by.items())
        for moment, seat in due:
            if moment < until:
                self._leaves(seat, moment, for_good=True)

    def take(self, each: Did) -> None:
        """Process a step."""
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
    """Compute the presence of each bot in a match."""
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
    """Compute the pauses of a match, and whether each requested pause was granted, keyed by its index in `did`."""
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
            ends = FOREVER  # A pause by the operator replaces a bot's pause that is under way.
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
