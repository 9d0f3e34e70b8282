"""Schedules for games of more than two seats: in each round every entrant sits at one table or has a bye. Pure.

Only the first rounds of a long schedule are designed. They form a cycle that repeats, each time with the entrants
one place further. After as many cycles as there are entrants, all have played and sat everywhere equally often;
then new lots are drawn.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from arena.quantities import pluralise
from arena.schedule.blocks import Block
from arena.schedule.contract import Complaint, Format
from arena.schedule.fields import FieldPeriod, RoundSpan, ScheduleSpec, next_round_from, parts_of
from arena.schedule.pairing import drawn
from arena.schedule.rounds import Fixed
from arena.schedule.seating import Seating, shifts_of
from arena.schedule.table_design import designed, table_sizes

PLACES = 20_000
"""Maximum number of places (bots times rounds) in a design; more would take longer than some seconds."""


class TablesFormat(Format):
    """See `Format`. In a tournament's file it is the round robin for more than two seats."""

    name = "round_robin"

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        parts = list(parts_of(spec, lambda field: field.blocks, partial(_tables, spec)))
        matches = sum(part.rounds * part.size for part in parts) * (spec.rotations or spec.seats)
        return Fixed(partial(_blocks, spec, parts), matches, partial(next_round_from, parts))

    def complaint(self, spec: ScheduleSpec, game: str) -> Complaint | None:
        """See `Format`."""
        if (spec.rotations or 0) > spec.seats:
            return "rotations", f"{spec.rotations} are too many; {game} has {spec.seats} seats"
        if not spec.filled and spec.entrants < spec.seats:
            few = f"{pluralise(spec.entrants, 'bot')} cannot fill {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None


def _tables(spec: ScheduleSpec, field: FieldPeriod) -> int:
    """Return the number of tables in a round."""
    return len(table_sizes(len(field.active), spec.seats, filled=spec.filled))


def _blocks(spec: ScheduleSpec, parts: Sequence[RoundSpan], seed: int) -> Iterator[Block]:
    """Yield all blocks. Each field has its own design, made for all rounds that remain at its start."""
    for part in parts:
        active = part.field.active
        tables = Tables(
            entrants=len(active),
            seats=spec.seats,
            rounds=part.field.blocks - part.turn,
            rotations=spec.rotations or spec.seats,
            filled=spec.filled,
        )
        # The number of the house follows the file's bots and precedes the bots that entered later.
        numbers = active if spec.house is None else (*active, spec.house)
        lots = f"{seed}/from {part.first}" if part.turn else seed
        for block in islice(tables.blocks(seed, lots), part.rounds * part.size):
            yield replace(
                block,
                number=part.first + block.number,
                round=part.turn + block.round,
                entrants=tuple([numbers[place] for place in block.entrants]),
            )


class Tables(Struct, frozen=True, kw_only=True):
    """A schedule for games of any number of seats."""

    entrants: int
    """Number of competing bots; the house has the next number."""
    seats: int
    rounds: int
    rotations: int
    """Number of rotations of its table that a block plays."""
    filled: bool
    """True if the house takes empty seats; otherwise bots without a full table have a bye."""

    def blocks(self, seed: int, lots: int | str | None = None) -> Iterator[Block]:
        """Yield the blocks, round after round; `lots` is the seed of random choices, by default `seed`."""
        if not self.filled and self.entrants < self.seats:
            raise ValueError(f"{self.entrants} bots cannot take {self.seats} seats")
        shifts = shifts_of(self.seats, self.rotations)
        lots = seed if lots is None else lots
        cycle = self._cycle(lots)
        number, parts = 0, list[int]()
        for turn in range(self.rounds):
            again, place = divmod(turn, len(cycle))
            if place == 0:
                parts = self._parts(again, lots)
            for table in cycle[place]:
                yield Block(number, turn, tuple([parts[part] for part in table]), shifts, seed)
                number += 1

    def _cycle(self, seed: int | str) -> list[list[tuple[int, ...]]]:
        """Return the tables of each round of the first cycle, with entrants indexed by seat."""
        rounds = designed(self.entrants, self.seats, self._cycle_rounds, filled=self.filled, seed=f"{seed}/tables")
        seating = Seating(self.entrants, self.seats, shifts_of(self.seats, self.rotations))
        luck = Random(f"{seed}/seats")
        # The order differs in every round: in games with turns round the table, a bot's neighbours matter.
        return [
            [seating.seated(sorted(table, key=lambda _: luck.random())) for table in tables]
            for *tables, _ in rounds
        ]

    @property
    def _cycle_rounds(self) -> int:
        """Number of rounds in a cycle: all if the design is small enough.

        A longer schedule gets a number of rounds in which all can play, and at full tables meet, equally often.
        """
        longest = max(1, PLACES // self.entrants)
        if self.rounds <= longest:
            return self.rounds
        even = self.entrants - (self.entrants % self.seats == 0)
        return longest - longest % even if longest >= even else longest

    def _parts(self, again: int, seed: int | str) -> list[int]:
        """Return the bot of each part of the cycle in its repetition `again`; the house keeps its own part."""
        times, further = divmod(again, self.entrants)
        lots = drawn(range(self.entrants), seed, f"cycle {times}")
        return [*lots[further:], *lots[:further], self.entrants]
