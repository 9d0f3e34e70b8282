"""Who plays whom, from which deal, in which seats. Pure: a function of the entrants, the blocks and a seed.

The unit is the block: one deal, played once for each seating. Blocks are made when asked for, so that a schedule
of a million costs nothing to begin.
"""

from collections.abc import Iterator
from hashlib import sha256
from itertools import combinations

from msgspec import Struct

SEED_BITS = 53
"""Seeds of matches stay whole numbers in every JSON reader, JavaScript's included."""


class Match(Struct, frozen=True):
    """One match of a block."""

    name: str
    """Unique in its tournament, and says nothing: bots are told it, and must not know by it which deal this is."""
    block: int
    seating: int
    """Counts the block's matches from 0."""
    entrants: tuple[int, ...]
    """By seat: who sits there, as an index of the tournament's entrants."""
    seed: int
    """The deal's, the same in all matches of the block."""


class Block(Struct, frozen=True):
    """One deal, played once for each seating that makes it fair."""

    number: int
    """Counts from 0, in schedule order."""
    round: int
    matches: tuple[Match, ...]


def round_robin(entrants: int, blocks: int, seed: int) -> Iterator[Block]:
    """Every pair of entrants plays `blocks` blocks of two seats; a round gives each pair one.

    Rounds come one after the other, so that a tournament that was stopped half-way is as balanced as can be.
    """
    pairs = list(combinations(range(entrants), 2))
    for number in range(blocks * len(pairs)):
        turn, pair = divmod(number, len(pairs))
        yield block_of(number, turn, pairs[pair], seed)


def block_of(number: int, turn: int, entrants: tuple[int, ...], seed: int) -> Block:
    """The block of these entrants: each of them sits in each seat once."""
    deal = int.from_bytes(_hash(seed, number, "deal")[:8], "big") >> (64 - SEED_BITS)
    return Block(
        number,
        turn,
        tuple(
            Match(_hash(seed, number, f"name {seating}").hex()[:12], number, seating, seated, deal)
            for seating, seated in enumerate(rotations(entrants))
        ),
    )


def rotations(entrants: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All seatings that keep the order round the table: each entrant in each seat once. Two seats: swapped."""
    return [entrants[-shift:] + entrants[:-shift] for shift in range(len(entrants))]


def _hash(seed: int, block: int, purpose: str) -> bytes:
    """Nothing about one seed or name can be had from another, but by who knows the tournament's seed."""
    return sha256(f"{seed}/{block}/{purpose}".encode()).digest()
