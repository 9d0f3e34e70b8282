"""What a regression test is made of: who plays, from which deals, and what a block says of old and new. Pure.

Two seats, and no field: old and new version meet. Otherwise each deal is played twice in each seating, once with
either version in the seat under test, against the same others in the same seats.
"""

from collections.abc import Callable, Iterator, Sequence
from math import log
from random import Random

from msgspec import Struct

from arena.config import Tournament
from arena.regression.questions import answers
from arena.regression.usage import SeatUse, ratio_of
from arena.schedule import SWAPPED, TWO, Block, Match, shifts_of
from arena.statistics import Resource, UsageLimit, UsageState, UsageWalk, Verdict, anytime, points, sprt
from protocol.words import Outcome

BASE, HEAD, FIELD = 0, 1, 2
"""Entrants: the old version, the new one, and the first of those who take the other seats."""
MOST_SEATINGS = 26
"""The most of a block: each has a letter in its transcript's name."""

Test = sprt.Sprt | anytime.Anytime
State = sprt.Progress | anytime.AnytimeProgress


class Regression(Struct, frozen=True, kw_only=True):
    """What is tested, and on what."""

    arena: Tournament
    """Game, bots (in the order of entrants), policy, and the folder of the results."""
    test: Test
    limit: int
    """Blocks after which it stays undecided."""
    usage: tuple[UsageLimit, ...] = ()
    """What head may use beside base."""

    @property
    def is_head_to_head(self) -> bool:
        """Whether base and head meet: a game of two seats, without a field."""
        return self.arena.seats == TWO and len(self.arena.bots) == FIELD

    @property
    def seatings(self) -> int:
        """How many matches a block has."""
        return TWO if self.is_head_to_head else 2 * self.arena.rotations

    def blocks(self, seed: int) -> Iterator[Block]:
        """The schedule, up to the limit. A higher limit only adds to it."""
        for number in range(self.limit):
            yield self._block(number, seed)

    def _block(self, number: int, seed: int) -> Block:
        """One deal. With more seats, and few seatings of each, the seat under test moves on from deal to deal."""
        if self.is_head_to_head:
            return Block(number, number, (BASE, HEAD), SWAPPED, seed)
        seats = self.arena.seats
        table = (HEAD, *self._others(number, seed))
        moved = number % seats
        shifts = tuple((shift + moved) % seats for shift in shifts_of(seats, self.arena.rotations))
        return Paired(number, number, table, shifts + shifts, seed)

    def _others(self, number: int, seed: int) -> Sequence[int]:
        """The bots of the other seats. If the field is larger than that, each deal draws its own.

        Drawn, and not one after the other: the test needs deals that do not depend on those before.
        """
        places, others = self.arena.seats - 1, len(self.arena.bots) - FIELD
        if others <= places:
            return [FIELD + place % others for place in range(places)]
        return [FIELD + each for each in Random(f"{seed}/{number}/field").sample(range(others), places)]


class Paired(Block, frozen=True, gc=False):
    """One deal whose seatings all come twice: with the new version, then with the old one in its place."""

    @property
    def matches(self) -> tuple[Match, ...]:
        """As every block's, but for who holds the seat under test."""
        matches = Block(self.number, self.round, self.entrants, self.shifts, self.seed).matches
        half = len(matches) // 2
        return matches[:half] + tuple(map(_with_base, matches[half:]))


def _with_base(match: Match) -> Match:
    """The same seating with the old version in the new one's place."""
    entrants = tuple(BASE if entrant == HEAD else entrant for entrant in match.entrants)
    return Match(match.name, match.block, match.seating, entrants, match.seed)


class SeatedResult(Struct, frozen=True):
    """Who sat where in a match, and its outcome."""

    entrants: tuple[int, ...]
    outcome: Outcome
    uses: tuple[SeatUse, ...] = ()
    """By seat; empty: nothing was measured."""

    def points_of(self, entrant: int) -> list[float]:
        """What this entrant got, in each seat that it had."""
        return [points(self.outcome, seat) for seat, sitting in enumerate(self.entrants) if sitting == entrant]

    def uses_of(self, entrant: int) -> list[SeatUse]:
        """What this entrant used, in each seat that it had."""
        uses = self.uses or (SeatUse(),) * len(self.entrants)
        return [use for use, sitting in zip(uses, self.entrants, strict=True) if sitting == entrant]


def used_ratio(matches: Sequence[SeatedResult], resource: Resource) -> float | None:
    """What head used in a block divided by what base used; None: it is not known."""
    base, head = ([use for match in matches for use in match.uses_of(bot)] for bot in (BASE, HEAD))
    return ratio_of(base, head, resource)


def head_to_head(matches: Sequence[SeatedResult]) -> float:
    """What a block of two seats says: the new version's points, of 2."""
    return sum(sum(match.points_of(HEAD)) for match in matches)


def difference(matches: Sequence[SeatedResult]) -> float:
    """What a block of more seats says: the new version's mean points minus the old one's, from -1 to 1."""
    return _mean(matches, HEAD) - _mean(matches, BASE)


def _mean(matches: Sequence[SeatedResult], entrant: int) -> float:
    got = [each for match in matches for each in match.points_of(entrant)]
    return sum(got) / len(got)


class BlockTally:
    """Takes results in the order in which matches end, and gives whole blocks to the tests in schedule order.

    If blocks counted as they end, a bot that wins quickly, or loses slowly, would look better than it is.
    """

    def __init__(self, regression: Regression) -> None:
        self._seatings = regression.seatings
        self._limit = regression.limit
        test = regression.test
        self._walk = sprt.Walk(test) if isinstance(test, sprt.Sprt) else anytime.Walk(test)
        self._observe: Callable[[Sequence[SeatedResult]], float] = (
            head_to_head if isinstance(test, sprt.Sprt) else difference
        )
        self._waiting: dict[int, dict[int, SeatedResult]] = {}
        self.usage = tuple(UsageWalk(limit) for limit in regression.usage)
        """The tests of time and memory."""
        self.observations: list[float] = []
        """By block, up to the one that decided all."""

    @property
    def blocks(self) -> int:
        """How many blocks count: those up to the one that decided all."""
        return len(self.observations)

    @property
    def state(self) -> State:
        """How far the test of strength is. Blocks after the one that decided it do not count for it."""
        return self._walk.progress

    @property
    def verdict(self) -> Verdict:
        """What all tests together say: accepted only if all accept, rejected as soon as one rejects."""
        return verdict_of(self.state, [walk.state for walk in self.usage])

    @property
    def decided(self) -> bool:
        """Whether no more blocks are needed."""
        return is_decided(self.state, [walk.state for walk in self.usage])

    def ended(self, block: int, seating: int, result: SeatedResult) -> None:
        """A match has its result."""
        self._waiting.setdefault(block, {})[seating] = result
        while not self.decided and self.blocks < self._limit:
            matches = self._waiting.get(self.blocks, {})
            if len(matches) < self._seatings:
                return
            del self._waiting[self.blocks]
            self._add([matches[seating] for seating in range(self._seatings)])

    def _add(self, matches: Sequence[SeatedResult]) -> None:
        """Give the next block to the tests that are not over."""
        observation = self._observe(matches)
        self.observations.append(observation)
        if self.state.verdict is Verdict.UNDECIDED:
            self._walk.add(observation)
        for walk in self.usage:
            if not walk.state.is_over:
                walk.add(used_ratio(matches, walk.limit.resource))

    def again(self, block: int) -> None:
        """A block is played again as a whole: its results so far do not count."""
        self._waiting.pop(block, None)


def verdict_of(state: State, usage: Sequence[UsageState]) -> Verdict:
    """What all tests together say: accepted only if all accept, rejected as soon as one rejects."""
    verdicts = {state.verdict, *(each.verdict for each in usage)}
    if Verdict.REJECTED in verdicts:
        return Verdict.REJECTED
    return Verdict.ACCEPTED if verdicts == {Verdict.ACCEPTED} else Verdict.UNDECIDED


def is_decided(state: State, usage: Sequence[UsageState]) -> bool:
    """Return whether the tests need no more blocks: one has rejected, or all are over."""
    if verdict_of(state, usage) is Verdict.REJECTED:
        return True
    return state.verdict is not Verdict.UNDECIDED and all(each.is_over for each in usage)


def points_ahead(regression: Regression, observations: Sequence[float]) -> list[float]:
    """By block: head's mean points a match minus base's, from -1 to 1."""
    if isinstance(regression.test, sprt.Sprt):
        return [block - 1 for block in observations]
    return list(observations)


def interval(ahead: Sequence[float]) -> tuple[float, float]:
    """Return where the mean of `points_ahead` is: 95 % of such intervals hold it, whenever one stopped.

    The usual interval, of a mean and its standard error, would promise too much where a test stopped early.
    """
    return anytime.interval(ahead)


def evidence(test: Test, state: State) -> str:
    """What the test has found so far, with the bounds at which it decides."""
    if isinstance(test, sprt.Sprt) and isinstance(state, sprt.Progress):
        points = sum(index * count for index, count in enumerate(state.counts)) / 2
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
    """Return the answer that the results lean to, and how much of the evidence for it there is, from 0 to 1."""
    yes, no = answers(test)
    if isinstance(test, sprt.Sprt) and isinstance(state, sprt.Progress):
        better, worse = state.llr / test.upper, state.llr / test.lower
    elif isinstance(test, anytime.Anytime) and isinstance(state, anytime.AnytimeProgress):
        better = log(max(state.against_low, 1.0)) / -log(test.alpha)
        worse = log(max(state.against_high, 1.0)) / -log(test.beta)
    else:
        raise TypeError(f"{type(state).__name__} is not of {type(test).__name__}")
    answer, share = (yes, better) if better >= worse else (no, worse)
    return answer, min(1.0, max(0.0, share))
