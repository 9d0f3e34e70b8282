"""A second implementation of the rules of time, from the documentation alone, to compare with the referee's own.

That one processes events as they happen; this one computes the expected course of a match that is over: from
docs/timing.md (clocks, pauses) and docs/protocol.md (the course of a match, faults, reconnecting). It shares no
code with the other. Times are whole microseconds: a *moment* counts from the match's zero, a *reading* is the time
on its stopwatch, which stops in pauses.
"""

from collections.abc import Iterable

from msgspec import Struct

from referee.proofs.fuzzing.script import (
    Asks,
    Did,
    Forgoes,
    Leaves,
    Pauses,
    Resumes,
    Returns,
    Script,
    Stalls,
    Submits,
    Trace,
    Undoes,
)

ToWindow = Submits | Undoes | Forgoes
Span = tuple[int, int]
FOREVER = 1 << 62
PER_MS = 1_000
Spoken = list[tuple[int, Did]]
"""Messages of a seat, each with its index in `Trace.did`."""


class Settlement(Struct, frozen=True):
    """The expected result of a window for one seat."""

    choice: int | None
    """The choice that counts; None: the default."""
    arrived: int | None
    """The reading at which the choice arrived."""
    charged: int
    from_reserve: int
    settled: int
    """The reading from which the choice was fixed."""
    by: int | None
    """Index of the message that fixed the choice; None: time fixed it, or the end of the bot."""
    gone: bool
    """True if the choice was fixed because the bot was out of the match."""
    answers: tuple[str, ...]
    """Expected answers to the messages of the seat, in order."""


def judge(  # noqa: C901 - the rules as the page has them, one after the other
    opened: int, main: int, reserve: int, sayings: Iterable[tuple[int, ToWindow]], gone: int | None = None
) -> Settlement:
    """Compute the expected result of a window for one seat.

    Args:
        opened: the reading at which the window was passed to the seat's transport.
        main: the main time.
        reserve: the remaining reserve of the seat.
        sayings: the seat's messages about this window in order, each with the reading of its arrival.
        gone: the reading from which the bot is out of the match; None: never.
    """
    main_ends, all_ends = opened + main, opened + main + reserve
    standing: tuple[int, int] | None = None
    final, left, settled, by = False, False, None, None
    answers: list[str] = []
    for number, (at, act) in enumerate(sayings):
        if settled is None:
            if standing and at >= main_ends:
                settled = main_ends  # When main time ends, the last legal submission counts.
            elif at >= all_ends:
                settled = all_ends  # When the reserve has ended too, the default counts.
        if settled is not None:
            answers.append("final" if final else "late")
        elif isinstance(act, Undoes):
            standing = None
            answers.append("accepted")
        elif isinstance(act, Forgoes):
            standing, settled, by, final = None, at, number, True
            answers.append("accepted")
        elif not act.legal:
            answers.append("illegal")
        else:
            standing = (at, act.choice)  # While main time runs, submissions replace one another.
            answers.append("accepted")
            final = act.final
            if final or at >= main_ends:  # In reserve, the first submission counts at once, final or not.
                settled, by = at, number
    if settled is None:
        settled = main_ends if standing else all_ends
        if gone is not None and gone < settled:
            settled, left = max(gone, opened), True  # The referee does not wait for a bot that is out.
    # The seat is charged until its choice arrived; for the default, until the default was fixed.
    until, choice = standing or (settled, None)
    return Settlement(
        choice=choice,
        arrived=until if standing else None,
        charged=until - opened,
        from_reserve=max(0, until - main_ends),
        settled=settled,
        by=by,
        gone=left,
        answers=tuple(answers),
    )


def left_after(reserve: int, used: int, bronstein: int, increment: int) -> int:
    """Return the reserve of a seat after its window. A Bronstein delay refunds used time up to its length."""
    return reserve - used + min(used, bronstein) + increment


class Clocks:
    """The pauses of a match and the sleeps of its referee, both as spans of moments in order."""

    def __init__(self, pauses: list[Span], stalls: list[Span]) -> None:
        self.pauses = pauses
        self.stalls = stalls

    def reading(self, moment: int) -> int:
        """Return the reading at a moment. A moment within a pause has the reading of the pause's start."""
        return moment - sum(min(end, moment) - start for start, end in self.pauses if start < moment)

    def moment(self, reading: int) -> int:
        """Return the first moment with that reading: each pause before it delays it by its length."""
        moment = reading
        for start, end in self.pauses:
            if start < moment:
                moment += end - start
        return moment

    def awake(self, moment: int) -> set[int]:
        """Return the moments at which the referee may act on a thing due at that moment: later, if it sleeps."""
        return _passed(moment, self.stalls)

    def running(self, moment: int) -> set[int]:
        """Return the moments at which a window may close that is due at that moment: after a pause."""
        return _passed(moment, self.pauses)


def _passed(moment: int, spans: list[Span]) -> set[int]:
    """Return the moment, or the end of the span around it; both, if a span starts at the moment."""
    for start, end in spans:
        if start == moment:
            return {start, end}
        if start < moment < end:
            return {end}
    return {moment}


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, with those that touch joined."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole


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
        self.begins = FOREVER
        self._restarts = [script.restarts * (script.fault == "restart")] * script.seats

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
        if self.begins == FOREVER and not self.hello_by:
            self.begins = moment


def attendance(script: Script, did: tuple[Did, ...], clocks: Clocks) -> Attendance:
    """Compute the presence of each bot in a match."""
    roll = _Roll(script, clocks)
    for each in did:
        roll.take(each)
    roll.pass_time(FOREVER)
    for spans, since in zip(roll.absent, roll.away, strict=True):
        if since is not None:
            spans.append((since, FOREVER))
    return Attendance(begins=roll.begins, gone=tuple(roll.gone), absent=tuple(map(tuple, roll.absent)))


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
            if since is None:
                since = each.told
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


class ExpectedWindow(Struct, frozen=True):
    """The expected window of one seat; all times in microseconds."""

    kind: str
    opened: int
    closed: int
    reserve: int
    """Remaining reserve of the seat when the window opened."""
    part: Settlement
    spoken: Spoken


class ExpectedMatch(Struct, frozen=True):
    """The expected course of one match."""

    script: Script
    trace: Trace
    there: Attendance
    clocks: Clocks
    granted: dict[int, bool]
    """Requested pauses, by index in `did`: True if the pause had to be granted."""
    out_of_turn: set[int]
    """Indices in `did` of the messages sent before a hello."""
    windows: list[list[ExpectedWindow]]
    """The windows of each seat, indexed by seat and number."""

    @property
    def ended(self) -> int:
        """The moment at which the match ended; 0: it never did."""
        return self.trace.ended or 0
