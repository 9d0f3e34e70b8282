"""A tournament round by round, where who meets whom may depend on what came before. Pure.

A schedule is a generator: it yields the blocks of a round, is sent their results, and yields the next round. The
same results in schedule order always lead to the same rounds, so that a tournament that was stopped goes on as if
it had not been.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Protocol

from msgspec import Struct

from arena.schedule.blocks import SWAPPED, Block
from arena.statistics import Played

Blocks = Callable[[], Iterator[Block]]
"""The blocks of a round, in schedule order, anew at each call."""
Rounds = Generator[Blocks, Sequence[Played], None]
"""Yields a round, and is sent all its results in schedule order."""


class Schedule(Protocol):
    """Who plays whom."""

    @property
    def matches(self) -> int:
        """How many there are in all, but for tie-breaks: these come on top."""

    def rounds(self, seed: int) -> Rounds:
        """The rounds from the first."""

    def change_at(self, begun: int) -> int:
        """The first block that a change can concern, when so many blocks were begun."""


def at_once(begun: int) -> int:
    """See `Schedule.change_at`: with the next block."""
    return begun


class Fixed(Struct, frozen=True):
    """A schedule that does not depend on any result: all of it is one round to play."""

    blocks: Callable[[int], Iterator[Block]]
    """By the tournament's seed."""
    matches: int
    """See `Schedule`."""
    change_at: Callable[[int], int] = at_once
    """See `Schedule`."""

    def rounds(self, seed: int) -> Rounds:
        """See `Schedule`."""
        yield partial(self.blocks, seed)


def rounds_of(rounds: Rounds, results_between: Callable[[int, int], Sequence[Played]]) -> Iterator[Blocks]:
    """Round after round; when the next is asked for, the results of the one before must be there.

    Args:
        rounds: as a schedule gives them.
        results_between: the results of all blocks from this number on and before that, in schedule order.
    """
    first = 0
    try:
        blocks = next(rounds)
        while True:
            yield blocks
            # Not all that there are: a tournament that goes on has results of later rounds, too.
            end = first + sum(1 for _ in blocks())
            blocks = rounds.send(results_between(first, end))
            first = end
    except StopIteration:
        return


def next_round(rounds: Rounds, results: Sequence[Played]) -> list[Block]:
    """The blocks of the first round of which not all results are given; none when all is played."""
    for blocks, _, complete in _paired(rounds, results):
        if not complete:
            return blocks
    return []


def blocks_so_far(rounds: Rounds, results: Sequence[Played]) -> Iterator[Block]:
    """Every block of the rounds that these results lead to, whether played or not."""
    for blocks, _, _ in _paired(rounds, results):
        yield from blocks


def _paired(rounds: Rounds, results: Sequence[Played]) -> Iterator[tuple[list[Block], Sequence[Played], bool]]:
    """Each round, those of its results that are given, and whether that is all: the last round may lack some."""
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
    """A round in which each of these pairs plays so many blocks, numbered from `first`."""
    return [
        Block(number, turn, pair, SWAPPED, seed)
        for number, pair in enumerate(chain.from_iterable(repeat(pairs, blocks)), start=first)
    ]
