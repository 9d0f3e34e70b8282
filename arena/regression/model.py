"""The model of a regression test: its hypotheses, schedule, the evidence of each block, and its history. Pure.

In a game of two seats without a field, the old version (base) and the new one (head) play each other. Otherwise
each deal is played twice in each seating, once with either version in the seat under test, against the same other
bots in the same seats.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, groupby
from math import log
from operator import attrgetter, mul
from random import Random
from statistics import fmean
from typing import Literal, Protocol, get_args

import msgspec
from msgspec import Struct

from arena.config import Tournament
from arena.schedule import SWAPPED, TWO, Block, ScheduledMatch, shifts_of
from arena.statistics import (
    Anytime,
    CountedMatch,
    Resource,
    Score,
    Sprt,
    SprtVerdict,
    UsageLimit,
    UsageState,
    UsageWalk,
    anytime,
    median_interval,
    points,
    sprt,
    standings_of,
)
from arena.tournament import Terms
from protocol.refusals import Conduct
from protocol.words import Outcome
from referee.match import SeatReport

BASE, HEAD, FIELD = 0, 1, 2
"""Entrants: the old version, the new version, and the first bot of the field in the other seats."""
MOST_SEATINGS = 26
"""Maximum matches per block; each has its own letter in the name of its transcript."""

Test = sprt.Sprt | anytime.Anytime
State = sprt.SprtState | anytime.AnytimeProgress

QuestionName = Literal["better", "not-worse", "much-better"]
DEFAULT: QuestionName = "better"


class Question(Struct, frozen=True, kw_only=True):
    """The hypotheses behind a question, and the texts of its two answers."""

    elo0: float
    elo1: float
    """The two hypotheses of a head-to-head test, in normalized Elo."""
    low: float
    high: float
    """The two hypotheses with more seats or against a field, in points per match."""
    yes: str
    no: str


QUESTIONS: dict[QuestionName, Question] = {
    "better": Question(elo0=0, elo1=20, low=0, high=0.05, yes="head is better", no="head is not better"),
    "not-worse": Question(elo0=-20, elo1=0, low=-0.05, high=0, yes="head is not worse", no="head is worse"),
    "much-better": Question(
        elo0=20, elo1=60, low=0.05, high=0.15, yes="head is much better", no="head is not much better"
    ),
}


def answers(test: Test) -> tuple[str, str]:
    """Return the texts of a test's two answers: head is accepted, and head is rejected."""
    if isinstance(test, sprt.Sprt):
        numbers, unit = (test.elo0, test.elo1), " Elo"
    else:
        numbers, unit = (test.low, test.high), " points a match"
    for question in QUESTIONS.values():
        hypotheses = (question.low, question.high)
        if isinstance(test, sprt.Sprt):
            hypotheses = (question.elo0, question.elo1)
        if hypotheses == numbers:
            return question.yes, question.no
    low, high = numbers
    return _beyond(low, unit), _short_of(high, unit)


def _beyond(low: float, unit: str) -> str:
    """Return the answer that head is above a difference."""
    if low == 0:
        return "head is better"
    if low > 0:
        return f"head is better by more than {low:g}{unit}"
    return f"head is not {-low:g}{unit} worse"


def _short_of(high: float, unit: str) -> str:
    """Return the answer that head is below a difference."""
    if high == 0:
        return "head is worse"
    if high > 0:
        return f"head is not {high:g}{unit} better"
    return f"head is worse by more than {-high:g}{unit}"


class Regression(Struct, frozen=True, kw_only=True):
    """A regression test's bots, game and statistical tests."""

    arena: Tournament
    """Game, bots by entrant, policy, and results folder."""
    test: Test
    limit: int
    """Number of blocks after which the test ends undecided."""
    usage: tuple[UsageLimit, ...] = ()
    """Limits on the time and memory that head uses, relative to base."""

    @property
    def is_head_to_head(self) -> bool:
        """True if base and head play each other: a game of two seats without a field."""
        return self.arena.seats == TWO and len(self.arena.bots) == FIELD

    @property
    def seatings(self) -> int:
        """Number of matches per block."""
        if self.is_head_to_head:
            return TWO
        return 2 * self.arena.rotations

    def blocks(self, seed: int) -> Iterator[Block]:
        """Yield the schedule up to the limit; a higher limit only adds blocks at its end."""
        for number in range(self.limit):
            yield self._block(number, seed)

    def _block(self, number: int, seed: int) -> Block:
        """Return the block of one deal. The seat under test moves by one from deal to deal."""
        if self.is_head_to_head:
            return Block(number, number, (BASE, HEAD), SWAPPED, seed)
        seats = self.arena.seats
        table = (HEAD, *self._others(number, seed))
        moved = number % seats
        shifts = tuple((shift + moved) % seats for shift in shifts_of(seats, self.arena.rotations))
        return Paired(number, number, table, shifts + shifts, seed)

    def _others(self, number: int, seed: int) -> Sequence[int]:
        """Return the entrants in the other seats.

        A field with more bots than these seats is sampled anew for each deal. Bots do not take turns, because the
        test requires deals that are independent of each other.
        """
        places, others = self.arena.seats - 1, len(self.arena.bots) - FIELD
        if others <= places:
            return [FIELD + place % others for place in range(places)]
        return [FIELD + each for each in Random(f"{seed}/{number}/field").sample(range(others), places)]


class Paired(Block, frozen=True, gc=False):
    """A deal with each seating played twice: first with head, then with base in its seat."""

    @property
    def matches(self) -> tuple[ScheduledMatch, ...]:
        """Matches of the block, in order of seating."""
        matches = Block(self.number, self.round, self.entrants, self.shifts, self.seed).matches
        half = len(matches) // 2
        return matches[:half] + tuple(map(_with_base, matches[half:]))


def _with_base(match: ScheduledMatch) -> ScheduledMatch:
    """Return the match with base in head's seat."""
    entrants = list(match.entrants)
    entrants[entrants.index(HEAD)] = BASE
    return ScheduledMatch(match.name, match.block, match.seating, tuple(entrants), match.seed)


class SeatUse(Struct, frozen=True):
    """Resources that one seat's bot used in a match; None if not measured or if the bot did not finish."""

    us_per_move: float | None = None
    """Processor time per window after the start-up, in microseconds."""
    peak_bytes: int | None = None
    """Peak memory in bytes."""


def uses_of(
    reports: Sequence[SeatReport], windows: Sequence[int], conduct: Sequence[Conduct]
) -> tuple[SeatUse, ...]:
    """Return each seat's resource use; an empty tuple if the match has no reports."""
    return tuple(map(_use_of, reports, windows, conduct))


def _use_of(report: SeatReport, windows: int, conduct: Conduct) -> SeatUse:
    if conduct is not Conduct.OK:
        return SeatUse()
    time = None
    if report.cpu_us is not None and report.start_cpu_us is not None and windows:
        time = max(0, report.cpu_us - report.start_cpu_us) / windows
    return SeatUse(time, report.peak_bytes)


def ratio_of(base: Sequence[SeatUse], head: Sequence[SeatUse], resource: Resource) -> float | None:
    """Return head's use in a block divided by base's, or None if it is unknown.

    Time is compared by the mean over the block's matches, memory by its maximum.
    """
    of_base, of_head = _used(base, resource), _used(head, resource)
    if not of_base or not of_head:
        return None
    return of_head / of_base


def _used(uses: Sequence[SeatUse], resource: Resource) -> float | None:
    """Return a bot's use over a block: mean time or peak memory. None if it is unknown for a match."""
    known: list[float] = []
    for use in uses:
        value: float | None = use.us_per_move
        if resource == "memory":
            value = use.peak_bytes
        if value is None:
            return None
        known.append(value)
    if resource == "memory":
        return max(known, default=None)
    return sum(known) / max(1, len(known))


class UsageFinding(Struct, frozen=True):
    """Result of a test of time or memory."""

    limit: UsageLimit
    state: UsageState
    ratio: tuple[float, float, float] | None
    """Head's use divided by base's: median over blocks and the ends of a 95 % interval; None if not measured."""


def usage_finding(walk: UsageWalk) -> UsageFinding:
    """Summarise a running test of time or memory."""
    ratio = median_interval(walk.ratios) if walk.ratios else None
    return UsageFinding(walk.limit, walk.state, ratio)


class SeatedResult(Struct, frozen=True):
    """A match's outcome and the entrants by seat."""

    entrants: tuple[int, ...]
    outcome: Outcome
    uses: tuple[SeatUse, ...] = ()
    """Resource use by seat; empty if nothing was measured."""

    def points_of(self, entrant: int) -> list[float]:
        """Return an entrant's points, one number per seat that it held."""
        return [points(self.outcome, seat) for seat, sitting in enumerate(self.entrants) if sitting == entrant]

    def uses_of(self, entrant: int) -> list[SeatUse]:
        """Return an entrant's resource use, one entry per seat that it held."""
        uses = self.uses or (SeatUse(),) * len(self.entrants)
        return [use for use, sitting in zip(uses, self.entrants, strict=True) if sitting == entrant]


def used_ratio(matches: Sequence[SeatedResult], resource: Resource) -> float | None:
    """Return head's use in a block divided by base's, or None if it is unknown."""
    base: list[SeatUse] = []
    head: list[SeatUse] = []
    for match in matches:
        base += match.uses_of(BASE)
        head += match.uses_of(HEAD)
    return ratio_of(base, head, resource)


def head_to_head(matches: Sequence[SeatedResult]) -> float:
    """Return head's points in a head-to-head block, from 0 to 2."""
    return sum(_scores(matches, HEAD))


def difference(matches: Sequence[SeatedResult]) -> float:
    """Return head's mean points in a block minus base's, from -1 to 1."""
    return _mean(matches, HEAD) - _mean(matches, BASE)


def _mean(matches: Sequence[SeatedResult], entrant: int) -> float:
    scores = _scores(matches, entrant)
    return sum(scores) / len(scores)


def _scores(matches: Sequence[SeatedResult], entrant: int) -> list[float]:
    return list(chain.from_iterable(match.points_of(entrant) for match in matches))


class BlockTally:
    """Running tests that take results as matches end and count complete blocks in schedule order.

    Counting blocks in the order in which they end would favour a bot that wins quickly or loses slowly.
    """

    def __init__(self, regression: Regression) -> None:
        self._seatings = regression.seatings
        self._limit = regression.limit
        test = regression.test
        self._walk: sprt.SprtWalk | anytime.AnytimeWalk
        self._observe: Callable[[Sequence[SeatedResult]], float]
        if isinstance(test, sprt.Sprt):
            self._walk, self._observe = sprt.SprtWalk(test), head_to_head
        else:
            self._walk, self._observe = anytime.AnytimeWalk(test), difference
        self._waiting: dict[int, dict[int, SeatedResult]] = {}
        self.usage = tuple(map(UsageWalk, regression.usage))
        """Tests of time and memory."""
        self.observations: list[float] = []
        """Observation of each block, up to the deciding one."""

    @property
    def blocks(self) -> int:
        """Number of blocks that count: all up to the deciding one."""
        return len(self.observations)

    @property
    def state(self) -> State:
        """State of the test of strength; it ignores blocks after its own deciding one."""
        return self._walk.progress

    @property
    def verdict(self) -> SprtVerdict:
        """Verdict of all tests together; see `verdict_of`."""
        return verdict_of(self.state, self.usage)

    @property
    def decided(self) -> bool:
        """True if no more blocks are needed."""
        return is_decided(self.state, self.usage)

    def ended(self, block: int, seating: int, result: SeatedResult) -> None:
        """Add the result of a match."""
        self._waiting.setdefault(block, {})[seating] = result
        while not self.decided and self.blocks < self._limit:
            matches = self._waiting.get(self.blocks, {})
            if len(matches) < self._seatings:
                return
            del self._waiting[self.blocks]
            self._add(list(map(matches.__getitem__, range(self._seatings))))

    def _add(self, matches: Sequence[SeatedResult]) -> None:
        """Add the next block to the tests that are not over."""
        observation = self._observe(matches)
        self.observations.append(observation)
        if self.state.verdict is SprtVerdict.UNDECIDED:
            self._walk.add(observation)
        for walk in self.usage:
            if not walk.state.is_over:
                walk.add(used_ratio(matches, walk.limit.resource))

    def again(self, block: int) -> None:
        """Discard the results of a block that is played again as a whole."""
        self._waiting.pop(block, None)


class UsageTest(Protocol):
    """A test of time or memory."""

    @property
    def state(self) -> UsageState:
        """Current state."""
        ...


def verdict_of(state: State, usage: Sequence[UsageTest]) -> SprtVerdict:
    """Combine verdicts: accepted only if all tests accept, rejected as soon as one rejects."""
    verdicts = {state.verdict, *map(attrgetter("state.verdict"), usage)}
    if SprtVerdict.REJECTED in verdicts:
        return SprtVerdict.REJECTED
    if verdicts == {SprtVerdict.ACCEPTED}:
        return SprtVerdict.ACCEPTED
    return SprtVerdict.UNDECIDED


def is_decided(state: State, usage: Sequence[UsageTest]) -> bool:
    """Return True if the tests need no more blocks: one has rejected, or all are over."""
    if verdict_of(state, usage) is SprtVerdict.REJECTED:
        return True
    return state.verdict is not SprtVerdict.UNDECIDED and all(each.state.is_over for each in usage)


def points_ahead(test: Test, observations: Sequence[float]) -> list[float]:
    """Return head's mean points per match minus base's for each block, from -1 to 1."""
    if isinstance(test, sprt.Sprt):
        return [block - 1 for block in observations]
    return list(observations)


def evidence(test: Test, state: State) -> str:
    """Describe the test's evidence so far and the bounds at which it decides."""
    if isinstance(test, sprt.Sprt) and isinstance(state, sprt.SprtState):
        points = sum(map(mul, state.counts, count())) / 2
        bounds = f"{test.lower:z.2f} to {test.upper:z.2f}"
        return f"LLR {state.llr:z.2f} ({bounds}), {points:g} of {2 * state.blocks} points"
    if isinstance(test, anytime.Anytime) and isinstance(state, anytime.AnytimeProgress):
        accepts, rejects = 1 / test.alpha, 1 / test.beta
        return (
            f"e-values {state.against_low:.3g} for (accepted at {accepts:g}) and"
            f" {state.against_high:.3g} against (rejected at {rejects:g}), mean difference {state.mean:+z.3f}"
        )
    raise TypeError(f"{type(state).__name__} is not of {type(test).__name__}")


def leaning(test: Test, state: State) -> tuple[str, float]:
    """Return the more likely answer and the share of the evidence that it needs, from 0 to 1."""
    yes, no = answers(test)
    if isinstance(test, sprt.Sprt) and isinstance(state, sprt.SprtState):
        better, worse = state.llr / test.upper, state.llr / test.lower
    elif isinstance(test, anytime.Anytime) and isinstance(state, anytime.AnytimeProgress):
        better = log(max(state.against_low, 1.0)) / -log(test.alpha)
        worse = log(max(state.against_high, 1.0)) / -log(test.beta)
    else:
        raise TypeError(f"{type(state).__name__} is not of {type(test).__name__}")
    if better >= worse:
        return yes, min(1.0, max(0.0, better))
    return no, min(1.0, max(0.0, worse))


TEST, USAGE = "test.", "usage."
"""Prefixes of the names of terms that describe the tests."""
MOST_POINTS = 400
"""Maximum number of states, evenly spaced; head-to-head tests add the states of the last blocks."""
EACH_OF_LAST = 60
"""Maximum number of blocks that may have been played after the deciding one."""


class RegressionHistory(Struct, frozen=True, kw_only=True):
    """A test with its states after some of its blocks."""

    test: Test
    states: tuple[State, ...]
    """States in order of blocks; the last one is the current state."""
    interval: tuple[float, float] | None
    """Interval of the mean difference, see `arena.statistics.anytime.interval`; None without blocks."""
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
    def verdict(self) -> SprtVerdict:
        """Verdict of all tests together."""
        return verdict_of(self.state, self.usage)

    @property
    def mean(self) -> float:
        """Mean of the differences; 0 without blocks."""
        if not self.differences:
            return 0.0
        return fmean(self.differences)

    @property
    def decided(self) -> bool:
        """True if no more blocks are needed."""
        return is_decided(self.state, self.usage)


def usage_limits(terms: Terms) -> tuple[UsageLimit, ...]:
    """Return the limits on head's resource use from the terms of a test.

    Raises:
        msgspec.ValidationError: the terms are of no test.
    """
    alpha, beta = terms.get(f"{TEST}alpha", 0.05), terms.get(f"{TEST}beta", 0.05)
    limits: list[UsageLimit] = []
    for resource in get_args(Resource):
        most = terms.get(f"{USAGE}{resource}")
        if most is not None:
            limit = {"resource": resource, "most": most, "alpha": alpha, "beta": beta}
            limits.append(msgspec.convert(limit, UsageLimit))
    return tuple(limits)


def history_of(
    terms: Terms,
    played: Sequence[CountedMatch],
    reports: Mapping[tuple[int, int], Sequence[SeatReport]] | None = None,
) -> RegressionHistory:
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
        seen = list(map(head_to_head, until_rejected))
        states = [*_of_two(test, seen)]
    else:
        test = msgspec.convert(given, Anytime)
        seen = list(map(difference, until_rejected))
        states = [*_of_more(test, seen)]
    last = states[-1]
    if last.verdict is SprtVerdict.REJECTED:
        walks = _usage_walks(limits, blocks[: last.blocks])
    counted = seen[: max([last.blocks, *map(_blocks_seen, walks)])]
    differences, found_interval = points_ahead(test, counted), None
    if differences:
        found_interval = anytime.interval(differences)
    return RegressionHistory(
        test=test,
        states=tuple(states),
        interval=found_interval,
        differences=tuple(differences),
        scores=_score_rows([match for match in played if match.block < len(counted)]),
        usage=tuple(map(usage_finding, walks)),
    )


def _score_rows(played: Sequence[CountedMatch]) -> tuple[Score, Score]:
    """Return the scores of base and head."""
    entrants = 1 + max((max(match.entrants) for match in played), default=HEAD)
    base, head, *_ = sorted(standings_of(entrants, played), key=attrgetter("entrant"))
    return base, head


def _usage_walks(limits: Sequence[UsageLimit], blocks: Sequence[Sequence[SeatedResult]]) -> list[UsageWalk]:
    """Return the tests of time and memory after these blocks."""
    walks = list(map(UsageWalk, limits))
    for walk in walks:
        for matches in blocks:
            if walk.state.is_over:
                break
            walk.add(used_ratio(matches, walk.limit.resource))
    return walks


def _first_rejected(walks: Sequence[UsageWalk], blocks: int) -> int:
    """Return the number of blocks after which the first test rejected head; `blocks` if none did."""
    rejected = [walk for walk in walks if walk.state.verdict is SprtVerdict.REJECTED]
    return min(map(_blocks_seen, rejected), default=blocks)


def _blocks_seen(walk: UsageWalk) -> int:
    return walk.state.blocks + walk.state.unmeasured


def _of_two(test: Sprt, seen: Sequence[float]) -> Iterator[sprt.SprtState]:
    """Yield states of a head-to-head test, up to the deciding one.

    A likelihood ratio takes milliseconds. In a long test it is computed for some of the blocks only, but for all
    of the last ones, because the deciding block is among them.
    """
    step = max(1, -(-len(seen) // MOST_POINTS))
    counts = [0] * sprt.RESULTS
    yield sprt.SprtWalk(test).progress
    for number, score in enumerate(seen, start=1):
        counts[round(2 * score)] += 1
        if number % step and number <= len(seen) - EACH_OF_LAST:
            continue
        state = sprt.state_of(test, counts)
        yield state
        if state.verdict is not SprtVerdict.UNDECIDED:
            return


def _of_more(test: Anytime, seen: Sequence[float]) -> Iterator[anytime.AnytimeProgress]:
    """Yield states of a test with more seats or against a field, up to the deciding one."""
    step = max(1, -(-len(seen) // MOST_POINTS))
    walk = anytime.AnytimeWalk(test)
    yield walk.progress
    for number, value in enumerate(seen, start=1):
        walk.add(value)
        decided = walk.progress.verdict is not SprtVerdict.UNDECIDED
        if decided or number % step == 0 or number == len(seen):
            yield walk.progress
        if decided:
            return


def _blocks(
    played: Sequence[CountedMatch], reports: Mapping[tuple[int, int], Sequence[SeatReport]]
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
