"""The waves of a ladder without an end, and the ratings that follow from their results. Pure.

The choice of a wave uses the results of all waves but the last one. So a wave can start while the one before it
ends, and the same results always lead to the same blocks, in whatever order they arrive. Before a change of the
field and before a new period, all started waves must end.

The bot whose rating is least certain is next. It meets the bots with whom a result tells most about both sides:
near in rating, uncertain, and not met recently. Information about a bot weighs more where many others are near,
because pairs there are more often in the wrong order. Pending matches count as played: they reduce the
uncertainty of their bots.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count, filterfalse, islice, repeat
from random import Random
from typing import Annotated, Any

from msgspec import Meta, Struct

from arena.arrays import Numbers, Whole, np
from arena.quantities import pluralise
from arena.schedule.blocks import Block
from arena.schedule.fields import FieldPeriod, ScheduleSpec, fields_of, remote_bots
from arena.schedule.tables import shifts_of
from arena.statistics import ELO, START, CountedMatch, RunningRating, learn, shown, widened

Number = Annotated[int, Meta(ge=0, le=2**53)]
Real = Annotated[float, Meta(ge=-1e6, le=1e6)]
Variance = Annotated[float, Meta(gt=0, le=START)]
WAVES = 2
"""Maximum number of pending waves."""


class LadderState(Struct, kw_only=True, forbid_unknown_fields=True):
    """State of a ladder before a wave is made: everything it needs from earlier results. Lists are by entrant."""

    turn: Number = 0
    """Number of waves made."""
    first: Number = 0
    """Number of the first block that is in no wave yet."""
    pending: list[list[tuple[Number, ...]]] = []
    """Tables of the waves whose results are not in the ratings yet: the last blocks before `first`."""
    matches: Number = 0
    """Number of matches in the ratings."""
    head: Annotated[str, Meta(max_length=200)] = ""
    """Hash of the last line of the last such match's transcript."""
    fields: Number = 0
    """Number of fields (`fields_of`) that have started."""
    period: Number = 0
    """Number of the period, from 1; 0 before the first."""
    means: list[Real] = []
    """Estimated log-strengths."""
    variances: list[Variance] = []
    blocks: list[Number] = []
    """Numbers of blocks in this period, including pending waves."""
    charged_us: list[Number] = []
    """Charged thinking time in this period, in microseconds."""
    met: list[list[Number]] = []
    """Recent opponents of each bot, the latest last."""

    @property
    def rated(self) -> int:
        """Number of the first block whose results are not in the ratings."""
        return self.first - sum(map(len, self.pending))

    def fits(self, numbers: int, seats: int) -> bool:
        """Return True if the state is consistent for these numbers of entrants and seats; files are untrusted."""
        length, tables = len(self.means), chain.from_iterable(self.pending)
        return (
            length <= numbers
            and all(len(each) == length for each in (self.variances, self.blocks, self.charged_us, self.met))
            and len(self.pending) <= WAVES
            and self.rated >= 0
            and all(len(table) == seats and max(table) < length for table in tables)
        )


ACCURACY = 10
"""Default standard error, in Elo, from which on a bot needs no more matches."""
AGAIN = 1e-3
"""Weight of the information from an opponent met recently; it is so low that any other is preferred."""
SHARE, AT_FIRST = 2, 10
"""Limits of a bot's blocks: it is not next in turn from `SHARE` times the average plus `AT_FIRST` blocks on."""
STIR = 0.5
"""Maximum share of the information that is discounted at random.

If only neighbours met, distances between neighbours would be known, and distances to all others would not.
"""
NEAR = 0.5
"""Radius of a bot's neighbourhood, in log-strength: the more bots in it, the more pairs may be misordered."""
LEAST, MOST = 0.5, 2.0
"""Limits of the weight of a bot: the lowest for a bot without neighbours, the highest for one among many."""
TIES = 1e-6
"""Maximum relative effect of a bot's lot on its turn; lots only decide between equally uncertain bots."""


class Choice:
    """Chooses tables by the information that both sides would gain. Arrays are indexed by place in the pool."""

    def __init__(
        self,
        spec: ScheduleSpec,
        state: LadderState,
        pool: Sequence[int],
        competing: frozenset[int],
        rotations: int,
    ) -> None:
        """Estimate what will be known of the bots in the pool after all pending matches."""
        self._pool = np.array(pool)
        self._place = {bot: place for place, bot in enumerate(pool)}
        self._means: Numbers = np.array(state.means)[self._pool]
        self._variances: Numbers = np.array(state.variances)[self._pool]
        self._blocks = np.array(state.blocks)[self._pool].astype(float)
        self._met = state.met
        self._seats = min(spec.seats, len(pool))
        self._competes = np.array([bot in competing for bot in pool])
        self._known = ((spec.accuracy or ACCURACY) / ELO) ** 2
        self._sat = np.zeros(len(pool))
        seats = spec.seats
        # Information about each bot from a block at a table of equals, in the model of Plackett and Luce.
        self._most = rotations * (seats - sum(1 / place for place in range(1, seats + 1))) / seats
        self._lots: Numbers = np.ones(len(pool))
        self._crowd = _crowded(self._means)
        for table in chain.from_iterable(state.pending):
            self._count(np.array([self._place[bot] for bot in dict.fromkeys(table) if bot in self._place]))

    def draw_lots(self, rng: Random) -> None:
        """Draw the lots that break ties."""
        self._lots = np.array([rng.random() for _ in self._pool])

    def tables(self, most: int) -> Iterator[tuple[int, ...]]:
        """Yield the entrants of each table, until no bot needs more matches; seat no bot at more than `most`."""
        mean = self._blocks[self._competes].mean() if self._competes.any() else 0.0
        while True:
            limit = SHARE * mean + AT_FIRST
            in_turn = (
                self._competes & (self._variances > self._known) & (self._sat < most) & (self._blocks < limit)
            )
            if not in_turn.any():
                return
            first = int(np.argmax(np.where(in_turn, self._variances * self._crowd * (1 + TIES * self._lots), 0)))
            scores = self._scores(first)
            scores[self._sat >= most] *= AGAIN * AGAIN
            table = np.array([first, *_best(scores, self._seats - 1)])
            self._sat[table] += 1
            self._blocks[table] += 1
            mean += self._competes[table].sum() / self._competes.sum()
            self._count(table)
            yield tuple(self._pool[table].tolist())

    def _scores(self, first: int) -> Numbers:
        """Return the value of meeting each bot: the weighted decrease of competing bots' variances."""
        told = self._told(first, slice(None))
        falls = _fall(self._variances, told) * self._competes * self._crowd
        stirred = 1 - STIR * ((self._lots + self._lots[first]) % 1)
        found: Numbers = (falls + _fall(self._variances[first], told) * self._crowd[first]) * stirred
        lately = [self._place[bot] for bot in self._met[int(self._pool[first])] if bot in self._place]
        found[lately] *= AGAIN
        found[first] = -1
        return found

    def _told(self, one: int, others: Any) -> Numbers:
        """Return the information that a block of one bot gives about its own and the others' strengths.

        It follows the logistic curve, flattened by the uncertainty of both strengths. The series to the fourth
        power is accurate enough for a choice, and gives the same numbers on every machine.
        """
        flat = 1 + (self._variances[others] + self._variances[one]) * 0.3
        gap = (self._means[others] - self._means[one]) ** 2 / flat
        found: Numbers = self._most / (np.sqrt(flat) * (1 + gap / 4 + gap * gap / 48))
        return found

    def _count(self, table: Whole) -> None:
        """Reduce the variances of the bots at a table."""
        if len(table) > 1:
            told = [self._told(one, table[table != one]).mean() for one in table]
            self._variances[table] -= _fall(self._variances[table], np.array(told))


def _crowded(means: Numbers) -> Numbers:
    """Return the weight of each bot, proportional to the number of bots near it."""
    order = np.sort(means)
    near = np.searchsorted(order, means + NEAR) - np.searchsorted(order, means - NEAR)
    found: Numbers = np.clip(near / near.mean(), LEAST, MOST)
    return found


def _best(scores: Numbers, number: int) -> list[int]:
    """Return the places of the highest scores, and mark them as used."""
    found = []
    for _ in range(number):
        place = int(np.argmax(scores))
        scores[place] = -2
        found.append(place)
    return found


def _fall(variances: Any, told: Numbers) -> Numbers:
    """Return the decrease of variances from this information."""
    found: Numbers = variances * variances * told / (1 + variances * told)
    return found


PERIOD = 20_000
"""Default number of blocks in a period."""
NEW_VERSION = 150.0
"""Standard deviation, in Elo, added to the rating of a new version."""
NEW_PERIOD = 50.0
"""Standard deviation, in Elo, added to all ratings at the start of a period."""
FEWEST_TABLES, MOST_TABLES = 4, 64
"""Limits of the number of tables in a wave. Two waves can be pending, so that many cores are busy."""
LATELY = 8
"""Number of a bot's latest blocks whose opponents it does not meet again if there are others."""
TWO = 2


class StrangeResultError(ValueError):
    """A result has other bots than the block it belongs to. The message names the block, on one line."""


class EndlessLadderState:
    """Makes the waves of a ladder, one after the other, and updates the ratings by their results."""

    def __init__(
        self,
        spec: ScheduleSpec,
        seed: int,
        state: LadderState | None = None,
        period_over: Callable[[int, tuple[RunningRating, ...]], None] | None = None,
    ) -> None:
        """Start a ladder, or continue from a state.

        Args:
            spec: spec of a ladder without an end.
            seed: seed of the tournament.
            state: state to continue from, which is changed; None starts a new ladder.
            period_over: called at the end of each period with its number and the ratings by entrant.
        """
        self._spec, self._seed = spec, seed
        self._state = LadderState() if state is None else state
        self._period_over = period_over
        self._fields = fields_of(spec)
        self._remote = remote_bots(spec)
        self._shifts = shifts_of(spec.seats, spec.rotations or spec.seats)
        self._heard: dict[int, list[CountedMatch]] = {}
        self.before_wave: Callable[[LadderState], None] | None = None
        """Hook that receives the state before each wave is made.

        A ladder can continue from a copy of this state if it has the results of all earlier blocks, even if the
        field changes with the next block.
        """

    def pending(self) -> Iterator[Block]:
        """Yield the blocks of all waves whose results are not in the ratings yet."""
        state = self._state
        number = state.rated
        for turn, wave in enumerate(state.pending, start=state.turn - len(state.pending)):
            for table in wave:
                yield self._block(number, turn, table)
                number += 1

    def hear(self, results: Sequence[CountedMatch]) -> None:
        """Add results of finished blocks, all matches of each."""
        for played in results:
            self._heard.setdefault(played.block, []).append(played)

    def next(self) -> list[Block] | None:
        """Return the next wave; an empty list if no bot needs more matches, None if results are missing.

        Raises:
            StrangeResultError: a result has other bots than the block it belongs to.
        """
        state = self._state
        while True:
            begins = self._begins()
            while len(state.pending) > (0 if begins else 1):
                if not self._rate_wave():
                    return None
            if self.before_wave is not None:
                self.before_wave(state)
            if begins:
                self._begin()
            wave = self._tables()
            if wave or not state.pending:
                break
            if not self._rate_wave():
                return None
        blocks = list(map(self._block, count(state.first), repeat(state.turn), wave))
        if wave:
            state.pending.append(wave)
            state.first += len(wave)
            state.turn += 1
        return blocks

    def replay(self, results_between: Callable[[int, int], Sequence[CountedMatch]]) -> None:
        """Continue for as long as there are results.

        `results_between` returns the results of the blocks in a half-open range of numbers.

        Raises:
            StrangeResultError: a result has other bots than the block it belongs to.
        """
        state = self._state
        known = state.rated
        if state.first > known:
            self.hear(results_between(known, state.first))
        while self.next():
            # Only the results of the last wave are new.
            wave = len(state.pending[-1])
            self.hear(results_between(state.first - wave, state.first))

    def ratings(self) -> tuple[RunningRating, ...]:
        """Return the ratings by entrant after all complete blocks."""
        state = self._state
        means, variances, played = list(state.means), list(state.variances), list(state.blocks)
        for block in self.pending():
            if self._is_heard(block.number):
                _rate(self._results(block), means, variances)
            else:
                for bot in set(block.entrants):
                    played[bot] -= 1
        found = map(shown, means, variances, played)
        fresh = shown(0.0, START, 0)
        return (*found, *[fresh] * (self._spec.numbers - len(means)))

    def why_idle(self) -> str:
        """Return the reason why no more matches are needed."""
        competing = self._field.active
        if all(map(self._is_tired, competing)):
            return f"{pluralise(len(competing), 'bot')} have used their budgets"
        return f"ratings are known to ± {self._spec.accuracy or ACCURACY}, or as well as matches can tell"

    @property
    def first(self) -> int:
        """Number of the first block that is in no wave yet."""
        return self._state.first

    @property
    def period_blocks(self) -> int:
        """Number of blocks in a period."""
        return self._spec.period or PERIOD

    @property
    def period_first(self) -> int:
        """Number of the period's first block."""
        return max(0, self._state.period - 1) * self.period_blocks

    @property
    def _field(self) -> FieldPeriod:
        return self._fields[max(0, self._state.fields - 1)]

    def _begins(self) -> bool:
        """Return True if a field or a period starts with the next block."""
        return self._end() == self._state.first

    def _end(self) -> int:
        """Return the first block of the next field or period."""
        state = self._state
        end = state.period * self.period_blocks
        later = self._fields[state.fields :]
        return min(end, later[0].first) if later else end

    def _begin(self) -> None:
        state, spec = self._state, self._spec
        if state.first == state.period * self.period_blocks:
            if state.period and self._period_over is not None:
                self._period_over(state.period, self.ratings()[: len(state.means)])
            state.period += 1
            state.variances = [widened(each, NEW_PERIOD) for each in state.variances]
            state.blocks = [0] * len(state.blocks)
            state.charged_us = [0] * len(state.blocks)
        if state.fields < len(self._fields) and self._fields[state.fields].first == state.first:
            field = self._fields[state.fields]
            state.fields += 1
            self._admit(max((*field.active, spec.house or 0), default=0) + 1)
            for number, predecessor in field.entered:
                self._admit(number + 1)
                if predecessor is not None:
                    state.means[number] = state.means[predecessor]
                    state.variances[number] = widened(state.variances[predecessor], NEW_VERSION)

    def _admit(self, numbers: int) -> None:
        state = self._state
        for _ in range(numbers - len(state.means)):
            state.means.append(0.0)
            state.variances.append(START)
            state.blocks.append(0)
            state.charged_us.append(0)
            state.met.append([])

    def _is_heard(self, number: int) -> bool:
        return len(self._heard.get(number, ())) == len(self._shifts)

    def _results(self, block: Block) -> list[CountedMatch]:
        """Return the results of a block, ordered by seating."""
        played = sorted(self._heard[block.number], key=lambda each: each.seating)
        numbers, expected = len(self._state.means), sorted(block.entrants)
        if not all(match.fits(numbers) and sorted(match.entrants) == expected for match in played):
            raise StrangeResultError(f"block {block.number + 1} was not played by the bots that the ladder chose")
        return played

    def _rate_wave(self) -> bool:
        """Rate the first pending wave; return False if one of its results is missing."""
        state = self._state
        blocks = list(islice(self.pending(), len(state.pending[0])))
        if not all(self._is_heard(block.number) for block in blocks):
            return False
        for block in blocks:
            played = self._results(block)
            del self._heard[block.number]
            _rate(played, state.means, state.variances)
            for match in played:
                for entrant, charged in zip(match.entrants, match.charged_us, strict=True):
                    state.charged_us[entrant] += charged
            state.matches += len(played)
            state.head = played[-1].head
        state.pending = state.pending[1:]
        return True

    def _block(self, number: int, turn: int, table: tuple[int, ...]) -> Block:
        return Block(number, turn, table, self._shifts, self._seed)

    def _is_tired(self, bot: int) -> bool:
        budget = self._spec.budget_s
        return budget is not None and self._state.charged_us[bot] >= budget * 1_000_000

    def _opponents(self) -> list[int]:
        """Return the competing bots and kept old versions that have budget left, then the house."""
        before = dict(chain.from_iterable(field.entered for field in self._fields[: self._state.fields]))
        stay = list[int]()
        for bot in self._field.active:
            older = list[int]()
            number = before.get(bot)
            while number is not None and len(older) < (self._spec.old_versions or 0):
                older.append(number)
                number = before.get(number)
            stay += filterfalse(self._remote.__contains__, older)
        found = list(filterfalse(self._is_tired, (*self._field.active, *stay)))
        if self._spec.house is not None:
            found.append(self._spec.house)
        return found

    def _tables(self) -> list[tuple[int, ...]]:
        """Choose the tables of the next wave, and count them as played by their bots."""
        state, spec = self._state, self._spec
        pool = self._opponents()
        seats, number = spec.seats, len(self._field.active)
        wanted = min(MOST_TABLES, max(FEWEST_TABLES, number // (2 * seats)))
        if not pool or (len(pool) < seats and spec.house is None):
            return []
        choice = Choice(self._spec, state, pool, frozenset(self._field.active), len(self._shifts))
        rng = Random(f"{self._seed}/{state.turn}/wave")
        choice.draw_lots(rng)
        most = -(-2 * wanted * seats // number)
        tables = []
        for members in islice(choice.tables(most), min(wanted, self._end() - state.first)):
            table = list(members)
            while len(table) < seats:
                table.append(spec.house or 0)
            tables.append(tuple(sorted(table, key=lambda _: rng.random())))
            latest = min(LATELY * (seats - 1), (len(pool) - 1) // (seats if seats > TWO else 2))
            self._note(tuple(dict.fromkeys(table)), latest)
        return tables

    def _note(self, members: Sequence[int], latest: int) -> None:
        state = self._state
        for bot in members:
            state.blocks[bot] += 1
            met = [*state.met[bot], *(other for other in members if other != bot)]
            state.met[bot] = met[-latest:] if latest else []


def _rate(played: Sequence[CountedMatch], means: list[float], variances: list[float]) -> None:
    for match in played:
        learn(means, variances, match.entrants, match.outcome.ranking)
