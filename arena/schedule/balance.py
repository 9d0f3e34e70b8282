"""How even a schedule is: who meets whom how often, and who sits where. Pure."""

from collections.abc import Iterable
from itertools import combinations

from msgspec import Struct

from arena.quantities import counted
from arena.schedule.blocks import Block, rotations


class Span(Struct, frozen=True):
    """The least and the most of some counts."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


class Design(Struct, frozen=True, kw_only=True):
    """What a schedule comes to, the house left out."""

    blocks: int
    matches: int
    played: Span
    """How many blocks each bot plays."""
    met: Span
    """In how many blocks each two bots meet."""
    met_mean: float
    """The same on average: what is nearest to it would be perfectly even, but is not always possible."""
    sat: Span
    """In how many matches each bot sits in each seat."""

    @property
    def text(self) -> str:
        """All of it in one line."""
        blocks = counted(self.blocks, "block")
        mean = "" if self.met.least == self.met.most else f" (on average {self.met_mean:.1f})"
        return (
            f"{blocks}: each bot plays {self.played}, each two bots meet in {self.met}{mean},"
            f" each bot sits in each seat in {self.sat} {'match' if self.sat.most == 1 else 'matches'}"
        )


def design_of(blocks: Iterable[Block], bots: Iterable[int], seats: int) -> Design:
    """What a schedule comes to for these entrants: not for the house, nor for those that have withdrawn."""
    number = matches = 0
    played = dict.fromkeys(sorted(bots), 0)
    met = dict.fromkeys(combinations(played, 2), 0)
    sat = {bot: [0] * seats for bot in played}
    for block in blocks:
        number += 1
        matches += len(block.shifts)
        present = sorted(bot for bot in block.entrants if bot in played)
        for bot in present:
            played[bot] += 1
        for pair in combinations(present, 2):
            met[pair] += 1
        for seated in rotations(block.entrants, block.shifts):
            for seat, bot in enumerate(seated):
                if bot in sat:
                    sat[bot][seat] += 1
    return Design(
        blocks=number,
        matches=matches,
        played=_span(played.values()),
        met=_span(met.values()),
        met_mean=sum(met.values()) / len(met),
        sat=_span(count for seats_of_one in sat.values() for count in seats_of_one),
    )


def _span(counts: Iterable[int]) -> Span:
    found = list(counts)
    return Span(min(found), max(found))
