"""Who competes from which block on, and over how much: the file's bots, changed by events. Pure.

Entrants are numbered: the file's bots, the house if there is one, then those that entered, in the order of their
events. A number is never given twice, and stays when its bot withdraws.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from arena.schedule.changes import Closed, Deadline, Entered, Event, Extended, Total, Withdrawn

WITHDRAWN_MARK = " (withdrawn)"
"""Ends the label of a bot that competes no more."""


class ScheduleSpec(Struct, frozen=True, kw_only=True):
    """What a schedule depends on. The first fields are those of a tournament's file, see there."""

    format: str
    blocks: Total
    rounds: Total | None = None
    heads: Total | None = None
    rotations: Total | None = None
    endless: bool = False
    period: Total | None = None
    accuracy: Total | None = None
    old_versions: Total | None = None
    budget_s: Total | None = None
    entrants: int
    """How many bots compete."""
    seats: int
    filled: bool
    """Whether the house takes the seats that are left over: the field `fill`."""
    remote: tuple[int, ...] = ()
    """Those of the file's bots that come with a key."""
    changes: tuple[Event, ...] = ()
    """What changed since, in the order of the ledger."""

    @property
    def house(self) -> int | None:
        """The house's number, which comes after those of the file's bots."""
        return self.entrants if self.filled else None

    @property
    def numbers(self) -> int:
        """How many entrants have a number, the house and those that withdrew among them."""
        return self.entrants + self.filled + sum(isinstance(event.what, Entered) for event in self.changes)


FILE_FIELDS = ScheduleSpec.__struct_fields__[:-5]
"""Those that a tournament's file has under the same name."""


class BadChangeError(ValueError):
    """An event changes what is not there. The text says what, on one line."""


class Field(Struct, frozen=True, kw_only=True):
    """Who competes from a block on, to the next change."""

    first: int
    """The number of the block."""
    active: tuple[int, ...]
    """In the order of the file, then of entering; a new version has its predecessor's place."""
    heads: int
    """How many of them, the first ones, are the heads of a gauntlet."""
    blocks: int
    rounds: int | None
    came: tuple[tuple[int, int | None], ...] = ()
    """Those that entered with this change, each with its predecessor."""

    def spec(self, spec: ScheduleSpec) -> ScheduleSpec:
        """The spec of a tournament that begins with this field."""
        heads = None if spec.heads is None else self.heads
        fields = {"entrants": len(self.active), "heads": heads, "blocks": self.blocks, "rounds": self.rounds}
        return replace(spec, changes=(), **fields)


def fields_of(spec: ScheduleSpec) -> tuple[Field, ...]:
    """The file's field, then one for each block at which something changes.

    Raises:
        BadChangeError: an event concerns what is not there.
    """
    now = Field(
        first=0,
        active=tuple(range(spec.entrants)),
        heads=spec.heads or 1,
        blocks=spec.blocks,
        rounds=spec.rounds,
    )
    fields = [now]
    number = spec.entrants + spec.filled
    for event in spec.changes:
        last = fields[-1]
        block = last.first if event.block is None else event.block
        if block < last.first:
            raise BadChangeError(f"event {event.id} concerns an earlier block than the one before")
        now = _changed(last if block == last.first else replace(last, first=block, came=()), event, number)
        number += isinstance(event.what, Entered)
        fields = [*fields[:-1], now] if block == last.first else [*fields, now]
    return tuple(fields)


def competing(spec: ScheduleSpec) -> tuple[int, ...]:
    """Those that compete now, in the order of the file, then of entering."""
    return fields_of(spec)[-1].active


def _changed(field: Field, event: Event, number: int) -> Field:
    """The field after an event; `number`: that of a bot that enters."""
    what = event.what
    match what:
        case Entered():
            before, end = what.predecessor, len(field.active)
            place = end if before is None else _place(field, event, before)
            active = (*field.active[:place], number, *field.active[place + 1 :])
            return replace(field, active=active, came=(*field.came, (number, before)))
        case Withdrawn(entrant=entrant):
            place = _place(field, event, entrant)
            active = tuple(each for each in field.active if each != entrant)
            return replace(field, active=active, heads=field.heads - (place < field.heads))
        case Extended():
            return replace(field, blocks=what.blocks or field.blocks, rounds=what.rounds or field.rounds)
        case Closed() | Deadline():
            return field
        case _ as unreachable:
            assert_never(unreachable)


def _place(field: Field, event: Event, entrant: int) -> int:
    if entrant not in field.active:
        raise BadChangeError(f"event {event.id} concerns entrant {entrant}, which does not compete then")
    return field.active.index(entrant)


def entered(spec: ScheduleSpec) -> tuple[Entered, ...]:
    """The bots that are not in the file, in the order of their numbers."""
    return tuple(event.what for event in spec.changes if isinstance(event.what, Entered))


def remote_bots(spec: ScheduleSpec) -> frozenset[int]:
    """The numbers of all that came with a key: there is no copy of them."""
    numbers = enumerate(entered(spec), start=spec.entrants + spec.filled)
    return frozenset((*spec.remote, *(number for number, bot in numbers if bot.remote)))


def withdrawn(spec: ScheduleSpec) -> frozenset[int]:
    """The entrants that compete no more; the house never competes."""
    return frozenset(range(spec.numbers)) - {spec.house} - set(competing(spec))


def labels_now(spec: ScheduleSpec, of_file: Sequence[str]) -> tuple[str, ...]:
    """What all entrants are called in tables, by number; `of_file`: the file's bots, and the house."""
    gone = withdrawn(spec)
    labels = (*of_file, *(bot.label for bot in entered(spec)))
    return tuple(f"{label}{WITHDRAWN_MARK}" if number in gone else label for number, label in enumerate(labels))


class Part(Struct, frozen=True):
    """Rounds that are played with one field, in formats of rounds of a known size."""

    field: Field
    first: int
    """The number of the first round's first block: a change waits for the next round."""
    turn: int
    """How many rounds were played before."""
    rounds: int
    size: int
    """Blocks of a round."""


def parts_of(spec: ScheduleSpec, turns: Callable[[Field], int], size: Callable[[Field], int]) -> Iterator[Part]:
    """How many rounds are played with each field.

    Args:
        spec: the tournament's.
        turns: how many rounds there are in all, as long as this field competes.
        size: how many blocks a round of this field has.
    """
    first = turn = 0
    fields = fields_of(spec)
    for field, later in zip_longest(fields, fields[1:]):
        a_round = size(field)
        rounds = max(0, turns(field) - turn)
        if later is not None and a_round:
            rounds = min(rounds, -(-max(0, later.first - first) // a_round))
        yield Part(field, first, turn, rounds, a_round)
        first, turn = first + rounds * a_round, turn + rounds


def next_round_from(parts: Iterable[Part], begun: int) -> int:
    """The first block of the first round of which nothing was begun, if so many blocks were."""
    for part in parts:
        if begun <= part.first:
            return part.first
        rounds = -(-(begun - part.first) // part.size) if part.size else 0
        if rounds <= part.rounds:
            return part.first + rounds * part.size
    return begun
