"""Progress of a regression test block by block, derived from its ledger alone. Pure."""

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
    UsageFinding,
    difference,
    head_to_head,
    is_decided,
    points_ahead,
    usage_finding,
    used_ratio,
    uses_of,
    verdict_of,
)
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
"""Prefixes of the names of terms that describe the tests."""
MOST_POINTS = 400
"""Maximum number of states, evenly spaced; head-to-head tests add the states of the last blocks."""
EACH_OF_LAST = 60
"""Maximum number of blocks that may have been played after the deciding one."""


class History(Struct, frozen=True, kw_only=True):
    """A test with its states after some of its blocks."""

    test: Test
    states: tuple[State, ...]
    """States in order of blocks; the last one is the current state."""
    interval: tuple[float, float] | None
    """Interval of the mean difference, see `arena.regression.model.interval`; None without blocks."""
    differences: tuple[float, ...]
    """Head's points per match minus base's, for each block that counts."""
    scores: tuple[Score, Score]
    """Scores of base and head over the blocks that count."""
    usage: tuple[UsageFinding, ...] = ()
    """Results of the tests of time and memory."""

    @property
    def state(self) -> State:
        """Current state of the test of strength."""
        return self.states[-1]

    @property
    def verdict(self) -> Verdict:
        """Verdict of all tests together."""
        return verdict_of(self.state, [each.state for each in self.usage])

    @property
    def mean(self) -> float:
        """Mean of the differences; 0 without blocks."""
        if not self.differences:
            return 0.0
        return fmean(self.differences)

    @property
    def decided(self) -> bool:
        """True if no more blocks are needed."""
        return is_decided(self.state, [each.state for each in self.usage])


def usage_limits(terms: Terms) -> tuple[UsageLimit, ...]:
    """Return the limits on head's resource use from the terms of a test.

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
    """Return the history of a test.

    Args:
        terms: the terms with which it started.
        played: the matches that count, in schedule order.
        reports: the seats' reports by block and seating; needed by tests of time and memory only.

    Raises:
        msgspec.ValidationError: these are not the terms of a regression test.
    """
    given = {key.removeprefix(TEST): value for key, value in terms.items() if key.startswith(TEST)}
    limits = usage_limits(terms)
    blocks = list(_blocks(played, reports or {}))
    # All tests end with the first that rejects.
    walks = _usage_walks(limits, blocks)
    until_rejected = blocks[: _first_rejected(walks, len(blocks))]
    test: Test
    states: list[State]
    if "elo0" in given:
        test = msgspec.convert(given, Sprt)
        seen = [head_to_head(matches) for matches in until_rejected]
        states = [*_of_two(test, seen)]
    else:
        test = msgspec.convert(given, Anytime)
        seen = [difference(matches) for matches in until_rejected]
        states = [*_of_more(test, seen)]
    last = states[-1]
    if last.verdict is Verdict.REJECTED:
        walks = _usage_walks(limits, blocks[: last.blocks])
    ends = [walk.state.blocks + walk.state.unmeasured for walk in walks]
    counted = seen[: max([last.blocks, *ends])]
    differences = points_ahead(test, counted)
    return History(
        test=test,
        states=tuple(states),
        interval=anytime.interval(differences) if differences else None,
        differences=tuple(differences),
        scores=_scores([match for match in played if match.block < len(counted)]),
        usage=tuple(map(usage_finding, walks)),
    )


def _scores(played: Sequence[Played]) -> tuple[Score, Score]:
    """Return the scores of base and head."""
    entrants = 1 + max((max(match.entrants) for match in played), default=HEAD)
    rows = {row.entrant: row for row in standings_of(entrants, played)}
    return rows[BASE], rows[HEAD]


def _usage_walks(limits: Sequence[UsageLimit], blocks: Sequence[Sequence[SeatedResult]]) -> list[UsageWalk]:
    """Return the tests of time and memory after these blocks."""
    walks = [UsageWalk(limit) for limit in limits]
    for walk in walks:
        for matches in blocks:
            if walk.state.is_over:
                break
            walk.add(used_ratio(matches, walk.limit.resource))
    return walks


def _first_rejected(walks: Sequence[UsageWalk], blocks: int) -> int:
    """Return the number of blocks after which the first test rejected head; `blocks` if none did."""
    rejected = [walk.state for walk in walks if walk.state.verdict is Verdict.REJECTED]
    return min([state.blocks + state.unmeasured for state in rejected], default=blocks)


def _of_two(test: Sprt, seen: Sequence[float]) -> Iterator[sprt.Progress]:
    """Yield states of a head-to-head test, up to the deciding one.

    A likelihood ratio takes milliseconds. In a long test it is computed for some of the blocks only, but for all
    of the last ones, because the deciding block is among them.
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
    """Yield states of a test with more seats or against a field, up to the deciding one."""
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
    """Yield the blocks up to the first missing one, because the tests count them in schedule order."""
    for number, (block, matches) in enumerate(groupby(played, key=lambda match: match.block)):
        if block != number:
            return
        results = []
        for match in matches:
            of_seats = reports.get((match.block, match.seating), ())
            uses = uses_of(of_seats, match.windows, match.conduct)
            results.append(SeatedResult(match.entrants, match.outcome, uses))
        yield results
