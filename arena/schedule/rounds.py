"""Rounds of a tournament, whose pairs may depend on the results of earlier rounds. Pure.

A schedule makes `Rounds`: the blocks of one round, and after its results those of the next. The same results in
schedule order always lead to the same rounds, so that a stopped tournament continues as if it had never stopped.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Protocol

from msgspec import Struct

from arena.schedule.blocks import SWAPPED, Block
from arena.statistics import Played

Blocks = Callable[[], Iterator[Block]]
"""Returns a new iterator over the blocks of a round, in schedule order."""


class Rounds(ABC):
    """The rounds of a tournament, one after the other."""

    blocks: Blocks | None = None
    """The current round; None after the last one."""

    @abstractmethod
    def advance(self, results: Sequence[Played]) -> None:
        """Accept all results of the current round in schedule order, and go on to the next round."""


class OneRound(Rounds):
    """A single round, which does not depend on results."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks

    def advance(self, results: Sequence[Played]) -> None:
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


def rounds_of(rounds: Rounds, results_between: Callable[[int, int], Sequence[Played]]) -> Iterator[Blocks]:
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
    while rounds.blocks is not None:
        blocks = list(rounds.blocks())
        end = start + sum(len(block.shifts) for block in blocks)
        given = results[start:end]
        yield blocks, given, len(given) == end - start
        if len(given) < end - start:
            return
        start = end
        rounds.advance(given)


def round_of(pairs: Sequence[tuple[int, int]], *, first: int, turn: int, blocks: int, seed: int) -> list[Block]:
    """Return a round in which each pair plays `blocks` blocks, numbered from `first`."""
    return [
        Block(number, turn, pair, SWAPPED, seed)
        for number, pair in enumerate(chain.from_iterable(repeat(pairs, blocks)), start=first)
    ]
