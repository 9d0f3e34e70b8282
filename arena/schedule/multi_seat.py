"""The schedule of games of more than two seats: in each round every entrant sits at one table, or has a bye. Pure.

Of a long schedule only the first rounds are designed. They are a cycle: it comes again and again, each time with
the entrants one place further in the cycle's parts, so that after as many cycles as there are entrants all have
played and sat everywhere equally often; then lots are drawn anew.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from arena.quantities import counted
from arena.schedule.blocks import Block
from arena.schedule.contract import Complaint, Format
from arena.schedule.fields import Field, Part, ScheduleSpec, next_round_from, parts_of
from arena.schedule.pairing import drawn
from arena.schedule.rounds import Fixed
from arena.schedule.seating import Seating, shifts_of
from arena.schedule.table_design import designed, table_sizes

PLACES = 20_000
"""So many places (bots times rounds) are designed, and not more: it would take longer than some seconds."""


class TablesFormat(Format):
    """See `Format`. To those who write a tournament's file it is the round robin of more seats."""

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
            few = f"{counted(spec.entrants, 'bot')} cannot fill {spec.seats} seats"
            return "bots", f'{few}; a bot of the house takes the others: fill = "BOT"'
        return None


def _tables(spec: ScheduleSpec, field: Field) -> int:
    """How many tables a round has."""
    return len(table_sizes(len(field.active), spec.seats, filled=spec.filled))


def _blocks(spec: ScheduleSpec, parts: Sequence[Part], seed: int) -> Iterator[Block]:
    """Each field sits at tables of its own design, which is of all rounds that were left when it came."""
    for part in parts:
        active = part.field.active
        tables = Tables(
            entrants=len(active),
            seats=spec.seats,
            rounds=part.field.blocks - part.turn,
            rotations=spec.rotations or spec.seats,
            filled=spec.filled,
        )
        # The house is numbered after the file's bots, and so before those that came later.
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
    """Those who compete; the house is numbered after them."""
    seats: int
    rounds: int
    rotations: int
    """How many of the rotations of its table a block plays."""
    filled: bool
    """Whether seats that are left over are the house's; if not, those who are left over have a bye."""

    def blocks(self, seed: int, lots: int | str | None = None) -> Iterator[Block]:
        """The blocks, round after round; `lots`: what chance is drawn from, if not the seed alone."""
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
        """The tables of each round of the first cycle, by seat."""
        rounds = designed(self.entrants, self.seats, self._cycle_rounds, filled=self.filled, seed=f"{seed}/tables")
        seating = Seating(self.entrants, self.seats, shifts_of(self.seats, self.rotations))
        luck = Random(f"{seed}/seats")
        # In every round another order: where turns go round the table, it matters who comes before whom.
        return [
            [seating.seated(sorted(table, key=lambda _: luck.random())) for table in tables]
            for *tables, _ in rounds
        ]

    @property
    def _cycle_rounds(self) -> int:
        """All, or so many that in them all could play equally often, and at full tables all meet equally often."""
        longest = max(1, PLACES // self.entrants)
        if self.rounds <= longest:
            return self.rounds
        even = self.entrants - (self.entrants % self.seats == 0)
        return longest - longest % even if longest >= even else longest

    def _parts(self, again: int, seed: int | str) -> list[int]:
        """By part of the cycle when it comes again: its bot. The house plays its own part."""
        times, further = divmod(again, self.entrants)
        lots = drawn(range(self.entrants), seed, f"cycle {times}")
        return [*lots[further:], *lots[:further], self.entrants]
