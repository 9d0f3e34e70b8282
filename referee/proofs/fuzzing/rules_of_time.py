"""A second implementation of the rules of time, from docs/timing.md alone, to compare with `clock` and `window`.

Those process events as they happen; this module computes the expected result of a match that is over. It shares no
code with them. Times are whole microseconds: a *moment* counts from the match's zero, a *reading* is the time on
its stopwatch, which stops in pauses.
"""

from collections.abc import Iterable

from msgspec import Struct

from referee.proofs.fuzzing.script import Forgoes, Submits, Undoes

ToWindow = Submits | Undoes | Forgoes
Span = tuple[int, int]
FOREVER = 1 << 62


class Part(Struct, frozen=True):
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
    """Whether the choice was fixed because the bot was out of the match."""
    answers: tuple[str, ...]
    """Expected answers to the messages of the seat, in order."""


def judge(  # noqa: C901 - the rules as the page has them, one after the other
    opened: int, main: int, reserve: int, sayings: Iterable[tuple[int, ToWindow]], gone: int | None = None
) -> Part:
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
    arrived, choice = standing or (None, None)
    until = settled if arrived is None else arrived
    return Part(
        choice=choice,
        arrived=arrived,
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
