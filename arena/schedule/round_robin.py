"""Formats in which every pair of bots meets, or each of the first bots meets all others (gauntlet). Pure."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations, product, zip_longest

from arena.quantities import Column, Table, percent
from arena.schedule.blocks import SWAPPED, Block
from arena.schedule.contract import Complaint, Contest, Fixed, Format, format_table
from arena.schedule.fields import FieldPeriod, ScheduleSpec, fields_of
from arena.statistics import POINTS, RECORD, BotColumn, Score, StandingsRow

Pair = tuple[int, int]
Pairs = Callable[[FieldPeriod], Sequence[Pair]]
"""Returns the pairs of a field that are to meet."""


class RoundRobinFormat(Format):
    """See `Format`. It has no table of its own."""

    name = "round_robin"

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        return all_meetings(spec, _all_pairs)


def all_meetings(spec: ScheduleSpec, pairs: Pairs) -> Fixed:
    """Return the schedule in which all pairs meet, independent of results."""
    fields = fields_of(spec)
    last, met = fields[-1], Counter[Pair]()
    for block in meetings(fields[:-1], pairs, 0):
        if block.number >= last.first:
            break
        met[_known(block.entrants)] += 1
    rest = last.blocks * len(pairs(last))
    if met:
        rest = sum(max(0, last.blocks - met[_known(pair)]) for pair in pairs(last))
    return Fixed(partial(meetings, fields, pairs), (met.total() + rest) * len(SWAPPED))


def meetings(fields: Sequence[FieldPeriod], pairs: Pairs, seed: int) -> Iterator[Block]:
    """Yield the `blocks` blocks of two seats of each pair; blocks played in earlier fields count.

    A round has one block per pair. Rounds are played one after the other, so that a tournament that stops half-way
    is as balanced as possible. Bots that entered later catch up first.
    """
    number, met = 0, Counter[Pair]()
    for field, later in zip_longest(fields, fields[1:]):
        skip, meeting = met.copy(), pairs(field)
        for place in range(field.blocks * len(meeting)):
            if later is not None and number >= later.first:
                break
            turn, pair = divmod(place, len(meeting))
            known = _known(meeting[pair])
            if skip[known]:
                skip[known] -= 1
                continue
            if later is not None:
                met[known] += 1
            yield Block(number, turn, meeting[pair], SWAPPED, seed)
            number += 1


def round_robin(entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Yield `blocks` blocks of two seats for every pair of entrants; a round has one block per pair."""
    whole = FieldPeriod(first=0, active=tuple(range(entrants)), heads=1, blocks=blocks, rounds=None)
    return meetings((whole,), _all_pairs, seed)


def _known(pair: Sequence[int]) -> Pair:
    """Return a pair with the lower number first, independent of seats."""
    one, other = pair
    return (one, other) if one < other else (other, one)


def _all_pairs(field: FieldPeriod) -> list[Pair]:
    return list(combinations(field.active, 2))


SHARE: BotColumn = Column(
    "share",
    lambda row: row.mean,
    percent,
    meaning="Points, of those that the bot would have if it had won all its matches.",
)


class GauntletFormat(Format):
    """See `Format`."""

    name = "gauntlet"
    uses = ("heads",)

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        return all_meetings(spec, _pairs)

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        del game
        if (spec.heads or 1) >= spec.entrants:
            return "heads", f"{spec.heads} are too many; of {spec.entrants} bots at least one is the field"
        return None

    def table(self, contest: Contest, rows: Sequence[StandingsRow]) -> Table[StandingsRow]:
        """See `Format`. The heads are first, then the field with its points against each head."""
        field = fields_of(contest.spec)[-1]
        heads = field.active[: field.heads]
        against = [_against(head, contest.labels[head]) for head in heads]
        order = sorted(rows, key=lambda row: row.entrant not in heads)
        places = [*["head"] * len(heads), *map(str, range(1, len(rows) - len(heads) + 1))]
        return format_table(contest.labels, order, (POINTS, RECORD, SHARE, *against), places)


def _pairs(field: FieldPeriod) -> list[tuple[int, int]]:
    """Return the pairs of each head with each bot of the field."""
    others = product(field.active[field.heads :], field.active[: field.heads])
    return [(head, other) for other, head in others]


def _against(head: int, label: str) -> BotColumn:
    """Return the column of the scores against one head."""
    return Column(
        f"against {label}",
        lambda row: row.against.get(head),
        _of_all,
        meaning="Points in matches with this bot, and of how many matches.",
    )


def _of_all(score: Score) -> str:
    """Return points and matches as text, such as `3 of 4`."""
    return f"{score.points:g} of {score.played}"
