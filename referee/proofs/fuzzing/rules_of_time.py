"""The rules of time, a second time: written from docs/timing.md alone, to be held against `clock` and `window`.

Where those are told things as they happen, this looks back on a match that is over, and says what should have
been. It shares no code with them. Times are whole microseconds: a *moment* on the match's own zero, a *reading* on
its stopwatch, which stands still in pauses.
"""

from collections.abc import Iterable

from msgspec import Struct

from referee.proofs.fuzzing.script import Forgoes, Submits, Undoes

ToWindow = Submits | Undoes | Forgoes
Span = tuple[int, int]
FOREVER = 1 << 62


class Part(Struct, frozen=True):
    """What a seat's part in a window should have come to."""

    choice: int | None
    """What is taken; None: the default."""
    arrived: int | None
    """The reading at which that arrived."""
    charged: int
    from_reserve: int
    settled: int
    """The reading from which nothing could change it any more."""
    by: int | None
    """By which of its sayings; None: by time, or because its bot was gone."""
    gone: bool
    """Whether it was settled because its bot was gone."""
    answers: tuple[str, ...]
    """To its sayings, in order."""


def judge(  # noqa: C901 - the rules as the page has them, one after the other
    opened: int, main: int, reserve: int, sayings: Iterable[tuple[int, ToWindow]], gone: int | None = None
) -> Part:
    """One seat's part in one window.

    Args:
        opened: the reading at which the window was handed to its transport.
        main: main time.
        reserve: what the seat has left of its reserve.
        sayings: what it said about this window, each with the reading at which it arrived, in order.
        gone: the reading from which on its bot would say nothing more.
    """
    main_ends, all_ends = opened + main, opened + main + reserve
    standing: tuple[int, int] | None = None
    final, left, settled, by = False, False, None, None
    answers: list[str] = []
    for number, (at, act) in enumerate(sayings):
        if settled is None:
            if standing and at >= main_ends:
                settled = main_ends  # When main time ends, the last legal one is taken.
            elif at >= all_ends:
                settled = all_ends  # When the reserve is gone too, the default is taken.
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
            if final or at >= main_ends:  # In reserve, the first is taken at once, be it called final or not.
                settled, by = at, number
    if settled is None:
        settled = main_ends if standing else all_ends
        if gone is not None and gone < settled:
            settled, left = max(gone, opened), True  # Its windows are not waited for.
    # What is charged is the time to what was taken; for the default, until it was.
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
    """What a seat has left of its reserve after its window: a Bronstein delay gives back what was used."""
    return reserve - used + min(used, bronstein) + increment


class Clocks:
    """When a match's clocks ran: its pauses, and when its referee slept. Both are spans of moments, in order."""

    def __init__(self, pauses: list[Span], stalls: list[Span]) -> None:
        self.pauses = pauses
        self.stalls = stalls

    def reading(self, moment: int) -> int:
        """Nothing of a pause is charged; what arrives in one counts as having arrived when it began."""
        return moment - sum(min(end, moment) - start for start, end in self.pauses if start < moment)

    def moment(self, reading: int) -> int:
        """The first moment at which the stopwatch showed this: deadlines move back by a pause's length."""
        moment = reading
        for start, end in self.pauses:
            if start < moment:
                moment += end - start
        return moment

    def awake(self, moment: int) -> set[int]:
        """When the referee acts on what is due at that moment: late, if it sleeps."""
        return _passed(moment, self.stalls)

    def running(self, moment: int) -> set[int]:
        """When a window closes that could at that moment: not in a pause."""
        return _passed(moment, self.pauses)


def _passed(moment: int, spans: list[Span]) -> set[int]:
    """The moment, or the end of the span that it is in. At a span's first moment either may come first."""
    for start, end in spans:
        if start == moment:
            return {start, end}
        if start < moment < end:
            return {end}
    return {moment}


def joined(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that touch made one."""
    whole: list[Span] = []
    for start, end in sorted(spans):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole
