"""How a regression test came to stand as it does, block by block, from its ledger alone. Pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import fmean

import msgspec
from msgspec import Struct

from arena.regression.model import SeatedResult, State, Test, difference, head_to_head
from arena.statistics import Anytime, Played, Sprt, Verdict, anytime, sprt
from arena.tournament import Terms

TEST = "test."
"""Before the names of the terms that say what is tested."""
MOST_POINTS = 400
"""Blocks after which the state is kept, at most, evenly spread; and of tests of two seats, the last ones."""
EACH_OF_LAST = 60
"""Blocks that may have been played on beyond the one that decided: so many at once, at most."""


class History(Struct, frozen=True, kw_only=True):
    """A test and how far it is."""

    test: Test
    states: tuple[State, ...]
    """After some of the blocks; the last one as it stands."""
    interval: tuple[float, float] | None
    """Where the mean difference in points a match is; see `regression.interval`. None: nothing is played."""
    differences: tuple[float, ...]
    """By block that counts: head's points a match minus base's."""

    @property
    def state(self) -> State:
        """As it stands."""
        return self.states[-1]

    @property
    def mean(self) -> float:
        """Of the differences; 0 where there are none."""
        return fmean(self.differences) if self.differences else 0.0

    @property
    def decided(self) -> bool:
        """Whether no more blocks are needed."""
        return self.state.verdict is not Verdict.UNDECIDED


def history_of(terms: Terms, played: Sequence[Played]) -> History:
    """The history of a test by its terms and the matches that count, in schedule order.

    Raises:
        msgspec.ValidationError: the terms are of no test.
    """
    given = {key.removeprefix(TEST): value for key, value in terms.items() if key.startswith(TEST)}
    test: Test = msgspec.convert(given, Sprt) if "elo0" in given else msgspec.convert(given, Anytime)
    observe = head_to_head if isinstance(test, Sprt) else difference
    seen = [observe(matches) for matches in _blocks(played)]
    states: list[State] = [*_of_two(test, seen)] if isinstance(test, Sprt) else [*_of_more(test, seen)]
    counted = seen[: states[-1].blocks]
    differences = [each - 1 for each in counted] if isinstance(test, Sprt) else counted
    return History(
        test=test,
        states=tuple(states),
        interval=anytime.interval(differences) if differences else None,
        differences=tuple(differences),
    )


def _of_two(test: Sprt, seen: Sequence[float]) -> Iterator[sprt.Progress]:
    """The states that are kept, up to the one that decides.

    A likelihood ratio takes milliseconds: of a long test it is not found after every block, but after each of
    the last, among which is the one that decided.
    """
    step = max(1, -(-len(seen) // MOST_POINTS))
    counts = [0] * sprt.RESULTS
    yield sprt.Walk(test).progress
    for number, points in enumerate(seen, start=1):
        counts[round(2 * points)] += 1
        if number % step and number <= len(seen) - EACH_OF_LAST:
            continue
        state = sprt.state_of(test, counts)
        yield state
        if state.verdict is not Verdict.UNDECIDED:
            return


def _of_more(test: Anytime, seen: Sequence[float]) -> Iterator[anytime.AnytimeProgress]:
    """The same of a test of more seats."""
    step = max(1, -(-len(seen) // MOST_POINTS))
    walk = anytime.Walk(test)
    yield walk.progress
    for number, value in enumerate(seen, start=1):
        walk.add(value)
        decided = walk.progress.verdict is not Verdict.UNDECIDED
        if decided or number % step == 0 or number == len(seen):
            yield walk.progress
        if decided:
            return


def _blocks(played: Sequence[Played]) -> Iterator[list[SeatedResult]]:
    """The blocks up to the first that is missing: the test takes them in schedule order."""
    for number, (block, matches) in enumerate(groupby(played, key=lambda match: match.block)):
        if block != number:
            return
        yield [SeatedResult(match.entrants, match.outcome) for match in matches]
