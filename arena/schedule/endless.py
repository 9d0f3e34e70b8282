"""A ladder without an end: matches that teach most are played, for as long as there is time. Pure.

Blocks are made in waves. A wave is chosen by all that the waves before the last one came to: so one wave can be
played while the one before it ends, and yet the same results in schedule order always lead to the same blocks,
whatever order they came in. Before a change of the field, and before a season, all that was begun is waited for.

A wave is chosen greedily. Next in turn is the bot of which least is known; it meets those with whom both sides
learn most: near in rating, little known, and not met lately. Matches that are not over count as if they had been:
they make their bots better known.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Annotated, Any

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from arena.quantities import counted, rounded
from arena.schedule.blocks import Block
from arena.schedule.changes import Event, Extended
from arena.schedule.columns import format_table
from arena.schedule.contract import Cells, Complaint, Contest, Format
from arena.schedule.fields import Field, ScheduleSpec, fields_of
from arena.schedule.rounds import Rounds, at_once
from arena.schedule.seating import shifts_of
from arena.statistics import ELO, START, Played, RunningRating, StandingsRow, learn, shown, widened

SEASON = 50_000
"""Blocks of a season, unless the file says otherwise."""
ACCURACY = 10
"""In Elo: a bot whose rating has so small a standard error needs no more, unless the file says otherwise."""
NEW_VERSION = 150.0
"""A new version may be so many Elo stronger or weaker than the one before."""
NEW_SEASON = 50.0
"""From one season to the next a rating may come to mean so many Elo more or less."""
FEWEST_TABLES, MOST_TABLES = 4, 128
"""Of a wave. Two waves can be under way: with many bots this is what keeps many cores busy."""
LATELY = 8
"""A bot's opponents of so many blocks, its latest, are not met again if there are others."""
AGAIN = 1e-3
"""What is learnt from a bot that was met lately counts for so much: any other is better."""
SHARE, AT_FIRST = 2, 10
"""No bot is next in turn that has played so many times as many blocks as they do on average, and some more."""
STIR = 0.5
"""Up to this share of what would be learnt is given up by lot: if only neighbours met, all would know how far they
are from their neighbours, and nobody how far from the others."""
TIES = 1e-6
"""Lots move a bot's turn by up to this share: they decide between bots of which equally much is known."""
TWO = 2

Array = NDArray[np.float64]
Number = Annotated[int, Meta(ge=0, le=2**53)]
Real = Annotated[float, Meta(ge=-1e6, le=1e6)]
Variance = Annotated[float, Meta(gt=0, le=START)]


class StrangeResultError(ValueError):
    """A result is not of the match that was to be played. The text says which block's, on one line."""


class LadderState(Struct, kw_only=True, forbid_unknown_fields=True):
    """Where a ladder stands before a wave is made: all that it needs to know of what was played. By entrant."""

    turn: Number = 0
    """How many waves were made."""
    first: Number = 0
    """The number of the first block that is in no wave yet."""
    pending: list[list[tuple[Number, ...]]] = []
    """The tables of waves whose results are not in the ratings yet: the last blocks before `first`."""
    matches: Number = 0
    """How many are in the ratings."""
    head: Annotated[str, Meta(max_length=200)] = ""
    """Of the last one's transcript: the hash of its last line."""
    fields: Number = 0
    """How many of the fields (`fields_of`) have begun."""
    season: Number = 0
    """Counts from 1."""
    means: list[Real] = []
    """Log-strengths."""
    variances: list[Variance] = []
    blocks: list[Number] = []
    """In this season, those of waves that are pending among them."""
    charged_us: list[Number] = []
    """In this season."""
    met: list[list[Number]] = []
    """Whom a bot met lately, the latest last."""

    @property
    def rated(self) -> int:
        """The number of the first block whose results are not in the ratings."""
        return self.first - sum(map(len, self.pending))

    def fits(self, numbers: int, seats: int) -> bool:
        """Whether it can be of a ladder of at most so many entrants: a file may come from anybody."""
        length = len(self.means)
        tables = [table for wave in self.pending for table in wave]
        return (
            length <= numbers
            and all(len(each) == length for each in (self.variances, self.blocks, self.charged_us, self.met))
            and len(self.pending) <= TWO
            and self.rated >= 0
            and all(len(table) == seats and max(table) < length for table in tables)
        )


class EndlessFormat(Format):
    """See `Format`. It is for any number of seats."""

    name = "ladder"
    uses = ("fill",)
    grows = None
    order_text = "By the ladder's rating."

    def schedule(self, spec: ScheduleSpec) -> "EndlessLadder":
        """See `Format`."""
        return EndlessLadder(spec)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        for field in ("rounds", "heads"):
            if getattr(spec, field) is not None:
                return field, "is not for a ladder without an end"
        if spec.blocks != 1:
            return "blocks", "is not for a ladder without an end: it chooses anew for each"
        if (spec.rotations or 0) > spec.seats:
            return "rotations", f"{spec.rotations} are too many; {game} has {spec.seats} seats"
        if not spec.filled and spec.entrants < spec.seats:
            few = f"{spec.entrants} are too few for {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None

    def refusal(self, event: Event) -> str | None:
        """See `Format`."""
        return "a ladder without an end cannot be extended" if isinstance(event.what, Extended) else None

    def places(self, contest: Contest) -> dict[int, float]:
        """See `Format`."""
        return {entrant: -each.rating for entrant, each in enumerate(_running(contest))}

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[Cells, list[Cells]]:
        """See `Format`."""
        ratings = _running(contest)

        def cells(row: StandingsRow) -> Cells:
            mine = ratings[row.entrant]
            return f"{mine.rating:z.0f}", f"{mine.error:.0f}", str(row.played), f"{row.points:g}", row.record

        return format_table(contest.labels, rows, ("rating", "±", "played", "points", "W-T-L"), cells)

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """See `Format`."""
        return {"ladder": ladder_json(contest.labels, _running(contest))}


def ladder_json(labels: Sequence[str], ratings: Sequence[RunningRating]) -> list[dict[str, Any]]:
    """A ladder's ratings, best first."""
    found = sorted(zip(labels, ratings, strict=True), key=lambda one: -one[1].rating)
    return [
        {"bot": bot, "rating": rounded(each.rating, 1), "error": rounded(each.error, 1), "blocks": each.blocks}
        for bot, each in found
    ]


def _running(contest: Contest) -> tuple[RunningRating, ...]:
    """By entrant: as whoever kept the ladder knows them, or from all results."""
    if contest.running:
        return contest.running
    waves = Waves(contest.spec, contest.seed)
    waves.replay(lambda first, end: [each for each in contest.played if first <= each.block < end])
    return waves.ratings()


class EndlessLadder(Struct, frozen=True):
    """See `Schedule`."""

    spec: ScheduleSpec

    @property
    def matches(self) -> int:
        """See `Schedule`: nobody knows."""
        return 0

    def change_at(self, begun: int) -> int:
        """See `Schedule`."""
        return at_once(begun)

    def rounds(self, seed: int) -> Rounds:
        """See `Schedule`. They end where nothing is to be learnt."""
        waves = Waves(self.spec, seed)
        # All results of a wave are there when the next is asked for: it is never None.
        while wave := waves.next():
            waves.hear((yield wave.__iter__))


class Waves:
    """The waves of a ladder, one after the other, and the ratings that their results lead to."""

    def __init__(
        self,
        spec: ScheduleSpec,
        seed: int,
        state: LadderState | None = None,
        season_over: Callable[[int, tuple[RunningRating, ...]], None] | None = None,
    ) -> None:
        """Begins, or goes on where a state has it.

        Args:
            spec: of a ladder without an end.
            seed: the tournament's.
            state: where it stands; it is changed. None: at its beginning.
            season_over: told the number of each season that ends, and the ratings by entrant.
        """
        self._spec, self._seed = spec, seed
        self._state = LadderState() if state is None else state
        self._season_over = season_over
        self._fields = fields_of(spec)
        self._shifts = shifts_of(spec.seats, spec.rotations or spec.seats)
        self._heard: dict[int, list[Played]] = {}
        self.before_wave: Callable[[LadderState], None] | None = None
        """Told how the ladder stands before each wave is made. It can go on from there, if it heard of all blocks
        before; also if the field changes with the next one."""

    def pending(self) -> Iterator[Block]:
        """The blocks of waves that were made, and whose results are not in the ratings."""
        state = self._state
        number = state.rated
        for turn, wave in enumerate(state.pending, start=state.turn - len(state.pending)):
            for table in wave:
                yield self._block(number, turn, table)
                number += 1

    def hear(self, results: Sequence[Played]) -> None:
        """The results of blocks that have ended, all matches of each."""
        for played in results:
            self._heard.setdefault(played.block, []).append(played)

    def next(self) -> list[Block] | None:
        """The next wave; empty: there is nothing to learn. None: first, more results must be heard.

        Raises:
            StrangeResultError: a result is of other bots than those that were to play.
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
        blocks = [self._block(number, state.turn, table) for number, table in enumerate(wave, start=state.first)]
        if wave:
            state.pending.append(wave)
            state.first += len(wave)
            state.turn += 1
        return blocks

    def replay(self, results_between: Callable[[int, int], Sequence[Played]]) -> None:
        """Goes on as far as results lead.

        `results_between`: gives those of all blocks from this number on and before that.

        Raises:
            StrangeResultError: a result is of other bots than those that were to play.
        """
        state = self._state
        known = state.rated
        if state.first > known:
            self.hear(results_between(known, state.first))
        while self.next():
            # Only the last wave's are new.
            wave = len(state.pending[-1])
            self.hear(results_between(state.first - wave, state.first))

    def ratings(self) -> tuple[RunningRating, ...]:
        """By entrant: what all results that were heard lead to."""
        state = self._state
        means, variances, played = list(state.means), list(state.variances), list(state.blocks)
        for block in self.pending():
            if self._is_heard(block.number):
                _rate(self._results(block), means, variances)
            else:
                for bot in set(block.entrants):
                    played[bot] -= 1
        found = [shown(*each) for each in zip(means, variances, played, strict=True)]
        fresh = shown(0.0, START, 0)
        return (*found, *[fresh] * (self._spec.numbers - len(found)))

    def why_idle(self) -> str:
        """Why nothing is to be learnt."""
        competing = self._field.active
        tired = [bot for bot in competing if self._is_tired(bot)]
        accuracy = self._spec.accuracy or ACCURACY
        known = f"ratings are known to ± {accuracy}, or as well as matches can tell"
        return f"{counted(len(tired), 'bot')} have used their budgets" if len(tired) == len(competing) else known

    @property
    def first(self) -> int:
        """The number of the first block that is in no wave yet."""
        return self._state.first

    @property
    def season_blocks(self) -> int:
        """How many blocks a season has."""
        return self._spec.season or SEASON

    @property
    def season_first(self) -> int:
        """The number of the season's first block."""
        return max(0, self._state.season - 1) * self.season_blocks

    @property
    def _field(self) -> Field:
        return self._fields[max(0, self._state.fields - 1)]

    def _begins(self) -> bool:
        """Whether a field or a season begins with the next block."""
        return self._end() == self._state.first

    def _end(self) -> int:
        """The first block of the next field or season."""
        state = self._state
        end = state.season * self.season_blocks
        later = self._fields[state.fields :]
        return min(end, later[0].first) if later else end

    def _begin(self) -> None:
        state, spec = self._state, self._spec
        if state.first == state.season * self.season_blocks:
            if state.season and self._season_over is not None:
                self._season_over(state.season, self.ratings()[: len(state.means)])
            state.season += 1
            state.variances = [widened(each, NEW_SEASON) for each in state.variances]
            state.blocks = [0] * len(state.blocks)
            state.charged_us = [0] * len(state.blocks)
        if state.fields < len(self._fields) and self._fields[state.fields].first == state.first:
            field = self._fields[state.fields]
            state.fields += 1
            self._admit(max((*field.active, spec.house or 0), default=0) + 1)
            for number, predecessor in field.came:
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

    def _results(self, block: Block) -> list[Played]:
        """By seating."""
        played = sorted(self._heard[block.number], key=lambda each: each.seating)
        if any(sorted(match.entrants) != sorted(block.entrants) for match in played):
            raise StrangeResultError(f"block {block.number + 1} was played by others than the ladder chose")
        return played

    def _rate_wave(self) -> bool:
        """Takes the results of the first wave that is pending into the ratings, if all are there."""
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
        """Those who compete, and have some of their budget left; then old versions that stay, and the house."""
        before = {number: one for field in self._fields[: self._state.fields] for number, one in field.came}
        stay = list[int]()
        for bot in self._field.active:
            number: int | None = bot
            for _ in range(self._spec.old_versions or 0):
                number = None if number is None else before.get(number)
                if number is not None:
                    stay.append(number)
        house = [] if self._spec.house is None else [self._spec.house]
        return [bot for bot in (*self._field.active, *stay) if not self._is_tired(bot)] + house

    def _tables(self) -> list[tuple[int, ...]]:
        """The next wave's, and notes them: they are to be played."""
        state, spec = self._state, self._spec
        pool = self._opponents()
        seats, number = spec.seats, len(self._field.active)
        wanted = min(MOST_TABLES, max(FEWEST_TABLES, number // (2 * seats)))
        if not pool or (len(pool) < seats and spec.house is None):
            return []
        choice = Choice(self._spec, state, pool, frozenset(self._field.active), len(self._shifts))
        luck = Random(f"{self._seed}/{state.turn}/wave")
        choice.draw_lots(luck)
        most = -(-2 * wanted * seats // number)
        tables = []
        for members in islice(choice.tables(most), min(wanted, self._end() - state.first)):
            table = list(members)
            while len(table) < seats:
                table.append(spec.house or 0)
            tables.append(tuple(sorted(table, key=lambda _: luck.random())))
            latest = min(LATELY * (seats - 1), (len(pool) - 1) // (seats if seats > TWO else 2))
            self._note(tuple(dict.fromkeys(table)), latest)
        return tables

    def _note(self, members: Sequence[int], latest: int) -> None:
        state = self._state
        for bot in members:
            state.blocks[bot] += 1
            met = [*state.met[bot], *(other for other in members if other != bot)]
            state.met[bot] = met[-latest:] if latest else []


class Choice:
    """Who is to meet whom, by what both would learn. Arrays are by place in the pool."""

    def __init__(
        self,
        spec: ScheduleSpec,
        state: LadderState,
        pool: Sequence[int],
        competing: frozenset[int],
        rotations: int,
    ) -> None:
        """Looks at those who can play, after all that is being played."""
        self._pool = np.array(pool)
        self._place = {bot: place for place, bot in enumerate(pool)}
        self._means: Array = np.array(state.means)[self._pool]
        self._variances: Array = np.array(state.variances)[self._pool]
        self._blocks = np.array(state.blocks)[self._pool].astype(float)
        self._met = state.met
        self._seats = min(spec.seats, len(pool))
        self._competes = np.array([bot in competing for bot in pool])
        self._known = ((spec.accuracy or ACCURACY) / ELO) ** 2
        self._sat = np.zeros(len(pool))
        seats = spec.seats
        # What one match at a table of equals tells of each, in Plackett and Luce's model.
        self._most = rotations * (seats - sum(1 / place for place in range(1, seats + 1))) / seats
        self._lots: Array = np.ones(len(pool))
        for table in (table for wave in state.pending for table in wave):
            self._count(np.array([self._place[bot] for bot in dict.fromkeys(table) if bot in self._place]))

    def draw_lots(self, luck: Random) -> None:
        """Breaks ties."""
        self._lots = np.array([luck.random() for _ in range(len(self._pool))])

    def tables(self, most: int) -> Iterator[tuple[int, ...]]:
        """Entrants of table after table, until nothing is to be learnt; nobody sits at more than `most`."""
        mean = self._blocks[self._competes].mean() if self._competes.any() else 0.0
        while True:
            limit = SHARE * mean + AT_FIRST
            in_turn = (
                self._competes & (self._variances > self._known) & (self._sat < most) & (self._blocks < limit)
            )
            if not in_turn.any():
                return
            first = int(np.argmax(np.where(in_turn, self._variances * (1 + TIES * self._lots), 0)))
            scores = self._scores(first)
            scores[self._sat >= most] *= AGAIN * AGAIN
            others = np.argsort(-scores, kind="stable")[: self._seats - 1]
            table = np.array([first, *others])
            self._sat[table] += 1
            self._blocks[table] += 1
            mean += self._competes[table].sum() / self._competes.sum()
            self._count(table)
            yield tuple(self._pool[table].tolist())

    def _scores(self, first: int) -> Array:
        """What is learnt from a meeting of each with one: how much smaller variances of those who compete get."""
        told = self._told(first)
        falls = _fall(self._variances, told) * self._competes
        stirred = 1 - STIR * ((self._lots + self._lots[first]) % 1)
        found: Array = (falls + _fall(self._variances[first], told)) * stirred
        lately = [self._place[bot] for bot in self._met[int(self._pool[first])] if bot in self._place]
        found[lately] *= AGAIN
        found[first] = -1
        return found

    def _told(self, one: int) -> Array:
        """By place: what a block with one tells of a strength, and of that one's.

        The odds' curve, flattened by what is not known of either; its series to the fourth power is close enough
        to choose by, and the same on every machine.
        """
        flat = 1 + (self._variances + self._variances[one]) * 0.3
        gap = (self._means - self._means[one]) ** 2 / flat
        found: Array = self._most / (np.sqrt(flat) * (1 + gap / 4 + gap * gap / 48))
        return found

    def _count(self, table: NDArray[np.int64]) -> None:
        """Those at a table will be better known."""
        if len(table) > 1:
            told = [float(self._told(one)[table].sum() - self._told(one)[one]) / (len(table) - 1) for one in table]
            self._variances[table] -= _fall(self._variances[table], np.array(told))


def _fall(variances: Any, told: Array) -> Array:
    """How much smaller variances get by so much information."""
    found: Array = variances * variances * told / (1 + variances * told)
    return found


def _rate(played: Sequence[Played], means: list[float], variances: list[float]) -> None:
    for match in played:
        learn(means, variances, match.entrants, match.outcome.ranking)
