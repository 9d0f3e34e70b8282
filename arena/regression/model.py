"""What a regression test is made of: who plays, from which deals, and what a block says of old and new. Pure.

Two seats: old and new version meet. More: each deal is played twice in each seating, once with either version in
the seat under test, against the same others in the same seats.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from arena.config import Tournament
from arena.schedule import SWAPPED, TWO, Block, Match, shifts_of
from arena.statistics import Verdict, anytime, points, sprt
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

    @property
    def seatings(self) -> int:
        """How many matches a block has."""
        return TWO if self.arena.seats == TWO else 2 * self.arena.rotations

    def blocks(self, seed: int) -> Iterator[Block]:
        """The schedule, up to the limit. A higher limit only adds to it."""
        for number in range(self.limit):
            yield self._block(number, seed)

    def _block(self, number: int, seed: int) -> Block:
        """One deal. With more seats, and few seatings of each, the seat under test moves on from deal to deal."""
        seats = self.arena.seats
        if seats == TWO:
            return Block(number, number, (BASE, HEAD), SWAPPED, seed)
        others = len(self.arena.bots) - FIELD
        table = (HEAD, *(FIELD + place % others for place in range(seats - 1)))
        moved = number % seats
        shifts = tuple((shift + moved) % seats for shift in shifts_of(seats, self.arena.rotations))
        return Paired(number, number, table, shifts + shifts, seed)


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

    def points_of(self, entrant: int) -> list[float]:
        """What this entrant got, in each seat that it had."""
        return [points(self.outcome, seat) for seat, sitting in enumerate(self.entrants) if sitting == entrant]


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
    """Takes results in the order in which matches end, and gives whole blocks to the test in schedule order.

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
        self.observations: list[float] = []
        """By block, up to the one that decided."""

    @property
    def state(self) -> State:
        """How far the test is."""
        return self._walk.progress

    @property
    def decided(self) -> bool:
        """Whether no more blocks are needed."""
        return self.state.verdict is not Verdict.UNDECIDED

    def ended(self, block: int, seating: int, result: SeatedResult) -> None:
        """A match has its result."""
        self._waiting.setdefault(block, {})[seating] = result
        while not self.decided and self.state.blocks < self._limit:
            matches = self._waiting.get(self.state.blocks, {})
            if len(matches) < self._seatings:
                return
            del self._waiting[self.state.blocks]
            observation = self._observe([matches[seating] for seating in range(self._seatings)])
            self.observations.append(observation)
            self._walk.add(observation)

    def again(self, block: int) -> None:
        """A block is played again as a whole: its results so far do not count."""
        self._waiting.pop(block, None)


def interval(regression: Regression, observations: Sequence[float]) -> tuple[float, float]:
    """Where the mean difference in points a match is: 95 % of such intervals hold it, whenever one stopped.

    The usual interval, of a mean and its standard error, would promise too much where a test stopped early.
    """
    if isinstance(regression.test, sprt.Sprt):
        return anytime.interval([block - 1 for block in observations])
    return anytime.interval(observations)


def evidence(test: Test, state: State) -> str:
    """What the test has found so far, with the bounds at which it decides."""
    if isinstance(test, sprt.Sprt) and isinstance(state, sprt.Progress):
        points = sum(index * count for index, count in enumerate(state.counts)) / 2
        bounds = f"{test.lower:z.2f} to {test.upper:z.2f}"
        return f"LLR {state.llr:z.2f} ({bounds}), {points:g} of {2 * state.blocks} points"
    if isinstance(test, anytime.Anytime) and isinstance(state, anytime.AnytimeProgress):
        return (
            f"e-values {state.against_low:.3g} for (at {1 / test.alpha:g}: better) and"
            f" {state.against_high:.3g} against (at {1 / test.beta:g}: not), mean difference {state.mean:+z.3f}"
        )
    raise TypeError(f"{type(state).__name__} is not of {type(test).__name__}")
