"""Round robin: everyone meets everyone. Pure."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations

from arena.schedule.blocks import SWAPPED, Block
from arena.schedule.contract import Format, ScheduleSpec
from arena.schedule.rounds import Fixed


class RoundRobinFormat(Format):
    """See `Format`. The table of each against each says it all."""

    name = "round_robin"

    def schedule(self, spec: ScheduleSpec) -> Fixed:
        """See `Format`."""
        matches = spec.blocks * spec.entrants * (spec.entrants - 1)
        return Fixed(partial(round_robin, spec.entrants, spec.blocks), matches)


def round_robin(entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Every pair of entrants plays `blocks` blocks of two seats; a round gives each pair one.

    Rounds come one after the other, so that a tournament that was stopped half-way is as balanced as can be.
    """
    pairs = list(combinations(range(entrants), 2))
    for number in range(blocks * len(pairs)):
        turn, pair = divmod(number, len(pairs))
        yield Block(number, turn, pairs[pair], SWAPPED, seed)
