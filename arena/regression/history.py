"""How a regression test came to stand as it does, block by block, from its ledger alone. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import get_args

import msgspec
from msgspec import Struct

from arena.regression.model import (
    BASE,
    HEAD,
    SeatedResult,
    State,
    Test,
    difference,
    head_to_head,
    is_decided,
    used_ratio,
    verdict_of,
)
from arena.regression.usage import UsageFinding, usage_finding, uses_of
from arena.statistics import (
    Anytime,
    Played,
    Resource,
    Score,
    Sprt,
    UsageLimit,
    UsageWalk,
    Verdict,
    anytime,
    sprt,
    standings_of,
)
from arena.tournament import Terms
from referee.match import SeatReport

TEST, USAGE = "test.", "usage."
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
    """Where the mean difference in points a match is; see `regression.model.interval`. None: nothing is played."""
    differences: tuple[float, ...]
    """By block that counts: head's points a match minus base's."""

    scores: tuple[Score, Score]
    """Base's and head's, over the blocks that count."""
    usage: tuple[UsageFinding, ...] = ()
    """The tests of time and memory."""

    @property
    def state(self) -> State:
        """The test of strength as it stands."""
        return self.states[-1]

    @property
    def verdict(self) -> Verdict:
        """What all tests together say."""
        return verdict_of(self.state, [each.state for each in self.usage])

    @property
    def mean(self) -> float:
        """Of the differences; 0 where there are none."""
        return fmean(self.differences) if self.differences else 0.0

    @property
    def decided(self) -> bool:
        """Whether no more blocks are needed."""
        return is_decided(self.state, [each.state for each in self.usage])


def usage_limits(terms: Terms) -> tuple[UsageLimit, ...]:
    """Return what head may use beside base, by the terms of a test.

    Raises:
        msgspec.ValidationError: the terms are of no test.
    """
    rates = {rate: terms.get(f"{TEST}{rate}", 0.05) for rate in ("alpha", "beta")}
    return tuple(
        msgspec.convert({"resource": resource, "most": terms[f"{USAGE}{resource}"], **rates}, UsageLimit)
        for resource in get_args(Resource)
        if f"{USAGE}{resource}" in terms
    )


def history_of(
    terms: Terms,
    played: Sequence[Played],
    reports: Mapping[tuple[int, int], Sequence[SeatReport]] | None = None,
) -> History:
    """The history of a test.

    Args:
        terms: what it was begun with.
        played: the matches that count, in schedule order.
        reports: how their seats did, by block and seating; only tests of time and memory need them.

    Raises:
        msgspec.ValidationError: the terms are of no test.
    """
    given = {key.removeprefix(TEST): value for key, value in terms.items() if key.startswith(TEST)}
    test: Test = msgspec.convert(given, Sprt) if "elo0" in given else msgspec.convert(given, Anytime)
    limits = usage_limits(terms)
    blocks = list(_blocks(played, reports or {}))
    observe = head_to_head if isinstance(test, Sprt) else difference
    # All tests end with the first that rejects.
    walks = _usage_walks(limits, blocks)
    seen = [observe(matches) for matches in blocks[: _first_rejected(walks, len(blocks))]]
    states: list[State] = [*_of_two(test, seen)] if isinstance(test, Sprt) else [*_of_more(test, seen)]
    last = states[-1]
    if last.verdict is Verdict.REJECTED:
        walks = _usage_walks(limits, blocks[: last.blocks])
    ends = [walk.state.blocks + walk.state.unmeasured for walk in walks]
    counted = seen[: max([last.blocks, *ends])]
    differences = [each - 1 for each in counted] if isinstance(test, Sprt) else counted
    return History(
        test=test,
        states=tuple(states),
        interval=anytime.interval(differences) if differences else None,
        differences=tuple(differences),
        scores=_scores([match for match in played if match.block < len(counted)]),
        usage=tuple(map(usage_finding, walks)),
    )


def _scores(played: Sequence[Played]) -> tuple[Score, Score]:
    """Base's and head's."""
    entrants = 1 + max((entrant for match in played for entrant in match.entrants), default=HEAD)
    rows = {row.entrant: row for row in standings_of(entrants, played)}
    return rows[BASE], rows[HEAD]


def _usage_walks(limits: Sequence[UsageLimit], blocks: Sequence[Sequence[SeatedResult]]) -> list[UsageWalk]:
    """The tests of time and memory after these blocks."""
    walks = [UsageWalk(limit) for limit in limits]
    for walk in walks:
        for matches in blocks:
            if walk.state.is_over:
                break
            walk.add(used_ratio(matches, walk.limit.resource))
    return walks


def _first_rejected(walks: Sequence[UsageWalk], blocks: int) -> int:
    """How many blocks there were when the first of them rejected head; all of them if none did."""
    rejected = [walk.state for walk in walks if walk.state.verdict is Verdict.REJECTED]
    return min([state.blocks + state.unmeasured for state in rejected], default=blocks)


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


def _blocks(
    played: Sequence[Played], reports: Mapping[tuple[int, int], Sequence[SeatReport]]
) -> Iterator[list[SeatedResult]]:
    """The blocks up to the first that is missing: the tests take them in schedule order."""
    for number, (block, matches) in enumerate(groupby(played, key=lambda match: match.block)):
        if block != number:
            return
        yield [
            SeatedResult(
                match.entrants,
                match.outcome,
                uses_of(reports.get((match.block, match.seating), ()), match.windows, match.conduct),
            )
            for match in matches
        ]
