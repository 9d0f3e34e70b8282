"""Interface of a tournament format: its rounds, the order of its bots and its own table. Pure.

A schedule makes `Rounds`: the blocks of one round, and after its results those of the next. The same results in
schedule order always lead to the same rounds, so that a stopped tournament continues as if it had never stopped.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, ClassVar, Protocol, TypeVar

from msgspec import Struct

from arena.quantities import Column, Table
from arena.schedule.blocks import SWAPPED, Block
from arena.schedule.fields import FieldChange, ScheduleSpec, withdrawn
from arena.statistics import BotColumn, CountedMatch, RunningRating, StandingsRow, conduct_columns

Blocks = Callable[[], Iterator[Block]]
"""Returns a new iterator over the blocks of a round, in schedule order."""


class Rounds(ABC):
    """The rounds of a tournament, one after the other."""

    blocks: Blocks | None = None
    """The current round; None after the last one."""

    @abstractmethod
    def advance(self, results: Sequence[CountedMatch]) -> None:
        """Accept all results of the current round in schedule order, and go on to the next round."""


RoundsT = TypeVar("RoundsT", bound=Rounds)


class OneRound(Rounds):
    """A single round, which does not depend on results."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    def advance(self, results: Sequence[CountedMatch]) -> None:
        """See `Rounds`."""
        del results
        self.blocks = None


class Schedule(Protocol):
    """The rounds of a tournament."""

    @property
    def matches(self) -> int:
        """Number of all matches, without tie-breaks."""

    def rounds(self, seed: int) -> Rounds:
        """Return the rounds before the first result."""

    def change_at(self, begun: int) -> int:
        """Return the first block that a change can concern after `begun` blocks were started."""


def at_once(begun: int) -> int:
    """See `Schedule.change_at`: a change concerns the next block."""
    return begun


class Fixed(Struct, frozen=True):
    """A schedule that does not depend on results, and so has a single round."""

    blocks: Callable[[int], Iterator[Block]]
    """Returns all blocks for the tournament's seed."""
    matches: int
    """See `Schedule`."""
    change_at: Callable[[int], int] = at_once
    """See `Schedule`."""

    def rounds(self, seed: int) -> Rounds:
        """See `Schedule`."""
        return OneRound(partial(self.blocks, seed))


def rounds_of(rounds: Rounds, results_between: Callable[[int, int], Sequence[CountedMatch]]) -> Iterator[Blocks]:
    """Yield round after round; the results of a round must be present before the next is requested.

    Args:
        rounds: the rounds before the first result.
        results_between: returns the results of the blocks in a half-open range of numbers, in schedule order.
    """
    first = 0
    while (blocks := rounds.blocks) is not None:
        yield blocks
        # The range has an end because a resumed tournament also has results of later rounds.
        end = first + sum(1 for _ in blocks())
        rounds.advance(results_between(first, end))
        first = end


def advanced(rounds: RoundsT, results: Sequence[CountedMatch]) -> RoundsT:
    """Go on through the rounds that these results complete, and return the rounds."""
    for _ in _reached(rounds, results):
        pass
    return rounds


def next_round(rounds: Rounds, results: Sequence[CountedMatch]) -> list[Block]:
    """Return the blocks of the first round that lacks a result; an empty list if none does."""
    blocks = advanced(rounds, results).blocks
    return list(blocks()) if blocks is not None else []


def blocks_so_far(rounds: Rounds, results: Sequence[CountedMatch]) -> Iterator[Block]:
    """Yield every block of the rounds that these results lead to, played or not."""
    return chain.from_iterable(_reached(rounds, results))


def _reached(rounds: Rounds, results: Sequence[CountedMatch]) -> Iterator[list[Block]]:
    """Yield the blocks of each round that these results lead to; go on to the next one while they are complete."""
    start = 0
    while rounds.blocks is not None:
        blocks = list(rounds.blocks())
        yield blocks
        end = start + sum(len(block.shifts) for block in blocks)
        if len(results) < end:
            return
        rounds.advance(results[start:end])
        start = end


def round_of(pairs: Sequence[tuple[int, int]], *, first: int, turn: int, blocks: int, seed: int) -> list[Block]:
    """Return a round in which each pair plays `blocks` blocks, numbered from `first`."""
    order = enumerate(chain.from_iterable(repeat(pairs, blocks)), start=first)
    return [Block(number, turn, pair, SWAPPED, seed) for number, pair in order]


Complaint = tuple[str, str]
"""A field of the tournament's file, and the fault in it."""


class Contest(Struct, frozen=True, kw_only=True):
    """A valid spec and the results so far."""

    spec: ScheduleSpec
    labels: tuple[str, ...]
    house: int | None
    """Number of the entrant that fills empty seats and does not compete."""
    seed: int
    played: list[CountedMatch]
    """Results in schedule order; in a ladder without an end, only those of the period."""
    running: tuple[RunningRating, ...] = ()
    """Ratings of a ladder without an end, indexed by entrant; if empty, they are computed from `played`."""


class Tie(Struct):
    """A meeting in a bracket: one of two bots advances."""

    one: int
    other: int | None
    """The opponent; None for a bye."""
    points: list[float] = []
    """Points of both bots, without tie-breaks."""
    tie_breaks: list[float] = []
    """Points of both bots in tie-break blocks; both 0 if none was played."""
    winner: int | None = None
    """The bot that advances; None while undecided."""


class Format(ABC):
    """A tournament format. Override only the methods that the format needs."""

    name: ClassVar[str]
    """Value of `format` in the tournament's file."""
    for_tables: ClassVar[bool] = False
    """True for games of more than two seats, otherwise for games of two."""
    uses: ClassVar[tuple[str, ...]] = ()
    """Fields among `rounds`, `heads` and, in games of two seats, `fill` that the format accepts."""
    order_text: ClassVar[str] = "By mean points."
    """Description of the order of `places`, as a sentence."""

    grows: ClassVar[str | None] = "blocks"
    """Field of the file whose total may grow during the tournament; None if none may."""
    ranks_withdrawn: ClassVar[bool] = False
    """True if bots that withdrew keep the place they reached; otherwise they rank after competing bots."""

    @abstractmethod
    def schedule(self, spec: ScheduleSpec) -> Schedule:
        """Return the schedule of a valid spec."""

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """Return the first fault in a spec that has only fields of this format; None if it is valid."""
        del spec, game
        return None

    def refusal(self, event: FieldChange) -> str | None:
        """Return the reason to refuse a change at its block; None if it is acceptable."""
        del event
        return None

    def places(self, contest: Contest) -> dict[int, float]:
        """Return the place of each entrant, the best one lowest. Mean points order bots of equal places."""
        del contest
        return {}

    def in_order(self, contest: Contest, rows: Sequence[StandingsRow]) -> tuple[StandingsRow, ...]:
        """Return the rows ordered by `places`, the house last. The input is ordered by mean points."""
        place = self.places(contest)
        gone = frozenset[int]() if self.ranks_withdrawn else withdrawn(contest.spec)
        return tuple(sorted(rows, key=lambda row: (row.house, row.entrant in gone, place.get(row.entrant, 0.0))))

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow] | None:
        """Return the format's own table; None if the table of pairs is sufficient.

        `rows` are in the order of `in_order`.
        """
        del contest, rows
        return None

    def as_json(self, contest: Contest) -> dict[str, Any]:
        """Return the part of the results' JSON that only this format has, as keys and plain values."""
        del contest
        return {}

    def bracket(self, contest: Contest) -> list[list[Tie]]:
        """Return the ties of each round so far; an empty list in formats without a bracket."""
        del contest
        return []


HOUSE = "h"
"""Mark of the house in the column of places."""
PLACE_MEANING = "The place. h is the house bot, which fills empty seats and does not compete."
BOT_MEANING = "The program that played."


def format_table(
    labels: Sequence[str],
    rows: Sequence[StandingsRow],
    columns: Sequence[BotColumn],
    places: Sequence[str] | None = None,
) -> Table[StandingsRow]:
    """Return a table of the standings.

    Args:
        labels: names of the bots, by entrant.
        rows: in the order of the table.
        columns: the format's own columns.
        places: the first column; if None, numbers from 1.
    """
    places = places or places_of(rows)
    by_entrant = dict(zip(map(attrgetter("entrant"), rows), places, strict=True))
    return Table([place_column(by_entrant), bot_column(labels), *columns, *conduct_columns(rows)], rows)


def places_of(rows: Sequence[StandingsRow]) -> list[str]:
    """Return the places of rows in a table: numbers from 1, and `h` for the house."""
    return [HOUSE if row.house else str(place) for place, row in enumerate(rows, start=1)]


def place_column(places: Mapping[int, str]) -> BotColumn:
    """Return the column of places, which are given by entrant."""
    return Column("#", lambda row: places[row.entrant], key="place", meaning=PLACE_MEANING)


def bot_column(labels: Sequence[str]) -> BotColumn:
    """Return the column of names, which are given by entrant."""
    return Column("bot", lambda row: labels[row.entrant], key="bot", meaning=BOT_MEANING, is_text=True)
