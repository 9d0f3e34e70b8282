"""Counts that show how even a schedule is: blocks per bot, meetings per pair, matches per seat. Pure."""

from collections.abc import Iterable
from itertools import combinations

from msgspec import Struct

from arena.quantities import pluralise
from arena.schedule.blocks import Block, rotations


class Span(Struct, frozen=True):
    """The smallest and the largest of some counts."""

    least: int
    most: int

    def __str__(self) -> str:
        return f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"


class Design(Struct, frozen=True, kw_only=True):
    """Summary of a schedule, without the house bot."""

    blocks: int
    matches: int
    played: Span
    """Number of blocks that each bot plays."""
    met: Span
    """Number of blocks in which each two bots meet."""
    met_mean: float
    """Average of `met` over all pairs. A perfectly even schedule has only the nearest whole numbers."""
    sat: Span
    """Number of matches that each bot plays in each seat."""

    @property
    def text(self) -> str:
        """The summary as one line of text."""
        blocks = pluralise(self.blocks, "block")
        mean = "" if self.met.least == self.met.most else f" (on average {self.met_mean:.1f})"
        return (
            f"{blocks}: each bot plays {self.played}, each two bots meet in {self.met}{mean},"
            f" each bot sits in each seat in {self.sat} {'match' if self.sat.most == 1 else 'matches'}"
        )


def design_of(blocks: Iterable[Block], bots: Iterable[int], seats: int) -> Design:
    """Return the summary of a schedule for these entrants; leave out the house and bots that withdrew."""
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
