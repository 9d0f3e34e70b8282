"""Rounds of a tournament, whose pairs may depend on the results of earlier rounds. Pure.

A schedule is a generator: it yields the blocks of a round, receives their results, and yields the next round. The
same results in schedule order always lead to the same rounds, so that a stopped tournament continues as if it had
never stopped.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Protocol

from msgspec import Struct

from arena.schedule.blocks import SWAPPED, Block
from arena.statistics import Played

Blocks = Callable[[], Iterator[Block]]
"""Returns a new iterator over the blocks of a round, in schedule order."""
Rounds = Generator[Blocks, Sequence[Played], None]
"""Yields a round, and receives all its results in schedule order."""


class Schedule(Protocol):
    """The rounds of a tournament."""

    @property
    def matches(self) -> int:
        """Number of all matches, without tie-breaks."""

    def rounds(self, seed: int) -> Rounds:
        """Return the generator of all rounds."""

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
        yield partial(self.blocks, seed)


def rounds_of(rounds: Rounds, results_between: Callable[[int, int], Sequence[Played]]) -> Iterator[Blocks]:
    """Yield round after round; the results of a round must be present before the next is requested.

    Args:
        rounds: the generator that a schedule returns.
        results_between: returns the results of the blocks in a half-open range of numbers, in schedule order.
    """
    first = 0
    try:
        blocks = next(rounds)
        while True:
            yield blocks
            # The range has an end because a resumed tournament also has results of later rounds.
            end = first + sum(1 for _ in blocks())
            blocks = rounds.send(results_between(first, end))
            first = end
    except StopIteration:
        return


def next_round(rounds: Rounds, results: Sequence[Played]) -> list[Block]:
    """Return the blocks of the first round that lacks a result; an empty list if none does."""
    for blocks, _, complete in _paired(rounds, results):
        if not complete:
            return blocks
    return []


def blocks_so_far(rounds: Rounds, results: Sequence[Played]) -> Iterator[Block]:
    """Yield every block of the rounds that these results lead to, played or not."""
    for blocks, _, _ in _paired(rounds, results):
        yield from blocks


def _paired(rounds: Rounds, results: Sequence[Played]) -> Iterator[tuple[list[Block], Sequence[Played], bool]]:
    """Yield each round's blocks, its results, and True if they are complete; stop after an incomplete round."""
    start = 0
    try:
        blocks = list(next(rounds)())
        while True:
            end = start + sum(len(block.shifts) for block in blocks)
            given = results[start:end]
            yield blocks, given, len(given) == end - start
            if len(given) < end - start:
                return
            start = end
            blocks = list(rounds.send(given)())
    except StopIteration:
        return


def round_of(pairs: Sequence[tuple[int, int]], *, first: int, turn: int, blocks: int, seed: int) -> list[Block]:
    """Return a round in which each pair plays `blocks` blocks, numbered from `first`."""
    return [
        Block(number, turn, pair, SWAPPED, seed)
        for number, pair in enumerate(chain.from_iterable(repeat(pairs, blocks)), start=first)
    ]
