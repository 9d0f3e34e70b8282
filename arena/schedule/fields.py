"""Fields: the bots that compete from a block on, as the file and later changes determine them. Pure.

A change is an event in the ledger, such as a bot that enters or withdraws. The schedule depends on the file, the
seed, these events and the results only. Entrants are numbered: the file's bots, the house if there is one, then
the bots that entered, in the order of their events. A number is never reused, and remains when its bot withdraws.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Annotated, assert_never

from msgspec import Meta, Struct
from msgspec.structs import replace

from arena.schedule.blocks import MOST_BLOCKS

MOST_LABEL, MOST_PATH, MOST_TIME = 1_000, 5_000, 40
"""Maximum lengths of texts in the ledger, in characters."""
MOST_ENTRANTS = 1_000_000
KEY_CONTENT = "key:"
"""Prefix of a remote bot's key where other bots have a content hash."""

Entrant = Annotated[int, Meta(ge=0, le=MOST_ENTRANTS)]
Total = Annotated[int, Meta(ge=1, le=MOST_BLOCKS)]


class Entered(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="entered"):
    """Entry of a bot. With a predecessor it is a new version, and the predecessor withdraws at the same time."""

    label: Annotated[str, Meta(min_length=1, max_length=MOST_LABEL)]
    """Name of the bot; no other entrant has the same."""
    folder: Annotated[str, Meta(max_length=MOST_PATH)]
    """Source of the bot: a folder, `FOLDER@REVISION` or a built-in bot's name."""
    content: Annotated[str, Meta(pattern=r"\A(sha256|key):[0-9a-f]{64}\Z")]
    """Hash of the folder's content, or the key of a remote bot."""
    version: Annotated[str, Meta(max_length=MOST_LABEL)]
    """Version in the bot's manifest."""
    predecessor: Entrant | None = None
    """Number of the entrant that this bot replaces."""

    @property
    def remote(self) -> bool:
        """True if the bot plays remotely, identified by a key."""
        return self.content.startswith(KEY_CONTENT)


class Withdrawn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="withdrawn"):
    """Withdrawal of a bot. Its results remain."""

    entrant: Entrant


class Extended(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="extended"):
    """Extension of the tournament: a new total for one of these two fields of its file."""

    blocks: Total | None = None
    rounds: Total | None = None


class EntriesClosed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="closed"):
    """End of all changes: a stage of the season was drawn from the final table."""

    reason: Annotated[str, Meta(max_length=MOST_LABEL)]


class Deadline(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag="deadline"):
    """New deadline for entries and new versions of bots."""

    entries_until: Annotated[str, Meta(max_length=MOST_TIME)]
    """ISO 8601, UTC."""


What = Entered | Withdrawn | Extended | EntriesClosed | Deadline


class FieldChange(Struct, frozen=True, kw_only=True):
    """A change as recorded in the ledger."""

    id: Annotated[int, Meta(ge=1)]
    """Number that orders the events."""
    at: Annotated[str, Meta(max_length=MOST_TIME)]
    """Time of the host's request."""
    block: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)] | None
    """Number of the first block that the change concerns; None while no arena has accepted it."""
    refused: Annotated[str, Meta(max_length=MOST_LABEL)] | None = None
    """Reason why an arena refused the change."""
    what: What

    @property
    def kind(self) -> str:
        """Kind of change, in a word."""
        return kind_of(self.what)


def kind_of(what: What) -> str:
    """Return the kind of a change, in a word."""
    return str(what.__struct_config__.tag)


WITHDRAWN_MARK = " (withdrawn)"
"""Suffix of the label of a bot that withdrew."""


class ScheduleTerms(Struct, frozen=True, kw_only=True):
    """The fields of a tournament's file that its schedule depends on; see there for their meaning."""

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


FILE_FIELDS = ScheduleTerms.__struct_fields__
"""Names of the fields of a tournament's file that its schedule depends on."""


class ScheduleSpec(ScheduleTerms, frozen=True, kw_only=True):
    """Everything that a schedule depends on."""

    entrants: int
    """Number of bots in the file."""
    seats: int
    filled: bool
    """True if the house takes empty seats: the file has the field `fill`."""
    remote: tuple[int, ...] = ()
    """Numbers of the file's remote bots."""
    changes: tuple[FieldChange, ...] = ()
    """Changes since the start, in the order of the ledger."""

    @property
    def house(self) -> int | None:
        """Number of the house, the next after the file's bots; None if no house fills seats."""
        return self.entrants if self.filled else None

    @property
    def numbers(self) -> int:
        """Number of all entrants, including the house and bots that withdrew."""
        return self.entrants + self.filled + len(entered(self))


class BadChangeError(ValueError):
    """An event concerns an entrant or a block that it cannot change. The message names it, on one line."""


class FieldPeriod(Struct, frozen=True, kw_only=True):
    """The competing bots from one block to the next change."""

    first: int
    """Number of the first block."""
    active: tuple[int, ...]
    """Competing bots in the order of the file, then of entry; a new version has its predecessor's place."""
    heads: int
    """Number of bots, from the first, that are the heads of a gauntlet."""
    blocks: int
    rounds: int | None
    entered: tuple[tuple[int, int | None], ...] = ()
    """Bots that entered with this change, each with its predecessor or None."""

    def spec(self, spec: ScheduleSpec) -> ScheduleSpec:
        """Return the spec of a tournament that starts with this field."""
        heads = None if spec.heads is None else self.heads
        fields = {"entrants": len(self.active), "heads": heads, "blocks": self.blocks, "rounds": self.rounds}
        return replace(spec, changes=(), **fields)


def fields_of(spec: ScheduleSpec) -> tuple[FieldPeriod, ...]:
    """Return the file's field, then one for each block at which the field changes.

    Raises:
        BadChangeError: an event concerns a bot that does not compete, or an earlier block than the event before.
    """
    active = tuple(range(spec.entrants))
    fields = [FieldPeriod(first=0, active=active, heads=spec.heads or 1, blocks=spec.blocks, rounds=spec.rounds)]
    number = spec.entrants + spec.filled
    for event in spec.changes:
        last = fields[-1]
        if event.block is not None and event.block != last.first:
            if event.block < last.first:
                raise BadChangeError(f"event {event.id} concerns an earlier block than the one before")
            fields.append(replace(last, first=event.block, entered=()))
        fields[-1] = _changed(fields[-1], event, number)
        number += isinstance(event.what, Entered)
    return tuple(fields)


def competing(spec: ScheduleSpec) -> tuple[int, ...]:
    """Return the bots that compete after all changes, in the order of the file, then of entry."""
    return fields_of(spec)[-1].active


def _changed(field: FieldPeriod, event: FieldChange, number: int) -> FieldPeriod:
    """Return the field after an event; a bot that enters has the number `number`."""
    what = event.what
    match what:
        case Entered():
            before, place = what.predecessor, len(field.active)
            if before is not None:
                place = _place(field, event, before)
            active = (*field.active[:place], number, *field.active[place + 1 :])
            return replace(field, active=active, entered=(*field.entered, (number, before)))
        case Withdrawn(entrant=entrant):
            place = _place(field, event, entrant)
            active = field.active[:place] + field.active[place + 1 :]
            return replace(field, active=active, heads=field.heads - (place < field.heads))
        case Extended():
            return replace(field, blocks=what.blocks or field.blocks, rounds=what.rounds or field.rounds)
        case EntriesClosed() | Deadline():
            return field
        case _ as unreachable:
            assert_never(unreachable)


def _place(field: FieldPeriod, event: FieldChange, entrant: int) -> int:
    if entrant not in field.active:
        raise BadChangeError(f"event {event.id} concerns entrant {entrant}, which does not compete then")
    return field.active.index(entrant)


def entered(spec: ScheduleSpec) -> tuple[Entered, ...]:
    """Return the bots that entered after the start, in the order of their numbers."""
    return tuple(event.what for event in spec.changes if isinstance(event.what, Entered))


def remote_bots(spec: ScheduleSpec) -> frozenset[int]:
    """Return the numbers of all remote bots; the arena has no copy of them."""
    found = set(spec.remote)
    for number, bot in enumerate(entered(spec), start=spec.entrants + spec.filled):
        if bot.remote:
            found.add(number)
    return frozenset(found)


def withdrawn(spec: ScheduleSpec) -> frozenset[int]:
    """Return the entrants that withdrew, without the house."""
    return frozenset(range(spec.numbers)) - {spec.house} - set(competing(spec))


def labels_now(spec: ScheduleSpec, of_file: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of all entrants, by number; `of_file` has those of the file's bots and the house."""
    labels = [*of_file, *map(attrgetter("label"), entered(spec))]
    for number in withdrawn(spec):
        labels[number] += WITHDRAWN_MARK
    return tuple(labels)


class RoundSpan(Struct, frozen=True):
    """Consecutive rounds with the same field, in formats whose rounds have a known size."""

    field: FieldPeriod
    first: int
    """Number of the first block of the first round; a change takes effect at a round's start."""
    turn: int
    """Number of earlier rounds."""
    rounds: int
    size: int
    """Number of blocks in a round."""


def parts_of(
    spec: ScheduleSpec, turns: Callable[[FieldPeriod], int], size: Callable[[FieldPeriod], int]
) -> Iterator[RoundSpan]:
    """Yield the rounds of each field.

    Args:
        spec: the tournament's spec.
        turns: returns the total number of rounds under this field, earlier ones included.
        size: returns the number of blocks in a round of this field.
    """
    first = turn = 0
    fields = fields_of(spec)
    for field, later in zip_longest(fields, fields[1:]):
        a_round = size(field)
        rounds = max(0, turns(field) - turn)
        if later is not None and a_round:
            rounds = min(rounds, -(-max(0, later.first - first) // a_round))
        yield RoundSpan(field, first, turn, rounds, a_round)
        first, turn = first + rounds * a_round, turn + rounds


def next_round_from(parts: Iterable[RoundSpan], begun: int) -> int:
    """Return the first block of the first round that has not started after the start of `begun` blocks."""
    for part in parts:
        if begun <= part.first:
            return part.first
        rounds = -(-(begun - part.first) // part.size) if part.size else 0
        if rounds <= part.rounds:
            return part.first + rounds * part.size
    return begun
